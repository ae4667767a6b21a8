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
//! A [`Meter`] belongs to the thread that opened it, so it is neither `Send` nor `Sync`. The names
//! of events are those of `perfex --list`; libperfctr(3) has all other rules.
#![warn(missing_docs)]

use std::ffi::{CStr, CString};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{AddAssign, Index, Sub};
use std::os::raw::{c_char, c_double, c_int, c_uint, c_ulonglong};
use std::ptr;

// PERFCTR_NRCTRS of libperfctr.h
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
const NRCTRS: usize = 18;
#[cfg(target_arch = "powerpc")]
const NRCTRS: usize = 8;
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "powerpc")))]
const NRCTRS: usize = 32;

/// The number of empty regions that [`Meter::net`] measures. The first ones fill caches.
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

/// An error of `<errno.h>`, and the library's sentence about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    errno: i32,
    sentence: String,
}

impl Error {
    /// Returns the error as a positive number.
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

    /// Returns the ticks of the clock. [`Meter::seconds`] converts ticks to seconds.
    pub fn clock(&self) -> u64 {
        self.sum.tsc
    }

    /// Returns the counts of the events, in the order of the names.
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

/// Computes what was counted between `rhs` and `self`, which must be the later read. Sums never
/// decrease, so in a debug build the other order panics, like any subtraction below 0.
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

/// Counts events of the thread that opened the meter. A thread can have one meter at a time.
pub struct Meter {
    raw: *mut RawMeter,
    // The counts of an empty region, measured with the code of this crate; 0 without net()
    cost: Counts,
    // The pointer makes the type neither Send nor Sync: a meter counts this thread alone.
    _thread: PhantomData<*const ()>,
}

impl Meter {
    fn made(raw: *mut RawMeter, err: c_int) -> Result<Self, Error> {
        // If the open failed, the drop of the meter closes it.
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

    /// Makes a meter that counts these events from now on. With "" it counts the clock alone.
    pub fn open(events: &str) -> Result<Self, Error> {
        let events = c_string(events)?;
        let mut raw = ptr::null_mut();
        let err = unsafe { vperfctr_meter_open(&mut raw, events.as_ptr(), 0) };
        Meter::made(raw, err)
    }

    /// Makes a meter like [`Meter::open`]. Its [`Meter::measure`] subtracts the cost of an empty
    /// region.
    pub fn net(events: &str) -> Result<Self, Error> {
        let mut meter = Meter::open(events)?;
        let mut cost = meter.measure(|| ())?.1;
        for _ in 1..CALIBRATIONS {
            cost = cost.least(&meter.measure(|| ())?.1);
        }
        meter.cost = cost;
        Ok(meter)
    }

    /// Makes a meter that stops after `limit` events, and then sends the thread the signal.
    pub fn budget(event: &str, limit: u64, signo: i32) -> Result<Self, Error> {
        let event = c_string(event)?;
        let mut raw = ptr::null_mut();
        let err =
            unsafe { vperfctr_meter_open_budget(&mut raw, event.as_ptr(), limit, signo as c_int) };
        Meter::made(raw, err)
    }

    /// Makes the clock and all counters stand still.
    pub fn stop(&mut self) -> Result<(), Error> {
        self.check(unsafe { vperfctr_meter_stop(self.raw) })
    }

    /// Lets the clock and all counters go on. A budget begins again from 0.
    pub fn start(&mut self) -> Result<(), Error> {
        self.check(unsafe { vperfctr_meter_start(self.raw) })
    }

    /// Reads the clock and all events, all of one moment.
    pub fn read(&self) -> Result<Counts, Error> {
        let mut counts = self.zero();
        self.check(unsafe { vperfctr_meter_read(self.raw, &mut counts.sum) })?;
        Ok(counts)
    }

    /// Reads one event, in a few instructions. Returns `None` if the event cannot be read.
    pub fn event(&self, i: usize) -> Option<u64> {
        let count = unsafe { vperfctr_read_pmc(vperfctr_meter_handle(self.raw), i as c_uint) };
        (count != u64::MAX).then_some(count)
    }

    /// Runs `work`, and returns its result and what was counted meanwhile.
    pub fn measure<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Counts), Error> {
        let mut counts = self.zero();
        self.check(self.begin(&mut counts))?;
        let result = work();
        self.check(self.end(&mut counts))?;
        Ok((result, counts))
    }

    // begin() and end() are never inline, so that they cost the same wherever they are called.
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

    /// Returns counts of 0, to which the counts of [`Meter::measure`] can be added.
    pub fn zero(&self) -> Counts {
        Counts::zero(self.len())
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        unsafe { vperfctr_meter_events(self.raw) as usize }
    }

    /// Returns true if the meter counts the clock alone.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the name of an event as it was given.
    pub fn name(&self, i: usize) -> Option<&str> {
        let name = unsafe { vperfctr_meter_name(self.raw, i as c_uint) };
        if name.is_null() {
            return None;
        }
        unsafe { CStr::from_ptr(name) }.to_str().ok()
    }

    /// Returns ticks of the clock in seconds, or 0 if its frequency is not known.
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
        errno: 22, // EINVAL on all architectures
        sentence: format!("{text:?}: the name of an event has no NUL in it"),
    })
}
