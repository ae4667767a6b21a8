// SPDX-License-Identifier: LGPL-2.1-or-later
//! Exact hardware performance counters of the calling thread, by perfctr's library.
//!
//! ```no_run
//! # fn work() {}
//! let meter = perfctr::Meter::net("instructions,branch-misses")?;
//! let (_, counts) = meter.measure(|| work())?;
//! println!("{} {}", counts[0], meter.name(0).unwrap());
//! # Ok::<(), perfctr::Error>(())
//! ```
//!
//! A [`Meter`] belongs to the thread that opened it, so it is neither `Send` nor `Sync`. The names of
//! events are those of `perfex --list`; libperfctr(3) tells of everything else.
#![warn(missing_docs)]

use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{AddAssign, Index, Sub};
use std::os::raw::{c_char, c_double, c_int, c_uint, c_ulonglong};
use std::ptr;

// As libperfctr.h has it: PERFCTR_NRCTRS
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
const NRCTRS: usize = 18;
#[cfg(target_arch = "powerpc")]
const NRCTRS: usize = 8;
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "powerpc")))]
const NRCTRS: usize = 32;

/// So many empty regions are measured: the first ones fill caches.
const CALIBRATIONS: usize = 64;

#[repr(C)]
#[derive(Clone, Copy)]
struct SumCtrs {
    tsc: c_ulonglong,
    pmc: [c_ulonglong; NRCTRS],
}

#[repr(C)]
struct RawMeter {
    _opaque: [u8; 0],
}

#[repr(C)]
struct RawHandle {
    _opaque: [u8; 0],
}

extern "C" {
    fn vperfctr_meter_open(m: *mut *mut RawMeter, events: *const c_char, flags: c_uint) -> c_int;
    fn vperfctr_meter_open_budget(
        m: *mut *mut RawMeter,
        event: *const c_char,
        n: c_ulonglong,
        signo: c_int,
    ) -> c_int;
    fn vperfctr_meter_close(m: *mut RawMeter);
    fn vperfctr_meter_stop(m: *mut RawMeter) -> c_int;
    fn vperfctr_meter_start(m: *mut RawMeter) -> c_int;
    fn vperfctr_meter_read(m: *const RawMeter, sum: *mut SumCtrs) -> c_int;
    fn vperfctr_meter_events(m: *const RawMeter) -> c_uint;
    fn vperfctr_meter_name(m: *const RawMeter, i: c_uint) -> *const c_char;
    fn vperfctr_meter_seconds(m: *const RawMeter, ticks: c_ulonglong) -> c_double;
    fn vperfctr_meter_handle(m: *const RawMeter) -> *const RawHandle;
    fn vperfctr_read_pmc(v: *const RawHandle, i: c_uint) -> c_ulonglong;
    fn vperfctr_strerror(m: *const RawMeter, err: c_int) -> *const c_char;
}

/// An error of `<errno.h>`, and the library's sentence on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    errno: i32,
    sentence: String,
}

impl Error {
    /// The error's number, positive
    pub fn errno(&self) -> i32 {
        self.errno
    }

