//! From what a plug-in for handles delivers to the model.
//!
//! A plug-in's word is passed on as its word: every handle has a fact `told_by`. What it left out, and what the interface
//! has no room for, is not known and says so; nothing is concluded from zeros.

use serde_json::Value;

use super::abi::{self, ErrhandlerInfo, Plain, RequestInfo, StatusInfo, capability, errhandler};
use super::comm;
use super::protocol::{Part, RawAnswer, Stage};
use super::server::code_text;
use super::{By, HandlePluginInfo, Query};
use model::handle::{Errhandler, Fact, Function, Language, Reference};
use model::{Handle, HandleKind, HandleState, Known};
use plugins::host::foreign::until_nul;
use target::{Reason, printable};

/// Why most facts of requests, and some of the other kinds, are not known.
pub const NO_MEMBER: &str = "plug-ins cannot give it: the interface has no member for it";

/// A handle of which nothing is known, because of `reason`.
pub fn unknown(query: &Query, reason: &str, teller: &str) -> Handle {
    let mut handle = named(query);
    handle.fail(HandleState::Unknown, reason);
    handle.fact("told_by", teller);
    handle
}

fn named(query: &Query) -> Handle {
    let mut handle = Handle { kind: query.kind, ..Handle::default() };
    match query.by {
        By::Handle(value) => handle.handle = Some(hex(value)),
        By::Fortran(index) => handle.fortran = Some(index),
        By::Cxx { .. } => {}
    }
    handle
}

/// A handle, or an address, as text.
pub fn hex(value: u64) -> String {
    format!("{value:#x}")
}

/// What the answer to a query says; `teller` names the plug-in.
pub fn handle(query: &Query, raw: &RawAnswer, info: &HandlePluginInfo, teller: &str) -> Handle {
    let mut handle = named(query);
    if raw.code == Some(abi::SUCCESS) || raw.stage == Stage::Query {
        handle.handle = Some(hex(raw.handle));
    }
    if raw.failed_reads > 0 {
        let reason = format!("{} reads of the plug-in failed while it looked at it", raw.failed_reads);
        handle.fail(HandleState::Unknown, format!("{reason}, and it takes zeros instead"));
    } else if let Err((state, reason)) = judge(raw) {
        handle.fail(state, reason);
    } else {
        live(raw, info, &mut handle);
    }
    if handle.state != HandleState::Live {
        handle.facts.clear();
    }
    handle.fact("told_by", teller);
    handle
}

fn judge(raw: &RawAnswer) -> Result<(), (HandleState, String)> {
    let what = match raw.stage {
        Stage::Query => "the plug-in",
        Stage::Fortran => "the plug-in's table of Fortran integers",
        Stage::Cxx => "the plug-in's way from C++ objects to handles",
    };
    match raw.code {
        None => Err((HandleState::Unknown, format!("{what} is not there: it lacks the function"))),
        Some(abi::SUCCESS) => match raw.missing.get(&Part::Structure) {
            Some(reason) => Err((HandleState::Unknown, format!("{what}: {reason}"))),
            None => Ok(()),
        },
        Some(abi::NOT_FOUND) => Err((HandleState::Invalid, format!("{what} says: not found"))),
        Some(code) => Err((HandleState::Unknown, format!("{what} says: {}", code_text(code)))),
    }
}

fn live(raw: &RawAnswer, info: &HandlePluginInfo, handle: &mut Handle) {
    handle.state = HandleState::Live;
    let bytes = raw.parts.get(&Part::Structure).map_or(&[][..], Vec::as_slice);
    let read = match handle.kind {
        HandleKind::Comm => abi::CommInfo::from_bytes(bytes).map(|told| comm::convert(&told, raw, info, handle)),
        HandleKind::Errhandler => ErrhandlerInfo::from_bytes(bytes).map(|told| of_errhandler(&told, raw, info, handle)),
        HandleKind::Request => RequestInfo::from_bytes(bytes).map(|told| of_request(&told, raw, info, handle)),
        HandleKind::Status => StatusInfo::from_bytes(bytes).map(|told| of_status(told, handle)),
        _ => None,
    };
    if read.is_none() {
        handle.fail(HandleState::Unknown, "the plug-in's answer is shorter than the interface says");
    }
}

