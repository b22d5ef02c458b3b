//! What may be read of the files that a process runs. Strangers wrote their symbols, tables and debug information: 30 KB of
//! these can ask for gigabytes, or for hours.
//!
//! One account a file, with those files that belong to it (its debug file, what is embedded in it); all accounts together are
//! the job's. What is beyond a limit is an error, which names the section, and the file has no names or lines from then on.
//! Work is counted in steps of reading, not in time: so the same file gives the same answer on a busy machine.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::budget::{FACTOR, factor};
use crate::heap;

/// How much memory there is is looked at again after so long.
const FRESH: Duration = Duration::from_secs(1);

/// How much one file, and all files of a job, may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Bytes that are kept or unpacked of one file.
    pub file_bytes: u64,
    /// Bytes of all files.
    pub job_bytes: u64,
    /// Steps of reading one file: a number of DWARF, or 64 bytes of a string. A second has 50 to 200 million. A twentieth of
    /// what was used comes back each second, so that a debugger that is open for a day goes on reading.
    pub file_steps: u64,
    /// Steps of all files.
    pub job_steps: u64,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { file_bytes: 320 << 20, job_bytes: 384 << 20, file_steps: 200_000_000, job_steps: 400_000_000 }
    }
}

impl FileLimits {
    /// Those of the user as they were found a moment ago: a job has hundreds of files.
    fn now() -> Self {
        static FOUND: Mutex<Option<(Instant, FileLimits)>> = Mutex::new(None);
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        match *found {
            Some((at, limits)) if at.elapsed() < FRESH => limits,
            _ => found.insert((Instant::now(), Self::of_user())).1,
        }
    }

    /// The usual ones, times what the user says in the environment; of memory no more than a quarter of what there is.
    fn of_user() -> Self {
        let factor = u64::from(factor());
        let usual = Self::default();
        let most = heap::available().map_or(u64::MAX, |available| available / 4);
        Self {
            file_bytes: usual.file_bytes.saturating_mul(factor).min(most),
            job_bytes: usual.job_bytes.saturating_mul(factor).min(most),
            file_steps: usual.file_steps.saturating_mul(factor),
            job_steps: usual.job_steps.saturating_mul(factor),
        }
    }
}

/// Why no more is read of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileOverLimit {
    /// More memory than one file, or all files, may take.
    #[error("its {section} needs more than {} of memory", mebibytes(*.allowed))]
    Bytes {
        /// The section.
        section: String,
        /// How many bytes there are.
        allowed: u64,
    },
    /// More steps than one file, or all files, may take.
    #[error("its {section} takes too long to read")]
    Steps {
        /// The section.
        section: String,
    },
    /// There are more entries of a kind than any file has.
    #[error("its {section} has more {what} than {most}")]
    Entries {
        /// The section.
        section: String,
        /// Of what, in the plural.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// Reading as a whole must end: its time is over, or the user has interrupted it. Nothing is wrong with the file.
    #[error("reading has ended")]
    Ended,
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

/// The files that are known to be beyond a limit, with why; more than this are not told.
const MOST_TOLD: usize = 64;

static TOLD: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// Steps that were made, of which some come back as time passes.
#[derive(Debug)]
struct Steps(Mutex<(u64, Option<Instant>)>);

/// What part of the limit comes back each second.
const BACK_EACH_SECOND: u64 = 20;

impl Steps {
    const fn new() -> Self {
        Self(Mutex::new((0, None)))
    }

    /// Adds some; whether there are not more than `limit`.
    fn add(&self, count: u64, limit: u64) -> bool {
        let now = Instant::now();
        let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (used, at) = *steps;
        let passed = at.map_or(0, |at| u64::try_from((now - at).as_millis()).unwrap_or(u64::MAX));
        let back = (limit / BACK_EACH_SECOND / 1000).saturating_mul(passed);
        let used = used.saturating_sub(back).saturating_add(count);
        // Less than a millisecond counts with what follows.
        *steps = (used, if passed > 0 || at.is_none() { Some(now) } else { at });
        used <= limit
    }

    fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (0, None);
    }
}

