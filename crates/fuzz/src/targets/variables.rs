//! Variables of programs that gdb has stopped, in C, C++ and Fortran, by debug information which the input changes: values of
//! attributes, what abbreviations say of them, expressions of places.

#[path = "../../../variables/tests/variables/stopped.rs"]
#[allow(dead_code)]
mod stopped;

use std::rc::Rc;

use calls::expression::{Scope, Typed, Value, given_in_c, given_in_fortran, of_c};
use gimli::{Dwarf, EndianSlice, LittleEndian};
use variables::FrameScope;

use self::stopped::{Asked, Build, Infos, Loaded, Sections, Stopped, debug_info, stopped};
use crate::changed::{self, Kept};

/// Compiler, sources, options, expressions.
const BUILDS: [(&str, &[&str], &[&str], &str); 4] = [
    ("gcc", &["plain.c", "other.c"], &["-O2"], "plain.txt"),
    ("gcc", &["given.c", "other.c"], &["-O2", "-w"], "given.txt"),
    ("g++", &["classes.cpp", "classes_other.cpp"], &["-O1", "-std=c++17", "-w"], "classes.txt"),
    ("gfortran", &["arrays.f90", "fortran_stop.c"], &["-O1", "-fallow-argument-mismatch", "-w"], "arrays.txt"),
];
/// Each by two versions of DWARF.
const KINDS: u8 = 8;
/// So many expressions are asked for with one input.
const ASKED: usize = 6;
/// The length of one change: what, a place of two bytes, how, a value of four.
const PIECE: usize = 8;

/// Operations of places that do more than name a register.
const OPERATIONS: [u8; 16] =
    [0x03, 0x06, 0x10, 0x12, 0x1a, 0x22, 0x28, 0x2f, 0x91, 0x93, 0x97, 0x98, 0x9c, 0x9f, 0xa3, 0xa8];

/// A stopped program.
struct Made {
    stopped: Stopped,
    loaded: Loaded,
    sections: Sections,
    /// Where entries begin, in their unit; and where values of attributes lie in `.debug_info`, with their lengths.
    entries: Vec<usize>,
    values: Vec<(usize, usize)>,
}

impl Made {
    fn new(kind: u8) -> Self {
        let (compiler, sources, options, expressions) = BUILDS[usize::from(kind) % BUILDS.len()];
        let form = if usize::from(kind) < BUILDS.len() { "-gdwarf-5" } else { "-gdwarf-4" };
        let options: Vec<_> = [form].iter().chain(options).copied().collect();
        let build = Build { library: &[], compiler, sources, options: &options, expressions };
        let stopped = stopped(&build, &format!("fuzz-{kind}"));
        let mut sections = Sections::new();
        stopped.infos(&mut |found| sections.clone_from(found));
        let loaded = stopped.files[0].clone();
        // Nothing of the program is needed any more, and libFuzzer ends without a word.
        std::fs::remove_dir_all(loaded.path.parent().unwrap()).unwrap();
        let (entries, values) = places(&sections);
        Self { stopped, loaded, sections, entries, values }
    }

    fn changed(&self, data: &[u8]) -> Sections {
        let mut sections = self.sections.clone();
        for piece in data.chunks_exact(PIECE).take(48) {
            let place = usize::from(piece[1]) | usize::from(piece[2]) << 8;
            let value = u32::from_le_bytes([piece[4], piece[5], piece[6], piece[7]]);
            match piece[0] % 8 {
                0..4 => {
                    let info = sections.get_mut(".debug_info").unwrap();
                    let (at, len) = self.values[place % self.values.len()];
                    if let Some(bytes) = info.get(at..at + len) {
                        let new = self.value(bytes, piece[3], value);
                        info[at..at + len].copy_from_slice(&new);
                    }
                }
                what => {
                    let name = match (what, piece[3] % 4) {
                        (4 | 5, _) => ".debug_abbrev",
                        (_, 0) => [".debug_loclists", ".debug_loc"][value as usize >> 16 & 1],
                        (_, 1) => [".debug_rnglists", ".debug_ranges"][value as usize >> 16 & 1],
                        (_, 2) => [".debug_str", ".debug_line_str"][value as usize >> 16 & 1],
                        _ => [".debug_info", ".debug_addr"][value as usize >> 16 & 1],
                    };
                    let Some(bytes) = sections.get_mut(name).filter(|bytes| !bytes.is_empty()) else { continue };
                    let (at, other) = (place % bytes.len(), value as usize % bytes.len());
                    match piece[3] / 4 % 8 {
                        0 => bytes.truncate(at),
                        1 => bytes[at] = value as u8,
                        2 => bytes[at] = OPERATIONS[value as usize % OPERATIONS.len()],
                        3 => bytes[at] ^= 1 << (value % 8),
                        // A tag, an attribute or a form of elsewhere; of two bytes both.
                        4 => bytes[at] = bytes[other],
                        _ if other + 2 <= bytes.len() && at + 2 <= bytes.len() => {
                            bytes.copy_within(other..other + 2, at)
                        }
                        _ => {}
                    }
                }
            }
        }
        sections
    }

