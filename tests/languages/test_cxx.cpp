// SPDX-License-Identifier: GPL-2.0
/*
 * libperfctr.hpp against the real module, in an emulated machine that counts exactly. Says "ok
 * cxx.NAME" or "not ok cxx.NAME: why" of each test.
 */
#include <libperfctr.hpp>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

namespace {

int failures;

void fail(const char *file, int line, const std::string &what)
{
	std::ostringstream text;

	text << file << ':' << line << ": " << what;
	throw std::runtime_error(text.str());
}

#define REQUIRE(what)							\
	do {								\
		if (!(what))						\
			fail(__FILE__, __LINE__, #what);		\
	} while (0)

void run(const char *name, const std::function<void()> &test)
{
	try {
		test();
		std::printf("ok cxx.%s\n", name);
	} catch (const std::exception &e) {
		std::printf("not ok cxx.%s: %s\n", name, e.what());
		failures++;
	}
}

/* The compiler may not look into it: each turn is the same number of instructions. */
__attribute__((noinline)) void spin(unsigned long turns)
{
	for (unsigned long i = 0; i < turns; i++)
		asm volatile("" : : "r"(i));
}

unsigned long long spins(const perfctr::meter &meter, unsigned long turns)
{
	perfctr::counts sum;
	{
		perfctr::region here(meter, sum);

		spin(turns);
	}
	return sum[0];
}

/* The error of what is called, or 0 */
int error_of(const std::function<void()> &call, const char *words)
{
	try {
		call();
	} catch (const perfctr::error &e) {
		if (!std::strstr(e.what(), words))
			fail(__FILE__, __LINE__, std::string("no '") + words + "' in: " + e.what());
		/* The sentence says it in its own words. */
		if (std::strstr(e.what(), e.code().message().c_str()))
			fail(__FILE__, __LINE__, std::string("said twice: ") + e.what());
		return e.code().value();
	}
	return 0;
}

/*
 * In a program that binds functions of libperfctr.so when it first calls them: this is the first test,
 * and nothing may be bound within its regions.
 */
void first_region_is_exact()
{
	perfctr::meter meter("instructions", perfctr::net);
	const struct vperfctr *v = vperfctr_meter_handle(meter.get());
	unsigned long long count[4], asked[2];

	for (unsigned long long &one : count)
		one = spins(meter, 1000);
	for (unsigned long long one : count)
		if (one != count[3])
			fail(__FILE__, __LINE__, "the first regions are " + std::to_string(count[0]) + " and " +
			     std::to_string(count[1]) + ", the last is " + std::to_string(count[3]));
	/* What an inline read calls if the page says so; clang has no way to bind that alone early. */
	for (unsigned long long &one : asked) {
		one = meter[0];
		vperfctr_ask_pmc(v, 0);
		one = meter[0] - one;
	}
#if defined(__clang__)
	REQUIRE(asked[0] >= asked[1]);
#else
	REQUIRE(asked[0] == asked[1]);
#endif
}

void clock_alone()
{
	perfctr::meter meter;
	perfctr::counts from = meter.read();

	spin(10000);
	perfctr::counts between = meter.read() - from;
	REQUIRE(between.clock() > 0);
	REQUIRE(between.size() == 0);
	REQUIRE(meter.seconds(between.clock()) > 0);
	REQUIRE(meter.name(0) == nullptr);
}

void regions_are_exact()
{
	for (unsigned int flags : {0u, perfctr::net}) {
		perfctr::meter meter("instructions,cycles:u", flags);
		unsigned long long a = spins(meter, 1000), b = spins(meter, 2000);

		REQUIRE(meter.size() == 2);
		REQUIRE(std::strcmp(meter.name(1), "cycles:u") == 0);
		REQUIRE(b - a >= 2000);
		REQUIRE(spins(meter, 5000) - b == 3 * (b - a));
	}
}

void cost_is_taken_off()
{
	unsigned long long gross = spins(perfctr::meter("instructions"), 1000);
	perfctr::meter meter("instructions", perfctr::net);
	unsigned long long cost = vperfctr_meter_cost(meter.get())->pmc[0];
	perfctr::counts sum;

	REQUIRE(cost > 0 && cost < 1000);
	REQUIRE(gross - spins(meter, 1000) == cost);
	{
		perfctr::region here(meter, sum);
	}
	/* What the compiler makes of its two ends, which the library does not know */
	REQUIRE(sum[0] <= 8);
}

void regions_add_up()
{
	perfctr::meter meter("instructions");
	perfctr::counts sum;
	unsigned long long one = spins(meter, 1000);

	for (int i = 0; i < 3; i++) {
		perfctr::region here(meter, sum);

		spin(1000);
		REQUIRE(here.end() == 0);
		spin(1000);
		/* Nothing more at the end of the scope */
	}
	/* end() is called by hand, and so has other code around it than in spins(). */
	REQUIRE(sum[0] >= 3 * 1000 && sum[0] < 3 * (one + 16));
}

void reads_inline()
{
	perfctr::meter meter("instructions");
	unsigned long long a = meter[0], b, c, d;

	spin(1000);
	b = meter[0];
	spin(1000);
	c = meter[0];
	spin(4000);
	d = meter[0];
	REQUIRE(c > b && d - c > c - b);
	REQUIRE(b - a < d - c);
	REQUIRE(meter[1] == PERFCTR_NO_COUNT);
}

void stands_still_while_stopped()
{
	perfctr::meter meter("instructions");

	meter.stop();
	perfctr::counts from = meter.read();
	spin(1000);
	perfctr::counts between = meter.read() - from;
	REQUIRE(between[0] == 0 && between.clock() == 0);
	meter.start();
	spin(1000);
	REQUIRE((meter.read() - from)[0] > 1000);
}

void moves()
{
	static_assert(!std::is_copy_constructible_v<perfctr::meter>, "it is of one owner");
	static_assert(!std::is_copy_constructible_v<perfctr::region>, "it is a scope");
	static_assert(std::is_constructible_v<perfctr::region, perfctr::meter &, perfctr::counts &>);
	static_assert(std::is_constructible_v<perfctr::region, const perfctr::meter &, perfctr::counts &>);
	static_assert(!std::is_constructible_v<perfctr::region, perfctr::meter, perfctr::counts &>,
		      "the meter would be gone at the region's end");
	perfctr::meter meter("instructions");
	perfctr::meter other = std::move(meter);

	REQUIRE(spins(other, 1000) > 1000);
}

void errors_are_thrown()
{
	REQUIRE(error_of([] { perfctr::meter m("nosuch"); }, "'nosuch'") == ENOENT);
	REQUIRE(error_of([] { perfctr::meter m("cycles:q"); }, "'cycles:q'") == EINVAL);
	REQUIRE(error_of([] { perfctr::meter m(std::string("cycles\0b", 8)); }, "NUL") == EINVAL);
	REQUIRE(error_of([] { perfctr::meter::budget(1000, SIGURG, std::string("cycles\0b", 8)); }, "NUL") ==
		EINVAL);
	REQUIRE(error_of([] { perfctr::meter m("cycles", 64); }, "0x40") == EINVAL);
	REQUIRE(error_of([] { perfctr::meter::budget(0, SIGURG); }, "no budget") == EINVAL);
	perfctr::meter meter("instructions");
	REQUIRE(error_of([] { perfctr::meter m("cycles"); }, "counted already") == EEXIST);
	REQUIRE(spins(meter, 1000) > 1000);
}

void budget_stops()
{
	/* The signal is ignored, so the code goes on; the counters do not. */
	perfctr::meter meter = perfctr::meter::budget(20000, SIGURG);

	spin(100000);
	REQUIRE(meter.read()[0] == 20000);
}

void threads_have_meters_of_their_own()
{
	perfctr::meter meter("instructions");
	unsigned long long theirs[2] = {}, own;
	std::thread thread([&] {
		perfctr::meter its("instructions");

		theirs[0] = spins(its, 1000);
		theirs[1] = spins(its, 3000);
	});

	own = spins(meter, 3000) - spins(meter, 1000);
	thread.join();
	REQUIRE(theirs[1] - theirs[0] == own);
}

void destroyed_by_another_thread()
{
	for (int i = 0; i < 2; i++) {
		auto meter = std::make_unique<perfctr::meter>("instructions");

		REQUIRE(spins(*meter, 1000) > 1000);
		std::thread([its = std::move(meter)] {}).join();
	}
}

} /* namespace */

int main()
{
	run("first_region_is_exact", first_region_is_exact);
	run("clock_alone", clock_alone);
	run("regions_are_exact", regions_are_exact);
	run("cost_is_taken_off", cost_is_taken_off);
	run("regions_add_up", regions_add_up);
	run("reads_inline", reads_inline);
	run("stands_still_while_stopped", stands_still_while_stopped);
	run("moves", moves);
	run("errors_are_thrown", errors_are_thrown);
	run("budget_stops", budget_stops);
	run("threads_have_meters_of_their_own", threads_have_meters_of_their_own);
	run("destroyed_by_another_thread", destroyed_by_another_thread);
	return failures != 0;
}
