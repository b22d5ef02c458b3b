//! What the flight recorder keeps, with other words in it: a program can write what it likes over it.

#[path = "../../../history/tests/history/made.rs"]
#[allow(dead_code)]
mod made;

use std::mem::size_of;

use self::made::{AT, Record};
use crate::edits;

pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let mut record = Record::new();
    // Most of what decides anything is the header.
    let header = size_of::<record_format::Header>();
    let end = if first % 2 == 0 { header } else { record.bytes.len() };
    edits::apply(&mut record.bytes[..end], AT, rest);
    if first % 8 == 7 {
        record.bytes.truncate(header + usize::from(*first) * 8);
    }
    let target = record.target();
    if let Ok(Some(found)) = history::read(&target, &|_| None) {
        let text = serde_json::to_string(&found.history).unwrap();
        assert!(text.len() < 64 << 20, "{} bytes of JSON", text.len());
    }
    edits::read_count(&target, 1 << 22);
}

pub fn seeds() -> Vec<Vec<u8>> {
    (0..24).zip(edits::seeds(24)).map(|(head, change)| [&[head][..], &change].concat()).collect()
}
