//! Files that were opened, kept for all processes: the ranks of a job run the same ones.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use gimli::RunTimeEndian;
use symbols::{DebugPlaces, ObjectFile};
use target::file_budget::cuts;
use target::files::{Identity, Reader, about, answered_again};
use target::{ByteOrder, PointerWidth, TargetAbi};
use unwind::{Module, Sections};
use variables::DebugInfo;

/// So many files are kept.
const MOST: usize = 256;

/// A file, and the user with whose rights debug files are looked for.
type Key = (Identity, Option<u32>);

static KNOWN: Mutex<BTreeMap<Key, Arc<KnownFile>>> = Mutex::new(BTreeMap::new());

/// How often reading had to end, and file systems that did not answer had answered again, when the last file was asked for.
static CHANGES: AtomicU64 = AtomicU64::new(0);

/// A file with what was found out about it.
pub(crate) struct KnownFile {
    pub(crate) object: ObjectFile,
    module: OnceLock<Option<Arc<Module>>>,
    information: OnceLock<Option<Arc<DebugInfo>>>,
}

/// The variable of the environment by which a user has debug files fetched that are not here: seconds for each.
const FETCH: &str = "MPI_QUEUES_DEBUGINFOD";

/// How long `debuginfod-find` may take. Distributions set `DEBUGINFOD_URLS` for everybody: that alone is no wish to wait for a
/// network while a job hangs.
fn asked_for() -> Option<Duration> {
    let seconds = std::env::var(FETCH).ok()?.parse::<u64>().ok()?;
    (seconds > 0).then(|| Duration::from_secs(seconds.min(3600)))
}

/// The file at a path, opened once; `None` where it is none that can be used.
pub(crate) fn known_file(path: &Path, reader: Option<Reader>) -> Option<Arc<KnownFile>> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let changes = cuts().wrapping_add(answered_again());
    if CHANGES.swap(changes, Ordering::Relaxed) != changes {
        // What was found out about files may be a part of what they say.
        known().clear();
    }
    // Debug files are looked for with the rights of whoever's process it is.
    let key = (Identity::of(&about(path).ok()?), reader.as_ref().map(|reader| reader.uid));
    if let Some(found) = known().get(&key) {
        return Some(Arc::clone(found));
    }
    let object = ObjectFile::open(path, &DebugPlaces { reader, ask: asked_for(), ..DebugPlaces::default() }).ok()?;
    let file = Arc::new(KnownFile::new(object));
    let mut known = known();
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(key, Arc::clone(&file));
    Some(file)
}

impl KnownFile {
    fn new(object: ObjectFile) -> Self {
        Self { object, module: OnceLock::new(), information: OnceLock::new() }
    }

    /// The file of which these are the bytes.
    pub(crate) fn of_bytes(name: &str, bytes: Vec<u8>) -> Option<Arc<Self>> {
        ObjectFile::from_bytes(name, bytes).ok().map(|object| Arc::new(Self::new(object)))
    }

    /// The address that the first byte of the file is loaded at, as the file counts addresses.
    pub(crate) fn base(&self) -> u64 {
        let first = self.object.segments().iter().find(|segment| segment.offset == 0 && segment.file_size > 0);
        first.or(self.object.segments().first()).map_or(0, |first| first.address.wrapping_sub(first.offset))
    }

    /// What it says of frames.
    pub(crate) fn module(&self) -> Option<&Arc<Module>> {
        let make = || {
            let section = |name| self.object.section(name).map(|(bytes, address)| (address, bytes));
            // Separate debug files have it where the file itself has none.
            let debug_frame = section(".debug_frame")
                .or_else(|| self.object.debug_file()?.section(".debug_frame").map(|(bytes, address)| (address, bytes)));
            let sections = Sections {
                budget: self.object.budget().clone(),
                eh_frame: section(".eh_frame"),
                eh_frame_hdr: section(".eh_frame_hdr"),
                debug_frame: debug_frame.map(|(_, bytes)| bytes),
                text: Some(self.object.text_address()),
                got: section(".got").map(|(address, _)| address),
            };
            let machine = match self.object.architecture() {
                object::Architecture::X86_64 => unwind::Machine::X86_64,
                object::Architecture::Aarch64 => unwind::Machine::Aarch64,
                _ => return None,
            };
            Some(Arc::new(Module::new(machine, sections)))
        };
        self.module.get_or_init(make).as_ref()
    }

    /// Its variables and types; `None` without debug information.
    pub(crate) fn information(&self) -> Option<&Arc<DebugInfo>> {
        let pointer_width = if self.object.is_64() { PointerWidth::Eight } else { PointerWidth::Four };
        let byte_order = match self.object.endian() {
            RunTimeEndian::Little => ByteOrder::Little,
            RunTimeEndian::Big => ByteOrder::Big,
        };
        let abi = TargetAbi { byte_order, pointer_width };
        let make = || Some(Arc::new(DebugInfo::new(Arc::clone(self.object.information()?), abi)));
        self.information.get_or_init(make).as_ref()
    }
}
