//! What the flight recorder keeps, with other words in it: a program can write what it likes over it.

#[path = "../../../history/tests/history/made.rs"]
#[allow(dead_code)]
mod made;

use std::mem::size_of;

use analysis::diagnose::diagnose;
use analysis::universe;
use model::{Facts, Process, Snapshot};
use session::{LayoutChoice, Session, Wrappers};
use target::Image;
use target::address::TargetAddr;
use target::mock::MockTarget;

use self::made::{AT, Record};
use crate::edits;

pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let target = changed(*first, rest);
    if let Ok(Some(found)) = history::read(&target, &|_| None) {
        let text = serde_json::to_string(&found.history).unwrap();
        assert!(text.len() < 64 << 20, "{} bytes of JSON", text.len());
    }
    edits::read_count(&target, 1 << 22);
}

fn changed(first: u8, data: &[u8]) -> MockTarget {
    let mut record = if first & 16 == 0 { Record::new() } else { Record::with_send() };
    // Most of what decides anything is the header.
    let header = size_of::<record_format::Header>();
    let end = if first.is_multiple_of(2) { header } else { record.bytes.len() };
    edits::apply(&mut record.bytes[..end], AT, data);
    if first % 8 == 7 {
        record.bytes.truncate(header + usize::from(first) * 8);
    }
    record.target()
}

/// Two ranks of whose operations nothing but their recorders tell: the first half of an input is of the one, the rest of the other.
pub fn ranks(data: &[u8]) {
    let [first, second, rest @ ..] = data else { return };
    let (one, other) = rest.split_at(rest.len() / 2);
    let ranks = [(0, rank(*first, one)), (1, rank(*second, other))];
    let processes: Vec<_> = ranks
        .into_iter()
        .filter_map(|(rank, process)| Some(Process { rank: Some(rank), world_size: Some(2), ..process? }.into()))
        .collect();
    let mut snapshot = Snapshot { processes, ..Snapshot::default() };
    universe::number(&mut snapshot, &[]);
    analysis::recorded::complete(&mut snapshot);
    let (findings, verdict) = diagnose(&snapshot, None);
    let _ = overview::overview(&snapshot, &findings, &verdict);
    let text = serde_json::to_string(&snapshot).unwrap();
    assert!(text.len() < 64 << 20, "{} bytes of JSON", text.len());
    assert!(serde_json::from_str::<Snapshot>(&text).is_ok());
}

fn rank(first: u8, data: &[u8]) -> Option<Process> {
    let mut target = changed(first, data);
    target.add_image(Image {
        path: "/lib/libmpi_queues_recorder.so".to_owned(),
        bias: TargetAddr::new(0x80_0000),
        build_id: None,
        is_executable: false,
    });
    let session = Session::new(target, LayoutChoice::default());
    let mut process = session.read_recorded().ok()?;
    session.complete(&mut process, &mut Facts::default(), &Wrappers::named([]), &[]);
    assert!(process.problems.len() < 2000 && process.notes.len() < 2000);
    Some(process)
}

pub fn seeds() -> Vec<Vec<u8>> {
    (0..24).zip(edits::seeds(24)).map(|(head, change)| [&[head][..], &change].concat()).collect()
}

/// Whole ranks, and such as are changed in their tables.
pub fn seeds_of_ranks() -> Vec<Vec<u8>> {
    let changed = edits::seeds(24).into_iter().map(|change| [&[1, 9][..], &change].concat());
    changed.chain([vec![0, 0]]).collect()
}
