//! Fuzz targets: one function for each thing that reads what strangers wrote, and inputs to begin with, which are made.
//!
//! `cargo test` gives each of them its seeds and some changes of these; `make fuzz` lets libFuzzer search for a minute each.
//! An input that finds something becomes a test beside the code that is mended.

mod changed;
mod compiled;
mod edits;
mod targets;

use std::path::Path;
use std::{fs, io};

/// Something that takes any bytes.
pub struct FuzzTarget {
    /// What it is called in `make fuzz`.
    pub name: &'static str,
    /// It ends, soon, without a panic, whatever the bytes are.
    pub run: fn(&[u8]),
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Longer inputs find nothing more, in bytes.
    pub longest: usize,
}

/// All of them.
pub const TARGETS: &[FuzzTarget] = &[
    FuzzTarget { name: "recording", run: targets::recording::run, seeds: targets::recording::seeds, longest: 8192 },
    FuzzTarget { name: "session", run: targets::session::run, seeds: targets::session::seeds, longest: 400 },
    FuzzTarget { name: "openmpi", run: targets::openmpi::run, seeds: targets::openmpi::seeds, longest: 256 },
    FuzzTarget { name: "openmpi-ucx", run: targets::openmpi::over_ucx, seeds: targets::openmpi::seeds, longest: 256 },
    FuzzTarget { name: "openmpi-cm", run: targets::openmpi::over_cm, seeds: targets::openmpi::seeds, longest: 256 },
    FuzzTarget { name: "mpich", run: targets::mpich::run, seeds: targets::mpich::seeds, longest: 400 },
    FuzzTarget { name: "ucx", run: targets::networks::ucx, seeds: targets::networks::ucx_seeds, longest: 400 },
    FuzzTarget {
        name: "libfabric",
        run: targets::networks::libfabric,
        seeds: targets::networks::libfabric_seeds,
        longest: 400,
    },
    FuzzTarget { name: "python-frames", run: targets::python::run, seeds: targets::python::seeds, longest: 400 },
    FuzzTarget { name: "history", run: targets::history::run, seeds: targets::history::seeds, longest: 400 },
    FuzzTarget {
        name: "recorders",
        run: targets::history::ranks,
        seeds: targets::history::seeds_of_ranks,
        longest: 800,
    },
    FuzzTarget { name: "digest", run: targets::digest::run, seeds: targets::digest::seeds, longest: 8192 },
    FuzzTarget { name: "snapshot", run: targets::snapshot::run, seeds: targets::snapshot::seeds, longest: 16_384 },
    FuzzTarget { name: "layouts", run: targets::layouts::run, seeds: targets::layouts::seeds, longest: 16_384 },
    FuzzTarget { name: "core-file", run: targets::cores::run, seeds: targets::cores::seeds, longest: 4096 },
    FuzzTarget { name: "core-packed", run: targets::cores::packed, seeds: targets::cores::packed_seeds, longest: 4096 },
    FuzzTarget { name: "elf", run: targets::elf::run, seeds: targets::elf::seeds, longest: 16_384 },
    FuzzTarget { name: "dwarf-lines", run: targets::dwarf::lines, seeds: targets::dwarf::seeds, longest: 256 },
    FuzzTarget {
        name: "dwarf-variables",
        run: targets::variables::run,
        seeds: targets::variables::seeds,
        longest: 256,
    },
    FuzzTarget { name: "dwarf-layouts", run: targets::dwarf::layouts, seeds: targets::dwarf::seeds, longest: 256 },
    FuzzTarget { name: "unwind", run: targets::unwind::run, seeds: targets::unwind::seeds, longest: 512 },
    FuzzTarget { name: "process-table", run: targets::tables::run, seeds: targets::tables::seeds, longest: 400 },
    FuzzTarget { name: "mpi2dd", run: targets::mpi2dd::run, seeds: targets::mpi2dd::seeds, longest: 400 },
    FuzzTarget { name: "sources", run: targets::sources::run, seeds: targets::sources::seeds, longest: 2048 },
];

/// Makes DIRECTORY/TARGET/NUMBER of the inputs to begin with, and prints a line for each target: its name, and the length of its
/// longest input in bytes.
pub fn write_seeds(directory: &Path) -> io::Result<()> {
    for target in TARGETS {
        let place = directory.join(target.name);
        fs::create_dir_all(&place)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(place.join(number.to_string()), seed)?;
        }
        println!("{} {}", target.name, target.longest);
    }
    Ok(())
}

/// That of a name.
pub fn target(name: &str) -> Option<&'static FuzzTarget> {
    TARGETS.iter().find(|one| one.name == name)
}
