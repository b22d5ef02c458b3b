//! Shipped profiles, and what is refused as one.

use std::sync::Arc;

use layouts::{Field, FieldKind, LayoutSource, Profile, ProfileError, ProfileHeader, shipped_for, shipped_profiles};

/// A small profile whose parts a test replaces.
const SMALL: &str = r#"{
 "schema": "mpi-queues-layout", "format": "1.0", "name": "small",
 "producer": {"tool": "a test", "command": "none", "sources": []},
 "identity": {"implementation": "Open MPI", "version": "1.2.3", "fits": ["1.2"], "build_ids": []},
 "target": {"byte_order": "big", "pointer_width": 4},
 "constants": {"MPI_ANY_TAG": -1},
 "types": {"pair_t": {"size": 8, "fields": {
   "first": {"offset": 0, "size": 4, "kind": "pointer", "type": "void *"},
   "second": {"offset": 4, "size": 4, "kind": "signed", "type": "int"}}}}
}"#;

fn refused(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "the text has no {old}");
    Profile::from_json(&SMALL.replace(old, new)).unwrap_err().to_string()
}

#[test]
fn every_shipped_profile_is_one_that_we_read_and_write() {
    let implementations = ["Open MPI", "MPICH", "UCX", "libfabric"].map(|name| shipped_for(name).len());
    assert_eq!(implementations.iter().sum::<usize>(), shipped_profiles().count());
    assert!(implementations.iter().all(|count| *count > 0) && shipped_for("LAM").is_empty());
    for shipped in shipped_profiles() {
        let (name, text) = (shipped.name, shipped.text().unwrap());
        let profile = shipped.profile().unwrap();
        assert_eq!(profile.name, name);
        let (chosen_by, all) = (shipped.header().unwrap(), ProfileHeader::from_json(&text).unwrap());
        assert_eq!(format!("{chosen_by:?}"), format!("{all:?}"));
        assert!(profile.to_json() == text, "{name} is not as the program writes it; run: make layouts");
        assert!(shipped_for(&profile.identity.implementation).iter().any(|one| one.name == name), "{name}");
        assert!(text.len() < 100_000, "{name} has {} bytes", text.len());
    }
}

#[test]
fn the_two_series_differ_where_the_sources_do() {
    let profiles: Vec<_> = shipped_for("Open MPI").iter().map(|shipped| shipped.profile().unwrap()).collect();
    let field = |index: usize, type_name: &str, field: &str| profiles[index].types[type_name].fields[field].clone();
    // Open MPI 4.1.4 and 5.0.7, ompi/communicator/communicator.h: the name became a pointer.
    assert_eq!(field(0, "ompi_communicator_t", "c_name").kind, FieldKind::Array);
    assert_eq!(field(0, "ompi_communicator_t", "c_name").size, 64);
    assert_eq!(field(1, "ompi_communicator_t", "c_name").kind, FieldKind::Pointer);
    // ompi/errhandler/errhandler.h: the same size and other fields, so a size alone does not tell them apart.
    assert_eq!(profiles[0].types["ompi_errhandler_t"].size, profiles[1].types["ompi_errhandler_t"].size);
    assert_ne!(profiles[0].types["ompi_errhandler_t"].fields, profiles[1].types["ompi_errhandler_t"].fields);
    // Nested members, unions in unions and the structure's two names.
    assert_eq!(field(1, "mca_pml_base_request_t", "req_ompi.req_status.MPI_TAG").size, 4);
    assert_eq!(field(1, "mca_pml_ob1_hdr_t", "hdr_match.hdr_tag").offset, 8);
    assert_eq!(profiles[1].types["mca_pml_ob1_comm_t"], profiles[1].types["mca_pml_comm_t"]);
    for profile in &profiles[..2] {
        assert_eq!(profile.constant("MPI_ANY_SOURCE"), Ok(Some(-1)));
        assert_eq!(profile.constant("OMPI_REQUEST_ACTIVE"), Ok(Some(2)));
        assert_eq!(profile.constant("MCA_PML_OB1_HDR_TYPE_RNDV"), Ok(Some(66)));
    }
}

#[test]
fn a_small_profile_of_a_32_bit_big_endian_build_is_read() {
    let profile = Profile::from_json(SMALL).unwrap();
    assert_eq!(profile.types["pair_t"].fields["second"].offset, 4);
    assert_eq!(profile.name(), "profile:small");
    assert_eq!(Profile::from_json(&profile.to_json()).unwrap().to_json(), profile.to_json());
}

