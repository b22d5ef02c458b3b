//! Debug information of compiled programs in which the input changes bytes of one section: lines and inlined functions,
//! layouts.

use std::ops::Range;
use std::sync::OnceLock;

use layouts::{MakeRequest, Profile, profile_from_objects};
use object::{Object, ObjectSection};
use symbols::ObjectFile;

use crate::compiled::{self, file};
use crate::edits;

const NAMES: [&str; 8] = [
    ".debug_info",
    ".debug_abbrev",
    ".debug_line",
    ".debug_str",
    ".debug_line_str",
    ".debug_rnglists",
    ".debug_loclists",
    ".debug_aranges",
];

/// Where sections lie in a file: those that there are of [`NAMES`].
fn places(bytes: &[u8]) -> Vec<Range<usize>> {
    let file = object::File::parse(bytes).unwrap();
    let place = |name: &&str| {
        let (at, len) = file.section_by_name(name)?.file_range()?;
        (len >= 8).then(|| at as usize..(at + len) as usize)
    };
    NAMES.iter().filter_map(place).collect()
}

/// A file in which each change is in one of these sections.
fn changed(bytes: &[u8], data: &[u8]) -> Vec<u8> {
    let places = places(bytes);
    let mut bytes = bytes.to_vec();
    for piece in data.chunks_exact(9).take(64) {
        // Most of it in the first two, which say what there is.
        let number =
            if piece[0] & 0x80 == 0 { usize::from(piece[0]) % 2 } else { usize::from(piece[0]) % places.len() };
        edits::apply(&mut bytes[places[number].clone()], 0, &piece[1..]);
    }
    bytes
}

pub fn lines(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let whole = compiled::program(4 + first % 2);
    let bytes = changed(whole, rest);
    let Ok(file) = ObjectFile::from_bytes("changed", bytes) else { return };
    super::elf::ask_all(&file, addresses(whole));
}

/// Those of the program's code.
fn addresses(whole: &[u8]) -> &'static [u64] {
    static FOUND: OnceLock<Vec<u64>> = OnceLock::new();
    FOUND.get_or_init(|| {
        let file = object::File::parse(whole).unwrap();
        let text = file.section_by_name(".text").unwrap();
        (text.address()..text.address() + text.size()).step_by(13).collect()
    })
}

fn request(bytes: &[u8]) -> (compiled::File, MakeRequest) {
    let place = file("o", bytes);
    let types = ["outer_t", "inner"].map(str::to_owned).to_vec();
    let request = MakeRequest { objects: vec![place.0.clone()], types, ..MakeRequest::default() };
    (place, request)
}

pub fn layouts(data: &[u8]) {
    let (_place, request) = request(&changed(compiled::object(), data.get(1..).unwrap_or_default()));
    if let Ok(profile) = profile_from_objects(&request) {
        assert!(Profile::from_json(&profile.to_json()).is_ok());
    }
}

/// A profile, as JSON.
pub fn profile() -> String {
    let (_place, request) = request(compiled::object());
    profile_from_objects(&request).unwrap().to_json()
}

pub fn seeds() -> Vec<Vec<u8>> {
    let heads = (0..32_u8).map(|number| number.wrapping_mul(5));
    heads.zip(edits::seeds(32)).map(|(head, change)| [&[head][..], &change].concat()).collect()
}
