//! The debug information of one file, shared between the processes that have loaded it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use symbols::{DebugEntry, DebugUnit, Information, UnitStart};
use target::TargetAbi;
use target::file_budget::{FileBudget, Kept};

use crate::limits::{INDEX_TIME, KEPT_UNITS, TIME_LIMIT};
use crate::names::Names;

/// How a section of a file is read.
pub use symbols::DebugSection as Section;

/// The debug information of one file. What it takes long to find is found once, when it is first asked for.
pub struct DebugInfo {
    pub(crate) information: Arc<Information>,
    abi: TargetAbi,
    names: OnceLock<Kept<Names>>,
    /// The names of each unit alone.
    of_units: Mutex<HashMap<UnitStart, Arc<Kept<Names>>>>,
}

impl DebugInfo {
    /// That of a file whose numbers are stored as `abi` says.
    pub fn new(information: Arc<Information>, abi: TargetAbi) -> Self {
        Self { information, abi, names: OnceLock::new(), of_units: Mutex::default() }
    }

    /// What the file may take.
    fn budget(&self) -> &FileBudget {
        self.information.main.reader().budget()
    }

    pub(crate) fn abi(&self) -> TargetAbi {
        self.abi
    }

    /// The innermost function whose code has an address of the file. What `.dwo` files describe is not read.
    pub(crate) fn function_at(&self, address: u64) -> Option<DebugEntry> {
        let end = Instant::now() + INDEX_TIME;
        let in_silent = || {
            let mut silent = self.information.silent().take_while(|_| Instant::now() < end);
            silent.find_map(|unit| Some(DebugEntry::new(Arc::clone(&unit), unit.function_at(address)?)))
        };
        let found = self.information.function_at(address).or_else(in_silent);
        found.filter(|function| !function.unit.is_split())
    }

    /// The names of one unit alone.
    pub(crate) fn names_of(&self, unit: &Arc<DebugUnit>) -> Arc<Kept<Names>> {
        let known = || self.of_units.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&unit.start) {
            return Arc::clone(found);
        }
        let mut names = Names::default();
        names.add_unit(&self.information, unit, Instant::now() + TIME_LIMIT);
        names.sort();
        let names = Arc::new(names.kept(self.budget()));
        let mut known = known();
        if known.len() >= KEPT_UNITS {
            known.clear();
        }
        known.insert(unit.start, Arc::clone(&names));
        names
    }

    /// The names of all units.
    pub(crate) fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let end = Instant::now() + INDEX_TIME;
            let mut found = Names::default();
            for start in self.information.main.starts() {
                match self.information.main.unit_once(start) {
                    Some(unit) => found.add_unit(&self.information, &unit, end),
                    None => found.complete = false,
                }
                if !found.complete && Instant::now() > end {
                    break;
                }
            }
            found.sort();
            found.kept(self.budget())
        })
    }
}
