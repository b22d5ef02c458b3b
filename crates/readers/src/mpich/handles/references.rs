//! Cross-references: which objects point to a given one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value, json};

use super::super::handle_value::HandleValue;
use super::value::{self, Object};
use super::{Depth, HandleReader, list, predefined};
use crate::record::Slot;
use crate::{HandleSource, add_problem};
use model::{Handle, HandleKind, HandleState};
use target::address::TargetAddr;

/// At most this many references are listed in one fact.
const MAX_REFERENCES: usize = 1000;

/// Which objects point to which, each kind and member looked at once.
#[derive(Default)]
pub struct Referrers(RefCell<HashMap<(HandleKind, &'static str), Rc<Known>>>);

/// The objects of a kind by where a member of theirs points to.
#[derive(Default)]
pub struct Known {
    by_target: HashMap<TargetAddr, Vec<Object>>,
    /// Why these are not all.
    reason: Option<String>,
}

impl Known {
    /// Where they point to, each place once.
    pub fn targets(&self) -> impl Iterator<Item = &TargetAddr> {
        self.by_target.keys()
    }
}

impl HandleReader<'_> {
    /// The object at an address, by the handle in it; `None` for a null pointer and where there is none.
    pub(super) fn object_at(&self, kind: HandleKind, at: TargetAddr) -> Option<Object> {
        if at.is_null() {
            return None;
        }
        let value = HandleValue(u32::try_from(self.target.read_uint(at, 4).ok()?).ok()?);
        let named = predefined::by_value(kind, value).map(|named| named.name);
        let constant = named.or_else(|| predefined::datatype_name(value));
        (value.kind() == value::object_kind(kind)).then_some(Object { value, at: Some(at), constant })
    }

    /// Where the object of a C handle lies; `None` where there is none.
    pub(super) fn object_of_handle(&self, kind: HandleKind, raw: u64) -> Option<TargetAddr> {
        match value::meaning(self, kind, raw) {
            Ok(value::Meaning::Live(object)) => object.at,
            _ => None,
        }
    }

    /// A reference to the object that a pointer of the library points to, as a fact: its kind, its handle and its
    /// summary. Null for a null pointer.
    pub(super) fn reference(&self, kind: HandleKind, at: TargetAddr) -> Value {
        if at.is_null() {
            return Value::Null;
        }
        match self.object_at(kind, at) {
            Some(object) => self.reference_to(kind, &object),
            None => {
                json!({ "kind": kind.word(), "handle": null, "summary": format!("no {} stands at {at}", kind.noun()) })
            }
        }
    }

    /// The handle of the object that stands there, as `Handle::handle` has it.
    pub(super) fn handle_of(&self, kind: HandleKind, at: TargetAddr) -> Option<String> {
        let object = self.object_at(kind, at)?;
        Some(format!("{:#x}", value::c_value(self.process.abi, kind, &object)))
    }

    /// A reference to an object, as a fact.
    pub(super) fn reference_to(&self, kind: HandleKind, object: &Object) -> Value {
        self.reference_of(kind, value::c_value(self.process.abi, kind, object))
    }

    /// A reference by the value that the library itself has for a handle.
    pub(super) fn reference_of_value(&self, kind: HandleKind, value: HandleValue) -> Value {
        let handle = self.of_library(|| {
            let meaning = value::of_integer(self, kind, value);
            let raw = match &meaning {
                Ok(value::Meaning::Live(object)) => value::c_value(self.process.abi, kind, object),
                _ => u64::from(value.0),
            };
            self.described(kind, meaning, raw, Depth::Short)
        });
        json!({ "kind": kind.word(), "handle": handle.handle, "summary": handle.summary })
    }

    /// A reference by the value of a C handle.
    pub(super) fn reference_of(&self, kind: HandleKind, raw: u64) -> Value {
        let handle = self.of_library(|| self.describe(kind, raw, Depth::Short));
        json!({ "kind": kind.word(), "handle": handle.handle, "summary": handle.summary })
    }

    /// The communicator at an address as summaries name it: `on "halo"`, `on MPI_COMM_WORLD`.
    pub(super) fn on(&self, at: TargetAddr) -> String {
        let Some(object) = self.object_at(HandleKind::Comm, at) else {
            return if at.is_null() {
                "on no communicator".to_owned()
            } else {
                format!("on an unknown communicator ({at})")
            };
        };
        let raw = value::c_value(self.process.abi, HandleKind::Comm, &object);
        let Handle { state, summary, .. } = self.describe(HandleKind::Comm, raw, Depth::Short);
        if state != HandleState::Live {
            return format!("on an unknown communicator ({raw:#x})");
        }
        // What follows the name is this process's place in it.
        let place = summary.rfind(", rank ").or_else(|| summary.find(" others").and(summary.rfind(", ")));
        format!("on {}", &summary[..place.unwrap_or(summary.len())])
    }

    /// Adds the fact `name`: references to the objects of which a member points to one of `wanted`. Each member is named
    /// with its kind; a release that lacks one has no such objects.
    pub(super) fn referrers(
        &self,
        name: &str,
        members: &[(HandleKind, &'static str)],
        wanted: &[TargetAddr],
        handle: &mut Handle,
    ) {
        let mut found: Vec<(HandleKind, Object)> = Vec::new();
        let mut reasons: Vec<String> = Vec::new();
        for &(kind, member) in members {
            let known = self.pointing(kind, member);
            for object in wanted.iter().filter_map(|at| known.by_target.get(at)).flatten() {
                if !found.contains(&(kind, *object)) {
                    found.push((kind, *object));
                }
            }
            reasons
                .extend(known.reason.iter().filter(|reason| !reasons.contains(*reason)).cloned().collect::<Vec<_>>());
        }
        // What is not known is no empty list.
        if found.is_empty() && !reasons.is_empty() {
            handle.unknown(name, reasons.join("; "));
            return;
        }
        for reason in reasons {
            add_problem(&mut handle.problems, format!("there may be more {name}: {reason}"));
        }
        self.add_references(name, &found, handle);
    }

    /// Adds the fact `name`: references to these objects, of many to the first, with their number beside.
    pub(super) fn add_references(&self, name: &str, found: &[(HandleKind, Object)], handle: &mut Handle) {
        let shown = found.iter().take(MAX_REFERENCES);
        handle.fact(name, shown.map(|(kind, object)| self.reference_to(*kind, object)).collect::<Vec<_>>());
        if found.len() > MAX_REFERENCES {
            handle.fact(&format!("{name}_total"), found.len());
        }
    }

    /// A reference to an object of which a member points to `wanted`, null where none is known.
    pub(super) fn first_referrer(&self, members: &[(HandleKind, &'static str)], wanted: TargetAddr) -> Value {
        let first = |(kind, member): &(HandleKind, &'static str)| {
            Some((*kind, *self.pointing(*kind, member).by_target.get(&wanted)?.first()?))
        };
        members.iter().find_map(first).map_or(Value::Null, |(kind, object)| self.reference_to(kind, &object))
    }

    /// The objects of a kind by where `member` of theirs points to, found once.
    pub(super) fn pointing(&self, kind: HandleKind, member: &'static str) -> Rc<Known> {
        if let Some(known) = self.referrers.0.borrow().get(&(kind, member)) {
            return Rc::clone(known);
        }
        let known = Rc::new(self.find_pointing(kind, member));
        self.referrers.0.borrow_mut().insert((kind, member), Rc::clone(&known));
        known
    }

    fn find_pointing(&self, kind: HandleKind, member: &str) -> Known {
        let mut known = Known::default();
        let Some(object_kind) = value::object_kind(kind) else { return known };
        let slot = match Slot::probe(self.layouts, object_kind.type_name(), member) {
            Ok(Some(slot)) => slot,
            Ok(None) => return known,
            Err(error) => {
                known.reason = Some(error.to_string());
                return known;
            }
        };
        let (objects, reasons) = list::objects(self, kind);
        known.reason = (!reasons.is_empty()).then(|| reasons.join("; "));
        for object in objects {
            let Some(at) = object.at else { continue };
            match self.target.read_pointer(at.wrapping_add(slot.offset as u64)) {
                Ok(pointer) => known.by_target.entry(pointer).or_default().push(object),
                Err(error) => known.reason = Some(format!("the {} at {at}: {error}", kind.noun())),
            }
        }
        known
    }
}
