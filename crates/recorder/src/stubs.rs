//! The wrappers, one for each name that is exported.
#![allow(non_snake_case)]

use crate::arch::stub;

include!(concat!(env!("OUT_DIR"), "/stubs.rs"));
