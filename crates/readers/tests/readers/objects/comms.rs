//! Communicators, groups, error handlers and info objects: damage is told, freed objects are known, nothing takes long.

use std::time::{Duration, Instant};

use made_up::share::words;
use model::{Handle, HandleKind, HandleState};
use readers::openmpi::handles::Depth;
use serde_json::{Value, json};
use target::address::TargetAddr;

use super::damage::{check_bounds, garbage};
use super::support::Objects;

const COMM: &str = "ompi_communicator_t";
const GROUP: &str = "ompi_group_t";
const HANDLER: &str = "ompi_errhandler_t";
const INFO: &str = "ompi_info_t";
const CART: &str = "mca_topo_base_comm_cart_2_2_0_t";
const GRAPH: &str = "mca_topo_base_comm_graph_2_2_0_t";
const DIST_GRAPH: &str = "mca_topo_base_comm_dist_graph_2_2_0_t";
const PROFILES: [&str; 2] = ["openmpi-4.1", "openmpi-5.0"];

/// A communicator of four processes, of which ours is rank 1, with everything that one can have.
struct Made {
    objects: Objects,
    comm: TargetAddr,
    group: TargetAddr,
    handler: TargetAddr,
    info: TargetAddr,
    module: TargetAddr,
    table: TargetAddr,
    value: TargetAddr,
}

fn made(profile: &str) -> Made {
    let mut objects = Objects::new(profile);
    let group = objects.object(GROUP);
    let members: Vec<TargetAddr> =
        (0..4_u64).map(|number| TargetAddr::new(number << 32 | 1 << 16 | 2 << 1 | 1)).collect();
    let pointers = objects.pointers(&members);
    objects.set(group, GROUP, "grp_proc_count", 4);
    objects.set(group, GROUP, "grp_my_rank", 1);
    objects.set(group, GROUP, "grp_proc_pointers", pointers.get());
    objects.set(group, GROUP, "grp_flags", objects.constant("OMPI_GROUP_DENSE"));
    objects.table("ompi_group_f_to_c_table", &[TargetAddr::NULL, group][1..], GROUP, "grp_f_to_c_index");
    let handler = objects.object(HANDLER);
    objects.set(handler, HANDLER, "eh_mpi_object_type", objects.constant("OMPI_ERRHANDLER_TYPE_COMM"));
    objects.set(handler, HANDLER, "eh_comm_fn", 0x4000);
    objects.symbol("complain", TargetAddr::new(0x4000));
    objects.table("ompi_errhandler_f_to_c_table", &[handler], HANDLER, "eh_f_to_c_index");
    let world = objects.object(COMM);
    objects.symbol("ompi_mpi_comm_world", world);
    let comm = objects.object(COMM);
    for (comm, name) in [(world, "MPI_COMM_WORLD"), (comm, "halo")] {
        objects.set_text(comm, COMM, "c_name", name);
        objects.set(comm, COMM, "c_my_rank", 1);
        objects.set(comm, COMM, "c_local_group", group.get());
        objects.set(comm, COMM, "c_remote_group", group.get());
        objects.set(comm, COMM, "c_flags", objects.constant("OMPI_COMM_NAMEISSET"));
        objects.set(comm, COMM, "error_handler", handler.get());
    }
    objects.table("ompi_comm_f_to_c_table", &[world, comm], COMM, "c_f_to_c_index");
    let (table, value) = attribute(&mut objects, comm);
    let info = info(&mut objects, &[("first", "one"), ("second", "two")]);
    let list = objects.place(info, INFO, "super");
    objects.set(comm, COMM, "super.s_info", list.get());
    Made { objects, comm, group, handler, info, module: TargetAddr::NULL, table, value }
}

