//! What the names that the library gives to communicators say of their origin (ompi/communicator/comm.c, v4.1.4 and
//! v5.0.7): `MPI COMMUNICATOR 5 DUP FROM 0`, since 5.0 also `MPI COMM 0x… SPLIT FROM 3`.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::HandleReader;
use super::references::WIN_COMM;
use crate::record::Record;
use crate::references::Refers;
use model::HandleKind;
use model::handle::Reference;
use target::address::TargetAddr;
use target::{TargetError, printable};

/// What stands between a communicator's own id and that of another, and what that says.
const ORIGINS: &[(&str, &str)] = &[
    ("CREATE FROM", "created from"),
    ("SPLIT FROM", "split from"),
    ("SPLIT_TYPE FROM", "split by type from"),
    (DUPLICATE, "duplicate of"),
    ("GROUP FROM", "created by a group of"),
];

const DUPLICATE: &str = "DUP FROM";

/// Longest name that is read, in bytes (MPI_MAX_OBJECT_NAME is 64).
const MAX_NAME: usize = 256;

/// What a generated name says; `None` for any other name.
pub fn origin(name: &str) -> Option<String> {
    let (words, id) = parts(name)?;
    let (_, meaning) = ORIGINS.iter().find(|(known, _)| *known == words)?;
    Some(format!("{meaning} the communicator with context id {id}"))
}

/// The words of a generated name, and the id behind them.
fn parts(name: &str) -> Option<(&str, &str)> {
    let rest = ["MPI COMMUNICATOR ", "MPI COMM "].iter().find_map(|start| name.strip_prefix(start))?;
    let (_, rest) = rest.split_once(' ')?;
    let (words, id) = rest.rsplit_once(' ')?;
    (!id.is_empty()).then_some((words, id))
}

/// Windows by the id of the communicator of which theirs is a duplicate, each with the group that it shares with that.
#[derive(Default)]
pub struct Duplicates(OnceCell<HashMap<String, Vec<(TargetAddr, TargetAddr)>>>);

impl HandleReader<'_> {
    /// The windows whose own communicator says that it is a duplicate of one with an id of `ids` and has the same group.
    /// Marked as not certain: ids are used again.
    pub(super) fn windows_made_of(&self, ids: &[String], group: TargetAddr) -> Vec<Reference> {
        let known = self.duplicates.0.get_or_init(|| self.find_duplicates());
        let windows = ids.iter().filter_map(|id| known.get(id)).flatten().filter(|(_, shared)| *shared == group);
        let doubtful = |window| Reference { doubtful: true, ..self.refer(HandleKind::Win, window) };
        windows.map(|(window, _)| doubtful(*window)).collect()
    }

    fn find_duplicates(&self) -> HashMap<String, Vec<(TargetAddr, TargetAddr)>> {
        let mut known: HashMap<String, Vec<_>> = HashMap::new();
        for (window, comm) in self.pointers(WIN_COMM) {
            // One that cannot be read is a duplicate of nobody.
            let Ok((name, group)) = self.name_and_group(comm) else { continue };
            if let Some((DUPLICATE, id)) = parts(&name) {
                known.entry(id.to_owned()).or_default().push((window, group));
            }
        }
        known
    }

    fn name_and_group(&self, comm: TargetAddr) -> Result<(String, TargetAddr), TargetError> {
        let shape = &self.shapes.communicator;
        let record = Record::owned(self.target, comm, shape.size)?;
        let name = printable(&record.text(shape.name, MAX_NAME, self.target)?);
        Ok((name, record.pointer(shape.local_group)))
    }
}

/// The ways in which the library writes a communicator's id (`ompi_comm_print_cid` in ompi/communicator/comm.c, v5.0.7; until
/// 4.1 the context id).
pub fn written_ids(reader: &HandleReader<'_>, record: &Record<'_>) -> Vec<String> {
    let shape = &reader.shapes.communicator;
    match (shape.context_base, shape.context_sub, shape.index) {
        (Some(base), Some(sub), Some(index)) => {
            vec![record.uint(index).to_string(), format!("{:#x}{:08x}", record.uint(base), record.uint(sub))]
        }
        _ => shape.context.map(|context| record.uint(context).to_string()).into_iter().collect(),
    }
}
