//! Requests in made-up memory: what they say whole, and that garbage in any word of them is survived.

use std::time::{Duration, Instant};

use made_up::share::words;
use model::{Handle, HandleKind, HandleState};
use readers::openmpi::pml::Pml;
use target::address::TargetAddr;

use super::support::Objects;

const SEND: &str = "mca_pml_ob1_send_request_t";
const BASE: &str = "mca_pml_base_request_t";
const NBC: &str = "ompi_coll_libnbc_request_t";

/// A process with one request of each sort that has a structure of its own.
struct Requests {
    objects: Objects,
    send: TargetAddr,
    collective: TargetAddr,
    generalized: TargetAddr,
    operator: TargetAddr,
}

fn class_with_size(objects: &mut Objects, type_name: &str, parent: &str) {
    let (class, parent) = (objects.class(type_name), objects.class(parent));
    let size = objects.layouts.size_of(type_name).unwrap();
    objects.set(class, "opal_class_t", "cls_sizeof", size);
    objects.set(class, "opal_class_t", "cls_parent", parent.get());
}

fn requests(profile: &str) -> Requests {
    let mut objects = Objects::new(profile);
    for type_name in [SEND, NBC, "ompi_grequest_t"] {
        class_with_size(&mut objects, type_name, "ompi_request_t");
    }
    objects.table("ompi_request_f_to_c_table", &[], "ompi_request_t", "req_f_to_c_index");
    objects.table("ompi_datatype_f_to_c_table", &[], "ompi_datatype_t", "d_f_to_c_index");
    let group = objects.object("ompi_group_t");
    objects.table("ompi_group_f_to_c_table", &[group], "ompi_group_t", "grp_f_to_c_index");
    let comm = objects.object("ompi_communicator_t");
    objects.set_text(comm, "ompi_communicator_t", "c_name", "halo");
    objects.set(comm, "ompi_communicator_t", "c_local_group", group.get());
    objects.set(comm, "ompi_communicator_t", "c_flags", objects.constant("OMPI_COMM_NAMEISSET"));
    objects.table("ompi_comm_f_to_c_table", &[comm], "ompi_communicator_t", "c_f_to_c_index");
    let datatype = objects.object("ompi_datatype_t");
    objects.set_text(datatype, "ompi_datatype_t", "name", "MPI_INT");
    objects.set(datatype, "ompi_datatype_t", "super.size", 4);
    objects.set(datatype, "ompi_datatype_t", "super.flags", objects.constant("OMPI_DATATYPE_FLAG_PREDEFINED"));

    let common = |objects: &mut Objects, at: TargetAddr, kind: &str| {
        let numbers = [
            ("req_type", objects.constant(kind)),
            ("req_state", objects.constant("OMPI_REQUEST_ACTIVE")),
            ("req_f_to_c_index", u64::MAX),
            ("req_mpi_object.comm", comm.get()),
        ];
        for (field, value) in numbers {
            objects.set(at, "ompi_request_t", field, value);
        }
    };
    let send = objects.object(SEND);
    common(&mut objects, send, "OMPI_REQUEST_PML");
    let numbers = [
        ("req_type", objects.constant("MCA_PML_REQUEST_SEND")),
        ("req_comm", comm.get()),
        ("req_datatype", datatype.get()),
        ("req_addr", 0x7000),
        ("req_count", 25),
        ("req_peer", 1),
        ("req_tag", 17),
    ];
    for (field, value) in numbers {
        objects.set(send, BASE, field, value);
    }
    let mode = objects.constant("MCA_PML_BASE_SEND_SYNCHRONOUS");
    objects.set(send, "mca_pml_base_send_request_t", "req_send_mode", mode);
    objects.set(send, "mca_pml_base_send_request_t", "req_bytes_packed", 100);

    let operator = objects.alloc(64);
    let collective = objects.object(NBC);
    common(&mut objects, collective, "OMPI_REQUEST_COLL");
    let (data, second) = schedule(&objects, operator);
    let bytes = objects.alloc(data.len());
    objects.put(bytes, &data);
    let schedule = objects.structure("NBC_Schedule");
    objects.set(schedule, "NBC_Schedule", "size", data.len() as u64);
    objects.set(schedule, "NBC_Schedule", "data", bytes.get());
    let posted = objects.pointers(&[send]);
    let numbers = [
        ("comm", comm.get()),
        ("row_offset", second),
        ("schedule", schedule.get()),
        ("req_count", 1),
        ("req_array", posted.get()),
    ];
    for (field, value) in numbers {
        objects.set(collective, NBC, field, value);
    }

    let generalized = objects.object("ompi_grequest_t");
    common(&mut objects, generalized, "OMPI_REQUEST_GEN");
    objects.set(generalized, "opal_object_t", "obj_reference_count", 2);
    objects.set(generalized, "ompi_grequest_t", "greq_state", 0x1234);
    Requests { objects, send, collective, generalized, operator }
}

