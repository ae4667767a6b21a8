// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Google Benchmark with counters. A meter counts the loop of a benchmark, and the report has each
 * event as a user counter, per iteration.
 *
 *	c++ -std=c++17 -O2 -o benchmark benchmark.cpp $(pkg-config --cflags --libs libperfctr benchmark)
 */
#include <memory>

#include <benchmark/benchmark.h>
#include <libperfctr.hpp>

/* Counts while it exists. Where nothing can be counted the benchmark has its times, and says why. */
class counted {
public:
	counted(benchmark::State &state, const char *events) : state(state)
	{
		try {
			meter = std::make_unique<perfctr::meter>(events, perfctr::net);
			region = std::make_unique<perfctr::region>(*meter, sum);
		} catch (const perfctr::error &e) {
			state.SetLabel(e.what());
		}
	}
	~counted()
	{
		if (!region || region->end())
			return;
		for (unsigned int i = 0; i < meter->size(); i++)
			state.counters[meter->name(i)] =
				benchmark::Counter(static_cast<double>(sum[i]),
						   benchmark::Counter::kAvgIterations);
	}

private:
	benchmark::State &state;
	perfctr::counts sum;
	std::unique_ptr<perfctr::meter> meter;
	std::unique_ptr<perfctr::region> region;
};

/* Two instructions a turn */
static void spin(benchmark::State &state)
{
	counted loop(state, "instructions,cycles");

	for (auto _ : state)
		for (auto turns = state.range(0); turns; turns--)
			asm volatile("" : "+r"(turns));
}
BENCHMARK(spin)->Arg(1000)->Arg(2000)->Iterations(10000);
BENCHMARK(spin)->Arg(1000)->Iterations(10000)->Threads(2);

BENCHMARK_MAIN();
