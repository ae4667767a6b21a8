// SPDX-License-Identifier: GPL-2.0
/*
 * Measures what an empty region costs in C and in C++, where a nanosecond is an instruction. The
 * cost is the least of many batches. Prints a row "NAME EVENTS COST" for each language and each
 * number of events.
 */
#include <libperfctr.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>

namespace {

constexpr unsigned int times = 1000, batches = 20;

template <typename F> double least(F once)
{
	using clock = std::chrono::steady_clock;
	double best = 1e18;

	for (unsigned int batch = 0; batch < batches; batch++) {
		auto start = clock::now();

		for (unsigned int i = 0; i < times; i++) {
			once();
			asm volatile("" : : : "memory");
		}
		std::chrono::duration<double, std::nano> took = clock::now() - start;
		best = std::min(best, took.count());
	}
	return best;
}

} /* namespace */

int main()
{
	std::string events;

	try {
		for (unsigned int n = 1; n <= 4; n++) {
			events += n > 1 ? ",cycles" : "instructions";
			perfctr::meter meter(events, perfctr::net);
			struct vperfctr_meter *m = meter.get();
			struct perfctr_sum_ctrs here;
			perfctr::counts sum;
			double loop = least([] {});

			std::printf("region_c %u %.1f\n", n, (least([&] {
				(void)vperfctr_meter_begin(m, &here);
				(void)vperfctr_meter_end(m, &here);
			}) - loop) / times);
			std::printf("region_cxx %u %.1f\n", n, (least([&] {
				perfctr::region region(meter, sum);
			}) - loop) / times);
		}
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 1;
	}
	return 0;
}
