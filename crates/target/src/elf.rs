//! Symbols and build-ids from the files of the images.
//!
//! A debugger's symbol lookup costs milliseconds (gdb 13: 3 ms each); the files' own tables cost microseconds. A
//! file is used only where it is the one that is mapped: its first bytes must equal those in memory.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{Object, ObjectSegment, ObjectSymbol, ReadRef};
use object::{Endianness, SymbolKind, elf};

use super::{Image, Symbol, Target, TargetError, printable, zeroed};
use crate::address::TargetAddr;
use crate::file_budget::{FileBudget, Growing};
use crate::files::{self, About, Contents, FileError, Identity, Reader, RegularFile};
use crate::libraries::{RECORDER_SYMBOLS, is_mpi_file_name, is_mpi_library, is_recorder};
use crate::memory_image::memory_image;

/// How much of the file's beginning is compared with memory, in bytes.
const COMPARED: u64 = 4096;

/// More bytes of names than this (128 MiB) are not read from one file: names of a damaged one overlap.
const MAX_NAMES: usize = 1 << 27;
/// Nor more symbols: those of a sparse file cost it nothing, and names of no length nothing of the above.
const MAX_SYMBOLS: usize = 1 << 23;

/// Names that only the dynamic linker exports.
const OF_LINKER: [&str; 2] = ["_r_debug", "__libc_stack_end"];

type Table = HashMap<Box<str>, (u64, u64)>;
type Functions = HashMap<u64, Box<str>>;

/// The file of one image.
pub struct ElfImage {
    path: PathBuf,
    /// What was compared with memory: what stands under that name later counts only where it is the same. `None` where it is made
    /// of memory itself.
    seen: Option<About>,
    /// For whom it is read; `None`: for whoever runs this.
    reader: Option<Reader>,
    /// Build-id as hexadecimal digits.
    pub build_id: Option<String>,
    dynamic: OnceCell<Arc<Table>>,
    full: OnceCell<Arc<Table>>,
    functions: OnceCell<Arc<Functions>>,
}

/// The symbols of a file that were read before.
#[derive(Default)]
struct Tables {
    dynamic: Option<Arc<Table>>,
    full: Option<Arc<Table>>,
    functions: Option<Arc<Functions>>,
    /// What the file may take, and what they take of it.
    budget: Option<FileBudget>,
    claimed: Vec<Growing>,
}

/// Bytes of a symbol in a table, without its name. Twice: a map that grows has both sizes for a moment.
const SYMBOL: usize = 2 * 48;

/// The symbols of so many files are kept.
const MOST_FILES: usize = 256;

/// Those of all files: the ranks of a job run the same ones.
static KNOWN: Mutex<BTreeMap<Identity, Tables>> = Mutex::new(BTreeMap::new());

impl ElfImage {
    /// Opens the file at `path` for `image` and checks that it is what `target` has mapped.
    ///
    /// # Errors
    /// [`TargetError::File`] where it cannot be opened, is no ELF file, or differs from memory.
    pub fn open(
        path: PathBuf,
        image: &Image,
        target: &(impl Target + ?Sized),
        reader: Option<&Reader>,
    ) -> Result<Self, TargetError> {
        Self::opened(path, image, target, reader, false)
    }

    /// As [`ElfImage::open`]; also one that was made of memory, which has other headers: its build-id says what it is.
    ///
    /// # Errors
    /// As [`ElfImage::open`].
    pub fn open_copy(
        path: PathBuf,
        image: &Image,
        target: &(impl Target + ?Sized),
        reader: Option<&Reader>,
    ) -> Result<Self, TargetError> {
        Self::opened(path, image, target, reader, true)
    }

