//! What needs no process.

use std::ffi::CStr;

use mpi_queues_mqs as library;
use mqs_interface::{COMPATIBILITY_MPI1, END_OF_LIST, NO_INFORMATION, OK, TADDR_WIDTH};

use crate::host::{alone, text};

#[test]
fn versions_are_those_of_the_interface() {
    assert_eq!(library::mqs_version_compatibility(), COMPATIBILITY_MPI1);
    assert_eq!(library::mqs_dll_taddr_width(), TADDR_WIDTH as i32);
    // SAFETY: the library gives a string.
    let version = unsafe { CStr::from_ptr(library::mqs_version_string()) }.to_str().unwrap();
    assert!(version.starts_with("mpi-queues "), "{version}");
}

/// What stands for a code that there is not.
const NO_CODE: &str = "an error code that mpi-queues does not have";

#[test]
fn each_code_has_a_text_and_no_other() {
    let _alone = alone();
    let words = [OK, NO_INFORMATION, END_OF_LIST].map(text);
    assert_eq!(words, ["no error", "no information", "end of the list"]);
    let codes: Vec<String> = (100..113).map(text).collect();
    assert!(codes.iter().all(|text| !text.is_empty() && text != NO_CODE), "{codes:?}");
    assert!([-1, 99, 113, i32::MIN, i32::MAX].iter().all(|code| text(*code) == NO_CODE));
}