#[test]
fn the_device_and_the_sizes_of_pooled_types_are_in_the_header() {
    let identity = r#""build_ids": [], "device": "ch4:ofi,ucx", "sizes": {"pair_t": 8}"#;
    let text = SMALL.replace(r#""build_ids": []"#, identity);
    let header = ProfileHeader::from_json(&text).unwrap();
    assert_eq!(header.identity.device.as_deref(), Some("ch4:ofi,ucx"));
    assert_eq!(header.identity.sizes["pair_t"], 8);
    let profile = Profile::from_json(&text).unwrap();
    let written = Profile::from_json(&profile.to_json()).unwrap();
    assert_eq!((written.identity.device, written.identity.sizes), (header.identity.device, header.identity.sizes));
    for wrong in [r#""sizes": {"pair_t": 12}"#, r#""sizes": {"other_t": 8}"#] {
        let error = Profile::from_json(&text.replace(r#""sizes": {"pair_t": 8}"#, wrong)).unwrap_err().to_string();
        assert!(error.contains("its types do not"), "{error}");
    }
    // Profiles of 1.0 have neither.
    let header = ProfileHeader::from_json(SMALL).unwrap();
    assert_eq!((header.identity.device, header.identity.sizes.len()), (None, 0));
}

#[test]
fn a_profile_takes_over_what_a_later_one_has_besides() {
    let earlier = Profile::from_json(SMALL).unwrap();
    let mut later = earlier.clone();
    later.constants.insert("MPI_ROOT".to_owned(), -3);
    later.types.insert("other_t".to_owned(), later.types["pair_t"].clone());
    let second = Arc::make_mut(&mut later.types.get_mut("pair_t").unwrap().fields).remove("second").unwrap();
    let mut completed = later.clone();
    completed.add_from(&earlier);
    assert_eq!(completed.types["pair_t"], earlier.types["pair_t"]);
    assert!(completed.types.contains_key("other_t") && completed.constants.len() == 2);
    // A type whose fields lie elsewhere is another.
    let moved = Field { offset: 0, ..second };
    Arc::make_mut(&mut later.types.get_mut("pair_t").unwrap().fields).insert("second".to_owned(), moved);
    let mut completed = later.clone();
    completed.add_from(&earlier);
    assert_eq!(completed.types["pair_t"], later.types["pair_t"]);
}

#[test]
fn unknown_members_and_a_later_minor_format_are_read() {
    Profile::from_json(&SMALL.replace("\"1.0\"", "\"1.7\"")).unwrap();
    Profile::from_json(&SMALL.replace("\"types\"", "\"later\": [1], \"types\"")).unwrap();
}

#[test]
fn a_later_major_format_is_refused_whatever_else_it_says() {
    assert_eq!(
        refused("\"1.0\"", "\"2.0\""),
        "layout profile format \"2.0\" is not supported (this program reads 1.x)"
    );
    let other = r#"{"schema": "mpi-queues-layout", "format": "10.1", "everything": "else"}"#;
    assert!(matches!(Profile::from_json(other), Err(ProfileError::Format(format)) if format == "10.1"));
}

#[test]
fn another_kind_of_json_is_refused() {
    assert!(refused("mpi-queues-layout", "other").contains("its schema is \"other\""));
    for text in ["", "[]", "null", "{}", "{\"schema\": 1}", "\u{feff}{}", &"[".repeat(100_000)] {
        assert!(matches!(Profile::from_json(text), Err(ProfileError::Parse(_))));
    }
    assert!(matches!(Profile::from_json(&SMALL[..SMALL.len() - 3]), Err(ProfileError::Parse(_))));
}

#[test]
fn wrong_kinds_and_numbers_are_refused() {
    assert!(refused("\"kind\": \"signed\"", "\"kind\": \"quaternion\"").contains("quaternion"));
    assert!(refused("\"offset\": 4", "\"offset\": -4").contains("not a layout profile"));
    assert!(refused("\"offset\": 4", "\"offset\": \"4\"").contains("not a layout profile"));
    assert!(refused("\"pointer_width\": 4", "\"pointer_width\": 3").contains("pointer width of 3"));
    assert!(refused("\"MPI_ANY_TAG\": -1", "\"MPI_ANY_TAG\": 1e99").contains("not a layout profile"));
}

#[test]
fn impossible_offsets_and_sizes_are_refused() {
    let beyond = refused("\"offset\": 4", "\"offset\": 5");
    assert_eq!(beyond, "the layout profile is damaged: pair_t.second: offset 5 and size 4 reach out of 8 bytes");
    assert!(refused("\"offset\": 4", "\"offset\": 18446744073709551615").contains("reach out of"));
    assert!(
        refused("\"size\": 4, \"kind\": \"signed\"", "\"size\": 3, \"kind\": \"signed\"")
            .contains("pair_t.second: Signed field of 3 bytes")
    );
    assert!(
        refused("\"size\": 4, \"kind\": \"pointer\"", "\"size\": 8, \"kind\": \"pointer\"")
            .contains("pair_t.first: Pointer field of 8 bytes")
    );
    assert!(
        refused("\"size\": 8, \"fields\"", "\"size\": 99999999999, \"fields\"")
            .contains("a structure of 99999999999 bytes")
    );
}

#[test]
fn a_huge_text_or_file_is_refused_before_it_is_parsed() {
    let text = format!("{SMALL}{}", " ".repeat(16 << 20));
    assert!(matches!(Profile::from_json(&text), Err(ProfileError::TooLarge(_))));
    assert!(matches!(ProfileHeader::from_json(&text), Err(ProfileError::TooLarge(_))));
    let device = Profile::from_file("/dev/zero".as_ref()).unwrap_err().to_string();
    assert!(device.contains("it is a device, not a regular file"), "{device}");
    let sparse = std::env::temp_dir().join(format!("mpi-queues-profile-{}", std::process::id()));
    std::fs::File::create(&sparse).and_then(|file| file.set_len(1 << 40)).unwrap();
    let huge = Profile::from_file(&sparse);
    std::fs::remove_file(&sparse).unwrap();
    assert!(matches!(huge, Err(ProfileError::TooLarge(_))));
    let missing = Profile::from_file("/nowhere/profile.json".as_ref()).unwrap_err().to_string();
    assert!(missing.starts_with("cannot read the layout profile /nowhere/profile.json: "), "{missing}");
}