/// One attribute with the keyval 40.
fn attribute(objects: &mut Objects, comm: TargetAddr) -> (TargetAddr, TargetAddr) {
    let size = objects.layouts.size_of("opal_hash_element_t").unwrap();
    let elements = objects.alloc(31 * size as usize);
    let table = objects.structure("opal_hash_table_t");
    objects.set(table, "opal_hash_table_t", "ht_table", elements.get());
    objects.set(table, "opal_hash_table_t", "ht_capacity", 31);
    objects.set(table, "opal_hash_table_t", "ht_size", 1);
    let value = objects.structure("attribute_key_value_t");
    objects.set(value, "attribute_key_value_t", "av_key", 40);
    objects.set(value, "attribute_key_value_t", "av_value.av_pointer", 0x1234);
    let element = elements.wrapping_add(9 * size);
    objects.set(element, "opal_hash_element_t", "valid", 1);
    objects.set(element, "opal_hash_element_t", "key.u32", 40);
    objects.set(element, "opal_hash_element_t", "value", value.get());
    objects.set(comm, COMM, "c_keyhash", table.get());
    (table, value)
}

fn info(objects: &mut Objects, pairs: &[(&str, &str)]) -> TargetAddr {
    const ENTRY: &str = "opal_info_entry_t";
    let info = objects.object(INFO);
    objects.table("ompi_info_f_to_c_table", &[info], INFO, "i_f_to_c_index");
    let sentinel = objects.place(info, INFO, "super.super.opal_list_sentinel");
    let mut last = sentinel;
    for (key, value) in pairs {
        let entry = objects.structure(ENTRY);
        for (member, text) in [("ie_key", key), ("ie_value", value)] {
            if objects.layouts.has_field("opal_cstring_t", "string") {
                let counted = objects.layouts.field("opal_cstring_t", "string").unwrap().offset;
                let at = objects.alloc(counted as usize + text.len() + 1);
                objects.set(at, "opal_cstring_t", "length", text.len() as u64);
                objects.put(at.wrapping_add(counted), text.as_bytes());
                objects.set(entry, ENTRY, member, at.get());
            } else {
                objects.set_text(entry, ENTRY, member, text);
            }
        }
        objects.set(last, "opal_list_item_t", "opal_list_next", entry.get());
        last = entry;
    }
    objects.set(last, "opal_list_item_t", "opal_list_next", sentinel.get());
    objects.set(info, "opal_list_t", "opal_list_length", pairs.len() as u64);
    info
}

fn ints(objects: &mut Objects, numbers: &[i32]) -> TargetAddr {
    let at = objects.alloc(4 * numbers.len());
    for (place, number) in numbers.iter().enumerate() {
        objects.put(at.wrapping_add(4 * place as u64), &number.to_le_bytes());
    }
    at
}

/// Gives the communicator a topology: numbers and arrays of its structure.
fn topology(
    made: &mut Made,
    flag: &str,
    type_name: &str,
    mtc: &str,
    numbers: &[(&str, u64)],
    arrays: &[(&str, &[i32])],
) {
    const MODULE: &str = "mca_topo_base_module_t";
    let objects = &mut made.objects;
    let own = objects.structure(type_name);
    for (member, number) in numbers {
        objects.set(own, type_name, member, *number);
    }
    for (member, values) in arrays {
        let array = ints(objects, values);
        objects.set(own, type_name, member, array.get());
    }
    made.module = objects.structure(MODULE);
    objects.set(made.module, MODULE, mtc, own.get());
    objects.set(made.comm, COMM, "c_topo", made.module.get());
    let flags = objects.constant("OMPI_COMM_NAMEISSET") | objects.constant(flag);
    objects.set(made.comm, COMM, "c_flags", flags);
}

fn with_grid(profile: &str) -> Made {
    let mut made = made(profile);
    let arrays: [(&str, &[i32]); 3] = [("dims", &[2, 2]), ("periods", &[0, 1]), ("coords", &[0, 1])];
    topology(&mut made, "OMPI_COMM_CART", CART, "mtc.cart", &[("ndims", 2)], &arrays);
    made
}

fn described(made: &Made) -> Handle {
    made.objects.describe(HandleKind::Comm, made.comm)
}

