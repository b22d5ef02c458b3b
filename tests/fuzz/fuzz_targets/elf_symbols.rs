//! The symbol tables of any file that says it is one of the process's.
#![no_main]

use libfuzzer_sys::fuzz_target;
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ElfImage, Image, TargetAbi};

fuzz_target!(|data: &[u8]| {
    let path = std::env::temp_dir().join(format!("mpi-queues-fuzz-{}", std::process::id()));
    if std::fs::write(&path, data).is_err() {
        return;
    }
    let image = Image { path: String::new(), bias: TargetAddr::NULL, build_id: None, is_executable: false };
    if let Ok(file) = ElfImage::open(path, &image, &MockTarget::new(TargetAbi::LITTLE_64)) {
        let _ = (file.dynamic_symbol("ompi_mpi_comm_world"), file.full_symbol("main"));
    }
});