/// A send; then a receive and an operation; then nothing: with the position of the second round.
fn schedule(objects: &Objects, operator: TargetAddr) -> (Vec<u8>, u64) {
    let part = |kind: u32, type_name: &str| {
        let mut bytes = vec![0; objects.layouts.size_of(type_name).unwrap() as usize];
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes
    };
    let mut reduction = part(2, "NBC_Args_op");
    let at = objects.layouts.field("NBC_Args_op", "op").unwrap().offset as usize;
    reduction[at..at + 8].copy_from_slice(&operator.get().to_le_bytes());
    let mut data = [&1_u32.to_le_bytes()[..], &part(0, "NBC_Args_send"), &[1]].concat();
    let second = data.len() as u64;
    data.extend([&2_u32.to_le_bytes()[..], &part(1, "NBC_Args_recv"), &reduction, &[1]].concat());
    data.extend([0, 0, 0, 0, 0]);
    (data, second)
}

impl Requests {
    fn describe(&self, at: TargetAddr) -> Handle {
        let start = Instant::now();
        let handle = self.objects.describe(HandleKind::Request, at);
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        handle
    }
}

#[test]
fn requests_say_what_they_are() {
    for profile in ["openmpi-4.1", "openmpi-5.0"] {
        let requests = requests(profile);
        let send = requests.describe(requests.send);
        assert_eq!(send.summary, "MPI_Issend to 1, tag 17 on \"halo\", 100 bytes, pending");
        assert_eq!((send.state, send.freed), (HandleState::Live, Some(false)));
        assert_eq!(send.facts["datatype"]["summary"], "MPI_INT");
        let collective = requests.describe(requests.collective);
        assert_eq!(collective.summary, "nonblocking collective on \"halo\", round 2 of 3, pending");
        let posted = &collective.facts["sub_requests"][0];
        // Nobody knows whether the program has this one's handle.
        assert_eq!(posted["summary"], "send to 1, tag 17 on \"halo\", 100 bytes, pending");
        let generalized = requests.describe(requests.generalized);
        assert_eq!(generalized.summary, "MPI_Grequest_start, pending");
        assert_eq!(generalized.facts["extra_state"], "0x1234");
        assert_eq!(generalized.freed, Some(false));
    }
}

/// A persistent receive that is not active, and a send, of the pml cm. No mtl is there.
fn over_cm(profile: &str) -> (Requests, [TargetAddr; 2]) {
    const THIN: &str = "mca_pml_cm_thin_recv_request_t";
    const CLASSES: [&str; 2] = ["mca_pml_cm_hvy_recv_request_t", "mca_pml_cm_hvy_send_request_t"];
    let mut requests = requests(profile);
    let [comm, datatype] = ["req_comm", "req_datatype"]
        .map(|field| u64::from_le_bytes(requests.objects.get(requests.objects.place(requests.send, BASE, field))));
    let objects = &mut requests.objects;
    objects.pml = Pml::Cm;
    let sorts = [("OMPI_REQUEST_INACTIVE", "RECV_HEAVY"), ("OMPI_REQUEST_ACTIVE", "SEND_THIN")];
    let made = [0, 1].map(|index| {
        class_with_size(objects, CLASSES[index], "ompi_request_t");
        let at = objects.object(CLASSES[index]);
        let (state, sort) = sorts[index];
        let numbers = [
            ("req_ompi.req_type", objects.constant("OMPI_REQUEST_PML")),
            ("req_ompi.req_state", objects.constant(state)),
            ("req_ompi.req_persistent", 1 - index as u64),
            ("req_pml_type", objects.constant(&format!("MCA_PML_CM_REQUEST_{sort}"))),
            ("req_comm", comm),
            ("req_datatype", datatype),
            ("req_convertor.count", 25),
        ];
        for (field, value) in numbers {
            objects.set(at, THIN, &format!("req_base.{field}"), value);
        }
        objects.set(at, "ompi_request_t", "req_mpi_object.comm", comm);
        at
    });
    for (field, value) in [("req_peer", 1), ("req_tag", 17), ("req_count", 25), ("req_addr", 0x7000)] {
        objects.set(made[0], CLASSES[0], field, value);
    }
    let mode = objects.constant("MCA_PML_BASE_SEND_STANDARD");
    objects.set(made[1], "mca_pml_cm_thin_send_request_t", "req_send.req_send_mode", mode);
    (requests, made)
}