#[test]
fn a_communicator_with_everything() {
    for profile in PROFILES {
        let made = with_grid(profile);
        let handle = described(&made);
        assert_eq!((handle.summary.as_str(), handle.fortran), ("\"halo\", rank 1 of 4", Some(1)));
        assert_eq!(handle.problems, [""; 0]);
        assert_eq!(handle.facts["group"], json!([0, 1, 2, 3]));
        assert_eq!(handle.facts["topology"]["coords"], json!([0, 1]));
        assert_eq!(handle.facts["topology"]["periods"], json!([false, true]));
        assert_eq!(handle.facts["attributes"][0]["value"], "0x1234");
        assert_eq!(handle.facts["info"][1], json!({ "key": "second", "value": "two", "ignored": false }));
        assert_eq!(handle.facts["errhandler"]["summary"], "communicator error handler complain");
        let handler = made.objects.describe(HandleKind::Errhandler, made.handler);
        assert_eq!(handler.facts["function"], json!({ "address": "0x4000", "symbol": "complain" }));
        assert_eq!(handler.facts["attached_to"].as_array().unwrap().len(), 2);
        let group = made.objects.describe(HandleKind::Group, made.group);
        assert_eq!(group.facts["communicators"].as_array().unwrap().len(), 2);
        assert_eq!((&group.facts["storage"], &group.facts["references"]), (&json!("dense"), &json!(1)));
    }
}

#[test]
fn what_a_file_keeps_for_itself_is_marked() {
    const FILE: &str = "ompi_file_t";
    const DATA: &str = "mca_common_ompio_data_t";
    for profile in PROFILES {
        let mut made = made(profile);
        let comm = made.comm;
        made.objects.set(comm, COMM, "c_flags", 0);
        let world = made.objects.at_symbol("ompi_mpi_comm_world");
        let file = made.objects.object(FILE);
        made.objects.table("ompi_file_f_to_c_table", &[file], FILE, "f_f_to_c_index");
        let data = made.objects.structure(DATA);
        made.objects.set(data, DATA, "ompio_fh.f_fh", file.get());
        made.objects.set(data, DATA, "ompio_fh.f_comm", comm.get());
        made.objects.set(file, FILE, "f_comm", world.get());
        made.objects.set(file, FILE, "f_io_version", 1);
        made.objects.set(file, FILE, "f_io_selected_data", data.get());
        let name = "f_io_selected_component.v2_0_0.io_version.mca_component_name";
        made.objects.set_text(file, FILE, name, "ompio");
        assert_eq!(described(&made).facts["internal"]["handle"], json!(file.to_string()), "{profile}");
        assert_eq!(described(&made).facts["files"], json!([]));
        let of_world = made.objects.describe(HandleKind::Comm, world).facts;
        assert_eq!((&of_world["files"][0]["kind"], &of_world["internal"]), (&json!("file"), &Value::Null));
        // What does not point back is nobody's.
        made.objects.set(data, DATA, "ompio_fh.f_fh", 0);
        assert_eq!(described(&made).facts["internal"], Value::Null);
    }
}

#[test]
fn a_function_without_a_symbol_says_why() {
    let mut made = made("openmpi-4.1");
    made.objects.symbols.retain(|(name, _)| name != "complain");
    let handle = made.objects.describe(HandleKind::Errhandler, made.handler);
    assert_eq!(handle.facts["function"]["symbol"], Value::Null);
    assert!(handle.facts["function"]["reason"].as_str().unwrap().contains("stripped"), "{handle:?}");
    assert_eq!(handle.summary, "communicator error handler the function at 0x4000");
}

#[test]
#[ignore = "takes long"]
fn garbage_in_any_word_is_survived_in_bounds() {
    for profile in PROFILES {
        let mut made = with_grid(profile);
        let objects = [
            (HandleKind::Comm, made.comm),
            (HandleKind::Group, made.group),
            (HandleKind::Errhandler, made.handler),
            (HandleKind::Info, made.info),
        ];
        for (number, (block, size)) in made.objects.blocks.clone().into_iter().enumerate() {
            for word in words(number, size as u64 / 8, 5) {
                let at = block.wrapping_add(8 * word);
                for value in garbage(at) {
                    let before = made.objects.get(at);
                    made.objects.put(at, &value.to_le_bytes());
                    let start = Instant::now();
                    for (kind, addr) in objects {
                        check_bounds(&made.objects.describe(kind, addr));
                    }
                    assert!(start.elapsed() < Duration::from_secs(30), "{at} = {value:#x}");
                    made.objects.put(at, &before);
                }
            }
        }
    }
}