    fn new(meter: *const RawMeter, err: c_int) -> Self {
        // The sentence is valid until the meter is closed.
        let sentence = unsafe { CStr::from_ptr(vperfctr_strerror(meter, err)) };
        Error {
            errno: -err,
            sentence: sentence.to_string_lossy().into_owned(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Error {}

/// The clock and the events of a meter: sums, or differences of sums. `counts[i]` is event i.
#[derive(Clone, Copy)]
pub struct Counts {
    sum: SumCtrs,
    n: usize,
}

impl Counts {
    fn zero(n: usize) -> Self {
        Counts {
            sum: SumCtrs {
                tsc: 0,
                pmc: [0; NRCTRS],
            },
            n,
        }
    }

    fn least(mut self, other: &Counts) -> Self {
        self.sum.tsc = self.sum.tsc.min(other.sum.tsc);
        for (a, b) in self.sum.pmc.iter_mut().zip(other.sum.pmc) {
            *a = b.min(*a);
        }
        self
    }

    fn take_off(&mut self, cost: &Counts) {
        self.sum.tsc = self.sum.tsc.saturating_sub(cost.sum.tsc);
        for (a, b) in self.sum.pmc.iter_mut().zip(cost.events()) {
            *a = a.saturating_sub(*b);
        }
    }

    /// Ticks of the clock; [`Meter::seconds`] has them in seconds.
    pub fn clock(&self) -> u64 {
        self.sum.tsc
    }

    /// The events, in their order
    pub fn events(&self) -> &[u64] {
        &self.sum.pmc[..self.n]
    }
}

impl Index<usize> for Counts {
    type Output = u64;

    fn index(&self, i: usize) -> &u64 {
        &self.events()[i]
    }
}

impl fmt::Debug for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counts")
            .field("clock", &self.clock())
            .field("events", &self.events())
            .finish()
    }
}

/// What was counted from `rhs` to this. Sums never go back; the other order panics in a debug
/// build as subtractions do.
impl Sub for Counts {
    type Output = Counts;

    fn sub(self, rhs: Counts) -> Counts {
        let mut result = self;
        result.sum.tsc -= rhs.sum.tsc;
        for (to, from) in result.sum.pmc[..self.n].iter_mut().zip(rhs.events()) {
            *to -= from;
        }
        result
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, rhs: Counts) {
        self.n = self.n.max(rhs.n);
        self.sum.tsc += rhs.sum.tsc;
        for (to, more) in self.sum.pmc.iter_mut().zip(rhs.events()) {
            *to += more;
        }
    }
}

/// Counts events of the thread that opened it. A thread has one at a time.
pub struct Meter {
    raw: *mut RawMeter,
    // What an empty region counts, by the code that the compiler makes of it here; or 0
    cost: Counts,
    // It counts this thread alone.
    _thread: PhantomData<*const ()>,
}

impl Meter {
    fn made(raw: *mut RawMeter, err: c_int) -> Result<Self, Error> {
        // One that could not be opened is closed as it is dropped.
        let meter = Meter {
            raw,
            cost: Counts::zero(0),
            _thread: PhantomData,
        };
        meter.check(err)?;
        Ok(meter)
    }

    fn check(&self, err: c_int) -> Result<(), Error> {
        if err == 0 {
            Ok(())
        } else {
            Err(Error::new(self.raw, err))
        }
    }

    /// Counts these events from now on; "" is the clock alone.
    pub fn open(events: &str) -> Result<Self, Error> {
        let events = c_string(events)?;
        let mut raw = ptr::null_mut();
        let err = unsafe { vperfctr_meter_open(&mut raw, events.as_ptr(), 0) };
        Meter::made(raw, err)
    }

    /// The same; regions are without what an empty one counts.
    pub fn net(events: &str) -> Result<Self, Error> {
        let mut meter = Meter::open(events)?;
        let mut cost = meter.measure(|| ())?.1;
        for _ in 1..CALIBRATIONS {
            cost = cost.least(&meter.measure(|| ())?.1);
        }
        meter.cost = cost;
        Ok(meter)
    }

    /// Stops after `limit` of the event, and sends the thread the signal.
    pub fn budget(event: &str, limit: u64, signo: i32) -> Result<Self, Error> {
        let event = c_string(event)?;
        let mut raw = ptr::null_mut();
        let err =
            unsafe { vperfctr_meter_open_budget(&mut raw, event.as_ptr(), limit, signo as c_int) };
        Meter::made(raw, err)
    }

    /// Lets the clock and all events stand still.
    pub fn stop(&mut self) -> Result<(), Error> {
        self.check(unsafe { vperfctr_meter_stop(self.raw) })
    }

    /// Lets them go on; begins a budget anew.
    pub fn start(&mut self) -> Result<(), Error> {
        self.check(unsafe { vperfctr_meter_start(self.raw) })
    }

    /// The clock and all events, of one moment
    pub fn read(&self) -> Result<Counts, Error> {
        let mut counts = self.zero();
        self.check(unsafe { vperfctr_meter_read(self.raw, &mut counts.sum) })?;
        Ok(counts)
    }

    /// One event, in a few instructions; `None` if it cannot be read
    pub fn event(&self, i: usize) -> Option<u64> {
        let count = unsafe { vperfctr_read_pmc(vperfctr_meter_handle(self.raw), i as c_uint) };
        (count != u64::MAX).then_some(count)
    }

    /// Runs the work, and says what it counts.
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Counts), Error> {
        let mut counts = self.zero();
        self.check(self.begin(&mut counts))?;
        let result = work();
        self.check(self.end(&mut counts))?;
        Ok((result, counts))
    }

    // Never inline, so that they cost the same wherever they are called.
    #[inline(never)]
    fn begin(&self, counts: &mut Counts) -> c_int {
        unsafe { vperfctr_meter_read(self.raw, &mut counts.sum) }
    }

    #[inline(never)]
    fn end(&self, counts: &mut Counts) -> c_int {
        let mut to = *counts;
        let err = unsafe { vperfctr_meter_read(self.raw, &mut to.sum) };
        *counts = to - *counts;
        counts.take_off(&self.cost);
        err
    }

    /// Counts of nothing yet, to which those of [`Meter::measure`] are added
    pub fn zero(&self) -> Counts {
        Counts::zero(self.len())
    }

    /// Number of events
    pub fn len(&self) -> usize {
        unsafe { vperfctr_meter_events(self.raw) as usize }
    }

    /// Whether there is the clock alone
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An event's name, as it was given
    pub fn name(&self, i: usize) -> Option<&str> {
        let name = unsafe { vperfctr_meter_name(self.raw, i as c_uint) };
        if name.is_null() {
            return None;
        }
        unsafe { CStr::from_ptr(name) }.to_str().ok()
    }

    /// Ticks of the clock in seconds; 0 if its frequency is not known
    pub fn seconds(&self, ticks: u64) -> f64 {
        unsafe { vperfctr_meter_seconds(self.raw, ticks) }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        unsafe { vperfctr_meter_close(self.raw) }
    }
}

fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error {
        errno: 22, // EINVAL, everywhere
        sentence: format!("{text:?}: the name of an event has no NUL in it"),
    })
}
