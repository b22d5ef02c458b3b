//! The parts of the digest that this thread writes or reads just now. Serde has no place for such a thing, so it stands beside.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::cut::Cut;
use super::form::{Form, MARK};
use super::groups::{self, Groups};
use crate::{Group, built};

/// Those that were written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// By type and text.
    pub numbers: HashMap<(TypeId, String), usize>,
    /// How long their texts are together, in bytes.
    pub length: usize,
    /// The lines of those that are new.
    pub new: Vec<String>,
    /// While one digest is written: those by which others of their type and form are told.
    pub forms: HashMap<(TypeId, String), (usize, Cut, String)>,
    /// How much others have told so far.
    pub told: usize,
    /// The numbers of groups by where they are, while one digest is written: the processes of a job share that of
    /// MPI_COMM_WORLD, which is looked through once. They stay there meanwhile.
    pub groups: HashMap<(usize, usize), (Group, usize)>,
}

/// One that was read.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// Where its text is in the digest, until it is asked for.
    Text(Range<usize>),
    /// What it stands for, and how much that is with all that it is made of, in bytes.
    Value(Arc<dyn Any + Send + Sync>, usize),
}

enum Current {
    Nothing,
    Writing(Written),
    Reading(Read),
}

struct Read {
    digest: Rc<String>,
    parts: Vec<Part>,
    groups: Arc<Mutex<Groups>>,
    /// How many parts are of earlier digests, and the lines of the others.
    before: usize,
    lines: Vec<Range<usize>>,
    /// Those by which others are told, by their numbers.
    forms: HashMap<usize, Rc<Form>>,
    /// How much may be told by others yet.
    left: usize,
    /// How much all is that was named so far, each part as often as it is named, in bytes.
    named: usize,
    /// How much was built of the parts that the part which is made just now is made of.
    inside: usize,
}

/// So much is told by others in one digest, in steps through JSON: a few letters can stand for much.
const MAX_TOLD: usize = 1 << 22;

/// A digest is not more than this where each part is counted as often as it is named, in bytes (1 GiB): whoever goes through the
/// snapshot comes to it as often.
const MAX_NAMED: usize = 1 << 30;

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
/// `before`: how many of them are of earlier ones.
pub(super) fn reading<R>(
    digest: &Rc<String>,
    parts: &mut Vec<Part>,
    before: usize,
    groups: &Arc<Mutex<Groups>>,
    read: impl FnOnce() -> R,
) -> R {
    let lines = parts.iter().skip(before).map(|part| match part {
        Part::Text(place) => Range::clone(place),
        Part::Value(..) => 0..0,
    });
    let lines = lines.collect();
    let now = Read {
        digest: Rc::clone(digest),
        parts: std::mem::take(parts),
        groups: Arc::clone(groups),
        before,
        lines,
        forms: HashMap::new(),
        left: MAX_TOLD,
        named: 0,
        inside: 0,
    };
    CURRENT.set(Current::Reading(now));
    let result = read();
    if let Current::Reading(now) = CURRENT.replace(Current::Nothing) {
        *parts = now.parts;
    }
    result
}

/// What a line stands for in the digest that is read.
pub fn parsed<T: DeserializeOwned, E: serde::de::Error>(line: &str) -> Result<T, E> {
    let Some(told) = line.strip_prefix(MARK) else { return built::from_str(line).map_err(E::custom) };
    let (number, changes) = told.split_at(told.find(' ').unwrap_or(told.len()));
    let form = number.parse().ok().and_then(form).ok_or_else(|| E::custom("there is no such part to be told by"))?;
    form.read(changes).map_err(E::custom)
}

/// The part by whose form others are told, of the digest that is read.
fn form(number: usize) -> Option<Rc<Form>> {
    CURRENT.with_borrow_mut(|current| {
        let Current::Reading(read) = current else { return None };
        let form = match read.forms.get(&number) {
            Some(form) => Rc::clone(form),
            None => {
                let line = read.lines.get(number.checked_sub(read.before)?)?.clone();
                let form = Rc::new(Form::new(read.digest.get(line)?).ok()?);
                read.forms.insert(number, Rc::clone(&form));
                form
            }
        };
        read.left = read.left.checked_sub(form.len())?;
        Some(form)
    })
}

/// The group of which that is the text, for the digest that is read.
pub(super) fn group(text: &str) -> Option<Group> {
    CURRENT.with_borrow(|current| match current {
        Current::Reading(read) => groups::of(&read.groups, text),
        _ => None,
    })
}