/// What is not known is told, not left out: null with a reason that contains the words, or a problem that does.
fn told(handle: &Handle, fact: &str, words: &str) {
    let reason = handle.unknown.get(fact).and_then(Value::as_str).filter(|_| handle.facts[fact] == Value::Null);
    let found = reason.into_iter().chain(handle.problems.iter().map(String::as_str)).any(|text| text.contains(words));
    assert!(found, "{fact}: {words}: {handle:?}");
}

#[test]
fn tables_of_attributes_that_cannot_be_right_are_told() {
    const TABLE: &str = "opal_hash_table_t";
    for profile in PROFILES {
        for (member, value, words) in [
            ("ht_size", 2, "has 1 of 2"),
            ("ht_size", 0, "has 1 of 0"),
            ("ht_capacity", 1 << 40, "of 1099511627776"),
            ("ht_capacity", 3, "has 0 of 1"),
            ("ht_table", 8, "cannot read"),
        ] {
            let mut made = made(profile);
            made.objects.set(made.table, TABLE, member, value);
            told(&described(&made), "attributes", words);
        }
        for (member, value, words) in [("av_key", 41, "that of 41"), ("av_set_from", 9, "does not exist (9)")] {
            let mut made = made(profile);
            made.objects.set(made.value, "attribute_key_value_t", member, value);
            told(&described(&made), "attributes", words);
        }
        let mut made = made(profile);
        made.objects.set(made.comm, COMM, "c_keyhash", 0);
        assert_eq!(described(&made).facts["attributes"], json!([]));
    }
}

#[test]
fn lists_of_keys_that_break_off_are_told() {
    for profile in PROFILES {
        let mut made = made(profile);
        let sentinel = made.objects.place(made.info, INFO, "super.super.opal_list_sentinel");
        let first = TargetAddr::new(u64::from_le_bytes(made.objects.get(made.objects.place(
            sentinel,
            "opal_list_item_t",
            "opal_list_next",
        ))));
        for (next, words) in [(first, "circle"), (TargetAddr::NULL, "null pointer"), (sentinel, "says that it has 2")] {
            made.objects.set(first, "opal_list_item_t", "opal_list_next", next.get());
            told(&described(&made), "info", words);
            told(&made.objects.describe(HandleKind::Info, made.info), "count", words);
        }
    }
}

#[test]
fn topologies_that_cannot_be_right_are_told() {
    for profile in PROFILES {
        for (ndims, words) in [(1, "grid"), (0, "grid"), (u64::from(u32::MAX), "array of -1"), (1 << 30, "array of")] {
            let mut made = made(profile);
            let arrays: [(&str, &[i32]); 1] = [("dims", &[2, 2])];
            topology(&mut made, "OMPI_COMM_CART", CART, "mtc.cart", &[("ndims", ndims)], &arrays);
            told(&described(&made), "topology", words);
        }
        for index in [[2, 1, 3, 3], [1, 1, 1, i32::MAX], [-1, 0, 0, 0]] {
            let mut made = made(profile);
            let arrays: [(&str, &[i32]); 2] = [("index", &index), ("edges", &[1, 2, 3])];
            topology(&mut made, "OMPI_COMM_GRAPH", GRAPH, "mtc.graph", &[("nnodes", 4)], &arrays);
            told(&described(&made), "topology", if index[3] == i32::MAX { "array of" } else { "graph of 4" });
        }
        let mut made = made(profile);
        topology(&mut made, "OMPI_COMM_DIST_GRAPH", DIST_GRAPH, "mtc.dist_graph", &[("indegree", 3)], &[]);
        told(&described(&made), "topology", "cannot read");
        made.objects.set(made.comm, COMM, "c_topo", 0);
        told(&described(&made), "topology", "cannot read");
    }
}

