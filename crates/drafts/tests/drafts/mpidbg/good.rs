//! The good variant: everything it says arrives under the names of docs/handles.md, in the right words.

use drafts::mpidbg::{By, Query, inspect_handle_plugin, query_handles};
use model::{Handle, HandleKind, HandleState};
use plugins::host::run::Run;
use serde_json::{Value, json};
use std::time::Duration;
use target::{ByteOrder, PointerWidth, TargetAbi};

use super::toy::{
    CART, DIST, FATAL, GRAPH, HANDLER, INTER, NULL_COMM, OBJECT, REQUEST, REQUEST_NULL, STATUS, UNSET, WORLD, comm,
    layouts, one, plugin, request, run, target,
};

fn hex(value: u64) -> Option<String> {
    Some(format!("{value:#x}"))
}

fn fact<'a>(handle: &'a Handle, name: &str) -> &'a Value {
    handle.facts.get(name).unwrap_or_else(|| panic!("no {name} in {handle:?}"))
}

fn unknown<'a>(handle: &'a Handle, name: &str) -> &'a str {
    handle.unknown.get(name).and_then(Value::as_str).unwrap_or_else(|| panic!("{name} is not unknown in {handle:?}"))
}

/// What every byte order and pointer width must give.
fn check(handles: &[Handle]) {
    let [world, cart, inter, graph, dist] = handles else { panic!("{handles:?}") };
    assert_eq!((world.state, world.predefined, world.fortran), (HandleState::Live, Some(true), Some(0)));
    assert_eq!(world.summary, "MPI_COMM_WORLD, rank 1 of 4");
    assert_eq!((world.handle.clone(), world.freed), (hex(WORLD), Some(false)));
    assert_eq!(fact(world, "group"), &json!([0, 1, 2, 3]));
    assert_eq!(fact(world, "topology"), &Value::Null);
    assert_eq!(fact(world, "remote_group"), &Value::Null);
    assert!(["topology", "remote_group"].iter().all(|none| !world.unknown.contains_key(*none)), "none, and no reason");
    assert_eq!((fact(world, "world_rank"), fact(world, "inter")), (&json!(1), &json!(false)));

    assert_eq!(cart.summary, "\"grid\\x1b of %n\", rank 1 of 3");
    // 4 is also the interface's code for "not available"; the way back shows that it is the integer.
    assert_eq!((cart.fortran, cart.predefined), (Some(4), Some(false)));
    assert_eq!(fact(cart, "group"), &json!([2, 1, null]));
    let topology = json!({ "kind": "cartesian", "ndims": 2, "dims": [3, 1], "periods": [false, true], "coords": null,
                           "reorder": true });
    assert_eq!(fact(cart, "topology"), &topology);
    assert!(unknown(cart, "topology.coords").contains("no member"));

    assert_eq!(inter.summary, "\"between\", rank 0 of 1");
    assert_eq!((fact(inter, "size"), fact(inter, "remote_size")), (&json!(1), &json!(3)));
    assert_eq!((fact(inter, "group"), fact(inter, "remote_group")), (&json!([1]), &json!([0, 2, 3])));
    assert_eq!(fact(inter, "inter"), &json!(true));

    let topology = json!({ "kind": "graph", "nodes": 3, "index": [2, 3, 4], "edges": [1, 2, 0, 0], "reorder": false });
    assert_eq!(fact(graph, "topology"), &topology);
    assert_eq!(fact(dist, "topology")["kind"], json!("dist_graph"));
    assert!(unknown(dist, "topology.sources").contains("no member"));
    assert_eq!((dist.name.clone(), dist.summary.as_str()), (None, "an MPI_Comm without a name, rank 0 of 2"));
    for handle in handles {
        assert!(
            fact(handle, "told_by")
                .as_str()
                .is_some_and(|by| by.ends_with("(handles of Open MPI, variant good\\x1b[0m)"))
        );
        for missing in ["requests", "windows", "files"] {
            assert_eq!(fact(handle, missing), &Value::Null);
            assert!(unknown(handle, missing).contains("does not know"));
        }
        assert!(unknown(handle, "attributes").contains("does not say whether it has looked"));
        assert!(unknown(handle, "errhandler").contains("no member"));
        assert_eq!(handle.problems, [""; 0]);
    }
}

