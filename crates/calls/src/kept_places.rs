//! What was found out about places in files, kept for all processes: all ranks of a job run the same file, and most of them
//! stand at few places.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use target::files::about;

use crate::Frame;

/// Larger files are not looked through: the process is stopped meanwhile (bytes).
const MAX_FILE: u64 = 512 << 20;

/// So many places are kept.
const MOST: usize = 1024;

/// A place in a file as it is now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    modified: (i64, i64),
    size: u64,
    /// Counted from the beginning of `.text`.
    pub(crate) offset: u64,
    pub(crate) build_id: Option<String>,
}

impl Place {
    /// That of a frame; `None` where its file is not there, or too large.
    fn of(frame: &Frame) -> Option<Self> {
        let about = about(&frame.path).ok()?;
        (about.size <= MAX_FILE).then(|| Self {
            path: frame.path.clone(),
            modified: about.modified,
            size: about.size,
            offset: frame.pc.wrapping_sub(frame.text),
            build_id: frame.build_id.clone(),
        })
    }
}

/// Facts by their places; also that there are none.
#[derive(Debug)]
pub struct KeptPlaces<T>(Mutex<BTreeMap<Place, Option<Arc<T>>>>);

impl<T> Default for KeptPlaces<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> KeptPlaces<T> {
    /// None so far.
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// What is known of the place of a frame; `look` finds it out.
    pub(crate) fn of(&self, frame: &Frame, look: impl FnOnce(&Place) -> Option<T>) -> Option<Arc<T>> {
        let place = Place::of(frame)?;
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known().get(&place).cloned();
        if let Some(found) = before {
            return found;
        }
        let found = look(&place).map(Arc::new);
        let mut known = known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(place, found.clone());
        found
    }
}
