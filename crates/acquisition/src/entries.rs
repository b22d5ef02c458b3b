//! The entries of a process table, and the texts that they point to.

use std::collections::HashMap;
use std::sync::Arc;

use super::procdesc::Place;
use super::{Entry, ProcDesc};
use target::address::TargetAddr;
use target::{PageCache, Reason, Target, TargetAbi, TargetError, printable};

/// More entries are not read: no job has had as many processes on record, and 2^31 - 1 of them would fill our memory.
pub(super) const MAX_ENTRIES: u64 = 1 << 20;

/// Entries that are read together.
const PIECE: u64 = 1024;

/// Longest text, in bytes (PATH_MAX of Linux).
const MAX_TEXT: usize = 4096;

/// The texts of one table have no more bytes than this.
const MAX_TEXTS: usize = 256 << 20;

/// The texts of a table, each read once.
pub(super) struct Texts<'t> {
    memory: PageCache<&'t dyn Target>,
    known: HashMap<TargetAddr, Result<Arc<str>, Reason>>,
    bytes: usize,
}

impl<'t> Texts<'t> {
    pub fn new(target: &'t dyn Target) -> Self {
        Self { memory: PageCache::new(target), known: HashMap::new(), bytes: 0 }
    }

    /// The text at `addr`, safe to print.
    ///
    /// # Errors
    /// What is wrong with it, to be put behind its name.
    pub fn at(&mut self, addr: TargetAddr) -> Result<Arc<str>, Reason> {
        if let Some(known) = self.known.get(&addr) {
            return known.clone();
        }
        if self.bytes >= MAX_TEXTS {
            return Err(Reason::new(format!("was not read: the texts of the table have more than {MAX_TEXTS} bytes")));
        }
        let found = text(&self.memory, addr, MAX_TEXT).map(Arc::from);
        self.bytes += found.as_ref().map_or_else(|reason| reason.to_string().len(), |text: &Arc<str>| text.len());
        self.known.insert(addr, found.clone());
        found
    }
}

/// A text that ends with a NUL within `max` bytes, safe to print.
///
/// # Errors
/// What is wrong with it, to be put behind its name.
pub(super) fn text(target: &dyn Target, addr: TargetAddr, max: usize) -> Result<String, Reason> {
    let bytes = target.read_c_string(addr, max).map_err(|_| format!("cannot be read at {addr}"))?;
    let mut end = [0; 1];
    let after = target.read(addr.wrapping_add(bytes.len() as u64), &mut end);
    // What has no end is no text: a wild pointer, or a text of which a part is missing.
    if after.is_err() || end != [0] {
        return Err(Reason::new(format!("at {addr} has no end within {max} bytes or what can be read of them")));
    }
    Ok(printable(&bytes))
}

/// Reads the entries of a table. Those after the last one that can be read are left out, and told in `problems`.
///
/// # Errors
/// [`TargetError::Gone`] where the process ends meanwhile.
pub(super) fn read(
    target: &dyn Target,
    at: TargetAddr,
    count: u64,
    layout: &ProcDesc,
    problems: &mut Vec<String>,
) -> Result<Vec<Entry>, TargetError> {
    let wanted = count.min(MAX_ENTRIES);
    if wanted < count {
        problems.push(format!("MPIR_proctable_size is {count}; the first {wanted} entries are read"));
    }
    let mut texts = Texts::new(target);
    let mut entries = Vec::new();
    let (mut readable, mut missing) = (0, None);
    let mut first = 0;
    while first < wanted {
        let piece = PIECE.min(wanted - first);
        let start = at.wrapping_add(first.wrapping_mul(layout.stride));
        let whole = (piece * layout.stride) as usize;
        let bytes = match target.read_bytes(start, whole) {
            Ok(bytes) => Some(bytes),
            Err(TargetError::Gone) => return Err(TargetError::Gone),
            Err(_) => None,
        };
        for number in 0..piece {
            let offset = number * layout.stride;
            // Where a piece cannot be read as a whole, its entries may be.
            let one = match &bytes {
                Some(bytes) => Ok(bytes[offset as usize..(offset + layout.stride) as usize].to_vec()),
                None => target.read_bytes(start.wrapping_add(offset), layout.stride as usize),
            };
            match one {
                Ok(one) => {
                    entries.push(entry(target.abi(), &one, layout, &mut texts));
                    readable = entries.len();
                }
                Err(TargetError::Gone) => return Err(TargetError::Gone),
                Err(error) => {
                    let problem = Some(format!("its entry in the table cannot be read: {error}"));
                    entries.push(Entry { problem, ..Entry::default() });
                    missing = Some(error);
                }
            }
        }
        first += piece;
        if entries.len() - readable >= PIECE as usize {
            break;
        }
    }
    entries.truncate(readable);
    if let Some(error) = missing.filter(|_| (readable as u64) < wanted) {
        let lacking = wanted - readable as u64;
        problems.push(format!("the last {lacking} of {wanted} entries of MPIR_proctable cannot be read: {error}"));
    }
    Ok(entries)
}

fn entry(abi: TargetAbi, bytes: &[u8], layout: &ProcDesc, texts: &mut Texts<'_>) -> Entry {
    let field = |place: Place| &bytes[place.offset as usize..(place.offset + place.size) as usize];
    let mut problems = Vec::new();
    let mut text = |what: &str, place| {
        let addr = TargetAddr::new(abi.uint(field(place)));
        if addr.is_null() {
            return None;
        }
        texts.at(addr).map_err(|reason| problems.push(format!("{what} {reason}"))).ok().filter(|text| !text.is_empty())
    };
    let (host, executable) = (text("its host's name", layout.host), text("its executable's name", layout.executable));
    if host.is_none() && problems.is_empty() {
        problems.push("the table has no host for it".to_owned());
    }
    let pid = abi.int(field(layout.pid));
    let pid = Some(pid).filter(|pid| *pid > 0).or_else(|| {
        problems.push(format!("its process id in the table is {pid}"));
        None
    });
    let problem = (!problems.is_empty()).then(|| problems.join("; "));
    Entry { host, executable, pid, problem }
}