#[test]
fn a_communicator_without_a_group_is_doubted() {
    for profile in PROFILES {
        let mut made = made(profile);
        made.objects.set(made.comm, COMM, "c_local_group", made.handler.get());
        let handle = described(&made);
        assert_eq!(handle.state, HandleState::Unknown, "{handle:?}");
        assert!(handle.summary.contains("group"), "{handle:?}");
    }
}

/// Frees an object as malloc does: two words of its own, and its place in the table is empty.
fn free(made: &mut Made, addr: TargetAddr, table: &str) {
    made.objects.put(addr, &[0xa5; 16]);
    let table = made.objects.at_symbol(table);
    made.objects.set(table, "opal_pointer_array_t", "size", 2);
    let empty = made.objects.pointers(&[TargetAddr::NULL, TargetAddr::NULL]);
    made.objects.set(table, "opal_pointer_array_t", "addr", empty.get());
}

#[test]
fn freed_objects_are_known_by_what_is_left() {
    for profile in PROFILES {
        let mut made = made(profile);
        let class = made.objects.class("opal_hash_table_t");
        made.objects.set(made.comm, COMM, "super.s_subscriber_table.super.obj_class", class.get());
        let (comm, group, handler, info) = (made.comm, made.group, made.handler, made.info);
        let sentinel = made.objects.place(info, INFO, "super.super.opal_list_sentinel");
        for link in ["opal_list_next", "opal_list_prev"] {
            made.objects.set(sentinel, "opal_list_item_t", link, sentinel.get());
        }
        made.objects.set(info, INFO, "i_freed", 1);
        let function = made.objects.text("code");
        made.objects.set(handler, HANDLER, "eh_comm_fn", function.get());
        for (kind, addr, table) in [
            (HandleKind::Comm, comm, "ompi_comm_f_to_c_table"),
            (HandleKind::Group, group, "ompi_group_f_to_c_table"),
            (HandleKind::Errhandler, handler, "ompi_errhandler_f_to_c_table"),
            (HandleKind::Info, info, "ompi_info_f_to_c_table"),
        ] {
            free(&mut made, addr, table);
            let handle = made.objects.describe(kind, addr);
            assert_eq!((handle.state, handle.freed), (HandleState::Freed, Some(true)), "{handle:?}");
            let named = kind == HandleKind::Comm && profile == "openmpi-4.1";
            assert_eq!(handle.name.as_deref(), named.then_some("halo"), "{handle:?}");
            assert!(handle.summary.starts_with(&format!("freed {}: ", kind.c_type())), "{handle:?}");
        }
        // Without the evidence it is nothing.
        made.objects.set(comm, COMM, "super.s_subscriber_table.super.obj_class", 0x1000);
        made.objects.set(handler, HANDLER, "eh_file_fn", 0x1000);
        made.objects.set(info, INFO, "i_freed", 0);
        made.objects.set(group, GROUP, "grp_flags", 0);
        for (kind, addr) in [
            (HandleKind::Comm, comm),
            (HandleKind::Group, group),
            (HandleKind::Errhandler, handler),
            (HandleKind::Info, info),
        ] {
            assert_eq!(made.objects.describe(kind, addr).state, HandleState::Invalid, "{kind:?}");
        }
    }
}

#[test]
fn fortran_integers_of_nothing_are_told() {
    let made = made("openmpi-4.1");
    let target = made.objects.target();
    for index in [-1, 2, i64::from(i32::MAX), i64::MIN, i64::MAX] {
        let handle =
            made.objects.reading(&target, |reader| reader.describe_fortran(HandleKind::Comm, index, Depth::Full));
        assert_eq!((handle.state, handle.fortran), (HandleState::Invalid, Some(index)), "{handle:?}");
    }
    let found = made.objects.reading(&target, |reader| reader.describe_fortran(HandleKind::Comm, 1, Depth::Short));
    assert_eq!(found.name.as_deref(), Some("halo"));
}
