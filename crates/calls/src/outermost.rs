//! Where stacks end, by the call frame information of the files that the code is from.

use std::path::Path;

use gimli::{BaseAddresses, EhFrame, EndianSlice, RegisterRule, RunTimeEndian, UnwindContext, UnwindSection};
use object::read::{Object, ObjectSection};

use layouts::read_file;
use target::files::ShortNames;

/// Whether the code at `address`, in the addresses of the file `path`, says that it was called by nobody: the rule for
/// the return address is "undefined" (DWARF 5, 6.4.1), as in `_start` and in what starts a thread. `false` where the file
/// does not say anything.
pub fn is_outermost(path: &Path, address: u64) -> bool {
    outermost_rule(path, address).unwrap_or(false)
}

fn outermost_rule(path: &Path, address: u64) -> Option<bool> {
    let bytes = read_file(path).ok()?;
    let file = object::File::parse(ShortNames(&bytes)).ok()?;
    let section = file.section_by_name(".eh_frame")?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let mut frames = EhFrame::from(EndianSlice::new(section.data().ok()?, endian));
    frames.set_address_size(if file.is_64() { 8 } else { 4 });
    let start_of = |name| file.section_by_name(name).map_or(0, |section| section.address());
    let bases =
        BaseAddresses::default().set_eh_frame(section.address()).set_text(start_of(".text")).set_got(start_of(".got"));
    let entry = frames.fde_for_address(&bases, address, EhFrame::cie_from_offset).ok()?;
    let mut context = UnwindContext::new();
    let row = entry.unwind_info_for_address(&frames, &bases, &mut context, address).ok()?;
    Some(row.register(entry.cie().return_address_register()) == Some(RegisterRule::Undefined))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use object::ObjectSymbol;

    #[test]
    fn the_start_of_a_program_is_outermost_and_its_main_is_not() {
        let program = std::env::current_exe().unwrap();
        let bytes = std::fs::read(&program).unwrap();
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let main = file.symbols().find(|symbol| symbol.name() == Ok("main")).unwrap().address();
        // The call of __libc_start_main is the last instruction but one.
        assert!(is_outermost(&program, file.entry() + 32));
        assert!(!is_outermost(&program, main + 4));
        assert!(!is_outermost(&program, 0));
        assert!(!is_outermost(Path::new("/nix"), file.entry()));
    }
}
