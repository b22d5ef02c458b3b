//! Profiles from files that no compiler wrote: other byte orders and widths, and files that are made to hurt.
//!
//! The files are put together byte by byte here, without the code under test.

use std::path::PathBuf;

use layouts::{FieldKind, MakeError, MakeRequest, Profile, profile_from_objects};
use target::{ByteOrder, PointerWidth, TargetAbi};

/// Number, tag, whether there are children, attributes and their forms.
type Abbreviation = (u8, u8, bool, &'static [(u8, u8)]);

/// The abbreviations of all files: number, tag, has children, attributes and forms (DWARF 5, section 7.5).
const ABBREVIATIONS: &[Abbreviation] = &[
    (UNIT, 0x11, true, &[]),
    (STRUCT, 0x13, true, &[(NAME, STRING), (BYTE_SIZE, UDATA)]),
    (MEMBER, 0x0d, false, &[(NAME, STRING), (TYPE, REF4), (LOCATION, UDATA)]),
    (BASE, 0x24, false, &[(NAME, STRING), (BYTE_SIZE, UDATA), (ENCODING, DATA1)]),
    (TYPEDEF, 0x16, false, &[(NAME, STRING), (TYPE, REF4)]),
    (POINTER, 0x0f, false, &[(TYPE, REF4)]),
    (ARRAY, 0x01, true, &[(TYPE, REF4)]),
    (RANGE, 0x21, false, &[(COUNT, UDATA)]),
    (ENUM, 0x04, true, &[(NAME, STRING), (BYTE_SIZE, UDATA)]),
    (VALUE, 0x28, false, &[(NAME, STRING), (CONST_VALUE, SDATA)]),
    (CONST, 0x26, false, &[(TYPE, REF4)]),
    (BITS, 0x0d, false, &[(NAME, STRING), (TYPE, REF4), (LOCATION, UDATA), (BIT_SIZE, UDATA)]),
    (COMPUTED, 0x0d, false, &[(NAME, STRING), (TYPE, REF4), (LOCATION, EXPRLOC)]),
];

const UNIT: u8 = 1;
const STRUCT: u8 = 2;
const MEMBER: u8 = 3;
const BASE: u8 = 4;
const TYPEDEF: u8 = 5;
const POINTER: u8 = 6;
const ARRAY: u8 = 7;
const RANGE: u8 = 8;
const ENUM: u8 = 9;
const VALUE: u8 = 10;
const CONST: u8 = 11;
const BITS: u8 = 12;
const COMPUTED: u8 = 13;

const NAME: u8 = 0x03;
const BYTE_SIZE: u8 = 0x0b;
const BIT_SIZE: u8 = 0x0d;
const CONST_VALUE: u8 = 0x1c;
const COUNT: u8 = 0x37;
const LOCATION: u8 = 0x38;
const ENCODING: u8 = 0x3e;
const TYPE: u8 = 0x49;

const STRING: u8 = 0x08;
const DATA1: u8 = 0x0b;
const SDATA: u8 = 0x0d;
const UDATA: u8 = 0x0f;
const REF4: u8 = 0x13;
const EXPRLOC: u8 = 0x18;

const SIGNED: u8 = 5;
const BIG_32: TargetAbi = TargetAbi { byte_order: ByteOrder::Big, pointer_width: PointerWidth::Four };
const BIG_64: TargetAbi = TargetAbi { byte_order: ByteOrder::Big, pointer_width: PointerWidth::Eight };
const LITTLE_32: TargetAbi = TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Four };

