//! Profiles from the debug information that a real compiler writes, in all versions and forms of files.

use std::path::{Path, PathBuf};
use std::process::Command;

use layouts::{
    FieldKind, LayoutSource, MakeError, MakeRequest, ObjectTypes, Profile, Structure, Wanted, profile_from_objects,
};
use target::{ByteOrder, PointerWidth};

/// One of everything that a layout can meet. No headers: it must also compile for 32 bits.
const SOURCE: &str = r#"
typedef unsigned long size_type;
typedef struct inner_tag { char c; double d; } inner_t;
struct hidden_t;
typedef struct hidden_t hidden_alias_t;
enum colour { RED, GREEN = 200, BLUE = 60000 };
enum sign { MINUS = -3, PLUS = 3, LARGE = 70000 };
enum { MQ_A_MACRO = -17 };
enum { MQ_A_LARGE_MACRO = 0x7fffffff };
typedef struct outer_t {
    char first;
    inner_t super;
    union { int as_int; void *as_pointer; struct { short low, high; } pair; } u;
    union { unsigned char byte; struct { int deep; }; };
    inner_t many[3];
    int grid[2][5];
    unsigned flag : 3;
    unsigned : 0;
    enum colour colour;
    enum sign sign;
    volatile int counter;
    const struct hidden_t *const hidden;
    int (*function)(void);
    float real;
    _Bool truth;
    size_type len;
    int __reserved;
    struct outer_t *next;
    int flexible[];
} outer_t;
typedef outer_t outer_alias_t;
union choice { int number; char text[12]; };
outer_t *o; outer_alias_t *a; union choice u; enum sign s; hidden_alias_t *h;
int function(void) { struct local_t { int x; } local = { sizeof(outer_t) }; return local.x; }
"#;

fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layouts").join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn compile(name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let directory = directory(name);
    let (input, output) = (directory.join("input.c"), directory.join("output"));
    std::fs::write(&input, source).unwrap();
    let status = Command::new("gcc")
        .args(["-w", "-fno-eliminate-unused-debug-types", "-o"])
        .args([&output, &input])
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success(), "gcc {flags:?}");
    output
}

fn request(objects: &[&Path], types: &[&str]) -> MakeRequest {
    MakeRequest {
        objects: objects.iter().map(|path| path.to_path_buf()).collect(),
        name: "test".to_owned(),
        implementation: "Test MPI".to_owned(),
        version: "1.2.3".to_owned(),
        fits: vec!["1.2".to_owned()],
        types: types.iter().map(|name| (*name).to_owned()).collect(),
        constants: vec!["RED".to_owned(), "GRE*".to_owned(), "MINUS".to_owned(), "LARGE".to_owned(), "BLUE".to_owned()],
        ..MakeRequest::default()
    }
}

fn make(object: &Path) -> Profile {
    profile_from_objects(&request(&[object], &["outer_t", "outer_alias_t", "inner_t", "inner_tag", "choice"])).unwrap()
}

/// What the C standard and the two ABIs (System V x86-64 and i386) say about `outer_t`: offset, size, kind, type.
fn expected(wide: bool) -> Vec<(&'static str, u64, u64, FieldKind, &'static str)> {
    use FieldKind::{Array, Float, Pointer, Signed, Struct, Union, Unsigned};
    // i386 aligns a double to 4 bytes inside structures, so the two differ everywhere.
    let (p, at): (u64, &[u64]) = if wide {
        (8, &[0, 8, 8, 16, 24, 32, 40, 88, 132, 136, 140, 144, 152, 160, 164, 168, 184, 192])
    } else {
        (4, &[0, 4, 4, 8, 16, 20, 24, 60, 104, 108, 112, 116, 120, 124, 128, 132, 140, 144])
    };
    let inner = if wide { 16 } else { 12 };
    vec![
        ("first", at[0], 1, Signed, "char"),
        ("super", at[1], inner, Struct, "inner_t"),
        ("super.c", at[2], 1, Signed, "char"),
        ("super.d", at[3], 8, Float, "double"),
        ("u", at[4], p, Union, "union {...}"),
        ("u.as_int", at[4], 4, Signed, "int"),
        ("u.as_pointer", at[4], p, Pointer, "void *"),
        ("u.pair", at[4], 4, Struct, "struct {...}"),
        ("u.pair.high", at[4] + 2, 2, Signed, "short int"),
        ("byte", at[5], 1, Unsigned, "unsigned char"),
        ("deep", at[5], 4, Signed, "int"),
        ("many", at[6], 3 * inner, Array, "inner_t[3]"),
        ("grid", at[7], 40, Array, "int[2][5]"),
        ("colour", at[8], 4, Unsigned, "enum colour"),
        ("sign", at[9], 4, Signed, "enum sign"),
        ("counter", at[10], 4, Signed, "int"),
        ("hidden", at[11], p, Pointer, "struct hidden_t *"),
        ("function", at[12], p, Pointer, "function *"),
        ("real", at[13], 4, Float, "float"),
        ("truth", at[14], 1, Unsigned, "_Bool"),
        ("len", at[15], p, Unsigned, "size_type"),
        ("next", at[16], p, Pointer, "struct outer_t *"),
        ("flexible", at[17], 0, Array, "int[]"),
    ]
}

