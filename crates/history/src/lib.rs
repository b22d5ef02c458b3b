//! What the flight recorder keeps of a process, read from its memory by whatever target has it (docs/recorder.md; the layout is
//! that of the crate `record-format`).
//!
//! The process may have been stopped, or killed, at any moment: rows that were being written are left out, and numbers that
//! cannot be are damage, of which the rest is told.

mod calls;
mod clock;
mod header;
mod places;
mod posted;
mod rows;
mod sends;
mod tables;

use std::rc::Rc;

use functions::constants::Family;
use header::Header;
use model::{HandleWord, History, Stage, Text};
use places::Places;
use target::{Target, TargetError};

/// So many of the latest calls of a thread are told.
const CALLS_TOLD: u64 = 16;

/// Threads that are looked at.
const MOST_THREADS: u64 = 1 << 12;

/// So many of the latest collectives of a communicator.
const COLLECTIVES_TOLD: u64 = 16;

/// Why a record is not read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HistoryError {
    /// Its memory cannot be had.
    #[error("the flight recorder's record could not be read: {0}")]
    Target(#[from] TargetError),
    /// It was written by another version.
    #[error(
        "the flight recorder's record has version {found}, and this version reads {VERSION}: use one of the same \
         release"
    )]
    Version {
        /// What the record says.
        found: u32,
    },
    /// Its header makes no sense.
    #[error("the flight recorder's record is damaged: {0}")]
    Damaged(&'static str),
    /// The target's numbers are stored in another way.
    #[error("the flight recorder's record is read only for 64-bit, little-endian processes")]
    Machine,
}

use record_format::VERSION;

pub use posted::{Current, Message, OpenRequest, Peer, Posted, Tag};

/// A record that was read.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// What is told of it.
    pub history: History,
    /// The requests that are open, the oldest first.
    pub open: Vec<OpenRequest>,
    /// The calls that threads are in.
    pub current: Vec<Current>,
    /// Whose constants and handles these have; `None` where that is not known.
    pub family: Option<Family>,
    /// How far the process is with MPI.
    pub stage: Option<Stage>,
}

/// What is kept; `None` where the process runs without the recorder, or has not called MPI yet. `name`: what a communicator is
/// called that has that handle in C.
///
/// # Errors
/// [`HistoryError`], where there is a record and it cannot be read.
pub fn read<T: Target>(target: &T, name: &dyn Fn(HandleWord) -> Option<Text>) -> Result<Option<Record>, HistoryError> {
    let Some(header) = Header::read(target)? else { return Ok(None) };
    let functions = tables::functions(target, &header)?;
    let threads = header.threads.rows(target, 0, MOST_THREADS)?;
    let reading = Reading { target, header: &header, functions, threads, places: Places::new(target), name };
    let mut found = History {
        lost_calls: header.lost_calls,
        lost_requests: header.lost_requests,
        lost_communicators: header.lost_communicators,
        lost_messages: header.lost_messages,
        world_rank: header.world_rank,
        world_size: header.world_size,
        bypassed: header.bypassed,
        forked_from: (header.forked_from != 0).then(|| i64::from(header.forked_from)),
        ..History::default()
    };
    let (communicators, named) = reading.communicators()?;
    found.communicators = communicators;
    found.threads = reading.threads(&named);
    let rows = reading.request_rows()?;
    found.requests = reading.requests(&rows, &named);
    let (open, current) = (reading.open_requests(&rows, &named), reading.current(&named));
    let stage = match header.stage {
        record_format::stage::BEFORE => Some(Stage::NotInitialized),
        record_format::stage::RUNNING => Some(Stage::Initialized),
        record_format::stage::FINALIZING => Some(Stage::Finalizing),
        record_format::stage::FINALIZED => Some(Stage::Finalized),
        _ => None,
    };
    Ok(Some(Record { history: found, open, current, family: header.family, stage }))
}

/// A record that is being read.
struct Reading<'t, T: Target> {
    target: &'t T,
    header: &'t Header,
    functions: Rc<[tables::FunctionRow]>,
    /// The table of threads, which calls name by their rows.
    threads: Vec<u8>,
    places: Places<'t, T>,
    name: &'t dyn Fn(HandleWord) -> Option<Text>,
}
