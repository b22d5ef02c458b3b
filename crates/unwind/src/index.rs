//! The entries of a table by the addresses that they are for, where the file has no table to search in.

use std::collections::HashMap;

use gimli::{CieOrFde, CommonInformationEntry, UnwindOffset, UnwindSection};
use target::file_budget::{FileBudget, Growing};

use crate::Section;
use crate::tables::Bases;

/// So many common entries are kept while the others are read. Files have some dozens.
const MOST_COMMON: usize = 4096;

/// Where one entry is, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    begin: u64,
    end: u64,
    offset: usize,
}

/// Where entries stand, for the budget of their file.
const SECTION: &str = ".eh_frame";

/// So many steps of reading one entry takes.
const STEPS: u64 = 16;

/// The budget is asked for steps once for so many entries.
const ENTRIES_BETWEEN: usize = 1 << 12;

/// Entries, by the addresses at which they begin.
#[derive(Debug)]
pub(crate) struct Index {
    places: Vec<Place>,
    _claimed: Growing,
}

impl Index {
    /// Of all entries that can be read.
    pub fn new<T: UnwindSection<Section>>(section: &T, bases: &Bases, budget: &FileBudget) -> Self {
        let (mut places, mut claimed) = (Vec::new(), Growing::new());
        let mut count = 0;
        let mut common: HashMap<usize, gimli::Result<CommonInformationEntry<Section>>> = HashMap::new();
        let mut entries = section.entries(bases);
        while let Ok(Some(entry)) = entries.next() {
            count += 1;
            if count % ENTRIES_BETWEEN == 0 && budget.steps(SECTION, STEPS * ENTRIES_BETWEEN as u64).is_err() {
                break;
            }
            let CieOrFde::Fde(partial) = entry else { continue };
            let parsed = partial.parse(|section, bases, offset| {
                let key: usize = UnwindOffset::into(offset);
                if let Some(known) = common.get(&key) {
                    return known.clone();
                }
                let found = section.cie_from_offset(bases, offset);
                if common.len() < MOST_COMMON {
                    common.insert(key, found.clone());
                }
                found
            });
            let Ok(entry) = parsed else { continue };
            // Where the linker left a function out, its entry begins at 0.
            if entry.initial_address() != 0 && entry.initial_address() < entry.end_address() {
                // Twice: a vector that grows has both sizes for a moment.
                if !claimed.by(budget, SECTION, 2 * size_of::<Place>()) {
                    break;
                }
                places.push(Place { begin: entry.initial_address(), end: entry.end_address(), offset: entry.offset() });
            }
        }
        places.sort_unstable();
        places.shrink_to_fit();
        Self { places, _claimed: claimed }
    }

    /// The offset of the entry for an address.
    pub fn find(&self, address: u64) -> Option<usize> {
        let after = self.places.partition_point(|place| place.begin <= address);
        let place = self.places.get(after.checked_sub(1)?)?;
        (address < place.end).then_some(place.offset)
    }
}