/// What all files of a job have taken.
struct Job {
    bytes: AtomicU64,
    steps: Steps,
    /// When reading must end, in milliseconds since the first question; 0: it need not.
    end: AtomicU64,
    interrupted: AtomicBool,
    /// How often something was not read because reading had to end.
    cuts: AtomicU64,
}

static JOB: Job = Job {
    bytes: AtomicU64::new(0),
    steps: Steps::new(),
    end: AtomicU64::new(0),
    interrupted: AtomicBool::new(false),
    cuts: AtomicU64::new(0),
};

fn milliseconds_until(at: Instant) -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = *START.get_or_init(Instant::now);
    u64::try_from(at.saturating_duration_since(start).as_millis()).unwrap_or(u64::MAX)
}

/// A look at a job begins: its files together may take their time again, until `end`.
pub fn begin_look(end: Option<Instant>) {
    heap::refill();
    JOB.steps.clear();
    JOB.interrupted.store(false, Relaxed);
    JOB.end.store(end.map_or(0, |end| milliseconds_until(end).max(1)), Relaxed);
}

/// The user wants reading to end now.
pub fn interrupt() {
    JOB.interrupted.store(true, Relaxed);
}

/// Whether the user wanted reading to end since the look began.
pub fn is_interrupted() -> bool {
    JOB.interrupted.load(Relaxed)
}

/// How often reading had to end before all was read. What was found out about a file while this changed may be a part of
/// what the file says, and is not to be kept.
pub fn cuts() -> u64 {
    JOB.cuts.load(Relaxed)
}

fn must_end() -> bool {
    let end = JOB.end.load(Relaxed);
    let over =
        JOB.interrupted.load(Relaxed) || heap::is_short() || end != 0 && milliseconds_until(Instant::now()) > end;
    if over {
        JOB.cuts.fetch_add(1, Relaxed);
    }
    over
}

/// Why nothing more is read of a file, as a sentence with what to do; `None` where it is within its limits.
pub fn over_limit_of(path: &Path) -> Option<String> {
    TOLD.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
}

/// The account of one file.
#[derive(Clone)]
pub struct FileBudget(Arc<Account>);

struct Account {
    path: PathBuf,
    limits: FileLimits,
    bytes: AtomicU64,
    steps: Steps,
    over: OnceLock<FileOverLimit>,
}

impl Drop for Account {
    fn drop(&mut self) {
        JOB.bytes.fetch_sub(self.bytes.load(Relaxed), Relaxed);
    }
}

impl fmt::Debug for FileBudget {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "FileBudget({}, {} bytes)", self.0.path.display(), self.0.bytes.load(Relaxed))
    }
}

impl Default for FileBudget {
    /// That of bytes which have no file.
    fn default() -> Self {
        Self::new(Path::new(""))
    }
}

impl FileBudget {
    /// That of a file of the process, with the usual limits.
    pub fn new(path: &Path) -> Self {
        Self::with(path, FileLimits::now())
    }

    /// The same with others.
    pub fn with(path: &Path, limits: FileLimits) -> Self {
        let (bytes, steps) = (AtomicU64::new(0), Steps::new());
        Self(Arc::new(Account { path: path.to_path_buf(), limits, bytes, steps, over: OnceLock::new() }))
    }

    /// Why no more is read of the file.
    pub fn over(&self) -> Option<&FileOverLimit> {
        self.0.over.get()
    }

    /// Notes that the file is beyond a limit.
    pub fn end(&self, why: FileOverLimit) -> FileOverLimit {
        if why == FileOverLimit::Ended {
            return why;
        }
        if self.0.over.set(why.clone()).is_ok() {
            let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() < MOST_TOLD {
                let path = crate::printable_path(&self.0.path);
                let sentence = format!(
                    "names and lines of {path} are missing: {why}; if the file is not damaged, read again with {FACTOR}=10 in \
                     the environment"
                );
                told.insert(self.0.path.clone(), sentence);
            }
        }
        why
    }