/// The content of `.debug_info`: one unit. References are to labels, which may come later.
struct Info {
    abi: TargetAbi,
    bytes: Vec<u8>,
    labels: Vec<(&'static str, usize)>,
    references: Vec<(usize, &'static str)>,
}

impl Info {
    fn new(abi: TargetAbi) -> Self {
        let mut info = Self { abi, bytes: Vec::new(), labels: Vec::new(), references: Vec::new() };
        // The unit's length comes last; version 4, abbreviations at 0, width of an address.
        info.number(0, 4).number(4, 2).number(0, 4).number(abi.pointer_width.bytes(), 1).number(u64::from(UNIT), 1);
        info
    }
    fn number(&mut self, value: u64, size: usize) -> &mut Self {
        self.bytes.extend(bytes_of(self.abi, value, size));
        self
    }
    fn text(&mut self, text: &str) -> &mut Self {
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
        self
    }
    fn udata(&mut self, mut value: u64) -> &mut Self {
        loop {
            let byte = (value & 0x7f) as u8;
            value >>= 7;
            self.bytes.push(if value == 0 { byte } else { byte | 0x80 });
            if value == 0 {
                return self;
            }
        }
    }
    fn entry(&mut self, label: &'static str, abbreviation: u8) -> &mut Self {
        self.labels.push((label, self.bytes.len()));
        self.bytes.push(abbreviation);
        self
    }
    fn reference(&mut self, label: &'static str) -> &mut Self {
        self.references.push((self.bytes.len(), label));
        self.number(0, 4)
    }
    fn end(&mut self) -> &mut Self {
        self.number(0, 1)
    }
    fn structure(&mut self, label: &'static str, size: u64) -> &mut Self {
        self.entry(label, STRUCT).text(label).udata(size)
    }
    fn member(&mut self, name: &str, label: &'static str, offset: u64) -> &mut Self {
        self.entry("", MEMBER).text(name).reference(label).udata(offset)
    }
    fn int(&mut self) -> &mut Self {
        self.entry("int", BASE).text("int").udata(4).number(u64::from(SIGNED), 1)
    }
    fn pointer(&mut self, label: &'static str, to: &'static str) -> &mut Self {
        self.entry(label, POINTER).reference(to)
    }
    fn finish(&mut self) -> Vec<u8> {
        self.end();
        let mut bytes = self.bytes.clone();
        for (at, label) in &self.references {
            let (_, target) = self.labels.iter().find(|(known, _)| known == label).unwrap();
            bytes[*at..at + 4].copy_from_slice(&bytes_of(self.abi, *target as u64, 4));
        }
        let length = bytes.len() as u64 - 4;
        bytes[..4].copy_from_slice(&bytes_of(self.abi, length, 4));
        bytes
    }
}

fn bytes_of(abi: TargetAbi, value: u64, size: usize) -> Vec<u8> {
    match abi.byte_order {
        ByteOrder::Little => value.to_le_bytes()[..size].to_vec(),
        ByteOrder::Big => value.to_be_bytes()[8 - size..].to_vec(),
    }
}

fn abbreviations() -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, tag, children, attributes) in ABBREVIATIONS {
        bytes.extend([*number, *tag, u8::from(*children)]);
        for (name, form) in *attributes {
            bytes.extend([*name, *form]);
        }
        bytes.extend([0, 0]);
    }
    bytes.push(0);
    bytes
}

