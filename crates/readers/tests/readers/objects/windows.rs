//! Windows: what a component keeps is believed only where it fits the window.

use model::{Handle, HandleKind, HandleState};
use serde_json::{Value, json};
use target::address::TargetAddr;

use super::support::Objects;

const WIN: &str = "ompi_win_t";
const RDMA: &str = "ompi_osc_rdma_module_t";
const RDMA_SYNC: &str = "ompi_osc_rdma_sync_t";
const SM: &str = "ompi_osc_sm_module_t";
/// With what the part of every component begins.
const BASE: &str = "ompi_osc_base_module_t";

/// A window of three processes in a process of rank 1, and its component's part.
pub struct Window {
    pub objects: Objects,
    pub win: TargetAddr,
    pub module: TargetAddr,
    pub group: TargetAddr,
}

/// With the attributes that every window has.
fn bare(profile: &str) -> Window {
    let mut objects = Objects::new(profile);
    let group = objects.object("ompi_group_t");
    // Names of processes that nobody has talked to yet (ompi/proc/proc.h): family 1, job 2, and the number.
    let members: Vec<TargetAddr> =
        (0..3_u64).map(|number| TargetAddr::new(number << 32 | 1 << 16 | 2 << 1 | 1)).collect();
    let pointers = objects.pointers(&members);
    objects.set(group, "ompi_group_t", "grp_proc_count", 3);
    objects.set(group, "ompi_group_t", "grp_my_rank", 1);
    objects.set(group, "ompi_group_t", "grp_proc_pointers", pointers.get());
    objects.set(group, "ompi_group_t", "grp_flags", objects.constant("OMPI_GROUP_DENSE"));
    objects.table("ompi_group_f_to_c_table", &[group], "ompi_group_t", "grp_f_to_c_index");
    let world = objects.object("ompi_communicator_t");
    objects.symbol("ompi_mpi_comm_world", world);
    let comm = objects.object("ompi_communicator_t");
    for (comm, name) in [(world, "MPI_COMM_WORLD"), (comm, "window's own")] {
        objects.set_text(comm, "ompi_communicator_t", "c_name", name);
        objects.set(comm, "ompi_communicator_t", "c_my_rank", 1);
        objects.set(comm, "ompi_communicator_t", "c_local_group", group.get());
    }
    objects.table("ompi_comm_f_to_c_table", &[world, comm], "ompi_communicator_t", "c_f_to_c_index");
    let handler = objects.object("ompi_errhandler_t");
    objects.table("ompi_errhandler_f_to_c_table", &[handler], "ompi_errhandler_t", "eh_f_to_c_index");
    let win = objects.object(WIN);
    objects.set_text(win, WIN, "w_name", "halo");
    objects.set(win, WIN, "w_group", group.get());
    objects.set(win, WIN, "w_flavor", objects.constant("MPI_WIN_FLAVOR_CREATE"));
    objects.set(win, WIN, "error_handler", handler.get());
    objects.table("ompi_mpi_windows", &[TargetAddr::NULL, win][1..], WIN, "w_f_to_c_index");
    attributes(&mut objects, win);
    Window { objects, win, module: TargetAddr::NULL, group }
}

fn attributes(objects: &mut Objects, win: TargetAddr) {
    const VALUE: &str = "attribute_key_value_t";
    let values = [
        ("MPI_WIN_BASE", "OMPI_ATTRIBUTE_C", "av_value.av_pointer", 0xabc0),
        ("MPI_WIN_SIZE", "OMPI_ATTRIBUTE_AINT", "av_value.av_aint", 4096),
        ("MPI_WIN_DISP_UNIT", "OMPI_ATTRIBUTE_INT", "av_value.av_int", 8),
        ("MPI_WIN_MODEL", "OMPI_ATTRIBUTE_INT", "av_value.av_int", objects.constant("MPI_WIN_UNIFIED")),
    ];
    let size = objects.layouts.size_of("opal_hash_element_t").unwrap();
    let elements = objects.alloc(31 * size as usize);
    let table = objects.structure("opal_hash_table_t");
    objects.set(table, "opal_hash_table_t", "ht_table", elements.get());
    objects.set(table, "opal_hash_table_t", "ht_capacity", 31);
    objects.set(table, "opal_hash_table_t", "ht_size", values.len() as u64);
    for (keyval, set_from, member, number) in values {
        let key = objects.constant(keyval);
        let value = objects.structure(VALUE);
        objects.set(value, VALUE, "av_key", key);
        objects.set(value, VALUE, "av_set_from", objects.constant(set_from));
        objects.set(value, VALUE, member, number);
        let element = elements.wrapping_add(key * size);
        objects.set(element, "opal_hash_element_t", "valid", 1);
        objects.set(element, "opal_hash_element_t", "key.u32", key);
        objects.set(element, "opal_hash_element_t", "value", value.get());
    }
    objects.set(win, WIN, "w_keyhash", table.get());
}

