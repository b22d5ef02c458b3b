//! The functions of one unit: which has an address, what is inlined there, and what stands around an entry.

use std::time::{Duration, Instant};

use gimli::{UnitOffset, constants as dw};

use super::entries::{Walk, each_inside};
use super::units::DebugUnit;

/// Reading one unit may take this long, and it may have so many entries that contain others.
const TIME_LIMIT: Duration = Duration::from_secs(2);
const MAX_SCOPES: usize = 1 << 20;

/// Calls that are inlined in one another more deeply are damage.
const MAX_INLINED: usize = 1 << 10;

/// The time is looked at once for so many entries.
const ENTRIES_BETWEEN: usize = 1 << 10;

/// No scope is around an entry.
const NONE: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct Functions {
    /// In the order of their offsets.
    scopes: Vec<Scope>,
    ranges: Vec<(u64, u64, UnitOffset)>,
}

/// An entry that contains others and has a name.
struct Scope {
    offset: usize,
    /// The number of the one around it.
    parent: u32,
}

impl Functions {
    pub(crate) fn new(unit: &DebugUnit) -> Self {
        let mut found = Self::default();
        // A damaged unit says as much as it has said until then.
        let _ = found.read(unit);
        found
    }

    fn read(&mut self, unit: &DebugUnit) -> gimli::Result<()> {
        let end = Instant::now() + TIME_LIMIT;
        let mut around: Vec<(isize, u32)> = Vec::new();
        let mut entries = unit.entries();
        let mut count = 0;
        while let Some(entry) = entries.next_dfs()? {
            count += 1;
            if self.scopes.len() >= MAX_SCOPES || count % ENTRIES_BETWEEN == 0 && Instant::now() > end {
                break;
            }
            let is_function = entry.tag() == dw::DW_TAG_subprogram;
            if !is_function && !is_scope(entry.tag()) {
                continue;
            }
            let depth = entry.depth();
            while around.last().is_some_and(|(at, _)| *at >= depth) {
                around.pop();
            }
            let parent = around.last().map_or(NONE, |(_, scope)| *scope);
            let number = u32::try_from(self.scopes.len()).unwrap_or(NONE);
            self.scopes.push(Scope { offset: entry.offset().0, parent });
            if entry.has_children() {
                around.push((depth, number));
            }
            if is_function && self.ranges.len() < MAX_SCOPES {
                let offset = entry.offset();
                self.ranges.extend(unit.ranges(entry).map(|(begin, end)| (begin, end, offset)));
            }
        }
        self.ranges.sort_unstable_by_key(|(begin, _, offset)| (*begin, offset.0));
        self.ranges.shrink_to_fit();
        self.scopes.shrink_to_fit();
        Ok(())
    }

    /// The memory that they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.scopes.as_slice()) + size_of_val(self.ranges.as_slice())
    }

    /// The function that has an address.
    pub(crate) fn at(&self, address: u64) -> Option<UnitOffset> {
        let after = self.ranges.partition_point(|(begin, ..)| *begin <= address);
        let before = self.ranges.get(..after)?.iter().rev();
        before.filter(|(_, end, _)| address < *end).map(|(.., offset)| *offset).next()
    }

    /// What stands around an entry: a namespace, a module, a type or a function.
    pub(crate) fn around(&self, offset: UnitOffset) -> Option<UnitOffset> {
        let at = self.scopes.binary_search_by_key(&offset.0, |scope| scope.offset).ok()?;
        let parent = self.scopes.get(self.scopes.get(at)?.parent as usize)?;
        Some(UnitOffset(parent.offset))
    }
}

fn is_scope(tag: dw::DwTag) -> bool {
    matches!(
        tag,
        dw::DW_TAG_namespace
            | dw::DW_TAG_module
            | dw::DW_TAG_class_type
            | dw::DW_TAG_structure_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_interface_type
            | dw::DW_TAG_enumeration_type
    )
}

/// The calls in `function` that are inlined at an address, the outermost first.
pub(crate) fn inlined_at(unit: &DebugUnit, function: UnitOffset, address: u64, end: Instant) -> Vec<UnitOffset> {
    let mut best = Vec::new();
    // Those around an entry, with their depths.
    let mut around: Vec<(isize, UnitOffset)> = Vec::new();
    // A damaged function says as much as it has said until then.
    let _ = each_inside(unit, function, end, &mut |entry| {
        while around.last().is_some_and(|(at, _)| *at >= entry.depth()) {
            around.pop();
        }
        if entry.tag() != dw::DW_TAG_inlined_subroutine {
            return Walk::Into;
        }
        let mut code = unit.ranges(entry).peekable();
        if code.peek().is_none() || around.len() >= MAX_INLINED {
            return Walk::Over;
        }
        around.push((entry.depth(), entry.offset()));
        if around.len() > best.len() && code.any(|(begin, end)| (begin..end).contains(&address)) {
            best = around.iter().map(|(_, offset)| *offset).collect();
        }
        Walk::Into
    });
    best
}
