//! libFuzzer over one target, which MPI_QUEUES_FUZZ names: `make fuzz` starts it.
//!
//! With MPI_QUEUES_FUZZ_SEEDS=DIRECTORY it writes the inputs to begin with there instead (`fuzz::write_seeds`).
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

static TARGET: LazyLock<&'static fuzz::FuzzTarget> = LazyLock::new(|| {
    let name = std::env::var("MPI_QUEUES_FUZZ").unwrap_or_default();
    fuzz::target(&name).unwrap_or_else(|| panic!("MPI_QUEUES_FUZZ={name} is no target"))
});

libfuzzer_sys::fuzz_target!(
    init: {
        if let Some(directory) = std::env::var_os("MPI_QUEUES_FUZZ_SEEDS") {
            fuzz::write_seeds(Path::new(&directory)).expect("files for seeds");
            std::process::exit(0);
        }
    },
    |data: &[u8]| (TARGET.run)(data)
);