/// Whether the plug-in says that it can tell this of a kind; it is believed where it says nothing at all.
pub fn can_tell(info: &HandlePluginInfo, kind: HandleKind, flag: u32) -> bool {
    let told = info.capabilities.iter().find(|(of, _)| *of == kind);
    told.is_none_or(|(_, flags)| flags & flag != 0)
}

/// Notes why a member of the handle is not known.
pub fn not_known(handle: &mut Handle, name: &str, reason: &str) {
    handle.unknown.insert(name.to_owned(), Value::String(reason.to_owned()));
}

/// Facts that the interface has no members for.
pub fn no_members(handle: &mut Handle, names: &[&str]) {
    for name in names {
        handle.unknown(name, NO_MEMBER);
    }
}

/// The name that the plug-in gives to a predefined handle.
pub fn name_of(info: &HandlePluginInfo, kind: HandleKind, value: u64) -> Option<&str> {
    let found = info.names.iter().find(|(of, _, handle)| *of == kind && *handle == value);
    found.map(|(_, name, _)| name.as_str())
}

/// Whether the answer is about the handle that was asked for.
pub fn is_about(raw: &RawAnswer, c_handle: abi::TAddr, handle: &mut Handle) -> bool {
    let told = c_handle as u64;
    if told != raw.handle {
        let reason = format!("the plug-in was asked about {} and answers about {}", hex(raw.handle), hex(told));
        handle.fail(HandleState::Unknown, reason);
    }
    told == raw.handle
}

/// The Fortran integer: one that is also a code of the interface counts where the way back leads to the handle.
pub fn fortran(told: i32, raw: &RawAnswer, handle: &mut Handle) {
    if handle.fortran.is_some() {
        return;
    }
    match told {
        code @ (abi::NOT_SUPPORTED | abi::UNAVAILABLE) if !raw.parts.contains_key(&Part::Fortran) => {
            not_known(handle, "fortran", &format!("the plug-in says: {}", code_text(code)));
        }
        number if number < 0 => not_known(handle, "fortran", &format!("the plug-in says {number}, which is none")),
        number => handle.fortran = Some(number.into()),
    }
}

/// Whether it is freed, from the interface's two flags. An object that the MPI itself has freed is none any more.
pub fn freed(info: &HandlePluginInfo, by_application: bool, by_mpi: bool, handle: &mut Handle) {
    let kind = handle.kind;
    if by_mpi && can_tell(info, kind, capability::FREED_OBJECT) {
        handle.freed = Some(true);
        handle.fail(HandleState::Freed, "the plug-in says that the MPI has freed it");
    } else if can_tell(info, kind, capability::FREED_HANDLE) {
        handle.freed = Some(by_application);
    } else {
        not_known(handle, "freed", "the plug-in says that it does not know");
    }
}

/// A name in a structure, which may lack its NUL.
pub fn name_in(bytes: &[u8]) -> Option<String> {
    Some(printable(until_nul(bytes))).filter(|name| !name.is_empty())
}

/// References to objects of which only the handles are known; or why there are none.
pub fn list(kind: HandleKind, part: Part, supported: bool, raw: &RawAnswer) -> Known<Vec<Reference>> {
    if !supported {
        return Err("the plug-in says that it does not know".into());
    }
    let summary = || kind.c_type().to_owned();
    let one = |handle: u64| Reference { kind, handle: Some(hex(handle)), summary: summary(), doubtful: false };
    whole(raw, part).map(|()| raw.handles(part).into_iter().map(one).collect())
}

/// Why a part of the answer is missing, if it is.
pub fn whole(raw: &RawAnswer, part: Part) -> Known<()> {
    raw.missing.get(&part).map_or(Ok(()), |reason| Err(Reason::of(reason)))
}

/// A predefined handle that the plug-in names as a null one. `true` where it is one.
fn null(info: &HandlePluginInfo, raw: &RawAnswer, handle: &mut Handle) -> bool {
    let Some(name) = name_of(info, handle.kind, raw.handle).filter(|name| name.ends_with("_NULL")) else {
        return false;
    };
    handle.state = HandleState::Null;
    handle.name = Some(name.to_owned());
    handle.predefined = Some(true);
    name.clone_into(&mut handle.summary);
    true
}