/// An ELF shared library that has nothing but these sections (System V gABI, chapter 4).
fn elf(abi: TargetAbi, sections: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let wide = abi.pointer_width == PointerWidth::Eight;
    let word = abi.pointer_width.bytes() as usize;
    let header = if wide { 64 } else { 52 };
    let mut names = vec![0_u8];
    let mut content = Vec::new();
    // The section of index 0 is empty; the last one holds the names.
    let mut headers: Vec<[u64; 4]> = vec![[0; 4]];
    for (name, data) in sections {
        headers.push([names.len() as u64, 1, (header + content.len()) as u64, data.len() as u64]);
        names.extend(name.as_bytes());
        names.push(0);
        content.extend(data);
    }
    headers.push([names.len() as u64, 3, (header + content.len()) as u64, names.len() as u64 + 10]);
    names.extend(b".shstrtab\0");
    content.extend(names);
    let mut bytes =
        vec![0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, 1 + u8::from(abi.byte_order == ByteOrder::Big), 1];
    bytes.resize(16, 0);
    let machine = if wide { 21 } else { 20 };
    // e_type ET_DYN, e_machine, e_version, e_entry, e_phoff, e_shoff, e_flags, and the half-words.
    let fields = [(3, 2), (machine, 2), (1, 4), (0, word), (0, word), ((header + content.len()) as u64, word), (0, 4)];
    let section_header = if wide { 64 } else { 40 };
    let halves = [header as u64, 0, 0, section_header, headers.len() as u64, headers.len() as u64 - 1];
    for (value, size) in fields.into_iter().chain(halves.map(|value| (value, 2))) {
        bytes.extend(bytes_of(abi, value, size));
    }
    bytes.extend(content);
    for [name, kind, offset, size] in headers {
        let fields = [
            (name, 4),
            (kind, 4),
            (0, word),
            (0, word),
            (offset, word),
            (size, word),
            (0, 4),
            (0, 4),
            (1, word),
            (0, word),
        ];
        for (value, size) in fields {
            bytes.extend(bytes_of(abi, value, size));
        }
    }
    bytes
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("made-up-{name}"));
    std::fs::write(&path, bytes).unwrap();
    path
}

fn make_from(name: &str, bytes: &[u8], types: &[&str]) -> Result<Profile, MakeError> {
    let types = types.iter().map(|name| (*name).to_owned()).collect();
    let constants = vec!["LOW".to_owned(), "HIGH".to_owned()];
    profile_from_objects(&MakeRequest { objects: vec![file(name, bytes)], types, constants, ..MakeRequest::default() })
}

fn make(name: &str, abi: TargetAbi, info: &mut Info, types: &[&str]) -> Result<Profile, MakeError> {
    let sections = [(".debug_abbrev", abbreviations()), (".debug_info", info.finish())];
    make_from(name, &elf(abi, &sections), types)
}

