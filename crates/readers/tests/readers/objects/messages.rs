//! Matched messages: what a message holds counts only once its request has been matched.

use model::{Handle, HandleKind, HandleState};
use serde_json::{Value, json};
use target::address::TargetAddr;

use super::support::Objects;

const MESSAGE: &str = "ompi_message_t";
const REQUEST: &str = "mca_pml_base_request_t";
const COMM: &str = "ompi_communicator_t";

struct Matched {
    objects: Objects,
    message: TargetAddr,
    request: TargetAddr,
}

/// A message from rank 1 with the tag 31, 12 bytes long.
fn matched(profile: &str) -> Matched {
    let mut objects = Objects::new(profile);
    let comm = objects.object(COMM);
    objects.set_text(comm, COMM, "c_name", "halo");
    let group = objects.object("ompi_group_t");
    objects.set(comm, COMM, "c_local_group", group.get());
    objects.table("ompi_comm_f_to_c_table", &[comm], COMM, "c_f_to_c_index");
    let request = objects.structure(REQUEST);
    objects.make_object(request, "mca_pml_ob1_recv_request_t");
    objects.set(request, REQUEST, "req_type", objects.constant("MCA_PML_REQUEST_MPROBE"));
    objects.set(request, REQUEST, "req_ompi.req_complete", 1);
    objects.set(request, REQUEST, "req_ompi.req_status.MPI_TAG", 31);
    objects.set(request, REQUEST, "req_comm", comm.get());
    let message = objects.object(MESSAGE);
    objects.set(message, MESSAGE, "comm", comm.get());
    objects.set(message, MESSAGE, "req_ptr", request.get());
    objects.set(message, MESSAGE, "peer", 1);
    objects.set(message, MESSAGE, "count", 12);
    objects.set(message, MESSAGE, "m_f_to_c_index", u64::MAX);
    Matched { objects, message, request }
}

fn read(matched: &Matched) -> Handle {
    matched.objects.describe(HandleKind::Message, matched.message)
}

#[test]
fn a_matched_message() {
    for profile in ["openmpi-4.1", "openmpi-5.0"] {
        let handle = read(&matched(profile));
        assert!(handle.summary.starts_with("from 1, tag 31 on "), "{handle:?}");
        assert!(handle.summary.ends_with(", 12 bytes"), "{handle:?}");
        assert_eq!((&handle.facts["tag"], &handle.facts["bytes"]), (&json!(31), &json!(12)));
        assert_eq!((handle.state, handle.freed), (HandleState::Live, Some(false)));
    }
}

#[test]
fn a_probe_that_still_waits_has_no_message_yet() {
    let receive = |objects: &Objects| objects.constant("MCA_PML_REQUEST_RECV");
    for (field, value) in [("req_ompi.req_complete", None), ("req_type", Some(receive))] {
        let mut matched = matched("openmpi-4.1");
        let value = value.map_or(0, |value| value(&matched.objects));
        matched.objects.set(matched.request, REQUEST, field, value);
        let handle = read(&matched);
        assert_eq!(handle.summary, "not matched yet: MPI_Mprobe is still waiting");
        for fact in ["communicator", "source", "tag", "bytes"] {
            assert_eq!(handle.facts[fact], Value::Null);
            assert!(handle.unknown.contains_key(fact), "{handle:?}");
        }
    }
}

#[test]
fn a_message_that_is_back_in_the_pool_is_freed() {
    let mut matched = matched("openmpi-5.0");
    matched.objects.set(matched.message, MESSAGE, "super.super.opal_list_next", 0x1234);
    let handle = read(&matched);
    assert_eq!((handle.state, handle.freed), (HandleState::Freed, Some(true)));
    assert!(!handle.facts.contains_key("bytes") && handle.summary.starts_with("freed MPI_Message: "), "{handle:?}");
}

#[test]
fn a_request_that_cannot_be_read_or_is_of_another_communicator_is_not_believed() {
    let mut unmapped = matched("openmpi-4.1");
    unmapped.objects.set(unmapped.message, MESSAGE, "req_ptr", 0x10);
    let mut other = matched("openmpi-4.1");
    other.objects.set(other.request, REQUEST, "req_comm", 0x10_0000_0000);
    for handle in [read(&unmapped), read(&other)] {
        for fact in ["communicator", "source", "tag", "bytes"] {
            assert_eq!(handle.facts[fact], Value::Null);
            assert!(handle.unknown.contains_key(fact), "{handle:?}");
        }
    }
}
