# SPDX-License-Identifier: LGPL-2.1-or-later
"""
Exact hardware performance counters of the calling thread, by perfctr's library.

    with perfctr.Meter("instructions,branch-misses") as meter:
        with meter.region() as region:
            work()
        print(region["instructions"], region.seconds)

Names of events are those of `perfex --list`. A meter counts the thread that made it; libperfctr(3)
has all other rules. Counts contain what the interpreter executes to run the code. They do not
contain the cost of an empty region, which is measured when the meter is made, and subtracted.
"""
from ._perfctr import ffi as _ffi, lib as _lib

__all__ = ["Counts", "Error", "Meter", "Region"]

# The number of empty regions that a new meter measures. The interpreter adapts its code in the first
# of them.
_CALIBRATIONS = 64


class Error(OSError):
    """errno is the error of <errno.h>, and strerror is the library's sentence about it."""


def _check(meter, err):
    if err:
        raise Error(-err, _ffi.string(_lib.vperfctr_strerror(meter, err)).decode())


def _c_string(events):
    if "\0" in events:
        raise ValueError(f"{events!r}: the name of an event has no NUL in it")
    return events.encode()


class Counts:
    """
    The clock and the events of a meter: sums, or differences of sums. counts["cycles"] is the count
    of that event, and counts[1] is the count of the second event.
    """

    __slots__ = ("clock", "events", "_meter")

    def __init__(self, meter, clock, events):
        self._meter = meter
        self.clock = clock
        self.events = events

    @property
    def seconds(self):
        """The clock in seconds; 0.0 if its frequency is not known."""
        return self._meter.seconds(self.clock)

    def __getitem__(self, event):
        if isinstance(event, str):
            try:
                event = self._meter.names.index(event)
            except ValueError:
                raise KeyError(event) from None
        return self.events[event]

    def __len__(self):
        return len(self.events)

    def _combined(self, other, combine):
        if not isinstance(other, Counts) or self._meter.names != other._meter.names:
            return NotImplemented
        return Counts(self._meter, combine(self.clock, other.clock),
                      tuple(map(combine, self.events, other.events)))

    def __sub__(self, other):
        return self._combined(other, int.__sub__)

    def __add__(self, other):
        return self._combined(other, int.__add__)

    def as_dict(self):
        """The events by their names."""
        return dict(zip(self._meter.names, self.events))

    def __repr__(self):
        return f"Counts(clock={self.clock}, {self.as_dict()})"


class Region(Counts):
    """A context that is counted. Its counts are 0 until the context has ended."""

    __slots__ = ("_from", "_to")

    def __init__(self, meter):
        # The properties clock and events replace the attributes of Counts, so those are not set.
        self._meter = meter
        self._from = _ffi.new("struct perfctr_sum_ctrs *")
        self._to = _ffi.new("struct perfctr_sum_ctrs *")

    def __enter__(self):
        raw = self._meter._open()
        err = _lib.vperfctr_meter_read(raw, self._from)
        if err:
            _check(raw, err)
        return self

    def __exit__(self, exception, value, trace):
        raw = self._meter._open()
        err = _lib.vperfctr_meter_read(raw, self._to)
        if err and exception is None:
            _check(raw, err)
        return False

    @property
    def clock(self):
        """The ticks of the clock"""
        return max(self._to.tsc - self._from.tsc - self._meter.cost.clock, 0)

    @property
    def events(self):
        """The counts of the events, in the order of their names"""
        start, end = self._from.pmc, self._to.pmc
        return tuple(max(end[i] - start[i] - cost, 0)
                     for i, cost in enumerate(self._meter.cost.events))


class Meter:
    """
    Counts events of the thread that makes the meter, from then on. Events are names separated by
    commas: "instructions,cycles:uk". With "" only the clock is counted. With net=False the cost of
    an empty region is not subtracted.
    """

    def __init__(self, events="", net=True):
        made = _ffi.new("struct vperfctr_meter **")
        self._begin(made, _lib.vperfctr_meter_open(made, _c_string(events), 0))
        if net:
            self.cost = self._empty_region()

    @classmethod
    def budget(cls, limit, signo, event="instructions"):
        """Makes a meter that stops after limit events, and then sends the thread the signal."""
        if limit < 0 or limit >= 1 << 64:
            raise Error(22, f"{limit} is no budget: it is 1 to 2^62")
        meter = cls.__new__(cls)
        made = _ffi.new("struct vperfctr_meter **")
        meter._begin(made, _lib.vperfctr_meter_open_budget(made, _c_string(event), limit, signo))
        return meter

    def _begin(self, made, err):
        self._made = made
        self._raw = made[0]
        try:
            self._check(err)
        except Error:
            self.close()
            raise
        one = _lib.vperfctr_meter_seconds(self._raw, 1)
        self._hz = 1 / one if one else 0.0
        n = _lib.vperfctr_meter_events(self._raw)
        self.names = tuple(_ffi.string(_lib.vperfctr_meter_name(self._raw, i)).decode()
                           for i in range(n))
        self.cost = Counts(self, 0, (0,) * n)

    def _empty_region(self):
        regions = []
        for _ in range(_CALIBRATIONS):
            with self.region() as region:
                pass
            regions.append(region)
        return Counts(self, min(r.clock for r in regions),
                      tuple(min(r.events[i] for r in regions) for i in range(len(self.names))))

    def _open(self):
        if not self._raw:
            raise ValueError("the meter is closed")
        return self._raw

    def _check(self, err):
        _check(self._raw, err)

    def region(self):
        """Returns a context that is counted."""
        self._open()
        return Region(self)

    def read(self):
        """Returns the clock and all events since the meter was made, all of one moment."""
        now = _ffi.new("struct perfctr_sum_ctrs *")
        self._check(_lib.vperfctr_meter_read(self._open(), now))
        return Counts(self, now.tsc, tuple(now.pmc[i] for i in range(len(self.names))))

    def stop(self):
        """Makes the clock and all counters stand still."""
        self._check(_lib.vperfctr_meter_stop(self._open()))

    def start(self):
        """Lets the clock and all counters go on. A budget begins again from 0."""
        self._check(_lib.vperfctr_meter_start(self._open()))

    def seconds(self, ticks):
        """Returns ticks of the clock in seconds, or 0.0 if its frequency is not known."""
        return ticks / self._hz if self._hz else 0.0

    def close(self):
        """Ends the counting. Counts that were read stay valid."""
        if self._raw:
            _lib.vperfctr_meter_close(self._raw)
            self._raw = _ffi.NULL

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
        return False

    def __del__(self):
        # If __init__() failed early, there is nothing to close.
        if getattr(self, "_raw", None):
            self.close()
