//! Tests of targets: the page cache, core files, the linker's list of images, symbols from files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cache;
mod cores;
mod elf;
mod link_map;
mod memory_image;