    /// Another value of an attribute.
    fn value(&self, bytes: &[u8], how: u8, value: u32) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        let whole = match how % 8 {
            0 => u64::from(value),
            // A type, an origin: another entry.
            1 | 2 => self.entries[value as usize % self.entries.len()] as u64,
            3 => u64::MAX,
            4 => i64::from(value.cast_signed()) as u64,
            5 => {
                if let Some(byte) = bytes.get_mut(usize::from(how / 8)) {
                    *byte = OPERATIONS[value as usize % OPERATIONS.len()];
                }
                return bytes;
            }
            6 => {
                if let Some(byte) = bytes.get_mut(usize::from(how / 8)) {
                    *byte = value as u8;
                }
                return bytes;
            }
            // That of another attribute.
            _ => {
                let (at, len) = self.values[value as usize % self.values.len()];
                let other = &self.sections[".debug_info"][at..at + len];
                bytes.iter_mut().zip(other).for_each(|(byte, other)| *byte = *other);
                return bytes;
            }
        };
        bytes.iter_mut().zip(whole.to_le_bytes()).for_each(|(byte, new)| *byte = new);
        bytes
    }
}

/// Of `.debug_info`: where entries begin, in their unit, and where values of attributes lie, with their lengths.
fn places(sections: &Sections) -> (Vec<usize>, Vec<(usize, usize)>) {
    let load = |id: gimli::SectionId| {
        let bytes = sections.get(id.name()).map_or(&[][..], Vec::as_slice);
        Ok::<_, gimli::Error>(EndianSlice::new(bytes, LittleEndian))
    };
    let dwarf = Dwarf::load(load).unwrap();
    let (mut entries, mut values) = (Vec::new(), Vec::new());
    let mut units = dwarf.units();
    while let Some(header) = units.next().unwrap() {
        let begin = header.debug_info_offset().unwrap().0;
        let abbreviations = dwarf.abbreviations(&header).unwrap();
        let mut raw = header.entries_raw(&abbreviations, None).unwrap();
        while !raw.is_empty() {
            entries.push(raw.next_offset().0);
            let Some(abbreviation) = raw.read_abbreviation().unwrap() else { continue };
            for attribute in abbreviation.attributes() {
                let at = raw.next_offset().0;
                raw.read_attribute(*attribute).unwrap();
                let len = raw.next_offset().0 - at;
                if len > 0 {
                    values.push((begin + at, len));
                }
            }
        }
    }
    assert!(!entries.is_empty() && !values.is_empty());
    (entries, values)
}

pub fn run(data: &[u8]) {
    thread_local!(static ALL: Kept<u8, Made> = const { Kept::new() });
    let [kind, first, rest @ ..] = data else { return };
    let kind = kind % KINDS;
    let made = ALL.with(|all| all.of(kind, || Made::new(kind)));
    let info = debug_info(&made.changed(rest));
    let infos: Rc<Infos> = Rc::new(vec![(info, made.loaded.clone())]);
    let fortran = kind % 4 == 3;
    for number in 0..ASKED {
        let asked = &made.stopped.asked[(usize::from(*first) + number * 29) % made.stopped.asked.len()];
        if let Ok(scope) = made.stopped.scope(&infos, asked, fortran) {
            ask(&scope, asked, fortran);
        }
    }
}

fn ask(scope: &FrameScope, asked: &Asked, fortran: bool) {
    let (text, none) = (&asked.text, |_: &str| Ok(None));
    let _ = if fortran { given_in_fortran(text, scope, &none) } else { given_in_c(text, scope, &none) };
    if let Ok(Value::Typed(value)) = of_c(text, scope, &none, false) {
        let _ = (value.shape(), value.type_name(), value.number(), value.place(), value.size(), value.width());
        let _ = (value.member("x"), value.element(3), value.address(), value.moved(-1), value.handle());
        if let Ok(bounds) = value.bounds() {
            let low: Vec<_> = bounds.iter().map(|bounds| bounds.0).collect();
            let _ = value.at(&low);
        }
    }
    let _ = (scope.has_type(text), scope.size_of(text, 0), scope.missing(text));
}

pub fn seeds() -> Vec<Vec<u8>> {
    // Of each program all expressions, some at a time.
    changed::seeds((0..KINDS).flat_map(|kind| [0, 7, 14, 21].map(|first| vec![kind, first])))
}
