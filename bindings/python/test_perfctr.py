# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Against the real module, in an emulated machine that counts exactly. The interpreter does not execute
the same for the same code each time: it adapts to types, and to where memory is. So counts of
loops are compared with a tolerance of a thousandth, and test_budget_stops() is exact.
"""
import errno
import gc
import itertools
import os
import signal
import threading
import unittest

import perfctr


def spin(turns):
    """Each turn is the same: nothing is made or freed, as numbers would be."""
    for _ in itertools.repeat(None, turns):
        pass


def spins(meter, turns):
    """The least of several: the interpreter adapts its code, and frees memory now and then."""
    counts = []
    for _ in range(64):
        with meter.region() as region:
            spin(turns)
        counts.append(region["instructions"])
    return min(counts)


class MeterTest(unittest.TestCase):
    def test_clock_alone(self):
        with perfctr.Meter() as meter:
            with meter.region() as region:
                spin(1000)
            self.assertEqual(meter.names, ())
            self.assertEqual(len(region), 0)
            self.assertGreater(region.clock, 0)
            self.assertGreater(region.seconds, 0.0)

    def test_regions_are_exact(self):
        with perfctr.Meter("instructions,cycles:u") as meter:
            self.assertEqual(meter.names, ("instructions", "cycles:u"))
            a, b, c = (spins(meter, n) for n in (1000, 2000, 5000))
            self.assertGreater(b - a, 1000)
            self.assertLess(abs(3 * (b - a) - (c - b)), (c - b) / 1000)

    def test_cost_is_taken_off(self):
        with perfctr.Meter("instructions", net=False) as meter:
            self.assertEqual(meter.cost.events, (0,))
            gross = spins(meter, 1000)
        with perfctr.Meter("instructions") as meter:
            net, cost = spins(meter, 1000), meter.cost["instructions"]
            self.assertGreater(cost, 100)
            # The scope's own instructions, where the interpreter has not adapted them yet
            self.assertLess(abs(gross - net - cost), 500)
            self.assertLess(min(self.empty(meter) for _ in range(64)), 500)

    @staticmethod
    def empty(meter):
        with meter.region() as region:
            pass
        return region[0]

    def test_counts(self):
        with perfctr.Meter("instructions,cycles") as meter:
            first = meter.read()
            spin(1000)
            second = meter.read()
            between = second - first
            self.assertEqual(between["cycles"], second[1] - first[1])
            self.assertEqual(between.as_dict(), {"instructions": between[0], "cycles": between[1]})
            self.assertEqual((first + between).events, second.events)
            self.assertIn("cycles", repr(between))
            with self.assertRaises(KeyError):
                between["branches"]
            with self.assertRaises(TypeError):
                between - 1

    def test_stands_still_while_stopped(self):
        with perfctr.Meter("instructions") as meter:
            meter.stop()
            first = meter.read()
            spin(1000)
            self.assertEqual((meter.read() - first).events, (0,))
            meter.start()
            spin(1000)
            self.assertGreater((meter.read() - first)[0], 1000)

    def refused(self, number, words, call, *args):
        with self.assertRaises(perfctr.Error) as caught:
            call(*args)
        self.assertEqual(caught.exception.errno, number)
        self.assertIn(words, caught.exception.strerror)

    def test_errors_are_sentences(self):
        self.refused(errno.ENOENT, "'nosuch'", perfctr.Meter, "nosuch")
        self.refused(errno.EINVAL, "'cycles:q'", perfctr.Meter, "cycles:q")
        for call in (perfctr.Meter, lambda name: perfctr.Meter.budget(1000, signal.SIGURG, name)):
            with self.assertRaisesRegex(ValueError, "NUL"):
                call("instructions\0b")
        self.refused(errno.EINVAL, "0 is no budget", perfctr.Meter.budget, 0, signal.SIGURG)
        self.refused(errno.EINVAL, "-1 is no budget", perfctr.Meter.budget, -1, signal.SIGURG)
        with perfctr.Meter("instructions") as meter:
            self.refused(errno.EEXIST, "counted already", perfctr.Meter, "cycles")
            meter.read()
        for call in (meter.read, meter.region, meter.stop, meter.start):
            self.assertRaises(ValueError, call)
        meter.close()

    def test_closed_in_a_region(self):
        meter = perfctr.Meter("instructions")
        with self.assertRaises(ValueError):
            with meter.region():
                meter.close()

    def test_exceptions_pass(self):
        with perfctr.Meter("instructions") as meter:
            with self.assertRaises(ZeroDivisionError):
                with meter.region() as region:
                    spin(1 // 0)
            self.assertGreater(region[0], 0)

    def test_budget_stops(self):
        # The signal is ignored, so the code goes on; the counters do not.
        with perfctr.Meter.budget(50000, signal.SIGURG) as meter:
            spin(100000)
            self.assertEqual(meter.read()[0], 50000)

    def test_child_of_a_fork(self):
        with perfctr.Meter("instructions") as meter:
            pid = os.fork()
            if not pid:
                try:
                    meter.read()
                except perfctr.Error as error:
                    os._exit(error.errno)
                os._exit(0)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), errno.ECHILD)
            self.assertGreater(meter.read()[0], 0)

    def test_collected_in_another_thread(self):
        for _ in range(2):
            meters = [perfctr.Meter("instructions")]
            self.assertGreater(spins(meters[0], 1000), 1000)
            thread = threading.Thread(target=lambda: (meters.clear(), gc.collect()))
            thread.start()
            thread.join()
            self.assertEqual(meters, [])

    def test_threads_have_meters_of_their_own(self):
        # Each has a budget of its own, which another thread's loops do not use up.
        results = []

        def measure(limit):
            with perfctr.Meter.budget(limit, signal.SIGURG) as meter:
                spin(100)
                early = meter.read()[0]
                spin(100000)
                results.append((limit, early < limit, meter.read()[0]))

        limits = (50000, 60000, 70000)
        threads = [threading.Thread(target=measure, args=(limit,)) for limit in limits]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(results), [(limit, True, limit) for limit in limits])


if __name__ == "__main__":
    unittest.main()
