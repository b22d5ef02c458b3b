//! All objects of a kind.

use super::super::communicators::live;
use super::super::handle_value::{HandleValue, ObjectKind, Place};
use super::value::{self, Object};
use super::{Depth, HandleReader, file, predefined};
use crate::HandleSource;
use crate::record::{Slot, shapes};
use model::{HandleKind, HandleList};

/// At most this many objects of a kind are listed: one takes some 10 KB with all that is known of it. The queues have every
/// request.
const MAX_LISTED: usize = 20_000;

shapes! {
    /// Where requests say that they are one of two.
    Halves = ["MPIR_Request"] {} optional {
        is_local: "dev.is_local",
        device_type: "dev.type",
        partner: "dev.anysrc_partner",
        old_partner: "dev.anysource_partner_request",
    };
}

/// The objects with all that is known of them; null handles and what the library made for itself are left out.
pub fn all(reader: &HandleReader<'_>, kind: HandleKind) -> HandleList {
    if kind == HandleKind::File {
        return file::list(reader);
    }
    if kind == HandleKind::Status {
        let detail = Some("a status belongs to the application: the library has no list of them".to_owned());
        return HandleList { kind, complete: false, detail, handles: Vec::new() };
    }
    let (mut found, mut reasons) = objects(reader, kind);
    if found.len() > MAX_LISTED {
        reasons.push(format!("there are {} of them; the first {MAX_LISTED} are shown", found.len()));
        found.truncate(MAX_LISTED);
    }
    let abi = reader.process.abi;
    let describe = |object: &Object| reader.describe(kind, value::c_value(abi, kind, object), Depth::Full);
    let handles = reader.of_library(|| found.iter().map(describe).collect());
    let detail = (!reasons.is_empty()).then(|| reasons.join("; "));
    HandleList { kind, complete: detail.is_none(), detail, handles }
}

/// The objects of a kind, predefined ones first, without those that the library has for itself, and why these are not all.
pub fn objects(reader: &HandleReader<'_>, kind: HandleKind) -> (Vec<Object>, Vec<String>) {
    let Some(wanted) = value::object_kind(kind) else { return (Vec::new(), Vec::new()) };
    let pools = &reader.process.pools;
    let mut reasons = Vec::new();
    let known = pools.of(wanted).next().is_some();
    if !known {
        let noun = value::noun(wanted);
        let unread = match pools.unread {
            0 => String::new(),
            bytes => format!(", of whose memory {bytes} bytes could not be read"),
        };
        reasons.push(format!(
            "the pool of {noun}s was not found in the library{unread}: it is not known whether there are others"
        ));
    } else if pools.unread > 0 && wanted == ObjectKind::Request {
        // Threads may have pools of their own.
        reasons.push(format!("{} bytes of the library's memory could not be read", pools.unread));
    }
    let mut found: Vec<Object> = Vec::new();
    // Those of which no object was found are known all the same.
    let named = predefined::objects(kind).filter(|value| pools.address_of(reader.target, *value).is_none());
    let exists =
        |value: &HandleValue| !matches!(value::of_integer(reader, kind, *value), Ok(value::Meaning::Invalid(_)));
    found.extend(named.filter(exists).map(|value| Object {
        value,
        at: None,
        constant: predefined::by_value(kind, value).map(|named| named.name),
    }));
    if kind == HandleKind::Datatype && pools.builtins(wanted).is_none() {
        // Since 5.0 predefined datatypes have no objects.
        let plain = value::predefined_datatypes(reader).iter();
        found.extend(plain.map(|value| Object {
            value: *value,
            at: None,
            constant: predefined::datatype_name(*value),
        }));
    }
    match live(reader.target, &reader.shapes, pools, wanted, &mut reasons) {
        Ok(objects) => {
            for (at, value) in objects {
                let constant = predefined::by_value(kind, value).map(|named| named.name);
                let constant = constant.or_else(|| predefined::datatype_name(value));
                // Predefined objects without a name are for the library's own use, but for the groups of MPI_COMM_WORLD and
                // MPI_COMM_SELF (src/include/mpir_group.h, v5.0.1).
                if constant.is_some() || value.place() != Place::Builtin || kind == HandleKind::Group {
                    found.push(Object { value, at: Some(at), constant });
                }
            }
        }
        Err(error) => reasons.push(error.to_string()),
    }
    // A type for which the ABI of MPI 5 has no number is none of the program's.
    found.retain(|object| !reader.process.abi || value::c_value(true, kind, object) != 0);
    found.sort_by_key(|object| object.value);
    if kind == HandleKind::Comm {
        match reader.communicators() {
            Ok(all) => found.retain(|object| {
                let index = object.at.and_then(|at| all.at(at));
                index.and_then(|index| all.found.get(index)).is_none_or(|found| !found.internal)
            }),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    if kind == HandleKind::Message {
        found.retain(|object| object.constant.is_some() || super::message::is_message(reader, object));
    } else if kind == HandleKind::Request {
        let halves = Halves::resolve(reader.layouts);
        let is_half = |object: &Object| halves.as_ref().is_ok_and(|halves| halves.is_networks(reader, object));
        found.retain(|object| !super::message::is_message(reader, object) && !is_half(object));
    }
    (found, reasons)
}

impl Halves {
    /// Whether a request is the network's half of a receive from any source: the application has that at the shared memory
    /// (`MPIDI_anysrc_irecv`, src/mpid/ch4/src/ch4_recv.h, v3.4 to v5.0).
    fn is_networks(&self, reader: &HandleReader<'_>, object: &Object) -> bool {
        let (Some(at), Some(partner)) = (object.at, self.partner.or(self.old_partner)) else { return false };
        let member = |slot: Slot| slot.read_uint(reader.target, at).ok();
        let shared = match (self.device_type, self.is_local) {
            (Some(slot), _) => member(slot) == reader.layouts.constant("MPIDI_REQ_TYPE_AM").ok().map(|am| am as u64),
            (None, Some(slot)) => member(slot) != Some(0),
            (None, None) => return false,
        };
        !shared && member(partner).is_some_and(|partner| partner != 0)
    }
}