fn communicators() -> Vec<Query> {
    [WORLD, CART, INTER, GRAPH, DIST].map(comm).to_vec()
}

#[test]
fn communicators_arrive_whole() {
    let outcome = run("good", &communicators());
    assert_eq!((outcome.failure, outcome.failed_reads), (None, 0), "{:?}", outcome.messages);
    check(&outcome.handles);
    assert_eq!(outcome.messages, ["plug-in (debug): debug %s %n"]);
    let info = outcome.info;
    assert_eq!((info.interface, info.width), (Some(1), Some(8)));
    assert_eq!(
        info.types,
        [
            ("MPI_Comm", "ompi_communicator_t".to_owned()),
            ("MPI_Errhandler", "ompi_errhandler_t".to_owned()),
            ("MPI_Request", "ompi_request_t".to_owned()),
        ]
    );
    let capabilities = [(HandleKind::Comm, 15), (HandleKind::Errhandler, 3), (HandleKind::Request, 1)];
    assert_eq!(info.capabilities, capabilities);
    let names = [
        (HandleKind::Comm, "MPI_COMM_WORLD".to_owned(), WORLD),
        (HandleKind::Comm, "MPI_COMM_NULL".to_owned(), NULL_COMM),
        (HandleKind::Request, "MPI_REQUEST_NULL".to_owned(), REQUEST_NULL),
    ];
    assert_eq!(info.names, names);
    assert_eq!(
        info.missing,
        [
            "mpidbg_errhandler_cxx2c",
            "mpidbg_request_f2c",
            "mpidbg_request_cxx2c",
            "mpidbg_status_f2c",
            "mpidbg_status_cxx2c"
        ]
    );
}

#[test]
fn other_byte_orders_and_widths() {
    let path = plugin("good");
    for byte_order in [ByteOrder::Little, ByteOrder::Big] {
        for pointer_width in [PointerWidth::Four, PointerWidth::Eight] {
            let target = target(TargetAbi { byte_order, pointer_width });
            let outcome = query_handles(&target, &layouts(), &request(&path, &communicators(), 20.0));
            assert_eq!(outcome.failure, None);
            check(&outcome.handles);
        }
    }
}

#[test]
fn null_handles_and_what_is_no_handle() {
    let null = one("good", comm(NULL_COMM));
    assert_eq!((null.state, null.summary.as_str(), null.detail), (HandleState::Null, "MPI_COMM_NULL", None));
    for value in [0, 0x55, CART + 8, u64::MAX] {
        let garbage = one("good", comm(value));
        assert_eq!((garbage.state, garbage.handle.clone()), (HandleState::Invalid, hex(value)));
        assert_eq!(garbage.summary, "not an MPI_Comm: the plug-in says: not found");
        assert_eq!(garbage.facts.keys().collect::<Vec<_>>(), ["told_by"]);
    }
}

#[test]
fn fortran_integers_lead_to_their_handles() {
    let fortran = |index| Query { kind: HandleKind::Comm, by: By::Fortran(index) };
    let cart = one("good", fortran(4));
    assert_eq!((cart.state, cart.handle, cart.fortran), (HandleState::Live, hex(CART), Some(4)));
    for index in [3, 999, -1] {
        let none = one("good", fortran(index));
        assert_eq!((none.state, none.fortran, none.handle), (HandleState::Invalid, Some(index), None));
        assert!(none.summary.contains("table of Fortran integers says: not found"), "{}", none.summary);
    }
    let request = one("good", Query { kind: HandleKind::Request, by: By::Fortran(1) });
    assert_eq!(request.state, HandleState::Unknown);
    assert!(request.summary.contains("lacks the function"), "{}", request.summary);
}

#[test]
fn objects_of_cxx_lead_to_their_handles() {
    let cxx = |class| Query { kind: HandleKind::Comm, by: By::Cxx { object: OBJECT, class } };
    let cart = one("good", cxx(drafts::mpidbg::abi::comm::CARTESIAN));
    assert_eq!((cart.state, cart.handle), (HandleState::Live, hex(CART)));
    let refused = one("good", cxx(0x80));
    assert_eq!(refused.state, HandleState::Unknown);
    assert!(refused.summary.contains("out of range (error 3)"), "{}", refused.summary);
}