    fn opened(
        path: PathBuf,
        image: &Image,
        target: &(impl Target + ?Sized),
        reader: Option<&Reader>,
        copy: bool,
    ) -> Result<Self, TargetError> {
        let fail = |reason: String| TargetError::File { path: path.display().to_string(), reason };
        let file = opened(&path, reader).map_err(|error| fail(error.to_string()))?;
        let seen = *file.about();
        let contents = Contents::new(file);
        let file = object::File::parse(&contents).map_err(|error| fail(error.to_string()))?;
        let build_id = build_id(&file);
        for segment in file.segments() {
            let (offset, len) = segment.file_range();
            if offset != 0 || len == 0 {
                continue;
            }
            let len = len.min(COMPARED);
            let mut mapped = zeroed(usize::try_from(len).unwrap_or(0))?;
            let ours = segment.data_range(segment.address(), len).ok().flatten();
            // A core file may lack this page; then there is nothing to compare.
            if target.read(image.bias.wrapping_add(segment.address()), &mut mapped).is_err() {
                continue;
            }
            let equal = ours.is_none_or(|ours| ours == mapped);
            let known = copy && build_id.is_some() && build_id == build_id_in_memory(&mapped);
            if !equal && !known {
                return Err(fail("it is another file than the one that runs: it was rebuilt or replaced".to_owned()));
            }
        }
        let reader = reader.cloned();
        Ok(Self {
            path,
            seen: Some(seen),
            build_id,
            reader,
            dynamic: OnceCell::new(),
            full: OnceCell::new(),
            functions: OnceCell::new(),
        })
    }

    /// Where the file defines `name`: value and size, by the dynamic symbol table only.
    pub fn dynamic_symbol(&self, name: &str) -> Option<(u64, u64)> {
        self.dynamic().get(name).copied()
    }

    /// Where the file defines `name`, by its full symbol table if it is not stripped.
    pub fn full_symbol(&self, name: &str) -> Option<(u64, u64)> {
        self.full().get(name).copied()
    }

    /// The name of the function that starts at `value`, by both symbol tables.
    pub fn function(&self, value: u64) -> Option<&str> {
        self.functions().get(&value).map(AsRef::as_ref)
    }

    fn functions(&self) -> &Functions {
        self.functions.get_or_init(|| {
            self.known(|tables| &mut tables.functions, |budget| self.parsed(|file| functions_by_address(file, budget)))
        })
    }

    fn dynamic(&self) -> &Table {
        self.dynamic.get_or_init(|| {
            self.known(|tables| &mut tables.dynamic, |budget| self.parsed(|file| table(file, false, budget)))
        })
    }

    fn full(&self) -> &Table {
        self.full.get_or_init(|| {
            self.known(|tables| &mut tables.full, |budget| self.parsed(|file| table(file, true, budget)))
        })
    }

    /// One of the tables of the file, which is made where it is not known yet. One that could not be read is not kept.
    fn known<T: Default>(
        &self,
        one: impl Fn(&mut Tables) -> &mut Option<Arc<T>>,
        read: impl FnOnce(&FileBudget) -> Option<(T, Growing)>,
    ) -> Arc<T> {
        let tables = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(identity) = self.seen.as_ref().map(Identity::of) else { return Arc::default() };
        if let Some(found) = tables().get_mut(&identity).and_then(|tables| one(tables).clone()) {
            return found;
        }
        let known = tables().get(&identity).and_then(|tables| tables.budget.clone());
        let budget = known.unwrap_or_else(|| FileBudget::new(&self.path));
        let Some((made, claimed)) = read(&budget) else { return Arc::default() };
        let made = Arc::new(made);
        let mut tables = tables();
        if tables.len() >= MOST_FILES {
            tables.clear();
        }
        let of_file = tables.entry(identity).or_default();
        of_file.budget = Some(budget);
        of_file.claimed.push(claimed);
        *one(of_file) = Some(Arc::clone(&made));
        made
    }

