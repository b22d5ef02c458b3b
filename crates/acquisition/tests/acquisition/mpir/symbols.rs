//! Tables that are found by symbols.

use std::collections::BTreeMap;
use std::sync::Arc;

use acquisition::{Candidates, Found, Presence, process_table};
use layouts::{Field, FieldKind, LayoutSource, Layouts, TypeLayout};
use target::address::TargetAddr;
use target::{Reason, TargetError};

use super::launcher::{Launcher, Row, made, rows};
use made_up::process::ABIS;

const JOB: [Row; 4] =
    [("node1", "./solver", 4242), ("node1", "./solver", 4243), ("node2", "./io", 777), ("node2", "", 778)];

/// Types of a launcher's own.
struct Types(Result<Option<TypeLayout>, Reason>);

impl Types {
    fn of(size: u64, fields: &[(&str, u64, u64, FieldKind)]) -> Self {
        let field = |(name, offset, size, kind): &(&str, u64, u64, FieldKind)| {
            let (offset, size, kind) = (*offset, *size, *kind);
            ((*name).to_owned(), Field { offset, size, kind, type_name: "its type".to_owned() })
        };
        Self(Ok(Some(TypeLayout { size, fields: fields.iter().map(field).collect::<BTreeMap<_, _>>().into() })))
    }
}

impl LayoutSource for Types {
    fn name(&self) -> String {
        "debug-info".to_owned()
    }

    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason> {
        assert_eq!(type_name, "MPIR_PROCDESC");
        self.0.clone()
    }

    fn constant(&self, _: &str) -> Result<Option<i64>, Reason> {
        Ok(None)
    }
}

#[test]
fn a_table_without_types_has_the_layout_of_the_document() {
    for abi in ABIS {
        let table = Launcher::new(abi, &JOB).read();
        assert_eq!(table.found, Some(Found::Symbols));
        assert_eq!(table.layout, Some("built-in layout"));
        assert_eq!(table.size, Some(4));
        assert_eq!(rows(&table), made(&JOB));
        assert!(table.entries.iter().all(|entry| entry.problem.is_none()));
        assert!(table.problems.is_empty(), "{:?}", table.problems);
        let hosts: Vec<_> = table.entries.iter().filter_map(|entry| entry.host.as_ref()).collect();
        assert!(Arc::ptr_eq(hosts[0], hosts[1]), "texts are shared");
        assert_eq!((table.debug_state, table.being_debugged), (Some(1), Some(0)));
        assert_eq!(table.presence, Some(Presence { starter: true, ..Presence::default() }));
        assert_eq!(table.symbols.len(), 6);
    }
}

#[test]
fn types_with_a_wider_process_id_and_further_fields_are_followed() {
    for abi in ABIS {
        let width = abi.pointer_width.bytes();
        let mut launcher = Launcher::new(abi, &[]);
        let stride = 40;
        launcher.table = launcher.mem.alloc(2 * stride, 8);
        launcher.set("MPIR_proctable", launcher.table.get() as i64);
        launcher.set("MPIR_proctable_size", 2);
        for (index, host) in ["node1", "node2"].into_iter().enumerate() {
            let (host, executable) = (launcher.text(host), launcher.text("./a.out"));
            let at = launcher.table.wrapping_add(stride * index as u64);
            launcher.mem.put_int(at, 8, 0x1_0000_0007 + index as i64);
            launcher.mem.put_pointer(at.wrapping_add(16), executable);
            launcher.mem.put_pointer(at.wrapping_add(32), host);
        }
        let table = launcher.read_with(Types::of(
            stride,
            &[
                ("pid", 0, 8, FieldKind::Signed),
                ("cnode", 8, 4, FieldKind::Signed),
                ("executable_name", 16, width, FieldKind::Pointer),
                ("host_name", 32, width, FieldKind::Pointer),
            ],
        ));
        assert_eq!(table.layout, Some("types of debug information"));
        assert_eq!(rows(&table), made(&[("node1", "./a.out", 0x1_0000_0007), ("node2", "./a.out", 0x1_0000_0008)]));
        assert!(table.problems.is_empty());
    }
}

#[test]
fn types_that_are_others_are_refused_and_not_guessed_around() {
    let abi = ABIS[0];
    let width = abi.pointer_width.bytes();
    let (host, executable) =
        (("host_name", 0, width, FieldKind::Pointer), ("executable_name", 8, width, FieldKind::Pointer));
    let cases: [(Types, &str); 5] = [
        (Types::of(24, &[host, executable]), "has no field pid"),
        (Types::of(24, &[host, executable, ("pid", 22, 4, FieldKind::Signed)]), "reach out of"),
        (Types::of(24, &[host, executable, ("pid", 16, 8, FieldKind::Float)]), "of 8 bytes"),
        (
            Types::of(128, &[("host_name", 0, 64, FieldKind::Array), executable, ("pid", 120, 4, FieldKind::Signed)]),
            "of 64 bytes",
        ),
        (Types::of(1 << 20, &[host, executable, ("pid", 16, 4, FieldKind::Signed)]), "has 1048576 bytes"),
    ];
    for (types, reason) in cases {
        let table = Launcher::new(abi, &JOB).read_with(types);
        assert!(table.entries.is_empty() && table.layout.is_none());
        assert_eq!(table.found, Some(Found::Symbols));
        assert!(table.problems.iter().any(|problem| problem.contains(reason)), "{reason}: {:?}", table.problems);
    }
}

