//! The files that a process has mapped, with code in them: what they tell of code, by their addresses.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use symbols::demangled;
use target::address::TargetAddr;
use target::file_budget::over_limit_of;
use target::files::{open_regular, open_regular_as};
use target::libraries::VDSO;
use target::{CodePlace, Mapping, PageCache, Target, build_id_in_memory, memory_image, printable_path};

use crate::kept::{KnownFile, known_file};
use crate::process::Process;

/// How much of a file's beginning is compared with memory, in bytes.
const COMPARED: usize = 4096;
/// The kernel's own code is not larger (bytes).
const MAX_VDSO: u64 = 1 << 20;

/// What the kernel adds to the path of a file to which that does not lead any more.
const DELETED: &[u8] = b" (deleted)";

/// A file that is mapped from its first byte on, with code in it; or the kernel's own code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Its path, as the kernel tells it to us; another file may be there by now.
    pub path: OsString,
    /// Where its first byte lies.
    pub start: u64,
    /// The end of its last mapping.
    pub end: u64,
    /// The end of its first mapping.
    pub first_end: u64,
    /// Whether no path leads to it any more.
    pub deleted: bool,
    /// Whether it is the program itself.
    pub is_program: bool,
}

impl Image {
    /// Its path for people; the kernel's own code has a name of its own.
    pub fn shown(&self) -> String {
        printable_path(Path::new(&self.path))
    }
}

/// An image with its file.
pub(crate) struct Loaded {
    pub(crate) image: Image,
    /// `None` where no file that is the same can be had.
    pub(crate) file: Option<Arc<KnownFile>>,
    /// What is added to the file's addresses.
    pub(crate) bias: u64,
}

/// A file whose code a process runs, and which cannot be had.
pub(crate) struct Missing {
    /// Its path, for people.
    pub(crate) path: String,
    /// Whether its first page is in memory: without that no file is taken for it.
    pub(crate) in_memory: bool,
    /// What memory says its build-id is.
    pub(crate) build_id: Option<String>,
    /// What is there instead.
    pub(crate) other: Option<Other>,
}

/// Another file than the one that is wanted.
pub(crate) struct Other {
    pub(crate) path: String,
    pub(crate) build_id: Option<String>,
}

/// Those of one process. Files are opened when something is asked about their code.
pub struct Images<P: Process> {
    memory: Rc<PageCache<P>>,
    listed: OnceCell<Vec<Image>>,
    loaded: RefCell<HashMap<u64, Arc<Loaded>>>,
}

impl<P: Process> Images<P> {
    /// Those of a process.
    pub fn new(memory: Rc<PageCache<P>>) -> Self {
        Self { memory, listed: OnceCell::new(), loaded: RefCell::default() }
    }

    fn process(&self) -> &P {
        self.memory.inner()
    }

    /// All of them, by address.
    pub fn all(&self) -> &[Image] {
        self.listed.get_or_init(|| listed(&self.process().mappings(), self.process().program_headers()))
    }

    /// The program's own.
    pub fn program(&self) -> Option<&Image> {
        self.all().iter().find(|image| image.is_program)
    }

    /// The one that has an address.
    pub fn at(&self, address: u64) -> Option<&Image> {
        let after = self.all().partition_point(|image| image.start <= address);
        self.all()[..after].last().filter(|image| address < image.end)
    }

    /// The same with its file.
    pub(crate) fn loaded(&self, address: u64) -> Option<Arc<Loaded>> {
        let image = self.at(address)?;
        if let Some(known) = self.loaded.borrow().get(&image.start) {
            return Some(Arc::clone(known));
        }
        let file = self.file(image);
        let bias = file.as_ref().map_or(image.start, |file| image.start.wrapping_sub(file.base()));
        let found = Arc::new(Loaded { image: image.clone(), file, bias });
        self.loaded.borrow_mut().insert(image.start, Arc::clone(&found));
        Some(found)
    }

