//! Windows.

use serde_json::{Value, json};

use super::facts::{Fact, as_in_json, facts};
use super::{Attribute, Entry, Handle, Known, Reference, Typed};

/// Why a window moves data: what is open on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epoch {
    /// MPI_Win_fence.
    Fence,
    /// MPI_Win_lock.
    Lock,
    /// MPI_Win_lock_all.
    LockAll,
    /// MPI_Win_start.
    Start,
    /// MPI_Win_post.
    Post,
}

impl Epoch {
    const fn word(self) -> &'static str {
        match self {
            Self::Fence => "fence",
            Self::Lock => "lock",
            Self::LockAll => "lock_all",
            Self::Start => "start",
            Self::Post => "post",
        }
    }
}

/// What is open on a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open(pub Vec<Epoch>);

impl Open {
    /// The words of open epochs with a plus between; `none` where none is open.
    pub fn word(&self) -> String {
        let words: Vec<&str> = self.0.iter().map(|epoch| epoch.word()).collect();
        if words.is_empty() { "none".to_owned() } else { words.join("+") }
    }
}

impl Fact for Open {
    fn tell(self, name: &str, handle: &mut Handle) {
        handle.fact(name, self.word());
    }
}

/// How a window's memory is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LockType {
    Exclusive,
    Shared,
}

/// The lock of one process's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lock {
    /// The rank of that process in the window.
    pub rank: i64,
    /// Its type, where that is known.
    pub sort: Option<LockType>,
}

impl From<Lock> for Value {
    fn from(lock: Lock) -> Self {
        let word = lock.sort.map(|sort| match sort {
            LockType::Exclusive => "exclusive",
            LockType::Shared => "shared",
        });
        json!({ "rank": lock.rank, "type": word })
    }
}

/// World ranks in rank order; null for a process of another job.
pub type WorldRanks = Vec<Option<i64>>;

/// How windows are made, and memory models.
const FLAVOURS: &[&str] =
    &["MPI_WIN_FLAVOR_CREATE", "MPI_WIN_FLAVOR_ALLOCATE", "MPI_WIN_FLAVOR_DYNAMIC", "MPI_WIN_FLAVOR_SHARED"];
const MODELS: &[&str] = &["MPI_WIN_UNIFIED", "MPI_WIN_SEPARATE"];

/// A number that should be one of the standard's constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// It is the constant of this name.
    Named(&'static str),
    /// It is none that is known.
    Number(i64),
}

impl Constant {
    /// How a window was made; `value`: that of a constant, where it is known.
    pub fn flavour(number: i64, value: impl Fn(&str) -> Option<i64>) -> Self {
        Self::of(FLAVOURS, number, value)
    }

    /// A window's memory model, likewise.
    pub fn model(number: i64, value: impl Fn(&str) -> Option<i64>) -> Self {
        Self::of(MODELS, number, value)
    }

    fn of(names: &[&'static str], number: i64, value: impl Fn(&str) -> Option<i64>) -> Self {
        let name = names.iter().find(|name| value(name) == Some(number));
        name.map_or(Self::Number(number), |name| Self::Named(name))
    }
}

impl From<Constant> for Value {
    fn from(constant: Constant) -> Self {
        match constant {
            Constant::Named(name) => name.into(),
            Constant::Number(number) => number.into(),
        }
    }
}

as_in_json!(Constant);

facts! {
    /// What the line of a window needs.
    #[derive(Copy)]
    Window {
        /// This process's rank.
        rank: i64,
        /// The number of its processes.
        size: i64,
    }
}

facts! {
    /// The rest.
    WindowDetails {
        /// Its communicator: the library's own.
        communicator: Known<Option<Reference>>,
        /// Its group.
        group: Known<Option<Reference>>,
        /// Where its memory is.
        base: Known<String>,
        /// How much memory it has, in bytes.
        bytes: Known<i64>,
        /// The unit of displacements, in bytes.
        displacement_unit: Known<i64>,
        /// How it was made.
        flavour: Constant,
        /// The memory model.
        model: Known<Constant>,
        /// What moves its data.
        component: Known<String>,
        /// Hints.
        info: Known<Vec<Entry>>,
        /// Whether the application promised to use no locks.
        no_locks: Known<bool>,
        /// Whether MPI_Win_lock_all is open.
        lock_all: Known<bool>,
        /// Open locks.
        locks: Known<Vec<Lock>>,
        /// The processes of an open MPI_Win_start.
        started: Known<Option<WorldRanks>>,
        /// The processes of an open MPI_Win_post.
        posted: Known<Option<WorldRanks>>,
        /// What is open.
        epoch: Known<Open>,
        /// Attributes.
        attributes: Known<Vec<Attribute>>,
        /// Its error handler.
        errhandler: Option<Reference>,
    }
}

impl Window {
    /// What sentences call one with that name: it in quotation marks, else this process's place in it.
    pub fn label(&self, name: Option<&str>) -> String {
        name.map_or_else(|| self.place(), |name| format!("\"{name}\""))
    }

    fn place(&self) -> String {
        format!("rank {} of {}", self.rank, self.size)
    }

    /// Tells it, with its name and line; `open` as far as it is known.
    pub fn describe(self, name: String, open: Option<&Open>, handle: &mut Handle) {
        handle.name = Some(name).filter(|name| !name.is_empty());
        let place = self.place();
        handle.summary = handle.name.as_ref().map_or_else(|| place.clone(), |name| format!("\"{name}\", {place}"));
        if let Some(open) = open.filter(|open| !open.0.is_empty()) {
            handle.summary = format!("{}, epoch: {}", handle.summary, open.word());
        }
        handle.typed = Typed::Window(self, None);
        self.tell(handle);
    }
}

impl WindowDetails {
    /// Tells them, and keeps them.
    pub fn describe(self, handle: &mut Handle) {
        if let Typed::Window(_, details) = &mut handle.typed {
            *details = Some(Box::new(self.clone()));
        }
        self.tell(handle);
    }
}