    /// Whether so many more bytes may be kept of a section. They count until the file is forgotten, or they are given back.
    ///
    /// # Errors
    /// [`FileOverLimit`] where they may not: nothing more is read of this file then.
    pub fn claim(&self, section: &str, bytes: u64) -> Result<(), FileOverLimit> {
        self.is_open()?;
        let account = &*self.0;
        let own = account.bytes.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let all = JOB.bytes.fetch_add(bytes, Relaxed).saturating_add(bytes);
        let limits = account.limits;
        let beyond = [(own, limits.file_bytes), (all, limits.job_bytes)].into_iter().find(|(used, most)| used > most);
        let Some((_, allowed)) = beyond else { return Ok(()) };
        self.give_back(bytes);
        Err(self.end(FileOverLimit::Bytes { section: section.to_owned(), allowed }))
    }

    /// The same, until what is returned is dropped.
    ///
    /// # Errors
    /// As [`FileBudget::claim`].
    pub fn claimed(&self, section: &str, bytes: u64) -> Result<Claimed, FileOverLimit> {
        self.claim(section, bytes)?;
        Ok(Claimed { budget: self.clone(), bytes })
    }

    /// What was made of a section, with the bytes that it takes; where these are too many, `beyond` instead.
    pub fn keep<T>(&self, section: &str, made: T, bytes: usize, beyond: T) -> Kept<T> {
        match self.claimed(section, bytes as u64) {
            Ok(claimed) => Kept { made, _claimed: Some(claimed) },
            Err(_) => Kept { made: beyond, _claimed: None },
        }
    }

    /// Gives bytes back that were claimed.
    pub fn give_back(&self, bytes: u64) {
        self.0.bytes.fetch_sub(bytes, Relaxed);
        JOB.bytes.fetch_sub(bytes, Relaxed);
    }

    /// Whether `count` more steps may be made in reading a section.
    ///
    /// # Errors
    /// [`FileOverLimit`] where they may not.
    pub fn steps(&self, section: &str, count: u64) -> Result<(), FileOverLimit> {
        self.is_open()?;
        if must_end() {
            return Err(FileOverLimit::Ended);
        }
        let limits = self.0.limits;
        if !self.0.steps.add(count, limits.file_steps) || !JOB.steps.add(count, limits.job_steps) {
            return Err(self.end(FileOverLimit::Steps { section: section.to_owned() }));
        }
        Ok(())
    }

    /// Whether a section may have so many entries of a kind.
    ///
    /// # Errors
    /// [`FileOverLimit`] where it may not.
    pub fn entries(&self, section: &str, what: &'static str, count: u64, most: u64) -> Result<(), FileOverLimit> {
        self.is_open()?;
        if count <= most {
            return Ok(());
        }
        Err(self.end(FileOverLimit::Entries { section: section.to_owned(), what, most }))
    }

    fn is_open(&self) -> Result<(), FileOverLimit> {
        self.0.over.get().map_or(Ok(()), |why| Err(why.clone()))
    }
}

/// Bytes that are claimed as long as this is there.
#[derive(Debug)]
pub struct Claimed {
    budget: FileBudget,
    bytes: u64,
}

impl Drop for Claimed {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

/// What was made of a section, which counts as long as this is there.
#[derive(Debug)]
pub struct Kept<T> {
    made: T,
    _claimed: Option<Claimed>,
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.made
    }
}

/// What something that grows takes of its file's budget: it is claimed in large pieces, as the need arises.
#[derive(Debug)]
pub struct Growing {
    claimed: Vec<Claimed>,
    /// Bytes that are claimed and not used yet.
    left: u64,
}

impl Growing {
    /// So many bytes are claimed at once.
    const PIECE: u64 = 1 << 20;