fn check(profile: &Profile, wide: bool) {
    let outer = &profile.types["outer_t"];
    for (name, offset, size, kind, type_name) in expected(wide) {
        let field = outer.fields.get(name).unwrap_or_else(|| panic!("no field {name}"));
        assert_eq!((field.offset, field.size, field.kind), (offset, size, kind), "{name}");
        assert_eq!(field.type_name, type_name, "{name}");
    }
    // Everything else: the other half of the pair. No bit-field, no reserved name, no nameless member.
    let mut names: Vec<&str> = outer.fields.keys().map(String::as_str).collect();
    names.retain(|name| !expected(wide).iter().any(|(known, ..)| known == name));
    assert_eq!(names, ["u.pair.low"]);
    assert_eq!(outer.size, if wide { 192 } else { 144 });
    assert_eq!(&profile.types["outer_alias_t"], outer);
    assert_eq!(profile.types["inner_t"], profile.types["inner_tag"]);
    assert_eq!(profile.types["choice"].fields["text"].type_name, "char[12]");
    let constants =
        [("A_LARGE_MACRO", 0x7fff_ffff), ("A_MACRO", -17), ("BLUE", 60000), ("GREEN", 200), ("LARGE", 70000)];
    let constants: Vec<_> = constants.into_iter().chain([("MINUS", -3), ("RED", 0)]).collect();
    let found: Vec<_> = profile.constants.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(found, constants);
}

#[test]
fn every_version_of_dwarf_gives_the_same_layout() {
    let versions = ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"];
    for version in versions {
        let object = compile(&format!("object{version}"), SOURCE, &["-c", version]);
        let profile = make(&object);
        assert_eq!(profile.target.pointer_width, PointerWidth::Eight);
        assert_eq!(profile.target.byte_order, ByteOrder::Little);
        check(&profile, true);
        check(&make(&compile(&format!("strict{version}"), SOURCE, &["-c", version, "-gstrict-dwarf"])), true);
    }
}

#[test]
fn a_32_bit_object_gives_the_layout_of_its_own_abi() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let profile = make(&compile(&format!("narrow{version}"), SOURCE, &["-c", "-m32", version]));
        assert_eq!(profile.target.pointer_width, PointerWidth::Four);
        check(&profile, false);
    }
}

#[test]
fn types_in_units_of_their_own_are_followed() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let flags = ["-c", version, "-fdebug-types-section"];
        check(&make(&compile(&format!("units{version}"), SOURCE, &flags)), true);
    }
}

#[test]
fn shared_libraries_64_bit_dwarf_and_compressed_sections_are_read() {
    let library = ["-shared", "-fPIC", "-nostdlib", "-g"];
    check(&make(&compile("library", SOURCE, &library)), true);
    check(&make(&compile("dwarf64", SOURCE, &["-c", "-gdwarf-5", "-gdwarf64"])), true);
    check(&make(&compile("compressed", SOURCE, &["-c", "-g", "-gz=zlib"])), true);
    check(&make(&compile("compressed-library", SOURCE, &["-shared", "-fPIC", "-nostdlib", "-g", "-gz=zlib"])), true);
}

#[test]
fn a_declaration_is_completed_by_a_definition_in_another_unit() {
    let user = "struct thing_t; typedef struct thing_t thing_alias_t; thing_alias_t *pointer;";
    let definer = "struct thing_t { int a, b; } thing;";
    let directory = directory("declaration");
    let (first, second) = (directory.join("first.c"), directory.join("second.c"));
    std::fs::write(&first, user).unwrap();
    std::fs::write(&second, definer).unwrap();
    let library = directory.join("both.so");
    let status = Command::new("gcc")
        .args(["-g", "-shared", "-fPIC", "-nostdlib", "-fno-eliminate-unused-debug-types", "-o"])
        .args([&library, &first, &second])
        .status()
        .unwrap();
    assert!(status.success());
    let profile = profile_from_objects(&request(&[&library], &["thing_alias_t"])).unwrap();
    assert_eq!(profile.types["thing_alias_t"].size, 8);
    assert_eq!(profile.types["thing_alias_t"].fields["b"].offset, 4);
}

