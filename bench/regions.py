# SPDX-License-Identifier: GPL-2.0
"""Measures an empty `with` block, as the least of many batches. A nanosecond is an instruction."""
import time

import perfctr

TIMES, BATCHES = 200, 20


def least(once):
    best = None
    for _ in range(BATCHES):
        start = time.perf_counter_ns()
        for _ in range(TIMES):
            once()
        took = time.perf_counter_ns() - start
        best = took if best is None else min(best, took)
    return best / TIMES


def main():
    for n in range(1, 5):
        with perfctr.Meter("instructions" + ",cycles" * (n - 1)) as meter:
            region = meter.region()

            def again():
                with region:
                    pass

            def anew():
                with meter.region():
                    pass

            loop = least(lambda: None)
            print(f"region_python {n} {least(anew) - loop:.1f}")
            print(f"region_python_again {n} {least(again) - loop:.1f}")


main()
