//! Sources of programs, which their debug information names: read with the rights of the process's user, and kept.

pub mod blanks;
mod boost;
mod brackets;
mod call;
mod constant;
pub mod flow;
mod macros;
mod mentions;

pub use call::{CallText, find};
pub use constant::{constant_in, constant_in_fortran};
pub use macros::Macros;
pub use mentions::{Mention, mentions};

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::Unknown;
use crate::words::grouped;
use target::files::{About, FileError, Reader, RegularFile, open_regular, open_regular_as};

/// Larger files are no sources that a person wrote.
const MAX_BYTES: u64 = 16 << 20;
/// So many bytes of sources are gone through without a pause of so long: ranks are stopped meanwhile.
const MAX_TAKEN: u64 = 64 << 20;
const PAUSE: Duration = Duration::from_secs(5);
const MOST_KNOWN: usize = 64;

const FORTRAN: [&str; 9] = ["f", "for", "ftn", "f77", "f90", "f95", "f03", "f08", "fpp"];
const FIXED: [&str; 5] = ["f", "for", "ftn", "f77", "fpp"];

/// A source file.
#[derive(Debug)]
pub struct Source {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
    /// The same, with spaces for comments and what stands in quotes.
    pub code: String,
    /// Whether it is Fortran.
    pub fortran: bool,
    /// Where its lines end.
    line_ends: Vec<usize>,
    /// What it defines for the preprocessor, once somebody has asked.
    definitions: OnceLock<macros::OfFile>,
    /// Whether it uses Boost.MPI, once somebody has asked.
    boost: OnceLock<bool>,
    /// Its functions, once somebody has asked.
    units: OnceLock<Vec<flow::Unit>>,
}

impl Source {
    /// What a file of that name says.
    pub fn new(path: &Path, text: String) -> Self {
        let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let fortran = FORTRAN.contains(&extension.as_str());
        let code = if fortran { blanks::fortran(&text, FIXED.contains(&extension.as_str())) } else { blanks::c(&text) };
        let line_ends = code.match_indices('\n').map(|(at, _)| at).collect();
        Self {
            path: path.to_owned(),
            text,
            code,
            fortran,
            line_ends,
            definitions: OnceLock::new(),
            boost: OnceLock::new(),
            units: OnceLock::new(),
        }
    }

    /// Whether no preprocessor goes over it, by its name.
    fn is_plain_fortran(&self) -> bool {
        let extension = self.path.extension().unwrap_or_default().to_string_lossy();
        self.fortran && !extension.chars().any(char::is_uppercase)
    }

    /// Whether it is Fortran in fixed form, by its name.
    fn is_fixed(&self) -> bool {
        let extension = self.path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        FIXED.contains(&extension.as_str())
    }

    /// Whether it uses Boost.MPI.
    fn uses_boost(&self) -> bool {
        *self.boost.get_or_init(|| boost::is_used(self))
    }

    /// Its functions.
    fn units(&self) -> &[flow::Unit] {
        self.units.get_or_init(|| flow::units(self))
    }

    /// Its functions, without what they do.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = flow::Body> {
        let body = |unit: &flow::Unit| flow::Body { range: unit.range.clone(), head: unit.head, ..Default::default() };
        self.units().iter().map(body)
    }

    /// The functions that are called in a piece of it, each with what it is given.
    pub(crate) fn calls_in(&self, range: &Range<usize>) -> Vec<(String, CallText)> {
        mentions::all(self, range)
    }

    /// The line in which a place lies, from 1.
    pub fn line_of(&self, place: usize) -> usize {
        self.line_ends.partition_point(|end| *end < place) + 1
    }

    /// Where a line begins, counted from 1, and what it says without comments.
    pub fn code_of(&self, line: usize) -> Option<(usize, &str)> {
        let begin = match line.checked_sub(2) {
            Some(before) => self.line_ends.get(before)? + 1,
            None => 0,
        };
        let end = self.line_ends.get(line.checked_sub(1)?).copied().unwrap_or(self.code.len());
        Some((begin, self.code.get(begin..end)?))
    }

    /// Its name, for a sentence.
    fn name(&self) -> String {
        base_name(&self.path)
    }
}

