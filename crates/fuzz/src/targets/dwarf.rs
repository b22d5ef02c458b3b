//! Debug information of compiled programs in which the input changes bytes of one section: lines and inlined functions,
//! values of variables, layouts.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use calls::expression::{Scope, Typed, Value, given_in_c, of_c};
use gimli::{Dwarf, RunTimeEndian, SectionId};
use layouts::{MakeRequest, Profile, profile_from_objects};
use object::{Object, ObjectSection, ObjectSymbol};
use symbols::{ObjectFile, UnitAddresses};
use target::TargetAbi;
use variables::{DebugInfo, FrameFacts, FrameScope, Memory, Section};

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

struct Numbers;

impl Memory for Numbers {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        for (at, byte) in (address..).zip(into.iter_mut()) {
            *byte = (at >> 3) as u8;
        }
        address < u64::MAX / 2
    }
    fn tls(&self, _bias: u64, offset: u64) -> Option<u64> {
        Some(offset)
    }
}

const EXPRESSIONS: [&str; 14] = [
    "argc",
    "argv[0]",
    "*given",
    "of->i",
    "of->many[1].d",
    "o->next->super.c",
    "table[1][2]",
    "sizeof(outer_t)",
    "number + 1",
    "local",
    "(enum colour)1",
    "&of->flexible[2]",
    "*o",
    "value",
];

pub fn variables(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let bytes = changed(compiled::program(4 + first % 2), rest);
    let Ok(file) = object::File::parse(bytes.as_slice()) else { return };
    let mut sections = BTreeMap::new();
    for section in file.sections() {
        if let (Ok(name), Ok(content)) = (section.name(), section.data()) {
            sections.insert(name.to_owned(), content.to_vec());
        }
    }
    let load = |id: SectionId| {
        let bytes: Arc<[u8]> = sections.get(id.name()).map_or(Arc::from([]), |bytes| bytes.as_slice().into());
        Ok::<_, gimli::Error>(Section::new(bytes, RunTimeEndian::Little))
    };
    let dwarf = Arc::new(Dwarf::load(load).unwrap());
    let addresses = Arc::new(UnitAddresses::new(Arc::clone(&dwarf)));
    let info = Arc::new(DebugInfo::new(dwarf, addresses, TargetAbi::LITTLE_64));
    let none = |_: &str| Ok(None);
    for function in ["main", "deeper"] {
        let Some(symbol) = file.symbols().find(|symbol| symbol.name() == Ok(function)) else { continue };
        for inlined in 0..2 {
            let pc = symbol.address() + u64::from(first / 2 % 32);
            let registers = (0..17).map(|number| (number, 0x7000 + 8 * u64::from(number))).collect();
            let facts = FrameFacts { pc, bias: 0, registers, cfa: Some(0x8000), outer: None };
            let scope =
                FrameScope::new(Arc::clone(&info), Rc::new(facts), Vec::new(), inlined, false, Rc::new(Numbers));
            let Ok(scope) = scope else { continue };
            for text in EXPRESSIONS {
                let _ = given_in_c(text, &scope, &none);
                if let Ok(Value::Typed(value)) = of_c(text, &scope, &none, false) {
                    let _ =
                        (value.shape(), value.type_name(), value.number(), value.place(), value.size(), value.width());
                    let _ = (value.member("i"), value.element(3), value.address(), value.moved(-1), value.handle());
                    let _ = value.bounds();
                }
                let _ = (scope.has_type(text), scope.size_of(text, 0), scope.missing(text));
            }
        }
    }
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
