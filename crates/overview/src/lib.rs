//! What a report shows of a snapshot and its diagnosis, as data: the wait-for graph with ranks of the same fate as one node
//! ([`graph`]), where its nodes lie on the paper ([`layout`]), tables of ranks, messages and calls ([`tables`]).
//!
//! Everything is bounded: a job of a hundred thousand ranks gives a graph that a person can read, and tables that a browser can hold.

pub mod fates;
pub mod graph;
pub mod layout;
pub mod messages;
mod past_calls;
mod strings;
pub mod tables;

use model::{Finding, Snapshot, Verdict};

pub use graph::WaitGraph;
pub use tables::Tables;

/// What a report shows.
#[derive(Debug)]
pub struct Overview {
    /// Who waits for whom.
    pub graph: WaitGraph,
    /// What there is to look up.
    pub tables: Tables,
}

/// Works out what a report shows of a snapshot and what was found in it.
pub fn overview(snapshot: &Snapshot, findings: &[Finding], verdict: &Verdict) -> Overview {
    let (graph, nodes) = graph::wait_graph(snapshot, findings, verdict);
    let tables = tables::tables(snapshot, findings, verdict, &nodes);
    Overview { graph, tables }
}
