//! ELF files: a compiled program that the input changes, or the input as it is.

use symbols::{DebugPlaces, ObjectFile};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ElfImage, Image, TargetAbi};

use crate::compiled::{self, file};
use crate::edits;

pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let bytes = match first % 4 {
        0 => rest.to_vec(),
        1 => changed(made_up::core_file::program(b"12345678"), rest),
        _ => {
            let mut bytes = compiled::program(5).to_vec();
            // The headers lie at its ends.
            let len = bytes.len();
            let part = if first % 4 == 2 { &mut bytes[..1024] } else { &mut bytes[len - 3072..] };
            edits::apply(part, 0, rest);
            bytes
        }
    };
    let place = file("elf", &bytes);
    let image = Image { path: String::new(), bias: TargetAddr::NULL, build_id: None, is_executable: false };
    if let Ok(file) = ElfImage::open(place.0.clone(), &image, &MockTarget::new(TargetAbi::LITTLE_64), None) {
        let _ = (file.dynamic_symbol("ompi_mpi_comm_world"), file.full_symbol("main"));
    }
    if let Ok(file) = ObjectFile::open(&place.0, &DebugPlaces::none()) {
        ask_all(&file, &[0, 0x1040, 0x1160, u64::MAX]);
    }
    let _ = unwind::Module::from_elf_bytes(&bytes);
}

fn changed(mut bytes: Vec<u8>, data: &[u8]) -> Vec<u8> {
    edits::apply(&mut bytes, 0, data);
    bytes
}

/// Asks everything there is.
pub fn ask_all(file: &ObjectFile, addresses: &[u64]) {
    let _ = (file.path(), file.build_id(), file.architecture(), file.is_64(), file.endian(), file.entry());
    let _ = (file.segments(), file.text_address(), file.missing_debug(), file.dwarf().is_some());
    for address in addresses {
        let _ = file.symbol_at(*address).map(|symbol| (symbol.name(), symbol.symbol()));
        let _ = (file.function_starting_at(*address), file.loaded_bytes(*address, 64));
        let _ = file.frames_at(*address);
        let _ = (file.call_before(*address), file.jumps_of(*address), file.function_begin(*address));
    }
    let _ = (file.exported("main"), file.own_symbol("main"), file.variable("o"), file.exported_variable("o"));
}

pub fn seeds() -> Vec<Vec<u8>> {
    let small = [&[0][..], &made_up::core_file::program(b"12345678")].concat();
    (0..24).zip(edits::seeds(24)).map(|(head, change)| [&[head | 1][..], &change].concat()).chain([small]).collect()
}
