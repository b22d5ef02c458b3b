//! All objects of a kind.

use super::super::communicators::live;
use super::super::handle_value::{HandleValue, ObjectKind, Place};
use super::value::{self, Object};
use super::{Depth, HandleReader, file, predefined};
use crate::model::{HandleKind, HandleList};
use crate::readers::HandleSource;

/// At most this many objects of a kind are listed: one takes some 10 KB with all that is known of it. The queues have every
/// request.
const MAX_LISTED: usize = 20_000;

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
    if kind == HandleKind::Comm {
        match reader.communicators() {
            Ok(all) => found.retain(|object| {
                let index = object.at.and_then(|at| all.at(at));
                index.and_then(|index| all.found.get(index)).is_none_or(|found| !found.internal)
            }),
            Err(error) => reasons.push(error.to_string()),
        }
    }
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

/// The objects of a kind, predefined ones first, and why these are not all.
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
    found.sort_by_key(|object| object.value);
    if kind == HandleKind::Message {
        found.retain(|object| object.constant.is_some() || super::message::is_message(reader, object));
    } else if kind == HandleKind::Request {
        found.retain(|object| !super::message::is_message(reader, object));
    }
    (found, reasons)
}
