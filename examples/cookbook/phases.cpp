// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Measures instructions per cycle of each phase of a program. The meter runs all the time, and is
 * read between the phases.
 */
#include <cstdio>
#include <cstring>

#include <libperfctr.hpp>

static void compute()
{
	for (unsigned long i = 100000; i; i--)
		asm volatile("" : "+r"(i));
}

static void copy()
{
	static char from[100000], to[100000];

	for (int i = 0; i < 10; i++) {
		std::memcpy(to, from, sizeof(to));
		asm volatile("" : : "r"(to) : "memory");
	}
}

int main()
try {
	const struct {
		const char *name;
		void (*run)();
	} phases[] = { { "compute", compute }, { "copy", copy }, { "compute", compute } };
	perfctr::meter meter("instructions,cycles");
	perfctr::counts before = meter.read();

	for (const auto &phase : phases) {
		phase.run();
		const perfctr::counts now = meter.read(), spent = now - before;

		std::printf("%s: %llu instructions, %.2f per cycle, %.6f s\n", phase.name, spent[0],
			    static_cast<double>(spent[0]) / static_cast<double>(spent[1]),
			    meter.seconds(spent.clock()));
		before = meter.read(); /* without printf() */
	}
	return 0;
} catch (const perfctr::error &e) {
	std::fprintf(stderr, "%s\n", e.what());
	return 1;
}
