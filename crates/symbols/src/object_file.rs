//! One ELF file.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use gimli::RunTimeEndian;
use object::read::{CompressedFileRange, Object, ObjectSection, ObjectSegment};
use object::{Architecture, CompressionFormat, ObjectKind, SectionFlags, SectionKind, SegmentFlags, elf};
use target::file_budget::{FileBudget, FileOverLimit};
use target::files::{Contents, FileError, ShortNames};

use super::calls::KeptCalls;
use super::debug_file::{self, Separate};
use super::debug_section::Paid;
use super::frames::Kept;
use super::information::Information;
use super::msymbols::{Function, SymbolTable};
use super::named::NamedSymbols;
use super::source::Source;
use super::{DebugPlaces, DebugSection, ObjectError, Section};

/// Larger files are refused: those with the debug information of a whole browser are smaller.
const MAX_FILE: u64 = 16 << 30;

/// More sections or segments are not looked at: each costs memory, and a damaged file's may overlap.
const MAX_ENTRIES: usize = 1 << 16;

/// The name of no section that is asked for is longer (bytes).
const MAX_NAME: usize = 64;

/// Sections that name other files are not longer (bytes).
const MAX_LINK: u64 = 8192;

/// One ELF file, and its separate debug file where it has one. It is shared: what is read once is there for all.
pub struct ObjectFile {
    path: PathBuf,
    source: Arc<Source>,
    budget: FileBudget,
    head: Head,
    kept: Mutex<KeptSections>,
    places: DebugPlaces,
    /// Whether it was looked for as the debug information of another file.
    is_debug_file: bool,
    separate: OnceLock<Option<Separate>>,
    embedded: OnceLock<Option<Arc<ObjectFile>>>,
    information: OnceLock<Option<Arc<Information>>>,
    symbols: OnceLock<SymbolTable>,
    named: OnceLock<NamedSymbols>,
    pub(crate) frames: Mutex<Kept>,
    pub(crate) calls: Mutex<KeptCalls>,
}

/// What a file's headers say.
struct Head {
    architecture: Architecture,
    is_64: bool,
    is_relocatable: bool,
    endian: RunTimeEndian,
    entry: u64,
    build_id: Option<String>,
    debug_link: Option<(Vec<u8>, u32)>,
    supplement: Option<(Vec<u8>, String)>,
    segments: Vec<Segment>,
    sections: Vec<SectionHead>,
}

/// What is loaded of a file, and where (PT_LOAD).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// Where its bytes begin in the file.
    pub offset: u64,
    /// How many there are in the file.
    pub file_size: u64,
    /// Where they are loaded, as the file counts addresses.
    pub address: u64,
    /// How many bytes it has in memory: what is not in the file is zero.
    pub size: u64,
    /// Whether it can be read, written and executed (PF_R, PF_W, PF_X).
    pub flags: u32,
}

/// How a separate debug file was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By the build-id, in a directory of debug files or a cache.
    BuildId,
    /// By the name in `.gnu_debuglink`; its checksum fits.
    DebugLink,
    /// `debuginfod-find` brought it.
    Debuginfod,
}

pub(crate) struct SectionHead {
    pub(crate) name: Vec<u8>,
    /// Its number in the table, which symbols tell.
    pub(crate) index: usize,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) is_code: bool,
    pub(crate) is_loaded: bool,
    range: Option<CompressedFileRange>,
}

#[derive(Default)]
struct KeptSections {
    sections: HashMap<usize, Option<Arc<[u8]>>>,
    debug: HashMap<usize, DebugSection>,
}

impl ObjectFile {
    /// Opens a regular file. `places`: where its debug information may lie, and for whom files are read.
    ///
    /// # Errors
    /// [`ObjectError`] where it cannot be read, or is no ELF file.
    pub fn open(path: &Path, places: &DebugPlaces) -> Result<Self, ObjectError> {
        Self::opened(path, places, FileBudget::new(path), false)
    }

    /// The same with a budget of its own.
    ///
    /// # Errors
    /// As [`ObjectFile::open`].
    pub fn open_within(path: &Path, places: &DebugPlaces, budget: &FileBudget) -> Result<Self, ObjectError> {
        Self::opened(path, places, budget.clone(), false)
    }

