//! What MPICH calls worlds: the process's own, and those that it was connected to.
//!
//! The names come from the process manager and are the same in all processes: the id of ch3's process groups
//! (pmodels/mpich, src/mpid/ch3/include/mpidimpl.h, v3.4 to v5.0), and since 5.0 the namespaces of a table of worlds
//! (src/include/mpir_lpid.h, src/mpi/group/grouputil.c). ch4 until 4.3 keeps no name of other worlds.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use super::groups::{Groups, InLibrary};
use crate::record::{Record, Slot};
use layouts::{LayoutError, Layouts};
use model::Elsewhere;
use target::address::TargetAddr;
use target::{Range, Target, fit, is_zero, printable};

/// Bytes of a namespace in the table, and of an entry: the number of processes follows.
const NAMESPACE: usize = 128;
const ENTRY: usize = NAMESPACE + 4;

/// More entries than any release's table has (`MPIR_MAX_WORLDS`).
const MAX_WORLDS: usize = 1024;

/// Large arrays of a library begin at a multiple of this.
const ALIGNMENT: u64 = 16;

/// Longest id of a process group in bytes; PMI's names of them have up to 256.
const MAX_ID: usize = 1024;

/// Bytes that are read together, a multiple of the alignment.
const CHUNK: u64 = 1 << 20;

/// Tells the names of worlds.
pub struct Worlds<'a> {
    target: &'a dyn Target,
    /// The library's variables.
    ranges: &'a [Range],
    /// Where a process group of ch3 has its id.
    id: Option<Slot>,
    world_size: Option<i64>,
    ids: RefCell<HashMap<TargetAddr, Option<String>>>,
    table: OnceCell<Vec<String>>,
}

impl<'a> Worlds<'a> {
    /// No name is read yet.
    ///
    /// # Errors
    /// Where the layouts of process groups make no sense.
    pub fn new(
        target: &'a dyn Target,
        layouts: &Layouts,
        ranges: &'a [Range],
        world_size: Option<i64>,
    ) -> Result<Self, LayoutError> {
        let id = Slot::probe(layouts, "MPIDI_PG", "id")?;
        Ok(Self { target, ranges, id, world_size, ids: RefCell::default(), table: OnceCell::new() })
    }

    /// The members of a group that are of other worlds: those without a rank in ours. Nothing is read where there is none;
    /// nobody is named of whom the library tells no world.
    pub fn elsewhere(
        &self,
        groups: &Groups<'_>,
        comm: &Record<'_>,
        slots: [Slot; 2],
        inter: bool,
        remote: bool,
        members: &[Option<i64>],
    ) -> Vec<Elsewhere> {
        if members.iter().all(Option::is_some) {
            return Vec::new();
        }
        let size = i64::try_from(members.len()).unwrap_or(0);
        let identities = groups.identities(comm, slots, inter, remote, size).unwrap_or_default();
        let others = (0..).zip(members.iter().zip(identities)).filter(|(_, (known, _))| known.is_none());
        let named = others.filter_map(|(local, (_, identity))| {
            let identity = identity?;
            Some((local, self.name(identity.world)?, identity.rank))
        });
        Elsewhere::runs(remote, named)
    }

    /// What the library calls a world.
    pub fn name(&self, world: InLibrary) -> Option<String> {
        match world {
            InLibrary::Index(index) => self.table().get(usize::try_from(index).ok()?).cloned(),
            InLibrary::ProcessGroup(at) => self.ids.borrow_mut().entry(at).or_insert_with(|| self.id(at)).clone(),
        }
    }

    fn id(&self, group: TargetAddr) -> Option<String> {
        let slot = self.id.filter(|_| !group.is_null())?;
        let at = slot.read_pointer(self.target, group).ok().filter(|at| !at.is_null())?;
        let id = self.target.read_c_string(at, MAX_ID).ok()?;
        // Without a process manager all are called "0" (MPIDI_CH3I_Init, src/mpid/ch3/src/mpid_init.c, v4.0.2).
        (id.len() > 1).then(|| printable(&id))
    }

    /// The names in the library's table of worlds, the process's own first; empty where it has none.
    fn table(&self) -> &[String] {
        self.table.get_or_init(|| {
            let mut found: Vec<Vec<String>> = Vec::new();
            for range in self.ranges {
                self.look(*range, &mut found);
            }
            // Something else that looks like it: then nothing is known.
            if found.len() == 1 { found.pop().unwrap_or_default() } else { Vec::new() }
        })
    }

    fn look(&self, range: Range, found: &mut Vec<Vec<String>>) {
        let mut buffer = Vec::new();
        // A table reaches over the end of a chunk.
        let overlap = (MAX_WORLDS * ENTRY) as u64;
        for offset in (0..range.len).step_by(CHUNK as usize) {
            let left = range.len - offset;
            let at = range.start.wrapping_add(offset);
            let bytes = left.min(CHUNK + overlap) as usize;
            if fit(&mut buffer, bytes).and_then(|()| self.target.read_once(at, &mut buffer)).is_err() {
                continue;
            }
            let first = (at.get().wrapping_neg() % ALIGNMENT) as usize;
            let mut end = 0;
            for start in (first..left.min(CHUNK) as usize).step_by(ALIGNMENT as usize) {
                // What is a part of a table is none.
                if start >= end
                    && found.len() < 2
                    && let Some(table) = buffer.get(start..).and_then(|bytes| self.table_at(bytes))
                {
                    end = start + table.len() * ENTRY;
                    found.push(table);
                }
            }
        }
    }

    /// A table of worlds, where the bytes begin with one whose first world is of our size.
    fn table_at(&self, bytes: &[u8]) -> Option<Vec<String>> {
        if Some(self.entry(bytes)?.1) != self.world_size {
            return None;
        }
        let mut names = Vec::new();
        for entry in bytes.chunks_exact(ENTRY).take(MAX_WORLDS) {
            match self.entry(entry) {
                Some((name, _)) => names.push(name),
                // The next one has never been used.
                None => return is_zero(entry).then_some(names),
            }
        }
        Some(names)
    }

    /// The name of a world and the number of its processes.
    fn entry(&self, bytes: &[u8]) -> Option<(String, i64)> {
        let (name, size) = (bytes.get(..NAMESPACE)?, bytes.get(NAMESPACE..ENTRY)?);
        let len = name.iter().position(|byte| *byte == 0).filter(|len| *len > 1)?;
        let (text, rest) = name.split_at(len);
        let size = self.target.abi().int(size);
        (text.iter().all(u8::is_ascii_graphic) && is_zero(rest) && size > 0).then(|| (printable(text), size))
    }
}