#[test]
fn requests_of_cm_say_what_they_keep() {
    for profile in ["openmpi-4.1", "openmpi-5.0", "openmpi-6.0"] {
        let (requests, made) = over_cm(profile);
        let [receive, send] = made.map(|at| requests.describe(at));
        assert_eq!(receive.summary, "MPI_Recv_init from 1, tag 17 on \"halo\", 100 bytes, inactive");
        assert_eq!(send.summary, "MPI_Isend to an unknown rank, tag not known on \"halo\", 100 bytes, pending");
        for fact in ["peer", "tag", "internal", "transferred"] {
            assert!(send.unknown.contains_key(fact), "{fact}: {send:?}");
        }
    }
}

#[test]
fn garbage_in_any_word_of_requests_of_cm_is_survived() {
    let (mut requests, made) = over_cm("openmpi-5.0");
    for block in made {
        let size = requests.objects.blocks.iter().find(|(at, _)| *at == block).unwrap().1;
        for at in (0..size as u64 / 4).map(|word| block.wrapping_add(4 * word)) {
            let before = requests.objects.get(at);
            for value in [0, 1, u64::MAX, 0x7fff_ffff, 0x5a5a_5a5a_5a5a_5a5a, block.get()] {
                requests.objects.put(at, &value.to_le_bytes());
                for request in made {
                    let handle = requests.describe(request);
                    assert!(handle.problems.len() <= 101 && !handle.summary.is_empty());
                    assert!(!handle.summary.chars().any(char::is_control));
                }
                requests.objects.put(at, &before);
            }
        }
    }
}

/// Their class is a child of the one whose structure is known; releases differ behind the members that all components have.
#[test]
fn partitioned_requests_say_what_they_are() {
    const PART: &str = "mca_part_persist_request_t";
    for profile in ["openmpi-5.0", "openmpi-6.0"] {
        let mut requests = requests(profile);
        let comm = u64::from_le_bytes(requests.objects.get(requests.objects.place(requests.send, BASE, "req_comm")));
        let datatype = requests.objects.get(requests.objects.place(requests.send, BASE, "req_datatype"));
        class_with_size(&mut requests.objects, PART, "ompi_request_t");
        let at = requests.objects.alloc(800);
        requests.objects.make_object(at, "mca_part_persist_psend_request_t");
        let classes = ["mca_part_persist_psend_request_t", PART].map(|name| requests.objects.class(name));
        requests.objects.set(classes[0], "opal_class_t", "cls_parent", classes[1].get());
        let kind = requests.objects.constant("OMPI_REQUEST_PART");
        let state = requests.objects.constant("OMPI_REQUEST_ACTIVE");
        for (field, value) in [("req_type", kind), ("req_state", state), ("req_mpi_object.comm", comm)] {
            requests.objects.set(at, "ompi_request_t", field, value);
        }
        let numbers = [("req_parts", 4), ("req_count", 10), ("req_peer", 1), ("req_tag", 60), ("done_count", 2)];
        for (field, value) in
            numbers.into_iter().chain([("req_comm", comm), ("req_datatype", u64::from_le_bytes(datatype))])
        {
            requests.objects.set(at, PART, field, value);
        }
        let handle = requests.describe(at);
        assert_eq!(handle.summary, "MPI_Psend_init to 1, tag 60 on \"halo\", 4 partitions, pending");
        assert_eq!(handle.facts["partitions_done"], 2);
        // A later release.
        requests.objects.set(classes[1], "opal_class_t", "cls_sizeof", 712);
        let handle = requests.describe(at);
        assert!(handle.summary.starts_with("MPI_Psend_init to 1, tag 60"), "{handle:?}");
        assert!(handle.unknown.contains_key("partitions_done"), "{handle:?}");
        requests.objects.set(at, PART, "req_comm", 0x10);
        assert!(!requests.describe(at).summary.contains("tag 60"));
    }
}

