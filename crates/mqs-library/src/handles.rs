//! What handles mean, for debuggers that speak the draft MPIDBG: each answer lies in memory of the debugger's, which gives it back.

use std::ffi::c_int;

use model::{Handle, HandleKind, HandleState};
use mqs_interface::TAddr;
use mqs_interface::mpidbg::{
    CommInfo, ErrhandlerInfo, MAX_OBJECT_NAME, NO_MEMORY, NOT_FOUND, PREDEFINED, RequestInfo, StatusInfo, UNAVAILABLE,
    capability, comm, errhandler,
};
use serde_json::Value;

use crate::debugger::Debugger;
use crate::error::fitting;

/// What can be told of each kind.
pub const OF_COMMUNICATORS: u32 = capability::BASIC
    | capability::STRING_NAMES
    | capability::FREED_HANDLE
    | capability::REQUEST_LIST
    | capability::WINDOW_LIST
    | capability::FILE_LIST;
/// The same of error handlers.
pub const OF_ERRHANDLERS: u32 = capability::BASIC | capability::STRING_NAMES;
/// The same of requests and statuses.
pub const BASIC: u32 = capability::BASIC;

/// The answer of the interface, and where it lies.
pub fn answer(debugger: Debugger, handle: &Handle, value: TAddr) -> Result<usize, c_int> {
    match handle.state {
        HandleState::Live | HandleState::Null => {}
        HandleState::Unknown => return Err(UNAVAILABLE),
        HandleState::Freed | HandleState::Invalid => return Err(NOT_FOUND),
    }
    match handle.kind {
        HandleKind::Comm => debugger.keep(communicator(debugger, handle, value)?),
        HandleKind::Errhandler => debugger.keep(error_handler(handle, value)),
        HandleKind::Request => debugger.keep(RequestInfo {
            bitflags: flag(handle.predefined, PREDEFINED),
            c_handle: value,
            fortran_handle: fortran(handle),
        }),
        HandleKind::Status => debugger.keep(StatusInfo { bitflags: flag(handle.predefined, PREDEFINED) }),
        _ => return Err(UNAVAILABLE),
    }
    .ok_or(NO_MEMORY)
}

fn flag(is: Option<bool>, flag: u32) -> u32 {
    if is == Some(true) { flag } else { 0 }
}

fn fortran(handle: &Handle) -> c_int {
    handle.fortran.and_then(|number| c_int::try_from(number).ok()).unwrap_or(UNAVAILABLE)
}

fn name(handle: &Handle) -> [u8; MAX_OBJECT_NAME] {
    let mut into = [0; MAX_OBJECT_NAME];
    let text = handle.name.as_deref().unwrap_or_default();
    let length = fitting(text, MAX_OBJECT_NAME - 1);
    into[..length].copy_from_slice(&text.as_bytes()[..length]);
    into
}

/// Numbers of a list of facts; what is none is -1.
fn numbers(fact: Option<&Value>) -> Vec<c_int> {
    let one = |value: &Value| value.as_i64().and_then(|number| c_int::try_from(number).ok()).unwrap_or(-1);
    fact.and_then(Value::as_array).map_or_else(Vec::new, |list| list.iter().map(one).collect())
}

/// The handles of a list of references.
fn references(fact: Option<&Value>) -> Vec<TAddr> {
    let one = |value: &Value| {
        let digits = value.get("handle")?.as_str()?.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok().map(|handle| handle as TAddr)
    };
    fact.and_then(Value::as_array).map_or_else(Vec::new, |list| list.iter().filter_map(one).collect())
}

fn communicator(debugger: Debugger, handle: &Handle, value: TAddr) -> Result<CommInfo, c_int> {
    let fact = |name: &str| handle.facts.get(name);
    let number = |name: &str| fact(name).and_then(Value::as_i64).and_then(|number| c_int::try_from(number).ok());
    let topology = |name: &str| fact("topology").and_then(|topology| topology.get(name));
    let shape = topology("kind").and_then(Value::as_str);
    let flags = [
        (handle.state == HandleState::Null, comm::COMM_NULL),
        (handle.predefined == Some(true), comm::PREDEFINED),
        (handle.freed == Some(true), comm::FREED_HANDLE),
        (fact("inter") == Some(&Value::Bool(true)), comm::INTERCOMM),
        (shape == Some("cartesian"), comm::CARTESIAN),
        (shape == Some("graph"), comm::GRAPH),
        (shape == Some("dist_graph"), comm::DIST_GRAPH),
        (topology("reorder") == Some(&Value::Bool(true)), comm::TOPO_REORDERED),
    ];
    let (local, remote) = (numbers(fact("group")), numbers(fact("remote_group")));
    let (dims, index, edges) = (numbers(topology("dims")), numbers(topology("index")), numbers(topology("edges")));
    let periods = topology("periods").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let periods: Vec<i8> = periods.iter().map(|value| (value == &Value::Bool(true)).into()).collect();
    let [requests, windows, files] = ["requests", "windows", "files"].map(|name| references(fact(name)));
    let keep = |list: &[c_int]| debugger.keep_list(list).ok_or(NO_MEMORY);
    let keep_handles = |list: &[TAddr]| debugger.keep_list(list).ok_or(NO_MEMORY);
    let count = |length: usize| c_int::try_from(length).unwrap_or(c_int::MAX);
    Ok(CommInfo {
        name: name(handle),
        bitflags: flags.iter().filter(|(is, _)| *is).fold(0, |all, (_, flag)| all | flag),
        rank: number("rank").unwrap_or(-1),
        size: number("size").unwrap_or(-1),
        num_local_procs: count(local.len()),
        local_procs: keep(&local)?,
        num_remote_procs: count(remote.len()),
        remote_procs: keep(&remote)?,
        cart_num_dims: count(dims.len()),
        cart_dims: keep(&dims)?,
        cart_periods: debugger.keep_list(&periods).ok_or(NO_MEMORY)?,
        graph_num_nodes: count(index.len()),
        graph_index: keep(&index)?,
        graph_edges: keep(&edges)?,
        c_handle: value,
        fortran_handle: fortran(handle),
        // Attributes are no texts.
        num_attrs: 0,
        attrs: 0,
        num_pending_requests: count(requests.len()),
        pending_requests: keep_handles(&requests)?,
        num_derived_windows: count(windows.len()),
        derived_windows: keep_handles(&windows)?,
        num_derived_files: count(files.len()),
        derived_files: keep_handles(&files)?,
    })
}

fn error_handler(handle: &Handle, value: TAddr) -> ErrhandlerInfo {
    let object = handle.facts.get("object").and_then(Value::as_str);
    let of = |kind: HandleKind| object == Some(kind.noun());
    let function = handle.facts.get("function");
    let address = function.and_then(|function| function.get("address")).and_then(Value::as_str);
    let address = address.and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
    let flags = [
        (handle.predefined == Some(true), errhandler::PREDEFINED),
        (of(HandleKind::Comm), errhandler::COMMUNICATOR),
        (of(HandleKind::File), errhandler::FILE),
        (of(HandleKind::Win), errhandler::WINDOW),
        (handle.facts.get("language").and_then(Value::as_str) == Some("C"), errhandler::C_CALLBACK),
    ];
    ErrhandlerInfo {
        name: name(handle),
        bitflags: flags.iter().filter(|(is, _)| *is).fold(0, |all, (_, flag)| all | flag),
        c_handle: value,
        fortran_handle: fortran(handle),
        refcount: 0,
        handles: 0,
        callback_func: address.unwrap_or(0) as TAddr,
    }
}