#[test]
fn requests_and_statuses_say_what_the_interface_cannot() {
    let request = |value| Query { kind: HandleKind::Request, by: By::Handle(value) };
    let live = one("good", request(REQUEST));
    assert_eq!((live.state, live.predefined, live.fortran), (HandleState::Live, Some(false), None));
    assert!(unknown(&live, "fortran").contains("-1, which is none"));
    assert!(unknown(&live, "call").contains("no member") && fact(&live, "call").is_null());
    let null = one("good", request(REQUEST_NULL));
    assert_eq!((null.state, null.summary.as_str()), (HandleState::Null, "MPI_REQUEST_NULL"));
    let status = one("good", Query { kind: HandleKind::Status, by: By::Handle(STATUS) });
    assert_eq!((status.state, status.predefined), (HandleState::Live, Some(false)));
    assert!(unknown(&status, "tag").contains("no member"));
}

#[test]
fn error_handlers() {
    let errhandler = |value| Query { kind: HandleKind::Errhandler, by: By::Handle(value) };
    let fatal = one("good", errhandler(FATAL));
    assert_eq!((fatal.summary.as_str(), fatal.predefined), ("MPI_ERRORS_ARE_FATAL", Some(true)));
    assert_eq!(fact(&fatal, "object"), &json!("any"));
    assert!(unknown(&fatal, "freed").contains("does not know"));
    let own = one("good", errhandler(HANDLER));
    // 2 is also a code; and the interface has names of predefined ones only.
    assert_eq!((own.name.clone(), own.fortran), (None, Some(2)));
    assert_eq!(own.summary, "communicator error handler 0x401234");
    assert_eq!(fact(&own, "function"), &json!({ "address": "0x401234", "symbol": null }));
    assert_eq!((fact(&own, "language"), fact(&own, "object")), (&json!("C"), &json!("communicator")));
    let unset = one("good", errhandler(UNSET));
    assert_eq!((unset.summary.as_str(), fact(&unset, "object")), ("file error handler", &json!("file")));
    assert!(unknown(&unset, "function").contains("gives no function"));
    let attached = one("lists", errhandler(HANDLER));
    assert_eq!(fact(&attached, "attached_to")[0]["handle"], json!("0x333"));
}

#[test]
fn lists_of_two_are_no_codes() {
    let handle = one("lists", comm(WORLD));
    let requests = fact(&handle, "requests");
    assert_eq!((&requests[0]["handle"], &requests[1]["handle"]), (&json!("0x111"), &json!("0x222")));
    assert_eq!(requests[0]["kind"], json!("request"));
    assert!(unknown(&handle, "windows").contains("does not support it"));
    assert_eq!(fact(&handle, "files"), &json!([]));
}

#[test]
fn what_a_plugin_says_that_it_cannot_tell_is_not_shown() {
    let handle = one("poor", comm(CART));
    assert_eq!((handle.name.clone(), handle.freed), (None, None));
    assert!(unknown(&handle, "freed").contains("does not know"));
    // MPI_COMM_WORLD still has the name that the plug-in gives to the handle.
    assert_eq!(one("poor", comm(WORLD)).name.as_deref(), Some("MPI_COMM_WORLD"));
}

#[test]
fn freed_handles_and_freed_objects() {
    let marked = one("freed-handle", comm(CART));
    assert_eq!((marked.state, marked.freed), (HandleState::Live, Some(true)));
    let gone = one("freed-object", comm(CART));
    assert_eq!((gone.state, gone.freed), (HandleState::Freed, Some(true)));
    assert!(gone.summary.starts_with("freed MPI_Comm: "), "{}", gone.summary);
}

#[test]
fn inspection_tells_what_a_plugin_is() {
    let info = inspect_handle_plugin(&plugin("good"), Run::within(Duration::from_secs(10))).expect("a good plug-in");
    assert_eq!(info.interface, Some(1));
    assert_eq!(info.version.as_deref(), Some("handles of Open MPI, variant good\\x1b[0m"));
    assert_eq!(info.functions.len(), 15, "{:?}", info.functions);
    assert!(info.types.is_empty() && info.names.is_empty(), "nothing is asked of a process");
}
