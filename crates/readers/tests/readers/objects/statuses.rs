//! Statuses: bytes that carry no mark of what they are.

use model::{Handle, HandleKind, HandleState};
use proptest::prelude::{ProptestConfig, any};
use serde_json::{Value, json};
use target::address::TargetAddr;

use super::support::Objects;

fn status(objects: &Objects, bytes: &[u8]) -> Handle {
    objects.reading(&objects.target(), |reader| reader.describe_status(bytes))
}

/// The members as both releases have them: source, tag, error, whether it was cancelled, bytes.
fn bytes(source: i32, tag: i32, error: i32, cancelled: i32, length: u64) -> Vec<u8> {
    let members = [source, tag, error, cancelled].into_iter().flat_map(i32::to_le_bytes);
    members.chain(length.to_le_bytes()).collect()
}

#[test]
fn too_few_bytes_are_no_status_and_no_zeros() {
    let objects = Objects::new("openmpi-4.1");
    let whole = bytes(1, 17, 0, 0, 400);
    for len in 0..whole.len() {
        let handle = status(&objects, &whole[..len]);
        assert_eq!(handle.state, HandleState::Unknown);
        assert!(handle.summary.contains(&format!("24 bytes, these are {len}")), "{}", handle.summary);
        assert!(handle.facts.is_empty());
    }
    assert_eq!(status(&objects, &whole).summary, "from 1, tag 17, 400 bytes");
    let longer: Vec<u8> = whole.iter().copied().chain([0xff; 40]).collect();
    assert_eq!(status(&objects, &longer).summary, "from 1, tag 17, 400 bytes");
}

#[test]
fn words_of_a_status() {
    let objects = Objects::new("openmpi-5.0");
    let truncate = objects.constant("MPI_ERR_TRUNCATE") as i32;
    for (bytes, summary) in [
        (bytes(-1, -1, 0, 0, 0), "empty"),
        (bytes(-2, -1, 0, 0, 0), "from MPI_PROC_NULL, tag MPI_ANY_TAG, 0 bytes"),
        (bytes(3, 4, truncate, 0, 8), "from 3, tag 4, 8 bytes, MPI_ERR_TRUNCATE"),
        (bytes(3, 4, 0, 1, 8), "cancelled"),
        // MPI_ERROR is not set by functions that complete one operation.
        (bytes(3, 4, -99, 0, 8), "from 3, tag 4, 8 bytes"),
        (bytes(3, 4, 0, 0, u64::MAX), "from 3, tag 4, 18446744073709551615 bytes"),
    ] {
        let handle = status(&objects, &bytes);
        assert_eq!((handle.state, handle.summary.as_str()), (HandleState::Live, summary));
    }
    let strange = status(&objects, &bytes(3, 4, -99, 0, 8));
    assert_eq!(strange.facts["error_name"], Value::Null);
    assert!(strange.unknown.contains_key("error_name"));
    assert_eq!(strange.facts["error"], json!(-99));
}

#[test]
fn what_no_function_leaves_so_is_named() {
    let objects = Objects::new("openmpi-4.1");
    for garbage in [bytes(1, 2, 0, 7, 8), bytes(-12345, 2, 0, 0, 8), bytes(-1, 2, 0, -1, 8)] {
        let handle = status(&objects, &garbage);
        assert_eq!(handle.state, HandleState::Invalid);
        assert!(handle.summary.starts_with("not an MPI_Status: "), "{}", handle.summary);
    }
}

#[test]
fn a_status_that_is_not_mapped_and_the_ignored_one() {
    let objects = Objects::new("openmpi-4.1");
    let nowhere = objects.describe(HandleKind::Status, TargetAddr::new(0x33));
    assert_eq!(nowhere.state, HandleState::Unknown);
    assert!(nowhere.facts.is_empty());
    let ignored = objects.describe(HandleKind::Status, TargetAddr::NULL);
    assert_eq!((ignored.state, ignored.summary.as_str()), (HandleState::Null, "MPI_STATUS_IGNORE"));
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let handle = status(&Objects::new("openmpi-4.1"), &bytes);
        proptest::prop_assert!(handle.summary.len() < 200);
        proptest::prop_assert_eq!(handle.state == HandleState::Unknown, bytes.len() < 24);
    }
}
