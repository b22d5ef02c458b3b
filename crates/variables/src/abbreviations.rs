//! How long a table of abbreviations is, before gimli reads it.

use gimli::Reader;

use crate::Section;

/// The bytes of the table at an offset (DWARF 5, 7.5.3); `None` where it has no end.
pub(crate) fn length_of_table(section: &Section, offset: usize) -> Option<usize> {
    let mut rest = section.clone();
    rest.skip(offset).ok()?;
    let length = rest.len();
    while rest.read_uleb128().ok()? != 0 {
        rest.read_uleb128().ok()?;
        rest.read_u8().ok()?;
        loop {
            let (name, form) = (rest.read_uleb128().ok()?, rest.read_uleb128().ok()?);
            if form == u64::from(gimli::constants::DW_FORM_implicit_const.0) {
                rest.read_sleb128().ok()?;
            }
            if name == 0 && form == 0 {
                break;
            }
        }
    }
    length.checked_sub(rest.len())
}