    fn parsed<R>(&self, read: impl FnOnce(&object::File<'_, &Contents>) -> R) -> Option<R> {
        let contents = self.contents()?;
        object::File::parse(&contents).ok().map(|file| read(&file))
    }

    /// The file as it was when it was compared, `None` where it is another one by now.
    fn contents(&self) -> Option<Contents> {
        let file = opened(&self.path, self.reader.as_ref()).ok()?;
        file.about().is_same(self.seen.as_ref()?).then(|| Contents::new(file))
    }

    /// What memory itself has of the file of an image: what it exports.
    fn of_memory(image: &Image, target: &(impl Target + ?Sized)) -> Option<Self> {
        let read = |at: u64, into: &mut [u8]| target.read_once(image.bias.wrapping_add(at), into).is_ok();
        let content = memory_image(&read, image.bias.get())?;
        let file = object::File::parse(content.as_slice()).ok()?;
        let path = PathBuf::from(&image.path);
        let budget = FileBudget::new(&path);
        let (dynamic, _) = table(&file, false, &budget);
        let (functions, _) = functions_by_address(&file, &budget);
        Some(Self {
            path,
            seen: None,
            reader: None,
            build_id: build_id(&file),
            dynamic: OnceCell::from(Arc::new(dynamic)),
            full: OnceCell::from(Arc::default()),
            functions: OnceCell::from(Arc::new(functions)),
        })
    }
}

/// The functions of a file by where they start.
fn functions_by_address<'d, R: ReadRef<'d>>(file: &object::File<'d, R>, budget: &FileBudget) -> (Functions, Growing) {
    let mut found = Functions::new();
    let mut growing = Growing::new();
    let mut bytes = 0;
    for symbol in file.symbols().chain(file.dynamic_symbols()).take(MAX_SYMBOLS) {
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() {
            continue;
        }
        let Ok(name) = symbol.name() else { continue };
        bytes += name.len();
        if bytes > MAX_NAMES || !growing.by(budget, "symbol table", SYMBOL + name.len()) {
            break;
        }
        let known = found.entry(symbol.address()).or_insert_with(|| name.into());
        if known.as_ref() < name {
            *known = name.into();
        }
    }
    (found, growing)
}

/// The symbols that a file defines: all, or those that it exports.
fn table<'d, R: ReadRef<'d>>(file: &object::File<'d, R>, full: bool, budget: &FileBudget) -> (Table, Growing) {
    let mut growing = Growing::new();
    let mut table = Table::new();
    let mut bytes = 0;
    // The first definition wins, as in the dynamic linker; local ones never hide global ones.
    for global in [true, false] {
        let symbols = if full { file.symbols() } else { file.dynamic_symbols() };
        for symbol in symbols.take(MAX_SYMBOLS) {
            if !symbol.is_definition() || symbol.is_global() != global {
                continue;
            }
            let Ok(name) = symbol.name() else { continue };
            bytes += name.len();
            if bytes > MAX_NAMES || !growing.by(budget, "symbol table", SYMBOL + name.len()) {
                return (table, growing);
            }
            table.entry(name.into()).or_insert((symbol.address(), symbol.size()));
        }
    }
    (table, growing)
}

fn opened(path: &Path, reader: Option<&Reader>) -> Result<RegularFile, FileError> {
    reader.map_or_else(|| files::open_regular(path), |reader| files::open_regular_as(path, reader))
}

/// The build-id of a file as hexadecimal digits, where it has one.
pub fn build_id<'data>(file: &impl Object<'data>) -> Option<String> {
    file.build_id().ok().flatten().map(hexadecimal)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The build-id that stands in the first bytes of a mapped file; `None` where it has none there.
pub fn build_id_in_memory(bytes: &[u8]) -> Option<String> {
    fn found<H: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<String> {
        let header = H::parse(bytes).ok()?;
        let endian = header.endian().ok()?;
        header.program_headers(endian, bytes).ok()?.iter().find_map(|segment| {
            let mut notes = segment.notes(endian, bytes).ok()??;
            std::iter::from_fn(|| notes.next().ok().flatten())
                .find(|note| note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID)
                .map(|note| hexadecimal(note.desc()))
        })
    }
    found::<elf::FileHeader64<Endianness>>(bytes).or_else(|| found::<elf::FileHeader32<Endianness>>(bytes))
}

/// Where else the file of an image may be had.
pub type OtherFiles = Box<dyn Fn(&Image) -> Vec<PathBuf>>;

/// The symbol tables of all images of a target.
pub struct ElfSymbols {
    images: Vec<Image>,
    files: Vec<OnceCell<Result<ElfImage, TargetError>>>,
    roots: Vec<PathBuf>,
    others: Option<OtherFiles>,
    /// Whether what is in no file is taken from memory.
    or_in_memory: bool,
    reader: Option<Reader>,
}

impl ElfSymbols {
    /// Tables for `images`. Each file is looked for under every one of `roots` in turn (`/proc/PID/root` for a
    /// process in a container, `/` otherwise).
    pub fn new(images: Vec<Image>, roots: Vec<PathBuf>) -> Self {
        let files = images.iter().map(|_| OnceCell::new()).collect();
        Self { images, files, roots, others: None, or_in_memory: false, reader: None }
    }

    /// Looks for what is at none of the paths, or is another file there, also where `others` says: a file may have been
    /// deleted or replaced while it runs.
    #[must_use]
    pub fn or_at(mut self, others: OtherFiles) -> Self {
        self.others = Some(others);
        self
    }

    /// Takes from memory what a file exports that is not to be had.
    #[must_use]
    pub fn or_in_memory(mut self) -> Self {
        self.or_in_memory = true;
        self
    }

    /// Opens files for somebody, who may have fewer rights than whoever runs this.
    #[must_use]
    pub fn for_reader(mut self, reader: Option<Reader>) -> Self {
        self.reader = reader;
        self
    }

    /// The images with the build-ids of those whose files have been opened.
    pub fn images(&self) -> Vec<Image> {
        let of_file = |index: usize| self.files[index].get()?.as_ref().ok()?.build_id.clone();
        let with_id = |(index, image): (usize, &Image)| Image {
            build_id: of_file(index).or_else(|| image.build_id.clone()),
            ..image.clone()
        };
        self.images.iter().enumerate().map(with_id).collect()
    }

    /// The images; the files of the executable and of the MPI's are opened for their build-ids. Those of the others do not matter,
    /// and opening them would cost time.
    pub fn images_with_build_ids(&self, target: &(impl Target + ?Sized)) -> Vec<Image> {
        for (index, image) in self.images.iter().enumerate() {
            if image.is_executable || is_mpi_library(image.file_name()) {
                let _ = self.file(index, target);
            }
        }
        self.images()
    }

    /// Opens the file of the image with number `index`.
    ///
    /// # Errors
    /// As [`ElfImage::open`], for the last of the places where the file was looked for.
    pub fn file(&self, index: usize, target: &(impl Target + ?Sized)) -> Result<&ElfImage, &TargetError> {
        let image = &self.images[index];
        let open = || {
            let mut last = Err(TargetError::File { path: image.path.clone(), reason: "it has no file".to_owned() });
            if image.path.starts_with('/') {
                for root in &self.roots {
                    last = ElfImage::open(
                        root.join(image.path.trim_start_matches('/')),
                        image,
                        target,
                        self.reader.as_ref(),
                    );
                    if last.is_ok() {
                        return last;
                    }
                }
            }
            let others = self.others.iter().flat_map(|others| others(image));
            let copy =
                others.map(|path| ElfImage::open_copy(path, image, target, self.reader.as_ref())).find_map(Result::ok);
            let in_memory = || if self.or_in_memory { ElfImage::of_memory(image, target) } else { None };
            let copy = copy.or_else(in_memory);
            // What is wrong with the file at its path says more.
            copy.map_or(last, Ok)
        };
        self.files[index].get_or_init(open).as_ref()
    }

    /// Where `name` is defined. The executable's dynamic table comes first (a copy relocation moves a library's object
    /// there), then the MPI's own libraries, then everything else.
    pub fn lookup(&self, name: &str, target: &(impl Target + ?Sized)) -> Option<Symbol> {
        let order = self.search_order();
        let dynamic = |index: &usize| {
            let known = !self.is_before_mpi(*index, name);
            if known { self.symbol_in(*index, target, |file| file.dynamic_symbol(name)) } else { None }
        };
        let full = |index: &usize| self.symbol_in(*index, target, |file| file.full_symbol(name));
        order.iter().find_map(dynamic).or_else(|| {
            // What is not exported can only stand in a full table: that of the MPI's libraries or of an
            // executable that is linked statically with its MPI.
            order
                .iter()
                .filter(|&&index| self.images[index].is_executable || is_mpi_image(&self.images[index]))
                .find_map(full)
                .or_else(|| self.of_linker(name, target))
        })
    }

    /// What only the dynamic linker exports, and those ask for who look for what is loaded by themselves (crate `mqs-library`).
    fn of_linker(&self, name: &str, target: &(impl Target + ?Sized)) -> Option<Symbol> {
        let linkers =
            if OF_LINKER.contains(&name) { self.numbers(|image| image.file_name().starts_with("ld")) } else { vec![] };
        linkers.into_iter().find_map(|index| self.symbol_in(index, target, |file| file.dynamic_symbol(name)))
    }

    /// All symbols that [`ElfSymbols::lookup`] finds in dynamic tables.
    pub fn dynamic_symbols(&self, target: &(impl Target + ?Sized)) -> Vec<(String, Symbol)> {
        let mut all = HashMap::new();
        for index in self.search_order() {
            let Ok(file) = self.file(index, target) else { continue };
            for (name, (value, size)) in file.dynamic().iter() {
                if self.is_before_mpi(index, name) {
                    continue;
                }
                let addr = self.images[index].bias.wrapping_add(*value);
                all.entry(name.to_string()).or_insert(Symbol { addr, size: Some(*size) });
            }
        }
        all.into_iter().collect()
    }

    /// The name of the function whose code starts at `addr`. Only the file is opened whose image lies there: the one with
    /// the highest bias that is not above it.
    pub fn function_at(&self, addr: TargetAddr, target: &(impl Target + ?Sized)) -> Option<String> {
        let below = |image: &Image| image.bias <= addr;
        let bias = self.images.iter().filter(|image| below(image)).map(|image| image.bias).max()?;
        let value = addr.get() - bias.get();
        self.numbers(|image| image.bias == bias)
            .into_iter()
            .find_map(|index| self.file(index, target).ok()?.function(value).map(|name| printable(name.as_bytes())))
    }

    /// Whether the files of the executable and of all MPI libraries are at hand, so that a symbol that is not found does
    /// not exist.
    pub fn is_complete(&self, target: &(impl Target + ?Sized)) -> bool {
        !self.images.is_empty() && self.missing(target).is_none()
    }

    /// The first of these files that is not at hand, as the target names it, and why.
    pub fn missing(&self, target: &(impl Target + ?Sized)) -> Option<(&str, String)> {
        self.numbers(|image| image.is_executable || is_mpi_image(image)).into_iter().find_map(|index| {
            let why = match self.file(index, target).err()? {
                TargetError::File { reason, .. } => reason.clone(),
                other => other.to_string(),
            };
            Some((self.images[index].path.as_str(), why))
        })
    }

    fn search_order(&self) -> Vec<usize> {
        search_order(&self.images)
    }

    fn is_before_mpi(&self, index: usize, name: &str) -> bool {
        is_before_mpi(&self.images[index], name)
    }

    fn numbers(&self, wanted: impl Fn(&Image) -> bool) -> Vec<usize> {
        numbers(&self.images, wanted)
    }

    fn symbol_in(
        &self,
        index: usize,
        target: &(impl Target + ?Sized),
        find: impl Fn(&ElfImage) -> Option<(u64, u64)>,
    ) -> Option<Symbol> {
        let (value, size) = find(self.file(index, target).ok()?)?;
        Some(Symbol { addr: self.images[index].bias.wrapping_add(value), size: Some(size) })
    }
}

fn is_mpi_image(image: &Image) -> bool {
    is_mpi_file_name(image.file_name()) && !is_recorder(image.file_name())
}

fn numbers(images: &[Image], wanted: impl Fn(&Image) -> bool) -> Vec<usize> {
    (0..images.len()).filter(|&index| wanted(&images[index])).collect()
}

/// In which of the images symbols are looked for, by their numbers: the executable, then the MPI's own images, then all others;
/// the others only where no image looks like a part of an MPI (one that is linked statically into some library), because opening
/// eighty files costs milliseconds.
pub fn search_order(images: &[Image]) -> Vec<usize> {
    let executables = numbers(images, |image| image.is_executable);
    let mpi = numbers(images, |image| !image.is_executable && is_mpi_image(image));
    let others = numbers(images, |image| !image.is_executable && !is_mpi_image(image));
    let last = if mpi.is_empty() { others } else { numbers(images, |image| is_recorder(image.file_name())) };
    executables.into_iter().chain(mpi).chain(last).collect()
}

/// Whether a name is one of MPI's that our flight recorder exports: a process that has it need not have an MPI.
pub fn is_before_mpi(image: &Image, name: &str) -> bool {
    is_recorder(image.file_name()) && !name.starts_with(RECORDER_SYMBOLS)
}