/// The reason why the type `bad` of a little-endian 64-bit file is refused.
fn refused(name: &str, describe: impl FnOnce(&mut Info)) -> String {
    let mut info = Info::new(TargetAbi::LITTLE_64);
    describe(&mut info);
    match make(name, TargetAbi::LITTLE_64, &mut info, &["bad"]) {
        Err(MakeError::Type { type_name, reason, .. }) if type_name == "bad" => reason.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_byte_order_and_width_gives_the_layout_that_was_written() {
    for (name, abi) in [("be32", BIG_32), ("be64", BIG_64), ("le32", LITTLE_32), ("le64", TargetAbi::LITTLE_64)] {
        let mut info = Info::new(abi);
        info.int().pointer("pointer", "pair");
        info.entry("three", ARRAY).reference("int").entry("", RANGE).udata(3).end();
        info.entry("sign", ENUM).text("sign").udata(4);
        info.entry("", VALUE).text("LOW").bytes.push(0x7f);
        info.entry("", VALUE).text("HIGH").udata(300).end();
        info.structure("pair", 40).member("first", "pointer", 0).member("rest", "three", 8).member("kind", "sign", 20);
        info.entry("", BITS).text("bit").reference("int").udata(24).udata(1);
        // DW_OP_plus_uconst 28.
        info.entry("", COMPUTED).text("late").reference("int").udata(2).bytes.extend([0x23, 28]);
        info.end();
        info.entry("alias", TYPEDEF).text("alias").reference("pair");
        let profile = make(name, abi, &mut info, &["pair", "alias"]).unwrap();
        assert_eq!(profile.target, abi);
        let pair = &profile.types["pair"];
        assert_eq!((pair.size, pair.fields.len()), (40, 4));
        let field = |name: &str| (pair.fields[name].offset, pair.fields[name].size, pair.fields[name].kind);
        assert_eq!(field("first"), (0, abi.pointer_width.bytes(), FieldKind::Pointer));
        assert_eq!(field("rest"), (8, 12, FieldKind::Array));
        assert_eq!(field("kind"), (20, 4, FieldKind::Signed));
        assert_eq!(field("late"), (28, 4, FieldKind::Signed));
        assert_eq!(profile.types["alias"], profile.types["pair"]);
        assert_eq!((profile.constants["LOW"], profile.constants["HIGH"]), (-1, 300));
        // What was made is a profile that we read.
        assert_eq!(Profile::from_json(&profile.to_json()).unwrap().types, profile.types);
    }
}

#[test]
fn circles_are_refused() {
    let circle = refused("typedef-circle", |info| {
        info.entry("bad", TYPEDEF).text("bad").reference("other");
        info.entry("other", TYPEDEF).text("other").reference("bad");
    });
    assert!(circle.contains("in a circle"), "{circle}");
    let circle = refused("self", |info| {
        info.structure("bad", 8).member("again", "bad", 0).end();
    });
    assert!(circle.contains("in a circle"), "{circle}");
    let circle = refused("array-circle", |info| {
        info.entry("array", ARRAY).reference("array").entry("", RANGE).udata(1).end();
        info.structure("bad", 8).member("array", "array", 0).end();
    });
    assert!(circle.contains("in a circle"), "{circle}");
}

#[test]
fn a_circle_of_pointers_has_a_name_that_ends() {
    let mut info = Info::new(TargetAbi::LITTLE_64);
    info.pointer("one", "two").pointer("two", "one").entry("const", CONST).reference("const").pointer("three", "const");
    info.structure("good", 16).member("first", "one", 0).member("second", "three", 8).end();
    let profile = make("pointer-circle", TargetAbi::LITTLE_64, &mut info, &["good"]).unwrap();
    assert!(profile.types["good"].fields.values().all(|field| field.type_name.len() < 1000));
}

#[test]
fn structures_that_double_at_each_level_do_not_grow_without_bound() {
    // 2^40 fields in 40 small entries.
    const LABELS: [&str; 41] = [
        "bad", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "a10", "a11", "a12", "a13", "a14", "a15", "a16",
        "a17", "a18", "a19", "a20", "a21", "a22", "a23", "a24", "a25", "a26", "a27", "a28", "a29", "a30", "a31", "a32",
        "a33", "a34", "a35", "a36", "a37", "a38", "a39", "a40",
    ];
    let reason = refused("doubling", |info| {
        info.int();
        for pair in LABELS.windows(2) {
            info.structure(pair[0], 4).member("l", pair[1], 0).member("r", pair[1], 0).end();
        }
        info.structure(LABELS[40], 4).member("x", "int", 0).end();
    });
    assert!(reason.starts_with("more than 8192 fields"), "{reason}");
    // Without names nothing is collected, and still it ends: the levels are followed one by one.
    let reason = refused("doubling-nameless", |info| {
        info.int();
        for pair in LABELS.windows(2) {
            info.structure(pair[0], 4).member("", pair[1], 0).member("", pair[1], 0).end();
        }
        info.structure(LABELS[40], 4).member("x", "int", 0).end();
    });
    assert!(reason.starts_with("more than"), "{reason}");
}

#[test]
fn impossible_sizes_and_offsets_are_refused() {
    let beyond = refused("beyond", |info| {
        info.int().structure("bad", 8).member("late", "int", 6).end();
    });
    assert_eq!(beyond, "a member of 4 bytes at offset 6 of a structure of 8 bytes");
    let wrapping = refused("wrapping", |info| {
        info.int().structure("bad", 8).member("late", "int", u64::MAX).end();
    });
    assert!(wrapping.contains("offset 18446744073709551615"), "{wrapping}");
    let huge = refused("huge", |info| {
        info.structure("bad", u64::MAX).end();
    });
    assert!(huge.contains("a structure of 18446744073709551615 bytes"), "{huge}");
    let array = refused("huge-array", |info| {
        info.int();
        info.entry("array", ARRAY).reference("int");
        info.entry("", RANGE).udata(1 << 40).entry("", RANGE).udata(1 << 40).end();
        info.structure("bad", 8).member("array", "array", 0).end();
    });
    assert_eq!(array, "an array of impossible size");
}

#[test]
fn references_out_of_the_unit_and_to_nonsense_are_refused() {
    let nowhere = refused("nowhere", |info| {
        info.structure("bad", 8).entry("", MEMBER).text("x").number(0xffff_fff0, 4).udata(0).end();
    });
    assert!(!nowhere.is_empty());
    let not_a_type = refused("not-a-type", |info| {
        info.entry("sign", ENUM).text("sign").udata(4).entry("value", VALUE).text("LOW").udata(1).end();
        info.structure("bad", 8).member("x", "value", 0).end();
    });
    assert!(not_a_type.starts_with("a type of an unknown kind"), "{not_a_type}");
    let place = refused("computed", |info| {
        // DW_OP_deref is not a place that can be known without a process.
        info.int().structure("bad", 8);
        info.entry("", COMPUTED).text("x").reference("int").udata(1).bytes.push(0x06);
        info.end();
    });
    assert_eq!(place, "a member whose place is computed");
}

#[test]
fn sections_that_claim_too_much_are_refused() {
    // SHF_COMPRESSED needs a section header flag; the old form says it by name: ".zdebug_info", "ZLIB", the size.
    let mut info = Info::new(TargetAbi::LITTLE_64);
    info.structure("bad", 0).end();
    let mut zipped = b"ZLIB".to_vec();
    zipped.extend(u64::MAX.to_be_bytes());
    zipped.extend([0x78, 0x9c, 3, 0, 0, 0, 0, 1]);
    let bytes = elf(TargetAbi::LITTLE_64, &[(".debug_abbrev", abbreviations()), (".zdebug_info", zipped)]);
    assert!(matches!(
        make_from("zipped", &bytes, &["bad"]),
        Err(MakeError::NoDebugInfo { .. } | MakeError::File { .. })
    ));
    // One entry with more attributes than any has.
    let wide = [&[1, 0x34, 0][..], &[0x3f, 0x0c].repeat(2000), &[0, 0, 0]].concat();
    let large = elf(TargetAbi::LITTLE_64, &[(".debug_abbrev", wide), (".debug_info", info.finish())]);
    let error = make_from("abbreviations", &large, &["bad"]).unwrap_err().to_string();
    assert!(error.contains("its .debug_abbrev has more attributes of one entry than 1024"), "{error}");
}

#[test]
fn a_supplementary_file_is_named_where_there_is_debug_information() {
    let mut info = Info::new(TargetAbi::LITTLE_64);
    info.structure("bad", 0).end();
    let link = [b"/usr/lib/debug/shared\0".as_slice(), &[0xab; 20]].concat();
    let sections =
        [(".debug_abbrev", abbreviations()), (".debug_info", info.finish()), (".gnu_debugaltlink", link.clone())];
    let error = make_from("supplement", &elf(TargetAbi::LITTLE_64, &sections), &["bad"]).unwrap_err();
    assert!(
        matches!(&error, MakeError::Supplement { supplement, .. } if supplement == "/usr/lib/debug/shared"),
        "{error}"
    );
    // Distributions leave the link in stripped libraries.
    let stripped = elf(TargetAbi::LITTLE_64, &[(".gnu_debugaltlink", link)]);
    assert!(matches!(make_from("stripped", &stripped, &["bad"]), Err(MakeError::NoDebugInfo { .. })));
}

#[test]
fn a_file_of_very_many_small_units_ends() {
    let mut info = Info::new(TargetAbi::LITTLE_64);
    info.structure("bad", 0).end();
    let unit = info.finish();
    let bytes = elf(TargetAbi::LITTLE_64, &[(".debug_abbrev", abbreviations()), (".debug_info", unit.repeat(50_000))]);
    let started = std::time::Instant::now();
    assert_eq!(make_from("units", &bytes, &["bad"]).unwrap().types["bad"].size, 0);
    assert!(started.elapsed().as_secs() < 60);
}
