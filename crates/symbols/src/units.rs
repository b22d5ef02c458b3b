//! The units of debug information, opened once for all that is asked of them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use gimli::{AttributeValue, DebugInfoOffset, Dwarf, Error, Unit, UnitHeader, UnitOffset, UnitType, constants as dw};
use target::file_budget::{FileBudget, Kept};

use super::DebugSection;
use super::entries::{Entry, Value};
use super::frames::Language;
use super::functions::Functions;
use super::lines::Lines;
use super::split::{SplitUnit, Splits};
use super::unit_reader::{OpenUnit, UnitReader};

/// More units are damage.
const MAX_UNITS: usize = 1 << 20;

/// So many units are kept open.
const MAX_OPENED: usize = 1 << 10;

/// Entries that stand in one another more deeply are damage.
const MAX_DEPTH: usize = 96;

/// Where a unit begins in `.debug_info`; with [`OF_TYPES`], which of those in `.debug_types` it is.
pub type UnitStart = usize;

const OF_TYPES: UnitStart = 1 << (UnitStart::BITS - 1);

/// The units of a file, opened when they are wanted.
pub struct Units {
    reader: Arc<UnitReader>,
    /// What the compiler left beside the object files.
    splits: Option<Splits>,
    /// Only references from one unit to another, and the names of a whole file, want to know all.
    starts: OnceLock<Kept<Starts>>,
    opened: Mutex<BTreeMap<UnitStart, Arc<DebugUnit>>>,
}

/// All units.
#[derive(Default)]
struct Starts {
    /// Those of `.debug_info`, in order.
    of_info: Vec<UnitStart>,
    of_types: Vec<UnitHeader<DebugSection>>,
    /// Types that have all of their description in a unit of their own.
    signatures: HashMap<u64, (UnitStart, UnitOffset)>,
    damage: Option<Error>,
}

impl Units {
    /// Those that the reader opens.
    pub fn new(reader: Arc<UnitReader>) -> Self {
        Self { reader, splits: None, starts: OnceLock::new(), opened: Mutex::default() }
    }

    pub(crate) fn with_splits(reader: Arc<UnitReader>, splits: Splits) -> Self {
        Self { splits: Some(splits), ..Self::new(reader) }
    }

    /// What opens them.
    pub fn reader(&self) -> &Arc<UnitReader> {
        &self.reader
    }

    /// Where each begins: those of `.debug_info`, then those of `.debug_types`.
    pub fn starts(&self) -> impl Iterator<Item = UnitStart> {
        let starts = self.all();
        let of_types = (0..starts.of_types.len()).map(|number| OF_TYPES | number);
        starts.of_info.iter().copied().chain(of_types)
    }

    /// Why their list ends before that of the file, where it does.
    pub fn damage(&self) -> Option<Error> {
        self.all().damage
    }

    /// The unit that begins there, which is kept open.
    pub fn unit(&self, start: UnitStart) -> Option<Arc<DebugUnit>> {
        if let Some(known) = self.known(start) {
            return Some(known);
        }
        let unit = Arc::new(DebugUnit::open(&self.reader, start, self.header(start)?, self.splits.as_ref())?);
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if opened.len() >= MAX_OPENED {
            opened.clear();
        }
        Some(Arc::clone(opened.entry(start).or_insert(unit)))
    }

    /// The same for one look: who goes through all units keeps none, and wants what the file has itself.
    pub fn unit_once(&self, start: UnitStart) -> Option<Arc<DebugUnit>> {
        let known = self.known(start).filter(|unit| !unit.is_split());
        known.or_else(|| DebugUnit::open(&self.reader, start, self.header(start)?, None).map(Arc::new))
    }