    /// Nothing is claimed yet.
    pub const fn new() -> Self {
        Self { claimed: Vec::new(), left: 0 }
    }

    /// Whether it may grow by so many bytes.
    pub fn by(&mut self, budget: &FileBudget, section: &str, bytes: usize) -> bool {
        let bytes = bytes as u64;
        if self.left < bytes {
            let Ok(more) = budget.claimed(section, bytes.max(Self::PIECE)) else { return false };
            self.left += more.bytes;
            self.claimed.push(more);
        }
        self.left -= bytes;
        true
    }
}

impl Default for Growing {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: FileLimits = FileLimits { file_bytes: 100, job_bytes: u64::MAX, file_steps: 10, job_steps: u64::MAX };

    fn file(name: &str) -> FileBudget {
        FileBudget::with(Path::new(name), LIMITS)
    }

    #[test]
    fn what_is_beyond_a_limit_ends_the_file_and_is_told_with_its_section() {
        let file = file("/made-up/bytes");
        assert_eq!(file.claim(".debug_str", 60), Ok(()));
        assert!(matches!(file.claim(".debug_line", 41), Err(FileOverLimit::Bytes { section, allowed: 100 })
            if section == ".debug_line"));
        // Also what there would be room for.
        assert!(file.claim(".debug_str", 1).is_err());
        assert!(file.steps(".debug_str", 1).is_err());
        let told = over_limit_of(Path::new("/made-up/bytes")).unwrap_or_default();
        assert!(told.contains("/made-up/bytes are missing: its .debug_line needs more than 0 MiB of memory"), "{told}");
        assert!(told.contains("MPI_QUEUES_LIMITS=10"), "{told}");
        assert_eq!(over_limit_of(Path::new("/made-up/other")), None);
    }

    #[test]
    fn what_is_given_back_can_be_claimed_again() {
        let file = file("/made-up/again");
        for _ in 0..10 {
            assert!(file.claimed(".debug_str", 100).is_ok());
            assert_eq!(*file.keep(".debug_str", "made", 100, "beyond"), "made");
        }
        assert_eq!(file.over(), None);
        assert_eq!(*file.keep(".debug_str", "made", 101, "beyond"), "beyond");
        assert!(file.over().is_some());
    }

    #[test]
    fn what_grows_is_claimed_in_pieces() {
        let limits = FileLimits { file_bytes: 2 * Growing::PIECE, ..LIMITS };
        let file = FileBudget::with(Path::new("/made-up/growing"), limits);
        let mut growing = Growing::new();
        let count = (0..).take_while(|_| growing.by(&file, ".symtab", 1 << 10)).count();
        assert_eq!(count, 2 << 10);
        assert!(matches!(file.over(), Some(FileOverLimit::Bytes { section, .. }) if section == ".symtab"));
    }

    #[test]
    fn steps_come_back_as_time_passes() {
        let (steps, limit) = (Steps::new(), 20_000_000);
        assert!(steps.add(limit, limit) && !steps.add(limit / 100, limit));
        std::thread::sleep(Duration::from_millis(500));
        // A fortieth of the limit by now.
        assert!(steps.add(0, limit));
        assert!(!steps.add(limit, limit));
        steps.clear();
        assert!(steps.add(limit, limit));
    }

    #[test]
    fn steps_and_entries_have_limits() {
        let slow = file("/made-up/slow");
        assert_eq!(slow.steps(".debug_info", 10), Ok(()));
        assert_eq!(slow.steps(".debug_info", 1), Err(FileOverLimit::Steps { section: ".debug_info".to_owned() }));
        let many = file("/made-up/many");
        assert_eq!(many.entries(".symtab", "symbols", 5, 5), Ok(()));
        assert!(many.entries(".symtab", "symbols", 6, 5).is_err());
        let told = over_limit_of(Path::new("/made-up/many")).unwrap_or_default();
        assert!(told.contains("its .symtab has more symbols than 5"), "{told}");
    }
}