/// The number of a group in the digest that is written; `text` makes what is written of it.
pub(super) fn put_group<E>(group: &Group, text: impl FnOnce() -> Result<String, E>) -> Result<usize, E> {
    let place = (group.as_ptr().addr(), group.len());
    let known = CURRENT.with_borrow(|current| match current {
        Current::Writing(written) => written.groups.get(&place).map(|(_, number)| *number),
        _ => None,
    });
    if let Some(number) = known {
        return Ok(number);
    }
    // Groups of all senders are known by their texts.
    let number = put_text::<Group>(text()?, false);
    CURRENT.with_borrow_mut(|current| {
        if let Current::Writing(written) = current {
            written.groups.insert(place, (Group::clone(group), number));
        }
    });
    Ok(number)
}

/// The number of a part in the digest that is written.
pub fn put<T: Serialize + ?Sized + 'static, E: serde::ser::Error>(part: &T) -> Result<usize, E> {
    // What it is made of comes before it.
    let text = serde_json::to_string(part).map_err(E::custom)?;
    Ok(put_text::<T>(text, true))
}

/// The line of a part, told by another one of its form where there is one.
fn told(written: &mut Written, kind: TypeId, number: usize, text: &str) -> String {
    if !text.starts_with(['[', '{']) {
        return text.to_owned();
    }
    let cut = Cut::new(text);
    match written.forms.entry((kind, cut.rest.clone())) {
        Entry::Occupied(known) => {
            let (number, other, other_text) = known.get();
            let line = cut.told_by(text, *number, other, other_text);
            if line.len() >= text.len() || written.told.saturating_add(cut.steps) > MAX_TOLD {
                return text.to_owned();
            }
            written.told += cut.steps;
            line
        }
        Entry::Vacant(place) => {
            place.insert((number, cut, text.to_owned()));
            text.to_owned()
        }
    }
}

/// The same of a part of which there is the text.
fn put_text<T: ?Sized + 'static>(text: String, by_form: bool) -> usize {
    CURRENT.with_borrow_mut(|current| {
        let Current::Writing(written) = current else { return usize::MAX };
        let (kind, next) = (TypeId::of::<T>(), written.numbers.len());
        let key = (kind, text);
        if let Some(number) = written.numbers.get(&key) {
            return *number;
        }
        let line = if by_form { told(written, kind, next, &key.1) } else { key.1.clone() };
        written.new.push(line);
        written.length += key.1.len();
        written.numbers.insert(key, next);
        next
    })
}

/// The part of that number in the digest that is read.
pub fn take<T: DeserializeOwned + Send + Sync + 'static, E: serde::de::Error>(number: usize) -> Result<Arc<T>, E> {
    take_by(number, Naming::Counts, |line| parsed(line).map(Arc::new))
}

/// What a part counts where it is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// What was built of it: whoever goes through the snapshot, or changes it, does so as often.
    Counts,
    /// Nothing: groups are large, all processes have the same, and nobody changes them.
    IsFree,
}

/// The same of a part that is made of its text otherwise.
pub fn take_by<T: Send + Sync + 'static, E: serde::de::Error>(
    number: usize,
    naming: Naming,
    make: impl FnOnce(&str) -> Result<Arc<T>, E>,
) -> Result<Arc<T>, E> {
    let part = CURRENT.with_borrow_mut(|current| match current {
        // While it is made, it is not there: none can be a part of itself.
        Current::Reading(read) => read.parts.get_mut(number).map(|part| match part {
            Part::Text(place) => {
                let making = Making {
                    digest: Rc::clone(&read.digest),
                    named: read.named,
                    inside: std::mem::take(&mut read.inside),
                    left: built::left(),
                };
                (Part::Text(std::mem::take(place)), Some(making))
            }
            Part::Value(value, size) => {
                read.named = read.named.saturating_add(*size);
                (Part::Value(Arc::clone(value), read.named), None)
            }
        }),
        _ => None,
    });
    match part {
        Some((Part::Text(place), Some(making))) => {
            let made = make(making.digest.get(place).unwrap_or_default())?;
            CURRENT.with_borrow_mut(|current| {
                if let Current::Reading(read) = current
                    && let Some(part) = read.parts.get_mut(number)
                {
                    let all = making.left.saturating_sub(built::left());
                    // What it is made of was named meanwhile.
                    let own = if naming == Naming::IsFree { 0 } else { all.saturating_sub(read.inside) };
                    read.named = read.named.saturating_add(own);
                    read.inside = making.inside.saturating_add(all);
                    *part = Part::Value(Arc::<T>::clone(&made), read.named.saturating_sub(making.named));
                }
            });
            Ok(made)
        }
        Some((Part::Value(_, named), _)) if named > MAX_NAMED => {
            Err(E::custom(format!("its parts are named so often that it is more than {} MiB", MAX_NAMED >> 20)))
        }
        Some((Part::Value(value, _), _)) => value.downcast().map_err(|_| E::custom("a part is of another kind")),
        _ => Err(E::custom("there is no such part")),
    }
}

/// A part that is being made.
struct Making {
    digest: Rc<String>,
    /// What was named before it, what its neighbours are made of, and how much could be built then.
    named: usize,
    inside: usize,
    left: usize,
}