fn of_request(told: &RequestInfo, raw: &RawAnswer, info: &HandlePluginInfo, handle: &mut Handle) {
    if !is_about(raw, told.c_handle, handle) || null(info, raw, handle) {
        return;
    }
    fortran(told.fortran_handle, raw, handle);
    handle.predefined = Some(told.bitflags & abi::PREDEFINED != 0);
    handle.name = name_of(info, handle.kind, raw.handle).map(str::to_owned);
    not_known(handle, "freed", NO_MEMBER);
    no_members(handle, &["type", "call", "persistent", "complete", "peer", "tag", "communicator", "started"]);
    handle.summary = match (&handle.name, handle.predefined) {
        (Some(name), _) => name.clone(),
        (None, Some(true)) => "a predefined MPI_Request".to_owned(),
        _ => "an MPI_Request; the plug-in gives no more".to_owned(),
    };
}

fn of_status(told: StatusInfo, handle: &mut Handle) {
    handle.predefined = Some(told.bitflags & abi::PREDEFINED != 0);
    not_known(handle, "fortran", "a status is not a handle");
    no_members(handle, &["source", "tag", "error", "bytes", "cancelled"]);
    handle.summary = match handle.predefined {
        Some(true) => "a predefined MPI_Status".to_owned(),
        _ => "an MPI_Status; the plug-in gives no more".to_owned(),
    };
}

fn of_errhandler(told: &ErrhandlerInfo, raw: &RawAnswer, info: &HandlePluginInfo, handle: &mut Handle) {
    if !is_about(raw, told.c_handle, handle) || null(info, raw, handle) {
        return;
    }
    let has = |flag| told.bitflags & flag != 0;
    let kinds = [
        (errhandler::COMMUNICATOR, HandleKind::Comm),
        (errhandler::FILE, HandleKind::File),
        (errhandler::WINDOW, HandleKind::Win),
    ];
    let kinds: Vec<HandleKind> = kinds.into_iter().filter(|(flag, _)| has(*flag)).map(|(_, kind)| kind).collect();
    let predefined = has(errhandler::PREDEFINED);
    handle.predefined = Some(predefined);
    fortran(told.fortran_handle, raw, handle);
    if predefined && can_tell(info, handle.kind, capability::STRING_NAMES) {
        // The interface has names of predefined ones only.
        handle.name = name_in(&told.name);
    }
    handle.name = handle.name.take().or_else(|| name_of(info, handle.kind, raw.handle).map(str::to_owned));
    let object = match (&kinds[..], predefined) {
        ([kind], _) => Ok(Errhandler::object(Some(*kind))),
        // A predefined one goes with all kinds of objects.
        (_, true) => Ok(Errhandler::object(None)),
        _ => Err(Reason::new(format!("the plug-in gives {} kinds of objects, not one", kinds.len()))),
    };
    object.clone().tell("object", handle);
    if predefined {
        handle.unknown("function", "a predefined error handler has no function of the application");
        handle.unknown("language", "a predefined error handler has no function of the application");
    } else {
        match told.callback_func {
            0 => handle.unknown("function", "the plug-in gives no function"),
            address => {
                Function { address: hex(address as u64), symbol: None, reason: None }.tell("function", handle);
                not_known(handle, "function.symbol", "plug-ins give the address only");
            }
        }
        let language = if has(errhandler::C_CALLBACK) { Language::C } else { Language::Fortran };
        language.tell("language", handle);
    }
    let supported = can_tell(info, handle.kind, capability::HANDLE_LIST);
    let attached = match kinds[..] {
        [kind] => list(kind, Part::Attached, supported, raw),
        _ => Err("the kind of the objects is not known".into()),
    };
    attached.tell("attached_to", handle);
    handle.summary = match (&handle.name, object) {
        (Some(name), _) => name.clone(),
        (None, Ok(word)) if !predefined && told.callback_func == 0 => format!("{word} error handler"),
        (None, Ok(word)) if !predefined => format!("{word} error handler {}", hex(told.callback_func as u64)),
        _ => "an MPI_Errhandler".to_owned(),
    };
    freed(info, has(errhandler::FREED_HANDLE), has(errhandler::FREED_OBJECT), handle);
}