    fn known(&self, start: UnitStart) -> Option<Arc<DebugUnit>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).get(&start).cloned()
    }

    fn header(&self, start: UnitStart) -> Option<UnitHeader<DebugSection>> {
        if start & OF_TYPES != 0 {
            return self.all().of_types.get(start & !OF_TYPES).cloned();
        }
        self.reader.dwarf().debug_info.header_from_offset(DebugInfoOffset(start)).ok()
    }

    /// The unit, and where in it, that an offset of `.debug_info` is in.
    pub fn containing(&self, offset: DebugInfoOffset) -> Option<(UnitStart, UnitOffset)> {
        let all = &self.all().of_info;
        let start = *all.get(all.partition_point(|start| *start <= offset.0).checked_sub(1)?)?;
        Some((start, offset.to_unit_offset(&self.header(start)?)?))
    }

    /// What an attribute of an entry of that unit refers to, where it is in the same file.
    pub fn referred(&self, unit: &DebugUnit, value: &Value) -> Option<(UnitStart, UnitOffset)> {
        match value {
            AttributeValue::UnitRef(offset) => offset.is_in_bounds(&unit.header).then_some((unit.start, *offset)),
            // What lies in a `.dwo` file refers to that.
            _ if unit.is_split() => None,
            AttributeValue::DebugInfoRef(offset) => self.containing(*offset),
            AttributeValue::DebugTypesRef(signature) => self.all().signatures.get(&signature.0).copied(),
            _ => None,
        }
    }

    fn all(&self) -> &Starts {
        self.starts.get_or_init(|| {
            let mut found = Starts::default();
            found.damage = found.read(self.reader.dwarf()).err();
            let bytes = size_of_val(found.of_info.as_slice())
                + size_of_val(found.of_types.as_slice())
                + found.signatures.len() * 2 * size_of::<(u64, (UnitStart, UnitOffset))>();
            self.reader.budget().keep(".debug_info", found, bytes, Starts::default())
        })
    }
}

impl Starts {
    fn read(&mut self, dwarf: &Dwarf<DebugSection>) -> gimli::Result<()> {
        let mut units = dwarf.units();
        while self.of_info.len() < MAX_UNITS
            && let Some(header) = units.next()?
        {
            if let Some(DebugInfoOffset(start)) = header.debug_info_offset() {
                self.sign(&header, start);
                self.of_info.push(start);
            }
        }
        let mut units = dwarf.type_units();
        while self.of_types.len() < MAX_UNITS
            && let Some(header) = units.next()?
        {
            self.sign(&header, OF_TYPES | self.of_types.len());
            self.of_types.push(header);
        }
        Ok(())
    }

    fn sign(&mut self, header: &UnitHeader<DebugSection>, start: UnitStart) {
        if let UnitType::Type { type_signature, type_offset } | UnitType::SplitType { type_signature, type_offset } =
            header.type_()
        {
            self.signatures.entry(type_signature.0).or_insert((start, type_offset));
        }
    }
}

/// One unit.
pub struct DebugUnit {
    /// Where it begins in the file itself.
    pub start: UnitStart,
    /// The language that it was compiled of.
    pub language: Language,
    /// Whether that is Rust, whose symbols stand for names in the source in a way of their own.
    pub(crate) is_rust: bool,
    dwarf: Arc<Dwarf<DebugSection>>,
    /// What describes functions: that of the `.dwo` file where there is one.
    unit: OpenUnit,
    /// Where there is one, what the file itself still says of it: it has the lines.
    skeleton: Option<(Arc<Dwarf<DebugSection>>, OpenUnit)>,
    budget: FileBudget,
    functions: OnceLock<Kept<Functions>>,
    lines: OnceLock<Kept<Lines>>,
}

impl Deref for DebugUnit {
    type Target = Unit<DebugSection>;

    fn deref(&self) -> &Self::Target {
        &self.unit
    }
}

