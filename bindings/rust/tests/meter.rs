// SPDX-License-Identifier: LGPL-2.1-or-later
//! Against the real module, in an emulated machine that counts exactly. One test at a time has the
//! thread's counters, since each test has a thread of its own.
use perfctr::{Counts, Meter};

/// Two lengths of one loop differ by a number of instructions that is the same for each turn.
#[inline(never)]
fn spin(turns: u64) -> u64 {
    let mut x = 1;
    for i in 0..turns {
        x = std::hint::black_box(x ^ i);
    }
    x
}

fn spins(meter: &Meter, turns: u64) -> u64 {
    meter.measure(|| spin(turns)).unwrap().1[0]
}

fn errno_of(result: Result<Meter, perfctr::Error>, words: &[&str]) -> i32 {
    let error = result.err().expect("it must fail");
    for word in words {
        assert!(error.to_string().contains(word), "no {word:?} in: {error}");
    }
    error.errno()
}

#[test]
fn clock_alone() {
    let meter = Meter::open("").unwrap();
    let from = meter.read().unwrap();
    spin(10000);
    let counts = meter.read().unwrap() - from;
    assert!(meter.is_empty());
    assert!(counts.clock() > 0);
    assert!(meter.seconds(counts.clock()) > 0.0);
    assert!(counts.events().is_empty());
    assert_eq!(meter.name(0), None);
}

#[test]
fn regions_are_exact() {
    for open in [Meter::open, Meter::net] {
        let meter = open("instructions,cycles:u").unwrap();
        assert_eq!(meter.len(), 2);
        assert_eq!(meter.name(1), Some("cycles:u"));
        let (a, b, c) = (
            spins(&meter, 1000),
            spins(&meter, 2000),
            spins(&meter, 5000),
        );
        assert_eq!((b - a) * 3, c - b, "{a} {b} {c}");
        assert!(b - a >= 2000, "{a} {b}");
    }
}

#[test]
fn net_takes_the_cost_off() {
    let gross = spins(&Meter::open("instructions").unwrap(), 1000);
    let meter = Meter::net("instructions").unwrap();
    let net = spins(&meter, 1000);
    assert!(gross - net > 10 && gross - net < 1000, "{gross} {net}");
    let (_, empty) = meter.measure(|| ()).unwrap();
    assert!(empty[0] <= 8, "{empty:?}");
}

#[test]
fn counts_add_up() {
    let meter = Meter::net("instructions").unwrap();
    let mut sum = meter.zero();
    for _ in 0..3 {
        sum += meter.measure(|| spin(1000)).unwrap().1;
    }
    assert!(sum[0] >= 3 * 1000);
    assert_eq!(sum[0], 3 * meter.measure(|| spin(1000)).unwrap().1[0]);
}

#[test]
fn stands_still_while_stopped() {
    let mut meter = Meter::open("instructions").unwrap();
    meter.stop().unwrap();
    let from = meter.read().unwrap();
    spin(10000);
    let counts: Counts = meter.read().unwrap() - from;
    assert_eq!((counts[0], counts.clock()), (0, 0));
    meter.start().unwrap();
    spin(10000);
    assert!((meter.read().unwrap() - from)[0] > 10000);
    assert!(meter.event(0).unwrap() > 10000);
    assert_eq!(meter.event(1), None);
}

#[test]
fn errors_are_sentences() {
    assert_eq!(errno_of(Meter::open("nosuch"), &["'nosuch'"]), 2);
    assert_eq!(
        errno_of(Meter::open("cycles:q"), &["'cycles:q'", "kernel"]),
        22
    );
    assert_eq!(errno_of(Meter::open("a\0b"), &["NUL"]), 22);
    assert_eq!(
        errno_of(Meter::budget("instructions", 0, 10), &["0 is no budget"]),
        22
    );
    let meter = Meter::open("instructions").unwrap();
    assert_eq!(errno_of(Meter::open("cycles"), &["counted already"]), 17);
    assert!(meter.read().is_ok());
}

#[test]
fn budget_counts_up_to_its_limit() {
    // SIGURG is ignored, so the loop goes on; the counters do not.
    let meter = Meter::budget("instructions", 20000, 23).unwrap();
    spin(100000);
    assert_eq!(meter.read().unwrap()[0], 20000);
}