/// A path for a sentence.
fn shown(path: &Path) -> String {
    path.to_str().map_or_else(|| target::printable_path(path), str::to_owned)
}

fn base_name(path: &Path) -> String {
    let path = shown(path);
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// A file as it is now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    path: PathBuf,
    device: u64,
    inode: u64,
    modified: (i64, i64),
    size: u64,
}

/// The sources that were read, for all processes.
#[derive(Debug, Default)]
pub struct Sources(Mutex<Kept>);

#[derive(Debug)]
struct Kept {
    known: BTreeMap<Identity, Arc<Source>>,
    /// Bytes that were gone through in one go, and when the last were.
    taken: u64,
    when: Option<Instant>,
}

impl Default for Kept {
    fn default() -> Self {
        Self::new()
    }
}

impl Kept {
    const fn new() -> Self {
        Self { known: BTreeMap::new(), taken: 0, when: None }
    }

    /// Pays for so many bytes.
    fn take(&mut self, size: u64) -> Result<(), Unknown> {
        let now = Instant::now();
        if self.when.is_none_or(|when| now.duration_since(when) > PAUSE) {
            self.taken = 0;
        }
        if self.taken + size > MAX_TAKEN {
            let most = MAX_TAKEN >> 20;
            return Err(Unknown::new(format!("more than {most} MiB of sources would have to be read")));
        }
        self.taken += size;
        Ok(())
    }
}

impl Sources {
    /// None so far.
    pub const fn new() -> Self {
        Self(Mutex::new(Kept::new()))
    }

    /// A source of a program that was built at the time `built` (seconds since the epoch; `None`: not known), for somebody
    /// (`None`: for whoever runs this).
    ///
    /// # Errors
    /// Where it cannot be read, or is not what the program was built from.
    pub fn read(&self, path: &Path, built: Option<f64>, reader: Option<&Reader>) -> Result<Arc<Source>, Unknown> {
        let opened = match reader {
            Some(reader) => open_regular_as(path, reader),
            None => open_regular(path),
        };
        let file = opened.map_err(|error| unreadable(path, &error))?;
        let about = *file.about();
        if about.size > MAX_BYTES {
            let size = grouped(about.size);
            return Err(Unknown::new(format!("the source file {} has {size} bytes", base_name(path))));
        }
        let Some(built) = built else {
            return Err(Unknown::new(format!(
                "not known whether the program was built from this source file {}",
                base_name(path)
            )));
        };
        let modified = about.modified;
        if seconds(modified) > built {
            let name = base_name(path);
            return Err(Unknown::new(format!("the source {name} was changed after the program was built")));
        }
        // Whoever may open it may see what was read of it before.
        let About { device, inode, size, .. } = about;
        let identity = Identity { path: path.to_owned(), device, inode, modified, size };
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.known.get(&identity) {
            return Ok(Arc::clone(known));
        }
        kept.take(size)?;
        let text = text_of(file).map_err(|error| unreadable(path, &error.into()))?;
        let source = Arc::new(Source::new(path, text));
        kept.when = Some(Instant::now());
        if kept.known.len() >= MOST_KNOWN {
            kept.known.clear();
        }
        kept.known.insert(identity, Arc::clone(&source));
        Ok(source)
    }
}

/// A time as those who built the program tell it.
#[allow(clippy::cast_precision_loss)]
fn seconds((whole, nanoseconds): (i64, i64)) -> f64 {
    whole as f64 + 1e-9 * nanoseconds as f64
}

/// As text files are read: other line ends than \n stay as they are.
fn text_of(file: RegularFile) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
}

fn unreadable(path: &Path, error: &FileError) -> Unknown {
    let path = shown(path);
    match error {
        FileError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            Unknown::new(format!("the source file {path} is not on this machine (`cp -p` it there)"))
        }
        other => Unknown::new(format!("the source file {path} cannot be read: {}", other.reason())),
    }
}