#[test]
fn debug_information_that_cannot_be_used_is_told_and_the_document_holds() {
    let table = Launcher::new(ABIS[0], &JOB).read_with(Types(Err(Reason::new("the file is damaged"))));
    assert_eq!(rows(&table), made(&JOB));
    assert_eq!(table.layout, Some("built-in layout"));
    assert!(table.problems[0].contains("the file is damaged"), "{:?}", table.problems);
    let table = Launcher::new(ABIS[0], &JOB).read_with(Types(Ok(None)));
    assert_eq!((rows(&table), table.problems), (made(&JOB), Vec::new()));
}

#[test]
fn every_variable_of_the_interface_is_told() {
    for abi in ABIS {
        let mut launcher = Launcher::new(abi, &JOB);
        let why = launcher.text("MPI_Abort: no convergence\x1b[2J");
        launcher.variable("MPIR_debug_abort_string", abi.pointer_width.bytes(), why.get() as i64);
        launcher.set("MPIR_debug_state", 2);
        launcher.set("MPIR_being_debugged", 1);
        let presence = ["gate", "acquired_pre_main", "force_to_main", "partial_attach_ok"];
        let name = |name: &str| if name == "gate" { "MPIR_debug_gate".to_owned() } else { format!("MPIR_{name}") };
        for one in presence {
            launcher.variable(&name(one), 4, 0);
        }
        launcher.array("MPIR_executable_path", 256, b"/opt/tool/daemon\0rest");
        launcher.array("MPIR_server_arguments", 64, b"-d\0--port=7\0\0-not\0");
        launcher.array("MPIR_attach_fifo", 256, b"/tmp/fifo");
        launcher.array("MPIR_dll_name", 16, b"/lib/0123456.soX");
        let table = launcher.read();
        assert_eq!(table.abort_string.as_deref(), Some("MPI_Abort: no convergence\\x1b[2J"));
        assert_eq!((table.debug_state, table.being_debugged), (Some(2), Some(1)));
        assert_eq!(table.executable_path.as_deref(), Some("/opt/tool/daemon"));
        assert_eq!(table.server_arguments, ["-d", "--port=7"]);
        assert_eq!(table.attach_fifo.as_deref(), Some("/tmp/fifo"));
        // An array that is full has no NUL; what follows belongs to something else.
        assert_eq!(table.dll_name.as_deref(), Some("/lib/0123456.soX"));
        let all = Presence {
            gate: true,
            starter: true,
            acquired_pre_main: true,
            force_to_main: true,
            partial_attach_ok: true,
            ignore_queues: false,
        };
        assert_eq!(table.presence, Some(all));
        for spelling in ["MPIR_ignore_queues", "MPIR_ignore_queue"] {
            let mut launcher = Launcher::new(abi, &JOB);
            launcher.variable(spelling, 4, 0);
            assert!(launcher.read().presence.unwrap().ignore_queues);
        }
    }
}

#[test]
fn numbers_have_the_size_that_their_symbol_says() {
    for abi in ABIS {
        let mut launcher = Launcher::new(abi, &JOB);
        launcher.variable("MPIR_proctable_size", 8, 3);
        launcher.variable("MPIR_debug_state", 2, -1);
        let table = launcher.read();
        assert_eq!((table.size, table.entries.len()), (Some(3), 3));
        assert_eq!(table.debug_state, Some(-1));
    }
}

#[test]
fn a_process_without_the_interface_is_no_error() {
    let mut launcher = Launcher::new(ABIS[0], &JOB);
    launcher.symbols.clear();
    let table = launcher.read();
    assert_eq!((table.found, table.presence, table.size), (None, None, None));
    assert!(table.problems[0].contains("no variable MPIR_proctable and no MPIR_proctable_size"));
    // One of the job's own processes has a gate and a plug-in.
    launcher.variable("MPIR_debug_gate", 4, 0);
    let table = launcher.read();
    assert_eq!(table.found, None);
    assert!(table.presence.unwrap().gate);
}

#[test]
fn a_launcher_that_has_started_nothing_yet_says_so() {
    let mut launcher = Launcher::new(ABIS[0], &[]);
    launcher.set("MPIR_proctable", 0);
    let table = launcher.read();
    assert_eq!((table.found, table.size), (Some(Found::Symbols), Some(0)));
    assert!(table.problems[0].contains("MPIR_proctable_size is 0"), "{:?}", table.problems);

    let mut launcher = Launcher::new(ABIS[0], &JOB);
    launcher.set("MPIR_debug_state", 0);
    let table = launcher.read();
    assert_eq!(table.entries.len(), 4);
    assert!(table.problems[0].contains("MPIR_debug_state is 0"), "{:?}", table.problems);
}

#[test]
fn a_process_that_ends_meanwhile_is_gone() {
    let launcher = Launcher::new(ABIS[0], &JOB);
    let whole = super::damage::Ending::new(launcher.target(), u64::MAX);
    process_table(&whole, &Layouts::new(Vec::new()), &Candidates::new()).unwrap();
    let reads = whole.reads();
    assert!(reads > 4);
    for after in 0..reads {
        let ending = super::damage::Ending::new(launcher.target(), after);
        let read = process_table(&ending, &Layouts::new(Vec::new()), &Candidates::new());
        assert_eq!(read, Err(TargetError::Gone), "after {after} reads");
    }
}

#[test]
fn addresses_of_symbols_are_told() {
    let launcher = Launcher::new(ABIS[0], &JOB);
    let table = launcher.read();
    let told = |name: &str| table.symbols.get(name).copied();
    assert_eq!(told("MPIR_Breakpoint"), Some(TargetAddr::new(launcher.symbols["MPIR_Breakpoint"].0)));
    assert_eq!(told("MPIR_debug_gate"), None);
}