    /// The same of a file that is in memory, such as the vDSO; `name` stands for its path.
    ///
    /// # Errors
    /// [`ObjectError`] where it is no ELF file.
    pub fn from_bytes(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Result<Self, ObjectError> {
        let name = name.into();
        let budget = FileBudget::new(&name);
        Self::in_memory(name, bytes, budget, false)
    }

    /// `is_debug_file`: it was looked for as the debug information of another one, whose budget it shares.
    pub(crate) fn opened(
        path: &Path,
        places: &DebugPlaces,
        budget: FileBudget,
        is_debug_file: bool,
    ) -> Result<Self, ObjectError> {
        let fail = |error| ObjectError::File { path: path.display().to_string(), error };
        let file = places.open(path).map_err(fail)?;
        let size = file.len();
        if size > MAX_FILE {
            return Err(fail(FileError::TooLarge { size, most: MAX_FILE }));
        }
        let contents = Contents::new(file);
        let head = object::File::parse(&contents).map(|file| Head::new(&file));
        Self::with(path.to_path_buf(), Source::File(contents.into_file()), head, places.clone(), budget, is_debug_file)
    }

    pub(crate) fn in_memory(
        path: PathBuf,
        bytes: Vec<u8>,
        budget: FileBudget,
        is_debug_file: bool,
    ) -> Result<Self, ObjectError> {
        let head = object::File::parse(ShortNames(bytes.as_slice())).map(|file| Head::new(&file));
        Self::with(path, Source::Memory(bytes.into()), head, DebugPlaces::none(), budget, is_debug_file)
    }

    fn with(
        path: PathBuf,
        source: Source,
        head: object::read::Result<Option<Head>>,
        places: DebugPlaces,
        budget: FileBudget,
        is_debug_file: bool,
    ) -> Result<Self, ObjectError> {
        let fail = |reason: String| ObjectError::Format { path: path.display().to_string(), reason };
        let head = head.map_err(|error| fail(error.to_string()))?;
        let mut head = head.ok_or_else(|| fail("it has another format".to_owned()))?;
        head.read_links(&source);
        Ok(Self {
            path,
            source: Arc::new(source),
            budget,
            head,
            kept: Mutex::default(),
            places,
            is_debug_file,
            separate: OnceLock::new(),
            embedded: OnceLock::new(),
            information: OnceLock::new(),
            symbols: OnceLock::new(),
            named: OnceLock::new(),
            frames: Mutex::default(),
            calls: Mutex::default(),
        })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is read of it, and of what belongs to it, is paid from this.
    pub fn budget(&self) -> &FileBudget {
        &self.budget
    }

    /// Why no more is read of it: it asks for more than any file may take.
    pub fn over_limit(&self) -> Option<&FileOverLimit> {
        self.budget.over()
    }

    /// Its build-id as hexadecimal digits.
    pub fn build_id(&self) -> Option<&str> {
        self.head.build_id.as_deref()
    }

    /// The machine whose code it has.
    pub fn architecture(&self) -> Architecture {
        self.head.architecture
    }

    /// Whether its addresses have 64 bits.
    pub fn is_64(&self) -> bool {
        self.head.is_64
    }

    /// Whether it is an object file, which no linker has seen.
    pub fn is_relocatable(&self) -> bool {
        self.head.is_relocatable
    }

    /// Its byte order.
    pub fn endian(&self) -> RunTimeEndian {
        self.head.endian
    }

    /// Where a program begins; 0 in a library that is none.
    pub fn entry(&self) -> u64 {
        self.head.entry
    }

    /// What of it is loaded.
    pub fn segments(&self) -> &[Segment] {
        &self.head.segments
    }

    /// The names of its sections, and the addresses that they have when it is loaded.
    pub fn section_addresses(&self) -> impl Iterator<Item = (&[u8], Range<u64>)> {
        let loaded = self.head.sections.iter().filter(|section| section.is_loaded);
        loaded.map(|one| (one.name.as_slice(), one.address..one.address.saturating_add(one.size)))
    }

    /// At most `length` bytes of what is loaded at an address of the file: fewer where a section ends. `None` where nothing
    /// of the file is loaded there.
    pub fn loaded_bytes(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        let has =
            |one: &&SectionHead| one.is_loaded && address.checked_sub(one.address).is_some_and(|at| at < one.size);
        let section = self.head.sections.iter().find(has)?;
        let within = address - section.address;
        let length = length.min(section.size - within);
        self.source.read(section.range?.offset.checked_add(within)?, length)
    }

    /// Where `.text` begins; 0 where it has none.
    pub fn text_address(&self) -> u64 {
        self.head.sections.iter().find(|section| section.name == b".text").map_or(0, |section| section.address)
    }

    /// The bytes of a section of this very file, unpacked, and its address. `None` where it has none of that name, or no
    /// bytes of it.
    pub fn section(&self, name: &str) -> Option<(Section, u64)> {
        let at = self.section_named(name)?;
        let bytes = self.bytes_of(&mut self.kept(), at)?;
        Some((Section::new(bytes, self.head.endian), self.head.sections[at].address))
    }

    /// A section of this very file that is read as far as it is wanted: one that is not compressed.
    pub fn debug_section(&self, name: &str) -> Option<DebugSection> {
        let at = self.section_named(name)?;
        let mut kept = self.kept();
        if let Some(known) = kept.debug.get(&at) {
            return Some(known.clone());
        }
        let range = self.head.sections[at].range?;
        let is_plain = range.format == CompressionFormat::None && matches!(*self.source, Source::File(_));
        let paid = Some(Paid { budget: self.budget.clone(), section: name.into() });
        let section = if is_plain {
            let size = range.uncompressed_size;
            let end = range.offset.checked_add(size)?;
            if end > self.source.size() {
                return None;
            }
            DebugSection::in_file(&self.source, range.offset, usize::try_from(size).ok()?, self.head.endian, paid)?
        } else {
            DebugSection::whole(self.bytes_of(&mut kept, at)?, self.head.endian, paid)
        };
        kept.debug.insert(at, section.clone());
        Some(section)
    }

    fn kept(&self) -> MutexGuard<'_, KeptSections> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a section in the list of sections.
    fn section_named(&self, name: &str) -> Option<usize> {
        let named = |wanted: &[u8]| self.head.sections.iter().position(|section| section.name == wanted);
        named(name.as_bytes()).or_else(|| {
            // As GNU compressed sections before ELF knew of it.
            named(format!(".z{}", name.strip_prefix(".debug_").map(|rest| format!("debug_{rest}"))?).as_bytes())
        })
    }

    fn bytes_of(&self, kept: &mut KeptSections, at: usize) -> Option<Arc<[u8]>> {
        if let Some(known) = kept.sections.get(&at) {
            return known.clone();
        }
        let head = self.head.sections.get(at)?;
        let name = String::from_utf8_lossy(&head.name);
        let section = head.range.and_then(|range| self.source.unpacked(range, &name, &self.budget));
        kept.sections.insert(at, section.clone());
        section
    }

    /// The separate debug file; `None` where there is none, or this file has its debug information itself.
    pub fn debug_file(&self) -> Option<&Arc<Self>> {
        self.separate().map(|separate| &separate.file)
    }

    /// How the separate debug file was found.
    pub fn debug_file_found(&self) -> Option<How> {
        self.separate().map(|separate| separate.how)
    }

    fn separate(&self) -> Option<&Separate> {
        if self.is_debug_file {
            return None;
        }
        let find = || if self.has_debug_information() { None } else { debug_file::find(self) };
        self.separate.get_or_init(find).as_ref()
    }

    /// `.gnu_debugdata`, which counts where there is no other debug information.
    pub(crate) fn embedded(&self) -> Option<&Arc<Self>> {
        if self.is_debug_file || self.has_debug_information() || self.separate().is_some() {
            return None;
        }
        self.embedded.get_or_init(|| debug_file::embedded(self).map(Arc::new)).as_ref()
    }

    /// The debug information of this file, or else of its separate debug file; with what dwz moved out of it. Macros are left
    /// out. `None` where there is no debug information.
    pub fn dwarf(&self) -> Option<Arc<gimli::Dwarf<DebugSection>>> {
        self.information().map(|information| Arc::clone(information.main.reader().dwarf()))
    }

    /// The same as units and their entries.
    pub fn information(&self) -> Option<&Arc<Information>> {
        let load = || match self.debug_file() {
            Some(file) => Information::load(file).map(Arc::new),
            None => Information::load(self).map(Arc::new),
        };
        self.information.get_or_init(load).as_ref()
    }

    fn has_debug_information(&self) -> bool {
        self.has_bytes(b".debug_info") || self.has_bytes(b".zdebug_info")
    }

    fn has_bytes(&self, name: &[u8]) -> bool {
        self.head.sections.iter().any(|section| section.name == name && section.range.is_some())
    }

    /// The debug file that would be wanted: its name, and its build-id. `None` where debug information is there.
    pub fn missing_debug(&self) -> Option<String> {
        if self.information().is_some() {
            return None;
        }
        let own = self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = self.head.debug_link.as_ref().map_or(own, |(name, _)| target::printable(name));
        Some(match self.build_id() {
            Some(build_id) => format!("{name} (build-id {build_id})"),
            None => name,
        })
    }

    /// The function that covers an address of the file, by symbols of the file, of its debug file or of `.gnu_debugdata`, as
    /// gdb chooses among them.
    pub fn symbol_at(&self, address: u64) -> Option<Function<'_>> {
        // Of two that are as near, that of the first file.
        let others = [self.debug_file(), self.embedded()].into_iter().flatten();
        let files = std::iter::once(self).chain(others.map(AsRef::as_ref));
        files
            .filter_map(|file| file.symbols().at(address, file.sections()))
            .reduce(|best, next| if next.start > best.start { next } else { best })
    }

    /// The symbol of the function that starts at an address of the file: that which gdb chooses.
    pub fn function_starting_at(&self, address: u64) -> Option<String> {
        let others = [self.debug_file(), self.embedded()].into_iter().flatten();
        let mut files = std::iter::once(self).chain(others.map(AsRef::as_ref));
        files.find_map(|file| file.symbols().starting_at(address)).map(target::printable)
    }

    /// Where the code is that other files know by a symbol, by the symbols of the file itself.
    pub fn exported(&self, symbol: &str) -> Option<u64> {
        self.named().external(symbol)
    }

    /// Where the code is that the file itself knows by a symbol, by those of its debug file too. One that other files know as
    /// well goes before.
    pub fn own_symbol(&self, symbol: &str) -> Option<u64> {
        let others = [self.debug_file(), self.embedded()].into_iter().flatten();
        let files = || std::iter::once(self).chain(others.clone().map(AsRef::as_ref));
        files()
            .find_map(|file| file.named().external(symbol))
            .or_else(|| files().find_map(|file| file.named().local(symbol)))
    }

    /// Where the file itself has the variable that other units know by a symbol; none that each thread has its own of.
    pub fn variable(&self, symbol: &str) -> Option<u64> {
        let debug_file = || self.debug_file().and_then(|file| file.named().variable(symbol));
        self.named().variable(symbol).or_else(debug_file)
    }

    /// The same of one that other files know too: where a program has it, all files use that one.
    pub fn exported_variable(&self, symbol: &str) -> Option<u64> {
        self.named().exported_variable(symbol)
    }

    /// Whether the dynamic linker is told to load a library whose name begins so: whether the names that it is given have it.
    pub fn needs(&self, library: &str) -> bool {
        let Some((names, _)) = self.section(".dynstr") else { return false };
        names.split(|byte| *byte == 0).any(|name| name.starts_with(library.as_bytes()))
    }

    fn named(&self) -> &NamedSymbols {
        self.named.get_or_init(|| NamedSymbols::new(self))
    }

    fn symbols(&self) -> &SymbolTable {
        self.symbols.get_or_init(|| SymbolTable::new(self))
    }

    pub(crate) fn sections(&self) -> &[SectionHead] {
        &self.head.sections
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    pub(crate) fn places(&self) -> &DebugPlaces {
        &self.places
    }

    /// Name and checksum of the debug file, by `.gnu_debuglink`.
    pub(crate) fn debug_link(&self) -> Option<(&[u8], u32)> {
        self.head.debug_link.as_ref().map(|(name, checksum)| (name.as_slice(), *checksum))
    }

    /// Name and build-id of the file that dwz moved debug information to.
    pub fn supplement(&self) -> Option<(&[u8], &str)> {
        self.head.supplement.as_ref().map(|(name, build_id)| (name.as_slice(), build_id.as_str()))
    }
}

impl Head {
    fn new<'data, R: object::ReadRef<'data>>(file: &object::File<'data, R>) -> Option<Self> {
        if file.format() != object::BinaryFormat::Elf {
            return None;
        }
        Some(Self {
            architecture: file.architecture(),
            is_64: file.is_64(),
            is_relocatable: file.kind() == ObjectKind::Relocatable,
            endian: if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big },
            entry: file.entry(),
            build_id: target::build_id(file),
            debug_link: None,
            supplement: None,
            segments: file.segments().take(MAX_ENTRIES).map(|segment| Segment::new(&segment)).collect(),
            sections: file.sections().take(MAX_ENTRIES).filter_map(|section| SectionHead::new(&section)).collect(),
        })
    }

    /// Which other files it names: `.gnu_debuglink` (gdb's manual, "Debugging Information in Separate Files") has a name, zeros up to
    /// a multiple of four, and a checksum; `.gnu_debugaltlink` (dwz(1)) a name and a build-id.
    fn read_links(&mut self, source: &Source) {
        let section = |name: &[u8]| {
            let range = self.sections.iter().find(|section| section.name == name)?.range?;
            let length = Some(range.compressed_size).filter(|length| *length <= MAX_LINK)?;
            source.read(range.offset, length)
        };
        let named = |bytes: &[u8]| bytes.iter().position(|byte| *byte == 0).map(|end| bytes[..end].to_vec());
        let link = section(b".gnu_debuglink").and_then(|bytes| {
            let name = named(&bytes)?;
            let place = (name.len() + 1).next_multiple_of(4);
            let checksum = *bytes.get(place..)?.first_chunk::<4>()?;
            let is_little = self.endian == RunTimeEndian::Little;
            Some((name, if is_little { u32::from_le_bytes(checksum) } else { u32::from_be_bytes(checksum) }))
        });
        let supplement = section(b".gnu_debugaltlink").and_then(|bytes| {
            let name = named(&bytes)?;
            let id = bytes.get(name.len() + 1..)?.iter().map(|byte| format!("{byte:02x}")).collect();
            Some((name, id))
        });
        (self.debug_link, self.supplement) = (link, supplement);
    }
}

impl Segment {
    fn new<'data>(segment: &impl ObjectSegment<'data>) -> Self {
        let (offset, file_size) = segment.file_range();
        let flags = match segment.flags() {
            SegmentFlags::Elf { p_flags, .. } => p_flags.0,
            _ => 0,
        };
        Self { offset, file_size, address: segment.address(), size: segment.size(), flags }
    }
}

impl SectionHead {
    fn new<'data>(section: &impl ObjectSection<'data>) -> Option<Self> {
        let flags = match section.flags() {
            SectionFlags::Elf { sh_flags, .. } => sh_flags.0,
            _ => 0,
        };
        let range = section.compressed_file_range().ok();
        let name = section.name_bytes().ok()?;
        Some(Self {
            // One that has another name than those that are asked for is wanted for its addresses alone.
            name: name.get(..MAX_NAME).unwrap_or(name).to_vec(),
            index: section.index().0,
            address: section.address(),
            size: section.size(),
            is_code: flags & elf::SHF_EXECINSTR.0 != 0,
            is_loaded: flags & elf::SHF_ALLOC.0 != 0,
            range: range.filter(|range| range.compressed_size > 0 && section.kind() != SectionKind::UninitializedData),
        })
    }
}