/// One of rdma, on which the ranks 0 and 2 are locked.
pub fn rdma(profile: &str) -> Window {
    let mut window = bare(profile);
    let objects = &mut window.objects;
    let module = objects.structure(RDMA);
    let free = objects.alloc(16);
    objects.symbol("ompi_osc_rdma_free", free);
    objects.set(module, BASE, "osc_free", free.get());
    objects.set(module, RDMA, "win", window.win.get());
    objects.set(module, RDMA, "flavor", objects.constant("MPI_WIN_FLAVOR_CREATE"));
    let comm = own_comm(objects);
    objects.set(module, RDMA, "comm", comm.get());
    let all = objects.place(module, RDMA, "all_sync");
    objects.make_object(all, RDMA_SYNC);
    objects.set(all, RDMA_SYNC, "module", module.get());
    let mut locks = [TargetAddr::NULL; 3];
    for (rank, kind) in [(0, "MPI_LOCK_SHARED"), (2, "MPI_LOCK_EXCLUSIVE")] {
        let lock = objects.object(RDMA_SYNC);
        objects.set(lock, RDMA_SYNC, "module", module.get());
        objects.set(lock, RDMA_SYNC, "type", objects.constant("OMPI_OSC_RDMA_SYNC_TYPE_LOCK"));
        objects.set(lock, RDMA_SYNC, "sync.lock.target", rank as u64);
        objects.set(lock, RDMA_SYNC, "sync.lock.type", objects.constant(kind));
        locks[rank] = lock;
    }
    let array = objects.pointers(&locks);
    objects.set(module, RDMA, "outstanding_lock_array", array.get());
    objects.set(window.win, WIN, "w_osc_module", module.get());
    window.module = module;
    window
}

/// One of sm with these locks.
pub fn sm(profile: &str, locks: &[&str]) -> Window {
    let mut window = bare(profile);
    let objects = &mut window.objects;
    let module = objects.structure(SM);
    let free = objects.alloc(16);
    objects.symbol("ompi_osc_sm_free", free);
    objects.set(module, BASE, "osc_free", free.get());
    objects.set(module, SM, "flavor", objects.constant("MPI_WIN_FLAVOR_CREATE"));
    let comm = own_comm(objects);
    objects.set(module, SM, "comm", comm.get());
    let words: Vec<u8> = locks.iter().flat_map(|lock| (objects.constant(lock) as u32).to_le_bytes()).collect();
    let array = objects.alloc(words.len());
    objects.put(array, &words);
    objects.set(module, SM, "outstanding_locks", array.get());
    objects.set(window.win, WIN, "w_osc_module", module.get());
    window.module = module;
    window
}

/// The communicator that is not the world.
fn own_comm(objects: &Objects) -> TargetAddr {
    let table = objects.at_symbol("ompi_comm_f_to_c_table");
    let target = objects.target();
    let slots = target::Target::read_pointer(&target, objects.place(table, "opal_pointer_array_t", "addr"));
    target::Target::read_pointer(&target, slots.unwrap().wrapping_add(8)).unwrap()
}

const PROFILES: [&str; 2] = ["openmpi-4.1", "openmpi-5.0"];

fn read(window: &Window) -> Handle {
    window.objects.describe(HandleKind::Win, window.win)
}

#[test]
fn a_window_of_rdma_with_two_locks() {
    for profile in PROFILES {
        let handle = read(&rdma(profile));
        assert_eq!((handle.state, handle.problems.clone()), (HandleState::Live, vec![]), "{handle:?}");
        assert_eq!(handle.summary, "\"halo\", rank 1 of 3, epoch: lock");
        let facts = &handle.facts;
        let expected = [
            ("rank", json!(1)),
            ("size", json!(3)),
            ("base", json!("0xabc0")),
            ("bytes", json!(4096)),
            ("displacement_unit", json!(8)),
            ("model", json!("MPI_WIN_UNIFIED")),
            ("flavour", json!("MPI_WIN_FLAVOR_CREATE")),
            ("component", json!("rdma")),
            ("lock_all", json!(false)),
            ("locks", json!([{ "rank": 0, "type": "shared" }, { "rank": 2, "type": "exclusive" }])),
            ("started", Value::Null),
            ("posted", Value::Null),
            ("epoch", json!("lock")),
        ];
        for (name, value) in expected {
            assert_eq!(facts.get(name), Some(&value), "{name}: {handle:?}");
        }
    }
}