#[test]
fn several_objects_complete_each_other_and_must_agree() {
    let one = compile("one", "struct one_t { int a; } one;", &["-c", "-g"]);
    let two = compile("two", "struct two_t { int a; } two;", &["-c", "-g"]);
    let profile = profile_from_objects(&request(&[&one, &two], &["one_t", "two_t"])).unwrap();
    assert_eq!(profile.types.len(), 2);
    let other = compile("other", "struct one_t { long a; } one;", &["-c", "-g"]);
    let error = profile_from_objects(&request(&[&one, &other], &["one_t"])).unwrap_err();
    assert!(matches!(&error, MakeError::Conflict { type_name, .. } if type_name == "one_t"), "{error}");
    let narrow = compile("narrow", "struct two_t { int a; } two;", &["-c", "-g", "-m32"]);
    let error = profile_from_objects(&request(&[&one, &narrow], &["one_t"])).unwrap_err();
    assert!(matches!(error, MakeError::MixedTargets { .. }), "{error}");
}

#[test]
fn two_units_of_one_library_that_contradict_each_other_are_refused() {
    let directory = directory("conflict");
    let (first, second) = (directory.join("first.c"), directory.join("second.c"));
    std::fs::write(&first, "struct thing_t { int a; } first;").unwrap();
    std::fs::write(&second, "struct thing_t { int a, b; } second;").unwrap();
    let library = directory.join("both.so");
    let status = Command::new("gcc")
        .args(["-g", "-shared", "-fPIC", "-nostdlib", "-o"])
        .args([&library, &first, &second])
        .status()
        .unwrap();
    assert!(status.success());
    let error = profile_from_objects(&request(&[&library], &["thing_t"])).unwrap_err();
    assert!(matches!(&error, MakeError::Conflict { type_name, .. } if type_name == "thing_t"), "{error}");
}

/// What a reader wants.
const WANTED: Wanted = Wanted {
    name: "MPICH",
    probed: "MPIR_Request",
    structures: &[&[&[
        Structure { names: &["opal_list_t"], fields: &[&["head", "sentinel"], &["a"]], optional: &["len"] },
        Structure::probed(&["ompi_communicator_t"], &["c_name"]),
        Structure::probed(&["MPIDIG_hdr_t"], &["tag"]),
    ]]],
    sized: &[],
    constants: &["MPI_ANY_SOURCE", "OMPI_REQUEST_*"],
    pooled: &["MPIR_Request"],
};

