//! Snapshots as JSON, which a report or a file of `--format json` holds: they are diagnosed and shown.

use analysis::diagnose::diagnose;
use analysis::stacks::{Options, merge};
use analysis::{named, universe};
use model::{Process, Snapshot};

pub fn run(data: &[u8]) {
    let Ok(mut snapshot) = serde_json::from_slice::<Snapshot>(data) else { return };
    snapshot.share_groups();
    let (findings, verdict) = diagnose(&snapshot, None);
    let _ = overview::overview(&snapshot, &findings, &verdict);
    let _ = merge(&snapshot, Options::default());
    named::complete(&mut snapshot);
    universe::number(&mut snapshot, &[]);
    let text = serde_json::to_string(&snapshot).unwrap();
    assert!(serde_json::from_str::<Snapshot>(&text).is_ok());
}

/// What recordings tell, and the least of it.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> =
        super::digest::snapshots().iter().map(|one| serde_json::to_vec(one).unwrap()).collect();
    let least = Snapshot { processes: vec![Process::default().into()], ..Snapshot::default() };
    seeds.push(serde_json::to_vec(&least).unwrap());
    seeds
}
