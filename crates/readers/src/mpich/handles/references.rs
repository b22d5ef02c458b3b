//! Cross-references: which objects point to a given one.

use super::super::handle_value::HandleValue;
use super::value::{self, Object};
use super::{Depth, HandleReader, errhandler, list, predefined};
use crate::HandleSource;
use crate::record::Slot;
use crate::references::{self, Member, Pointing, Referrers, Refers};
use model::handle::Reference;
use model::{Handle, HandleKind, HandleState, Known, Typed};
use target::address::TargetAddr;

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

    /// A reference to the object that a pointer of the library points to; none for a null pointer.
    pub(super) fn reference(&self, kind: HandleKind, at: TargetAddr) -> Option<Reference> {
        if at.is_null() {
            return None;
        }
        Some(self.object_at(kind, at).map_or_else(
            || {
                let summary = format!("no {} is at {at}", kind.noun());
                Reference { kind, handle: None, summary, doubtful: false }
            },
            |object| self.refer(kind, object),
        ))
    }

    /// A reference to the group of a communicator.
    pub(super) fn group(&self, at: TargetAddr) -> Known<Option<Reference>> {
        let group = self.reference(HandleKind::Group, at).map(Some);
        group.ok_or_else(|| "the library makes the group when the program asks for it".into())
    }

    /// A reference to the error handler of an object: one without any has the default one (src/mpi/errhan/errutil.c, v4.0.2).
    pub(super) fn errhandler(&self, at: TargetAddr) -> Reference {
        let own = self.reference(HandleKind::Errhandler, at);
        own.unwrap_or_else(|| self.reference_of_value(HandleKind::Errhandler, errhandler::DEFAULT))
    }

    /// The handle of the object that stands there, as `Handle::handle` has it.
    pub(super) fn handle_of(&self, kind: HandleKind, at: TargetAddr) -> Option<String> {
        let object = self.object_at(kind, at)?;
        Some(format!("{:#x}", value::c_value(self.process.abi, kind, &object)))
    }

    /// A reference by the value that the library itself has for a handle.
    pub(super) fn reference_of_value(&self, kind: HandleKind, value: HandleValue) -> Reference {
        let handle = self.of_library(|| {
            let meaning = value::of_integer(self, kind, value);
            let raw = match &meaning {
                Ok(value::Meaning::Live(object)) => value::c_value(self.process.abi, kind, object),
                _ => u64::from(value.0),
            };
            self.described(kind, meaning, raw, Depth::Short)
        });
        Reference::to(handle)
    }

    /// A reference by the value of a C handle.
    pub(super) fn reference_of(&self, kind: HandleKind, raw: u64) -> Reference {
        let handle = self.of_library(|| self.describe(kind, raw, Depth::Short));
        Reference::to(handle)
    }

    /// The window at an address as summaries name it; none where it has no name.
    pub(super) fn window_label(&self, at: TargetAddr) -> Option<String> {
        let object = self.object_at(HandleKind::Win, at)?;
        let raw = value::c_value(self.process.abi, HandleKind::Win, &object);
        match self.describe(HandleKind::Win, raw, Depth::Short) {
            Handle { state: HandleState::Live, typed: Typed::Window(window, _), name: Some(name), .. } => {
                Some(window.label(Some(&name)))
            }
            _ => None,
        }
    }

    /// The communicator at an address as summaries name it.
    pub(super) fn on(&self, at: TargetAddr) -> String {
        let Some(object) = self.object_at(HandleKind::Comm, at) else {
            return if at.is_null() {
                "on no communicator".to_owned()
            } else {
                format!("on an unknown communicator ({at})")
            };
        };
        let raw = value::c_value(self.process.abi, HandleKind::Comm, &object);
        references::on(&self.describe(HandleKind::Comm, raw, Depth::Short), format_args!("{raw:#x}"))
    }
}

impl Refers for HandleReader<'_> {
    type Object = Object;

    fn looked_at(&self) -> &Referrers<Object> {
        &self.referrers
    }

    fn refer(&self, kind: HandleKind, object: Object) -> Reference {
        self.reference_of(kind, value::c_value(self.process.abi, kind, &object))
    }

    fn find_pointing(&self, (kind, member): Member) -> Pointing<Object> {
        let mut known = Pointing::default();
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
            match slot.read_pointer(self.target, at) {
                Ok(pointer) => known.by_target.entry(pointer).or_default().push(object),
                Err(error) => known.reason = Some(format!("the {} at {at}: {error}", kind.noun())),
            }
        }
        known
    }
}
