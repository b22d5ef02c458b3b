//! libFuzzer over one target, which MPI_QUEUES_FUZZ names: `make fuzz` starts it.
//!
//! With MPI_QUEUES_FUZZ_SEEDS=DIRECTORY it makes DIRECTORY/TARGET/NUMBER instead, and prints a line for each target: its
//! name, and the length of its longest input in bytes.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

static TARGET: LazyLock<&'static fuzz::FuzzTarget> = LazyLock::new(|| {
    let name = std::env::var("MPI_QUEUES_FUZZ").unwrap_or_default();
    fuzz::target(&name).unwrap_or_else(|| panic!("MPI_QUEUES_FUZZ={name} is no target"))
});

fn write_seeds(directory: &Path) {
    for target in fuzz::TARGETS {
        let place = directory.join(target.name);
        std::fs::create_dir_all(&place).expect("a directory for seeds");
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(place.join(number.to_string()), seed).expect("a file for a seed");
        }
        println!("{} {}", target.name, target.longest);
    }
}

libfuzzer_sys::fuzz_target!(
    init: {
        if let Some(directory) = std::env::var_os("MPI_QUEUES_FUZZ_SEEDS") {
            write_seeds(Path::new(&directory));
            std::process::exit(0);
        }
    },
    |data: &[u8]| (TARGET.run)(data)
);
