//! File systems that do not answer: which they are, how long they are waited for, and what was not read because of them.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::attendant::Attendant;
use super::mounts::{Key, place_of};
use crate::printable_path;

/// So long one question is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// And so long while processes are stopped.
const HURRY: Duration = Duration::from_millis(250);
/// All that do not answer are waited for so long within [`AGAIN`], before each has [`HURRY`] alone.
const ALTOGETHER: Duration = Duration::from_secs(6);
/// A file system is asked again so long after it did not answer, though what it was asked then is not answered yet.
const AGAIN: Duration = Duration::from_secs(60);
/// And not again where so many questions have no answer.
const MOST_LEFT: usize = 8;
/// More paths are counted only.
const MOST_PATHS: usize = 1000;

/// A file system that does not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} does not answer")]
pub struct NoAnswer(String);

struct Silent {
    key: Key,
    name: String,
    /// Those that wait for it.
    left: Vec<Attendant>,
    since: Instant,
    /// How long it was waited for.
    waited: Duration,
    /// What was not read.
    paths: BTreeSet<PathBuf>,
}

static SILENT: Mutex<Vec<Silent>> = Mutex::new(Vec::new());
/// How many there are: mostly none.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// How often one has answered again.
static ANSWERED: AtomicU64 = AtomicU64::new(0);
static HURRIED: AtomicUsize = AtomicUsize::new(0);

/// Processes are stopped as long as this is there: no file is waited for for long.
#[derive(Debug)]
pub struct Hurry(());

impl Hurry {
    /// From now on.
    pub fn new() -> Self {
        HURRIED.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Default for Hurry {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Hurry {
    fn drop(&mut self) {
        HURRIED.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How long the next question is waited for.
pub(super) fn patience() -> Duration {
    if HURRIED.load(Ordering::Relaxed) > 0 || (any() && waited(&silent()) >= ALTOGETHER) { HURRY } else { PATIENCE }
}

fn waited(silent: &[Silent]) -> Duration {
    silent.iter().filter(|one| one.since.elapsed() < AGAIN).map(|one| one.waited).sum()
}

fn any() -> bool {
    COUNT.load(Ordering::Relaxed) > 0
}

fn silent() -> MutexGuard<'static, Vec<Silent>> {
    SILENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a path may be asked for, which is waited for so long.
///
/// # Errors
/// Where its file system did not answer the last time.
pub(super) fn may_ask(path: &Path, limit: Duration) -> Result<(), NoAnswer> {
    if !any() {
        return Ok(());
    }
    // Looked for before the list is taken: who else asks need not wait.
    let place = place_of(path);
    let mut silent = silent();
    forget_answered(&mut silent);
    let Some(one) = silent.iter_mut().find(|one| one.key == place.key) else { return Ok(()) };
    let again = one.since.elapsed() >= AGAIN && one.left.len() < MOST_LEFT;
    if again || limit > one.waited {
        return Ok(());
    }
    Err(one.no_answer(place.path))
}

/// Nothing came within that time: who waits for it is left behind.
pub(super) fn fell_silent(path: &Path, limit: Duration, left: Option<Attendant>) -> NoAnswer {
    let place = place_of(path);
    let mut silent = silent();
    let at = silent.iter().position(|one| one.key == place.key).unwrap_or_else(|| {
        let (since, waited) = (Instant::now(), Duration::ZERO);
        silent.push(Silent {
            key: place.key,
            name: place.name,
            left: Vec::new(),
            since,
            waited,
            paths: BTreeSet::new(),
        });
        silent.len() - 1
    });
    COUNT.store(silent.len(), Ordering::Relaxed);
    let one = &mut silent[at];
    one.since = Instant::now();
    one.waited = one.waited.max(limit);
    one.left.extend(left);
    one.no_answer(place.path)
}

/// A file was opened, though it may not have been before. Its file system may still not answer all that it is asked.
pub(super) fn was_opened(path: &Path) {
    if any() {
        let place = place_of(path);
        for one in silent().iter_mut().filter(|one| one.key == place.key) {
            one.paths.remove(&place.path);
        }
    }
}

impl Silent {
    fn no_answer(&mut self, path: PathBuf) -> NoAnswer {
        if self.paths.len() < MOST_PATHS {
            self.paths.insert(path);
        }
        NoAnswer(self.name.clone())
    }
}

/// Those for whom somebody who was left behind has come back answer again.
fn forget_answered(silent: &mut Vec<Silent>) {
    silent.retain(|one| !one.left.iter().any(Attendant::has_come_back));
    note(silent);
}

fn note(silent: &[Silent]) {
    let before = COUNT.swap(silent.len(), Ordering::Relaxed);
    if silent.len() < before {
        ANSWERED.fetch_add(1, Ordering::Relaxed);
    }
}

/// How often a file system that did not answer has answered again: what was found out without it before may be told better
/// now.
pub fn answered_again() -> u64 {
    if any() {
        forget_answered(&mut silent());
    }
    ANSWERED.load(Ordering::Relaxed)
}

/// What is not read because file systems do not answer, a sentence for each of these.
pub fn unanswered() -> Vec<String> {
    if !any() {
        return Vec::new();
    }
    let mut silent = silent();
    forget_answered(&mut silent);
    silent.iter().filter(|one| !one.paths.is_empty()).map(ToString::to_string).collect()
}

impl fmt::Display for Silent {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.paths.first().map(|path| printable_path(path)).unwrap_or_default();
        write!(to, "{} does not answer: {first} was not read", self.name)?;
        match self.paths.len() {
            0 | 1 => Ok(()),
            2 => write!(to, ", nor was one more file of it"),
            more => write!(to, ", nor were {} more files of it", more - 1),
        }
    }
}