#[test]
fn an_empty_start_of_rdma_is_not_known_to_be_open() {
    let mut window = rdma("openmpi-5.0");
    let kind = window.objects.constant("OMPI_OSC_RDMA_SYNC_TYPE_PSCW");
    window.objects.set(window.module, RDMA, "all_sync.type", kind);
    let handle = read(&window);
    assert!(handle.unknown["started"].as_str().unwrap().contains("of no process"), "{handle:?}");
    assert!(handle.unknown.contains_key("epoch"));
}

#[test]
fn sm_cannot_tell_a_lock_of_all_ranks_from_locks_on_each() {
    let handle = read(&sm("openmpi-4.1", &["lock_shared", "lock_nocheck", "lock_shared"]));
    assert!(handle.unknown["lock_all"].as_str().unwrap().contains("cannot be distinguished"), "{handle:?}");
    assert!(handle.unknown.contains_key("epoch"));
    assert_eq!(handle.facts["locks"][1], json!({ "rank": 1, "type": null }));

    let handle = read(&sm("openmpi-4.1", &["lock_shared", "lock_exclusive", "lock_shared"]));
    assert_eq!((&handle.facts["lock_all"], &handle.facts["epoch"]), (&json!(false), &json!("lock")));
    let handle = read(&sm("openmpi-4.1", &["lock_none", "lock_none", "lock_none"]));
    assert_eq!(handle.facts["locks"], json!([]));
    assert!(handle.unknown["epoch"].as_str().unwrap().contains("MPI_Win_fence"), "{handle:?}");
}

/// What the component keeps is not known, and why.
fn is_refused(handle: &Handle, why: &str) {
    assert_eq!(handle.state, HandleState::Live, "{handle:?}");
    for fact in ["communicator", "lock_all", "locks", "started", "posted", "epoch"] {
        assert_eq!(handle.facts[fact], Value::Null, "{fact}: {handle:?}");
        let reason = handle.unknown[fact].as_str().unwrap();
        assert!(reason.contains(why), "{fact}: {reason}");
    }
    assert_eq!(handle.facts["base"], json!("0xabc0"));
}

#[test]
fn a_component_that_does_not_fit_the_window_is_not_believed() {
    let field = |name: &'static str, value: u64, why: &'static str| (RDMA, name, value, why);
    let cases = [
        field("win", 0x10_0010, "another window"),
        field("flavor", 3, "another window"),
        field("all_sync.type", 77, "a kind that does not exist"),
        ("opal_object_t", "obj_class", 0x10_0000, "no object that tells of epochs"),
        field("comm", 0x10_0000, "its communicator is none"),
        field("comm", 8, "its communicator is none"),
        field("outstanding_lock_array", 0x10_0000, "the lock of rank"),
        (BASE, "osc_free", 0x10_0000, "is not known"),
    ];
    for profile in PROFILES {
        for (type_name, name, value, why) in cases {
            let mut window = rdma(profile);
            let all = window.objects.place(window.module, RDMA, "all_sync");
            let at = if type_name == "opal_object_t" { all } else { window.module };
            window.objects.set(at, type_name, name, value);
            is_refused(&read(&window), why);
        }
    }
}

#[test]
fn locks_that_are_none_are_not_believed() {
    let window = sm("openmpi-4.1", &["lock_shared", "lock_none", "lock_none"]);
    let locks = window.objects.place(window.module, SM, "outstanding_locks");
    let target = window.objects.target();
    let array = target::Target::read_pointer(&target, locks).unwrap();
    let mut window = window;
    window.objects.put(array.wrapping_add(4), &99_u32.to_le_bytes());
    is_refused(&read(&window), "the lock of rank 1");
}

#[test]
fn an_absurd_number_of_processes_is_told() {
    for window in [rdma("openmpi-4.1"), sm("openmpi-4.1", &["lock_none"; 3])] {
        let mut window = window;
        window.objects.set(window.group, "ompi_group_t", "grp_proc_count", 0x7fff_ffff);
        let handle = read(&window);
        assert!(handle.unknown["locks"].as_str().unwrap().contains("2147483647"), "{handle:?}");
    }
}
