//! Debug information that is made to hurt: types in circles, and what refers to itself.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use calls::expression::{Typed, given_in_c, of_c};
use variables::{DebugInfo, FrameFacts, FrameScope, Memory};

use crate::stopped::debug_info;

struct Zeros;

impl Memory for Zeros {
    fn read(&self, _: u64, into: &mut [u8]) -> bool {
        into.fill(0);
        true
    }
}

/// Abbreviations: 1 the unit, 2 a function, 3 a variable, 4 a structure, 5 a member without a name, 6 a base, 7 a typedef, 8 an
/// array with a bound that refers to an entry, 9 its dimension, 10 a function that refers to its origin, 11 a pointer.
const ABBREVIATIONS: &[u8] = &[
    1, 0x11, 1, 0x11, 0x01, 0x12, 0x06, 0, 0, // low_pc addr, high_pc data4
    2, 0x2e, 1, 0x11, 0x01, 0x12, 0x06, 0x31, 0x13, 0, 0, // ..., abstract_origin ref4
    3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0, // name string, type ref4, location exprloc
    4, 0x13, 1, 0x0b, 0x0b, 0, 0, // byte_size data1
    5, 0x0d, 0, 0x49, 0x13, 0x38, 0x0b, 0, 0, // type ref4, data_member_location data1
    6, 0x1c, 0, 0x49, 0x13, 0x38, 0x0b, 0, 0, //
    7, 0x16, 0, 0x03, 0x08, 0x49, 0x13, 0, 0, //
    8, 0x01, 1, 0x49, 0x13, 0, 0, //
    9, 0x21, 0, 0x2f, 0x13, 0, 0, // upper_bound ref4
    11, 0x0f, 0, 0x49, 0x13, 0, 0, //
    0,
];

struct Writer(Vec<u8>);

impl Writer {
    fn here(&self) -> u32 {
        self.0.len() as u32
    }

    fn code(&mut self, code: u8) -> u32 {
        let at = self.here();
        self.0.push(code);
        at
    }

    fn reference(&mut self, to: u32) {
        self.0.extend(to.to_le_bytes());
    }

    fn name(&mut self, name: &str) {
        self.0.extend(name.as_bytes());
        self.0.push(0);
    }

    /// A variable that lies at an address.
    fn variable(&mut self, name: &str, of: u32) {
        self.code(3);
        self.name(name);
        self.reference(of);
        self.0.extend([9, 0x03]);
        self.0.extend(0x9000_u64.to_le_bytes());
    }

    fn set(&mut self, at: usize, to: u32) {
        self.0[at..at + 4].copy_from_slice(&to.to_le_bytes());
    }
}

fn circles() -> Arc<DebugInfo> {
    // A header of DWARF 4: its length, version, abbreviations, bytes of an address.
    let mut unit = Writer(vec![0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8]);
    unit.code(1);
    unit.0.extend(0x1000_u64.to_le_bytes());
    unit.0.extend(0x100_u32.to_le_bytes());
    // A function that is its own origin.
    let function = unit.code(2);
    unit.0.extend(0x1000_u64.to_le_bytes());
    unit.0.extend(0x100_u32.to_le_bytes());
    unit.reference(function);
    let mut later = Vec::new();
    for name in ["typedef", "record", "derived", "array", "pointer"] {
        unit.variable(name, 0);
        later.push(unit.here() as usize - 14);
    }
    unit.code(0);
    // A typedef of itself.
    let of_itself = unit.code(7);
    unit.name("circle");
    unit.reference(of_itself);
    // A structure that has itself in it, more than once.
    let record = unit.code(4);
    unit.0.push(255);
    for at in 0..3 {
        unit.code(5);
        unit.reference(record);
        unit.0.push(at);
    }
    unit.code(0);
    // A class that is derived from itself, more than once.
    let derived = unit.code(4);
    unit.0.push(255);
    for at in 0..3 {
        unit.code(6);
        unit.reference(derived);
        unit.0.push(at);
    }
    unit.code(0);
    // An array of itself, with as many elements as itself.
    let array = unit.code(8);
    unit.reference(array);
    unit.code(9);
    unit.reference(array);
    unit.code(0);
    let pointer = unit.code(11);
    unit.reference(pointer);
    unit.code(0);
    for (at, to) in later.into_iter().zip([of_itself, record, derived, array, pointer]) {
        unit.set(at, to);
    }
    let length = unit.here() - 4;
    unit.set(0, length);
    let sections = BTreeMap::from([(".debug_info", unit.0), (".debug_abbrev", ABBREVIATIONS.to_vec())]);
    debug_info(&sections)
}

#[test]
fn circles_end() {
    let facts = FrameFacts { pc: 0x1010, bias: 0, registers: BTreeMap::new(), cfa: Some(0x2000), outer: None };
    let scope = FrameScope::new(circles(), Rc::new(facts), Vec::new(), 0, false, Rc::new(Zeros)).unwrap();
    let none = |_: &str| Ok(None);
    for name in ["typedef", "record", "derived", "array", "pointer"] {
        let begin = Instant::now();
        for text in
            [name.to_owned(), format!("{name}.x"), format!("{name}[1]"), format!("*{name}"), format!("sizeof {name}")]
        {
            let _ = given_in_c(&text, &scope, &none);
        }
        if let Ok(calls::expression::Value::Typed(value)) = of_c(name, &scope, &none, false) {
            let _ = (value.type_name(), value.size(), value.width(), value.handle(), value.bounds());
        }
        assert!(begin.elapsed() < Duration::from_secs(15), "{name} took {:?}", begin.elapsed());
    }
    // It is read as it was meant.
    assert_eq!(given_in_c("&record", &scope, &none).map(|found| found.number), Ok(0x9000));
    assert_eq!(given_in_c("pointer", &scope, &none).map(|found| found.number), Ok(0));
}

#[test]
fn debug_information_is_shared_between_threads() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    is_shared(&*circles());
}