    /// Of which files no more is read, and why: they ask for more than any may take.
    pub(crate) fn over_limits(&self) -> Vec<String> {
        let opened = self.loaded.borrow();
        let opened = opened.values().filter_map(|loaded| over_limit_of(loaded.file.as_ref()?.object.path()));
        let named = self.all().iter().filter_map(|image| over_limit_of(Path::new(&image.path)));
        opened.chain(named).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Of those whose files were opened, the one that is loaded with that bias.
    pub(crate) fn loaded_with(&self, bias: u64) -> Option<Arc<Loaded>> {
        self.loaded.borrow().values().find(|loaded| loaded.bias == bias).map(Arc::clone)
    }

    /// Where the code at an address is from.
    pub(crate) fn place_of(&self, address: u64) -> Option<CodePlace> {
        let loaded = self.loaded(address)?;
        let (object, address) = (&loaded.file.as_ref()?.object, address.wrapping_sub(loaded.bias));
        let symbol = || object.symbol_at(address).map(|function| demangled(&function.name()));
        let Some(innermost) = object.frames_at(address).into_iter().next() else {
            return Some(CodePlace { function: Some(symbol()?), ..CodePlace::default() });
        };
        let line = innermost.line.filter(|line| *line > 0).map(i64::from);
        let file = innermost.file.filter(|_| line.is_some());
        Some(CodePlace { function: innermost.function.or_else(symbol), file, line })
    }

    /// What is known of a file that cannot be had.
    pub(crate) fn missing(&self, image: &Image) -> Missing {
        let first = self.memory.read_bytes(TargetAddr::new(image.start), COMPARED).ok();
        let here = |place: &PathBuf| {
            let file = open_regular(place).ok()?;
            let mut own = vec![0; COMPARED];
            let length = file.len().min(COMPARED as u64);
            file.read_exact_at(&mut own[..usize::try_from(length).ok()?], 0).ok()?;
            Some(Other { path: printable_path(place), build_id: build_id_in_memory(&own) })
        };
        Missing {
            path: image.shown(),
            in_memory: first.is_some(),
            build_id: first.as_deref().and_then(build_id_in_memory),
            other: self.process().places(image).iter().find_map(here),
        }
    }

    /// Whether the process can execute what lies at an address.
    pub(crate) fn is_code(&self, address: u64) -> bool {
        let mappings = self.process().mappings();
        let after = mappings.partition_point(|mapping| mapping.start.get() <= address);
        mappings[..after].last().is_some_and(|mapping| address < mapping.end.get() && mapping.code)
    }

    fn file(&self, image: &Image) -> Option<Arc<KnownFile>> {
        if image.path == VDSO {
            let length = image.end.checked_sub(image.start).filter(|length| *length <= MAX_VDSO)?;
            let bytes = self.memory.read_bytes(TargetAddr::new(image.start), usize::try_from(length).ok()?).ok()?;
            return KnownFile::of_bytes(VDSO, bytes);
        }
        let mut memory = vec![0; COMPARED];
        let has_memory = self.memory.read(TargetAddr::new(image.start), &mut memory).is_ok();
        let reader = self.process().reader();
        let same = |path: &Path| -> bool {
            let opened = match &reader {
                Some(reader) => open_regular_as(path, reader),
                None => open_regular(path),
            };
            let Ok(file) = opened else { return false };
            let mut own = vec![0; COMPARED];
            let length = file.len().min(COMPARED as u64);
            let read = file.read_exact_at(&mut own[..usize::try_from(length).unwrap_or(0)], 0).is_ok();
            // What follows the end of a file is zeros in its last page. A copy that was made of memory has other headers.
            read && (own == memory
                || build_id_in_memory(&own).is_some_and(|id| Some(id) == build_id_in_memory(&memory)))
        };
        let places = self.process().places(image);
        match places.iter().find(|place| has_memory && same(place)) {
            Some(place) => known_file(place, reader.clone()),
            None => self.copied(image),
        }
    }

    /// What memory itself has of the file of a live process: without its debug information.
    fn copied(&self, image: &Image) -> Option<Arc<KnownFile>> {
        self.process().here()?;
        let read =
            |at: u64, into: &mut [u8]| self.process().read(TargetAddr::new(image.start.wrapping_add(at)), into).is_ok();
        KnownFile::of_bytes(&image.shown(), memory_image(&read, image.start)?)
    }
}

/// Where the kernel's list has images: files that are mapped from their beginning on, in one piece after the other.
fn listed(mappings: &[Mapping], headers: Option<u64>) -> Vec<Image> {
    let mut groups: Vec<Vec<&Mapping>> = Vec::new();
    for one in mappings.iter().filter(|mapping| mapping.name.as_bytes().starts_with(b"/") || mapping.name == VDSO) {
        let of_last = groups.last().and_then(|group| group.last()).is_some_and(|last| {
            (&last.file, &last.name) == (&one.file, &one.name) && last.offset <= one.offset && one.offset > 0
        });
        match groups.last_mut() {
            Some(group) if of_last => group.push(one),
            _ => groups.push(vec![one]),
        }
    }
    let image = |group: &Vec<&Mapping>| {
        let (first, last) = (group.first()?, group.last()?);
        if first.offset != 0 || !group.iter().any(|one| one.code) {
            return None;
        }
        let name = first.name.as_bytes();
        let plain = name.strip_suffix(DELETED);
        let (start, end) = (first.start.get(), last.end.get());
        Some(Image {
            path: unescaped(plain.unwrap_or(name)),
            start,
            end,
            first_end: first.end.get(),
            deleted: plain.is_some(),
            is_program: headers.is_some_and(|headers| (start..end).contains(&headers)),
        })
    };
    groups.iter().filter_map(image).collect()
}

/// A path with the characters that the kernel writes as three octal digits (newlines; seq_path in fs/seq_file.c).
fn unescaped(name: &[u8]) -> OsString {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &after[3..];
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, end: u64, code: bool, offset: u64, name: &str) -> Mapping {
        Mapping {
            start: TargetAddr::new(start),
            end: TargetAddr::new(end),
            readable: true,
            writable: false,
            code,
            shared: false,
            offset,
            file: ("00:01".to_owned(), 7),
            name: name.into(),
        }
    }

    #[test]
    fn images_are_files_with_code_from_their_beginning_on() {
        let list = [
            mapping(0x1000, 0x2000, false, 0, "/bin/a\\012b (deleted)"),
            mapping(0x2000, 0x3000, true, 0x1000, "/bin/a\\012b (deleted)"),
            mapping(0x5000, 0x6000, false, 0, "/data"),
            mapping(0x7000, 0x8000, true, 0, "/lib/c"),
            mapping(0x8000, 0x9000, true, 0, "/lib/c"),
            mapping(0xa000, 0xb000, true, 0, "[vdso]"),
            mapping(0xc000, 0xd000, true, 0, ""),
        ];
        let found = listed(&list, Some(0x1040));
        let told: Vec<_> = found.iter().map(|one| (one.shown(), one.start, one.end, one.is_program)).collect();
        let expected = [
            ("/bin/a\\x0ab".to_owned(), 0x1000, 0x3000, true),
            ("/lib/c".to_owned(), 0x7000, 0x8000, false),
            ("/lib/c".to_owned(), 0x8000, 0x9000, false),
            ("[vdso]".to_owned(), 0xa000, 0xb000, false),
        ];
        assert_eq!(told, expected);
        assert!(found[0].deleted && !found[1].deleted);
    }
}
