//! The parts of the digest that this thread writes or reads just now. Serde has no place for such a thing, so it stands beside.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::groups::Groups;
use crate::Group;

/// Those that were written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// By type and text.
    pub numbers: HashMap<(TypeId, String), usize>,
    /// The texts of those that are new.
    pub new: Vec<String>,
}

/// One that was read.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Where its text is in the digest, until it is asked for.
    Text(Range<usize>),
    /// What it stands for.
    Value(Arc<dyn Any + Send + Sync>),
}

enum Current {
    Nothing,
    Writing(Written),
    Reading(Read),
}

struct Read {
    digest: Rc<str>,
    parts: Vec<Part>,
    groups: Arc<Mutex<Groups>>,
}

thread_local! {
    static CURRENT: RefCell<Current> = const { RefCell::new(Current::Nothing) };
}

/// Whether a digest is written.
pub fn is_written() -> bool {
    CURRENT.with_borrow(|current| matches!(current, Current::Writing(_)))
}

/// Whether a digest is read.
pub fn is_read() -> bool {
    CURRENT.with_borrow(|current| matches!(current, Current::Reading(..)))
}

/// Lets something be written with these parts.
pub(super) fn writing<R>(parts: &mut Written, write: impl FnOnce() -> R) -> R {
    CURRENT.set(Current::Writing(std::mem::take(parts)));
    let result = write();
    if let Current::Writing(written) = CURRENT.replace(Current::Nothing) {
        *parts = written;
    }
    result
}

/// Lets something be read of a digest with these parts, and the groups of all senders.
pub(super) fn reading<R>(
    digest: &str,
    parts: &mut Vec<Part>,
    groups: &Arc<Mutex<Groups>>,
    read: impl FnOnce() -> R,
) -> R {
    let now = Read { digest: digest.into(), parts: std::mem::take(parts), groups: Arc::clone(groups) };
    CURRENT.set(Current::Reading(now));
    let result = read();
    if let Current::Reading(now) = CURRENT.replace(Current::Nothing) {
        *parts = now.parts;
    }
    result
}

/// The group of which that is the text, for the digest that is read.
pub(super) fn group(text: &str) -> Option<Group> {
    CURRENT.with_borrow(|current| match current {
        Current::Reading(read) => read.groups.lock().unwrap_or_else(PoisonError::into_inner).of(text),
        _ => None,
    })
}

/// The number of a part in the digest that is written.
pub fn put<T: Serialize + ?Sized + 'static, E: serde::ser::Error>(part: &T) -> Result<usize, E> {
    // What it is made of comes before it.
    let text = serde_json::to_string(part).map_err(E::custom)?;
    Ok(put_text::<T>(text))
}

/// The same of a part of which there is the text.
pub(super) fn put_text<T: ?Sized + 'static>(text: String) -> usize {
    CURRENT.with_borrow_mut(|current| {
        let Current::Writing(Written { numbers, new }) = current else { return usize::MAX };
        let next = numbers.len();
        *numbers.entry((TypeId::of::<T>(), text)).or_insert_with_key(|(_, text)| {
            new.push(text.clone());
            next
        })
    })
}

/// The part of that number in the digest that is read.
pub fn take<T: DeserializeOwned + Send + Sync + 'static, E: serde::de::Error>(number: usize) -> Result<Arc<T>, E> {
    take_by(number, |text| serde_json::from_str(text).map(Arc::new).map_err(E::custom))
}

/// The same of a part that is made of its text otherwise.
pub fn take_by<T: Send + Sync + 'static, E: serde::de::Error>(
    number: usize,
    make: impl FnOnce(&str) -> Result<Arc<T>, E>,
) -> Result<Arc<T>, E> {
    let part = CURRENT.with_borrow_mut(|current| match current {
        // While it is made, it is not there: none can be a part of itself.
        Current::Reading(read) => read.parts.get_mut(number).map(|part| match part {
            Part::Text(place) => (Part::Text(std::mem::take(place)), Some(Rc::clone(&read.digest))),
            Part::Value(value) => (Part::Value(Arc::clone(value)), None),
        }),
        _ => None,
    });
    match part {
        None => Err(E::custom("there is no such part")),
        Some((Part::Value(value), _)) => value.downcast().map_err(|_| E::custom("a part is of another kind")),
        Some((Part::Text(place), digest)) => {
            let made = make(digest.as_deref().and_then(|digest| digest.get(place)).unwrap_or_default())?;
            CURRENT.with_borrow_mut(|current| {
                if let Current::Reading(read) = current
                    && let Some(part) = read.parts.get_mut(number)
                {
                    *part = Part::Value(Arc::<T>::clone(&made));
                }
            });
            Ok(made)
        }
    }
}