#[test]
fn what_the_readers_want_and_a_file_lacks_is_reported() {
    let source = "typedef struct opal_list_t { int a, b; } opal_list_t; opal_list_t list;";
    let object = compile("partial", source, &["-c", "-g"]);
    let mut request = request(&[&object], &[]);
    request.constants.clear();
    request.wanted.push(&WANTED);
    let profile = profile_from_objects(&request).unwrap();
    let missing = &profile.producer.missing;
    assert!(missing.iter().any(|name| name == "ompi_communicator_t"), "{missing:?}");
    assert!(missing.iter().any(|name| name == "opal_list_t.head|sentinel"), "{missing:?}");
    assert!(missing.iter().any(|name| name == "MPI_ANY_SOURCE"), "{missing:?}");
    assert!(missing.iter().any(|name| name == "OMPI_REQUEST_*"), "{missing:?}");
    // What nobody reads is left out.
    assert_eq!(profile.types["opal_list_t"].fields.keys().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_profile_of_mpich_says_the_device_and_the_sizes_of_pooled_types() {
    let source =
        "struct MPIR_Request { int handle, ref_count; char rest[100]; } r; typedef struct { int tag; } MPIDIG_hdr_t;";
    let object = compile("pooled", source, &["-c", "-g"]);
    let device = Some("ch3:nemesis".to_owned());
    let asked = MakeRequest { device, wanted: vec![&WANTED], ..request(&[&object], &[]) };
    let profile = profile_from_objects(&MakeRequest { implementation: "mpich".to_owned(), ..asked.clone() }).unwrap();
    assert_eq!(profile.identity.implementation, "MPICH");
    assert_eq!(profile.identity.device.as_deref(), Some("ch3:nemesis"));
    // MPIDIG_hdr_t is a part of requests and in no pool.
    assert_eq!(profile.identity.sizes.into_iter().collect::<Vec<_>>(), [("MPIR_Request".to_owned(), 108)]);
    assert_eq!(profile.types["MPIDIG_hdr_t"].size, 4);
    // A vendor's edition of a known implementation keeps its own name.
    static OTHER: Wanted = Wanted { name: "Open MPI", structures: &[], pooled: &[], ..WANTED };
    let vendor = profile_from_objects(&MakeRequest { wanted: vec![&OTHER, &WANTED], ..asked }).unwrap();
    assert_eq!((vendor.identity.implementation.as_str(), vendor.types.len()), ("Test MPI", 2));
}

#[test]
fn a_type_that_was_asked_for_by_name_must_be_there() {
    let object = compile("asked", SOURCE, &["-c", "-g"]);
    // Declared only, local to a function, not a structure, unknown.
    for name in ["hidden_t", "hidden_alias_t", "local_t", "size_type", "colour", "no_such_t"] {
        let result = profile_from_objects(&request(&[&object], &["outer_t", name]));
        let error = result.unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
    let error = profile_from_objects(&request(&[&object], &["no_such_t"])).unwrap_err().to_string();
    assert!(error.starts_with("the type no_such_t is not defined in "), "{error}");
}

#[test]
fn files_without_debug_information_and_other_files_are_named() {
    let fails = |objects: &[&Path]| profile_from_objects(&request(objects, &["outer_t"])).unwrap_err();
    assert_eq!(fails(&[]), MakeError::NoObjects);
    let stripped = compile("stripped", SOURCE, &["-c", "-g0"]);
    assert!(matches!(fails(&[&stripped]), MakeError::NoDebugInfo { .. }));
    let text = directory("text").join("notes.txt");
    std::fs::write(&text, "not an object file").unwrap();
    assert!(fails(&[&text]).to_string().starts_with(&format!("cannot read {}: ", text.display())));
    assert!(fails(&["/nowhere/libmpi.so".as_ref()]).to_string().starts_with("cannot read /nowhere/libmpi.so: "));
    assert!(fails(&["/dev/zero".as_ref()]).to_string().contains("not a regular file"));
    assert!(fails(&[&directory("text")]).to_string().contains("not a regular file"));
}

#[test]
fn split_debug_information_is_named() {
    let object = compile("split", SOURCE, &["-c", "-g", "-gsplit-dwarf"]);
    let error = profile_from_objects(&request(&[&object], &["outer_t"])).unwrap_err().to_string();
    assert!(error.contains("-gsplit-dwarf"), "{error}");
}

#[test]
fn the_types_of_a_file_are_a_layout_source() {
    let object = compile("source", SOURCE, &["-c", "-g"]);
    let types = ObjectTypes::new(object.clone());
    let layout = types.type_layout("outer_t").unwrap().unwrap();
    assert_eq!(layout, make(&object).types["outer_t"]);
    assert_eq!(types.type_layout("no_such_t"), Ok(None));
    assert_eq!(types.constant("RED"), Ok(None));
    let bare = compile("source-bare", SOURCE, &["-c", "-g0"]);
    assert_eq!(ObjectTypes::new(bare.clone()).type_layout("outer_t"), Ok(None));

    // Only its length counts.
    std::fs::OpenOptions::new().write(true).open(&bare).unwrap().set_len(300 << 20).unwrap();
    let refused = ObjectTypes::new(bare.clone()).type_layout("outer_t").unwrap_err().to_string();
    assert!(refused.contains("has 314572800 bytes"), "{refused}");
    std::fs::remove_file(&bare).unwrap();
    let refused = ObjectTypes::new(bare).type_layout("outer_t").unwrap_err().to_string();
    assert!(refused.contains("cannot read"), "{refused}");
}

#[test]
fn damaged_files_are_errors_and_end_quickly() {
    let object = compile("damaged", SOURCE, &["-c", "-gdwarf-5"]);
    let bytes = std::fs::read(&object).unwrap();
    let path = directory("damaged").join("copy.o");
    let all = ["outer_t", "inner_t", "choice"];
    // A simple generator, so that a failure can be repeated.
    let mut state = 1_u64;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for round in 0..400 {
        let mut copy = bytes.clone();
        if round % 4 == 0 {
            copy.truncate(random(bytes.len()));
        } else {
            for _ in 0..=random(12) {
                let at = random(copy.len());
                copy[at] = random(256) as u8;
            }
        }
        std::fs::write(&path, &copy).unwrap();
        // Either outcome is right; a panic or an endless loop is not, and a profile must be one that we read.
        if let Ok(profile) = profile_from_objects(&request(&[&path], &all)) {
            Profile::from_json(&profile.to_json()).unwrap();
        }
    }
}
