/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr for C++17. A meter is an object, and a region of code is a scope.
 *
 *	perfctr::meter meter("instructions,branch-misses", perfctr::net);
 *	perfctr::counts sum;
 *	{
 *		perfctr::region here(meter, sum);
 *		work();
 *	}
 *	std::cout << sum[0] << ' ' << meter.name(0) << '\n';
 *
 * An error of <libperfctr.h> is thrown as perfctr::error, with the library's sentence. A meter
 * counts the thread that made it. <perfctr-meter.h> has the rules for threads and fork().
 */
#ifndef LIBPERFCTR_HPP
#define LIBPERFCTR_HPP

#include <libperfctr.h>

#include <cassert>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

namespace perfctr {

/* code() is the error of <errno.h>, and what() is the library's sentence. */
class error : public std::system_error {
public:
	error(int err, const char *sentence)
		: std::system_error(-err, std::generic_category()), sentence(sentence)
	{
	}

	const char *what() const noexcept override { return sentence.c_str(); }

private:
	std::string sentence;
};

/* Holds the clock and the events of one meter: sums, or differences of sums. */
class counts {
public:
	counts() = default;

	unsigned long long operator[](unsigned int i) const noexcept
	{
		assert(i < n);
		return sum.pmc[i];
	}
	unsigned long long clock() const noexcept { return sum.tsc; }
	unsigned int size() const noexcept { return n; }

	/* If one side has fewer events, its missing counts are taken as 0. */
	counts &operator+=(const counts &other) noexcept
	{
		add(other.sum, other.n);
		return *this;
	}
	counts &operator-=(const counts &other) noexcept
	{
		grow(other.n);
		sum.tsc -= other.sum.tsc;
		for (unsigned int i = 0; i < other.n; i++)
			sum.pmc[i] -= other.sum.pmc[i];
		return *this;
	}
	friend counts operator+(counts a, const counts &b) noexcept { return a += b; }
	friend counts operator-(counts a, const counts &b) noexcept { return a -= b; }

private:
	friend class meter;
	friend class region;

	void grow(unsigned int events) noexcept { n = n < events ? events : n; }
	void add(const struct perfctr_sum_ctrs &more, unsigned int events) noexcept
	{
		grow(events);
		sum.tsc += more.tsc;
		for (unsigned int i = 0; i < events; i++)
			sum.pmc[i] += more.pmc[i];
	}

	struct perfctr_sum_ctrs sum = {};
	unsigned int n = 0;
};

/* With this flag of a meter, counts of regions do not include the cost of measuring. */
constexpr unsigned int net = VPERFCTR_METER_NET;

class meter {
public:
	explicit meter(const std::string &events = "", unsigned int flags = 0)
	{
		struct vperfctr_meter *made;
		int err = vperfctr_meter_open(&made, name(events), flags);

		m.reset(made);
		check(err);
	}

	/* Makes a meter that stops after @limit events, and then sends the thread the signal. */
	static meter budget(unsigned long long limit, int signo,
			    const std::string &event = "instructions")
	{
		struct vperfctr_meter *made;
		int err = vperfctr_meter_open_budget(&made, name(event), limit, signo);
		meter result{std::unique_ptr<struct vperfctr_meter, closer>(made)};

		result.check(err);
		return result;
	}

	void stop() { check(vperfctr_meter_stop(m.get())); }
	void start() { check(vperfctr_meter_start(m.get())); }

	counts read() const
	{
		counts now;

		now.n = size();
		check(vperfctr_meter_read(m.get(), &now.sum));
		return now;
	}

	/* Reads one event inline, in few instructions. Returns PERFCTR_NO_COUNT if that fails. */
	unsigned long long operator[](unsigned int i) const noexcept
	{
		return vperfctr_read_pmc(vperfctr_meter_handle(m.get()), i);
	}

	unsigned int size() const noexcept { return vperfctr_meter_events(m.get()); }
	/* Returns the name of event i, or nullptr if there is no such event. */
	const char *name(unsigned int i) const noexcept { return vperfctr_meter_name(m.get(), i); }
	double seconds(unsigned long long ticks) const noexcept
	{
		return vperfctr_meter_seconds(m.get(), ticks);
	}
	struct vperfctr_meter *get() const noexcept { return m.get(); }

private:
	struct closer {
		void operator()(struct vperfctr_meter *old) const noexcept
		{
			vperfctr_meter_close(old);
		}
	};

	static const char *name(const std::string &events)
	{
		if (events.find('\0') != std::string::npos)
			throw error(-EINVAL, "the name of an event has no NUL in it");
		return events.c_str();
	}

	explicit meter(std::unique_ptr<struct vperfctr_meter, closer> made) noexcept
		: m(std::move(made))
	{
	}

	void check(int err) const
	{
		if (err)
			throw error(err, vperfctr_strerror(m.get(), err));
	}

	std::unique_ptr<struct vperfctr_meter, closer> m;
};

/*
 * Adds to a sum what the meter counts while this object exists. The destructor cannot throw: if a
 * read fails, nothing is added. end() returns the error. With the flag net, a count still has up to
 * 8 instructions of this object, with today's compilers.
 */
class region {
public:
	/* The constructor is inline because the meter would count a call. */
	[[gnu::always_inline]] inline region(const meter &meter, counts &sum) noexcept
		: m(meter.get()), total(sum)
	{
		err = vperfctr_meter_begin(m, &here);
	}
	/* A temporary meter would be destroyed before the region ends. */
	region(const meter &&meter, counts &sum) = delete;
	region(const region &) = delete;
	region &operator=(const region &) = delete;
	[[gnu::always_inline]] inline ~region() { (void)end(); }

	/* Ends the region early. Returns 0, or the error as a negative number. */
	[[gnu::always_inline]] inline int end() noexcept
	{
		if (ended)
			return err;
		ended = true;
		if (!err)
			err = vperfctr_meter_end(m, &here);
		if (!err)
			total.add(here, vperfctr_meter_events(m));
		return err;
	}

private:
	struct vperfctr_meter *m;
	counts &total;
	struct perfctr_sum_ctrs here;
	int err;
	bool ended = false;
};

} /* namespace perfctr */

#endif /* LIBPERFCTR_HPP */