/// The wrapper v's protocol has added its part to them: classes of its own whose parents are ob1's.
#[test]
fn requests_of_a_protocol_say_what_those_of_the_pml_say() {
    let mut requests = requests("openmpi-5.0");
    let before = requests.describe(requests.send);
    let (own, size) = ("mca_vprotocol_pessimist_send_request_t", requests.objects.layouts.size_of(SEND).unwrap());
    let (class, parent) = (requests.objects.class(own), requests.objects.class(SEND));
    requests.objects.set(class, "opal_class_t", "cls_sizeof", size + 96);
    requests.objects.set(class, "opal_class_t", "cls_parent", parent.get());
    requests.objects.set(requests.send, "opal_object_t", "obj_class", class.get());
    assert_eq!(requests.describe(requests.send), before);
    for nowhere in [0, class.get(), 0x10] {
        requests.objects.set(class, "opal_class_t", "cls_parent", nowhere);
        assert!(!requests.describe(requests.send).summary.contains("tag 17"));
    }
}

#[test]
fn another_layout_than_the_profiles_is_not_believed() {
    let mut requests = requests("openmpi-5.0");
    for (type_name, at) in [(SEND, requests.send), (NBC, requests.collective)] {
        let class = requests.objects.class(type_name);
        requests.objects.set(class, "opal_class_t", "cls_sizeof", 8);
        let handle = requests.describe(at);
        assert!(handle.unknown["call"].as_str().unwrap().contains(type_name), "{handle:?}");
        assert!(!handle.facts.contains_key("round") && !handle.summary.contains("tag 17"), "{handle:?}");
    }
}

#[test]
fn a_schedule_that_cannot_be_is_told() {
    for (field, value, words) in [
        ("size", 3, "ends early"),
        ("size", u64::from(u32::MAX), "absurdly long"),
        ("data", 0x10, "0x10"),
        ("size", 0, "ends early"),
    ] {
        let mut requests = requests("openmpi-4.1");
        let schedule = requests.objects.place(requests.collective, NBC, "schedule");
        let schedule = TargetAddr::new(u64::from_le_bytes(requests.objects.get(schedule)));
        requests.objects.set(schedule, "NBC_Schedule", field, value);
        let handle = requests.describe(requests.collective);
        assert!(handle.unknown["round"].as_str().unwrap().contains(words), "{handle:?}");
    }
    let mut requests = requests("openmpi-4.1");
    let at = requests.collective;
    requests.objects.set(at, NBC, "row_offset", 7);
    assert!(requests.describe(at).unknown["round"].as_str().unwrap().contains("begins at 7"));
    requests.objects.set(at, NBC, "req_count", u64::from(u32::MAX));
    assert!(requests.describe(at).unknown["sub_requests"].as_str().unwrap().contains("absurd"));
}

#[test]
#[ignore = "takes long"]
fn garbage_in_any_word_of_requests_is_survived() {
    for profile in ["openmpi-4.1", "openmpi-5.0"] {
        let mut requests = requests(profile);
        let all = [requests.send, requests.collective, requests.generalized, requests.operator];
        for (number, (block, size)) in requests.objects.blocks.clone().into_iter().enumerate() {
            for word in words(number, size as u64 / 4, 5) {
                let at = block.wrapping_add(4 * word);
                let before = requests.objects.get(at);
                for value in [0, 1, u64::MAX, 0x7fff_ffff, 0x5a5a_5a5a_5a5a_5a5a, block.get()] {
                    requests.objects.put(at, &value.to_le_bytes());
                    for request in all {
                        let handle = requests.describe(request);
                        let text = serde_json::to_string(&handle).unwrap();
                        assert!(text.len() < 100_000 && handle.problems.len() <= 101, "{text}");
                        assert!(!handle.summary.is_empty() && !handle.summary.chars().any(char::is_control));
                    }
                    requests.objects.put(at, &before);
                }
            }
        }
    }
}