impl DebugUnit {
    fn open(
        reader: &UnitReader,
        start: UnitStart,
        header: UnitHeader<DebugSection>,
        splits: Option<&Splits>,
    ) -> Option<Self> {
        let unit = reader.open(header)?;
        let dwarf = reader.dwarf();
        let split = splits.and_then(|splits| splits.of(reader, &unit));
        let (dwarf, unit, skeleton) = match split {
            Some(SplitUnit { dwarf: of_split, unit: split }) => (of_split, split, Some((dwarf.clone(), unit))),
            None => (dwarf.clone(), unit, None),
        };
        let root = unit.entry(unit.header.root_offset()).ok()?;
        let told = match root.attr_value(dw::DW_AT_language) {
            Some(AttributeValue::Language(language)) => Some(language),
            _ => None,
        };
        Some(Self {
            start,
            language: Language::of(told),
            is_rust: told == Some(dw::DW_LANG_Rust),
            dwarf,
            unit,
            skeleton,
            budget: reader.budget().clone(),
            functions: OnceLock::new(),
            lines: OnceLock::new(),
        })
    }

    /// The debug information that it is a part of.
    pub fn dwarf(&self) -> &Dwarf<DebugSection> {
        &self.dwarf
    }

    /// A string of one of its entries.
    pub fn text(&self, value: Value) -> Option<String> {
        let bytes = self.dwarf.attr_string(&self.unit, value).ok()?;
        Some(String::from_utf8_lossy(&bytes.bytes()?).into_owned())
    }

    /// Whether it was written in Fortran.
    pub fn is_fortran(&self) -> bool {
        self.language == Language::Fortran
    }

    /// Whether it was written in C++.
    pub fn is_cxx(&self) -> bool {
        self.language == Language::Cpp
    }

    /// Whether it lies in a `.dwo` file.
    pub fn is_split(&self) -> bool {
        self.skeleton.is_some()
    }

    /// The innermost function whose code has an address of the file.
    pub fn function_at(&self, address: u64) -> Option<UnitOffset> {
        self.functions().at(address)
    }

    /// Where the code of an entry lies. What a linker removed begins at zero.
    pub fn ranges(&self, entry: &Entry) -> impl Iterator<Item = (u64, u64)> + use<> {
        super::entries::ranges(&self.dwarf, &self.unit, entry)
    }

    /// Where a function is entered.
    pub fn entered_at(&self, function: &Entry) -> Option<u64> {
        super::entries::entered_at(&self.dwarf, &self.unit, function)
    }

    pub(crate) fn functions(&self) -> &Functions {
        let read = || {
            let functions = Functions::new(self);
            let bytes = functions.bytes();
            self.budget.keep(".debug_info", functions, bytes, Functions::default())
        };
        self.functions.get_or_init(read)
    }

    pub(crate) fn lines(&self) -> &Lines {
        let read = || {
            let lines = match &self.skeleton {
                Some((dwarf, unit)) => Lines::new(dwarf, unit),
                None => Lines::new(&self.dwarf, &self.unit),
            };
            let bytes = lines.bytes();
            self.budget.keep(".debug_line", lines, bytes, Lines::default())
        };
        self.lines.get_or_init(read)
    }

    /// The entries from that of the unit to the one at an offset, both included.
    pub fn path(&self, wanted: UnitOffset, end: Instant) -> Option<Vec<UnitOffset>> {
        let mut found = Vec::new();
        let mut entries = self.unit.entries();
        entries.next_dfs().ok()??;
        while found.len() < MAX_DEPTH {
            // The last of the siblings that begins before it.
            loop {
                let mut next = entries.clone();
                match next.next_sibling() {
                    Ok(Some(entry)) if entry.offset() <= wanted => entries = next,
                    _ => break,
                }
                if Instant::now() > end {
                    return None;
                }
            }
            let offset = entries.current()?.offset();
            found.push(offset);
            if offset == wanted {
                return Some(found);
            }
            if !entries.current()?.has_children() {
                return None;
            }
            entries.next_entry().ok()?;
            entries.current()?;
        }
        None
    }
}
