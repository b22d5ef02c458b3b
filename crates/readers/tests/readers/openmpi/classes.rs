//! Verification of profiles on processes made of segments and symbols, in both byte orders and pointer widths.

use layouts::{Chosen, NoProfile, Profile, Shipped, choose_profile, shipped_for};
use readers::openmpi::classes::{shipped as shipped_profile, verify_classes};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, Image, PointerWidth, Symbol, Target, TargetAbi, TargetError};

const CORE: [&str; 10] = [
    "opal_list_t",
    "opal_free_list_t",
    "opal_pointer_array_t",
    "ompi_request_t",
    "ompi_communicator_t",
    "ompi_group_t",
    "ompi_datatype_t",
    "mca_pml_base_request_t",
    "mca_pml_base_send_request_t",
    "mca_pml_base_recv_request_t",
];

/// A process that shows one class a type, each at its own page: name, size of objects.
fn process(abi: TargetAbi, classes: &[(String, u64)]) -> MockTarget {
    let width = abi.pointer_width.bytes() as usize;
    let mut target = MockTarget::new(abi);
    for (index, (name, size)) in classes.iter().enumerate() {
        let at = 0x10_0000 + 0x1000 * index as u64;
        // opal_class_t: cls_name first, cls_sizeof last, five pointers and two ints between (opal_object.h, v4.1.4).
        let mut bytes = number(abi, at + 256, width);
        bytes.resize(width * 4, 0);
        bytes.extend(number(abi, 1, 4));
        bytes.extend(number(abi, 2, 4));
        bytes.resize(bytes.len() + 2 * width, 0);
        bytes.extend(number(abi, *size, width));
        bytes.resize(256, 0);
        bytes.extend(name.as_bytes());
        bytes.push(0);
        target.add_segment(TargetAddr::new(at), bytes);
        target.add_symbol(&format!("{name}_class"), TargetAddr::new(at), Some(64));
    }
    target
}

fn number(abi: TargetAbi, value: u64, size: usize) -> Vec<u8> {
    match abi.byte_order {
        ByteOrder::Little => value.to_le_bytes()[..size].to_vec(),
        ByteOrder::Big => value.to_be_bytes()[8 - size..].to_vec(),
    }
}

fn shipped(index: usize) -> Profile {
    shipped_for("Open MPI")[index].profile().unwrap()
}

fn classes_of(profile: &Profile) -> Vec<(String, u64)> {
    profile.types.iter().map(|(name, layout)| (name.clone(), layout.size)).collect()
}

/// A profile of a 32-bit build: `opal_class_t` and the core types.
fn profile_32(byte_order: &str, size_of_group: u64) -> String {
    let types = CORE.map(|name| {
        let size = if name == "ompi_group_t" { size_of_group } else { 100 };
        format!("\"{name}\": {{\"size\": {size}, \"fields\": {{}}}}")
    });
    format!(
        r#"{{"schema": "mpi-queues-layout", "format": "1.0", "name": "small-32",
 "producer": {{"tool": "a test", "command": "none", "sources": []}},
 "identity": {{"implementation": "Open MPI", "version": "4.1.4", "fits": ["4.1"], "build_ids": []}},
 "target": {{"byte_order": "{byte_order}", "pointer_width": 4}}, "constants": {{}},
 "types": {{"opal_class_t": {{"size": 36, "fields": {{
   "cls_name": {{"offset": 0, "size": 4, "kind": "pointer", "type": "char *"}},
   "cls_sizeof": {{"offset": 32, "size": 4, "kind": "unsigned", "type": "size_t"}}}}}}, {}}}}}"#,
        types.join(", ")
    )
}

#[test]
fn equal_sizes_fit_and_the_sentence_says_so() {
    let profile = shipped(0);
    let target = process(TargetAbi::LITTLE_64, &classes_of(&profile));
    let verification = verify_classes(&target, &profile);
    assert!(verification.fits(), "{verification}");
    assert_eq!(verification.checked.len(), profile.types.len());
    assert!(verification.to_string().starts_with("the profile openmpi-4.1 fits: "), "{verification}");
    assert_eq!(shipped_profile(&target, (4, 1, 4)).unwrap().profile.name, "openmpi-4.1");
    assert_eq!(shipped_profile(&target, (4, 1, 8)).unwrap().profile.name, "openmpi-4.1");
}

#[test]
fn the_other_series_is_refused_with_every_difference() {
    let target = process(TargetAbi::LITTLE_64, &classes_of(&shipped(0)));
    let error = shipped_profile(&target, (5, 0, 7)).unwrap_err();
    let NoProfile::Unfit { tried, .. } = &error else { panic!("{error}") };
    let differing: Vec<&str> = tried[0].differences.iter().map(|difference| difference.type_name.as_str()).collect();
    assert!(differing.contains(&"ompi_communicator_t") && differing.contains(&"ompi_group_t"), "{differing:?}");
    let text = error.to_string();
    assert!(text.contains("ompi_communicator_t: 384 bytes in the profile, 352 bytes in the process"), "{text}");
    assert!(text.contains("mpi-queues layouts make"), "{text}");
}

#[test]
fn a_version_without_a_profile_is_refused_even_where_all_sizes_are_equal() {
    let target = process(TargetAbi::LITTLE_64, &classes_of(&shipped(0)));
    for version in [(4, 10, 0), (4, 0, 3), (6, 1, 0)] {
        let error = shipped_profile(&target, version).unwrap_err();
        let NoProfile::Version { same_sizes, .. } = &error else { panic!("{error}") };
        assert_eq!(same_sizes, &["openmpi-4.1"]);
        let text = error.to_string();
        let shown = format!("no layout profile is for Open MPI {}.{}.{} ", version.0, version.1, version.2);
        assert!(text.starts_with(&shown), "{text}");
        assert!(text.contains("openmpi-5.0 for 5.0"), "{text}");
        assert!(text.contains("all sizes of openmpi-4.1 are equal, but fields may be elsewhere"), "{text}");
        assert!(text.contains("mpi-queues layouts make"), "{text}");
    }
}

#[test]
fn a_type_that_changed_within_the_series_is_left_out() {
    let profile = shipped(1);
    let mut classes = classes_of(&profile);
    let changed = classes.iter_mut().find(|(name, _)| name == "mca_part_persist_request_t").unwrap();
    // Open MPI 5.0.11.
    changed.1 = 712;
    let target = process(TargetAbi::LITTLE_64, &classes);
    let verification = verify_classes(&target, &profile);
    assert!(verification.fits());
    assert!(
        verification
            .to_string()
            .ends_with("left out: mca_part_persist_request_t: 688 bytes in the profile, 712 bytes in the process")
    );
    let chosen = shipped_profile(&target, (5, 0, 11)).unwrap().profile;
    assert!(!chosen.types.contains_key("mca_part_persist_request_t"));
    assert_eq!(chosen.types.len(), profile.types.len() - 1);
}

#[test]
fn a_process_without_the_core_classes_cannot_be_verified() {
    let profile = shipped(0);
    let mut classes = classes_of(&profile);
    classes.retain(|(name, _)| name != "ompi_communicator_t");
    let verification = verify_classes(&process(TargetAbi::LITTLE_64, &classes), &profile);
    assert!(!verification.fits() && verification.differences.is_empty());
    assert_eq!(
        verification.to_string(),
        "the profile openmpi-4.1 cannot be verified: the process does not have ompi_communicator_t"
    );
    let nothing = verify_classes(&MockTarget::new(TargetAbi::LITTLE_64), &profile);
    assert!(!nothing.fits() && nothing.checked.is_empty());
}

#[test]
fn a_class_of_another_name_and_unreadable_classes_do_not_count_as_equal() {
    let profile = shipped(0);
    let classes = classes_of(&profile);
    let mut target = process(TargetAbi::LITTLE_64, &classes);
    // The names are damaged; control characters of the target must not come through.
    for (_, bytes) in target.segments_mut() {
        bytes[256] = 0x1b;
    }
    let verification = verify_classes(&target, &profile);
    assert!(!verification.fits() && verification.checked.is_empty());
    let damaged = format!("a class of the name \"\\x1b{}\"", &classes[0].0[1..]);
    assert_eq!(verification.differences[0].found, damaged);

    let mut target = process(TargetAbi::LITTLE_64, &classes);
    for (_, bytes) in target.segments_mut() {
        bytes.truncate(20);
    }
    assert!(!verify_classes(&target, &profile).fits());
}

#[test]
fn a_class_whose_name_is_not_set_yet_is_absent() {
    let profile = shipped(0);
    let mut target = process(TargetAbi::LITTLE_64, &classes_of(&profile));
    for (_, bytes) in target.segments_mut() {
        bytes[..8].fill(0);
    }
    let verification = verify_classes(&target, &profile);
    assert_eq!(verification.absent.len(), profile.types.len());
    assert!(!verification.fits() && verification.differences.is_empty());
}

#[test]
fn the_sizes_of_known_objects_are_compared_too() {
    let profile = shipped(0);
    let mut target = process(TargetAbi::LITTLE_64, &classes_of(&profile));
    let size = profile.types["opal_pointer_array_t"].size;
    target.add_symbol("ompi_mpi_communicators", TargetAddr::new(0x5000), Some(size));
    target.add_symbol("mca_pml_base_send_requests", TargetAddr::new(0x6000), None);
    target.add_symbol("mca_pml", TargetAddr::new(0x7000), Some(0));
    let verification = verify_classes(&target, &profile);
    assert!(verification.fits());
    assert_eq!(verification.checked.last().unwrap(), "ompi_mpi_communicators");
    target.add_symbol("ompi_mpi_communicators", TargetAddr::new(0x5000), Some(size + 8));
    let verification = verify_classes(&target, &profile);
    assert_eq!(
        verification.differences[0].to_string(),
        format!(
            "ompi_mpi_communicators (opal_pointer_array_t): {size} bytes in the profile, {} bytes in the process",
            size + 8
        )
    );
}

#[test]
fn other_byte_orders_and_widths_are_verified_alike() {
    for (byte_order, name) in [(ByteOrder::Little, "little"), (ByteOrder::Big, "big")] {
        let abi = TargetAbi { byte_order, pointer_width: PointerWidth::Four };
        let target = process(abi, &CORE.map(|name| (name.to_owned(), 100)));
        let fitting = profile_32(name, 100);
        assert!(choose_among(&target, (4, 1, 0), &[Shipped::plain("small-32", fitting.leak())]).is_ok());
        let differing = profile_32(name, 104);
        let error =
            choose_among(&target, (4, 1, 0), &[Shipped::plain("small-32", differing.leak())]).unwrap_err().to_string();
        assert!(error.contains("ompi_group_t: 104 bytes in the profile, 100 bytes in the process"), "{error}");
    }
}

#[test]
fn a_profile_of_another_byte_order_or_width_is_refused() {
    let abi = TargetAbi { byte_order: ByteOrder::Big, pointer_width: PointerWidth::Four };
    let target = process(abi, &CORE.map(|name| (name.to_owned(), 100)));
    let error = choose_among(&target, (4, 1, 4), shipped_for("Open MPI")).unwrap_err().to_string();
    assert!(error.contains("byte order: Little in the profile, Big in the process"), "{error}");
    assert!(error.contains("pointer width: 8 bytes in the profile, 4 bytes in the process"), "{error}");
}

#[test]
fn a_damaged_profile_is_named() {
    let target = MockTarget::new(TargetAbi::LITTLE_64);
    let error = choose_among(&target, (4, 1, 4), &[Shipped::plain("broken", "{}")]).unwrap_err().to_string();
    assert!(error.starts_with("the layout profile broken is damaged: not a layout profile: "), "{error}");
}

fn choose_among(target: &MockTarget, version: (u64, u64, u64), profiles: &[Shipped]) -> Result<Chosen, NoProfile> {
    choose_profile("Open MPI", version, profiles, |profile| verify_classes(target, profile))
}

/// A core file without the names of the classes.
struct Nameless<'a>(&'a MockTarget);

impl Target for Nameless<'_> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.0.read(addr, buf)
    }
    fn read_c_string(&self, addr: TargetAddr, max: usize) -> Result<Vec<u8>, TargetError> {
        Err(TargetError::NotInCore { addr, len: max as u64, text: "memory of libmpi.so".to_owned() })
    }
    fn abi(&self) -> TargetAbi {
        self.0.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.0.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.0.images()
    }
}

#[test]
fn names_that_a_core_file_lacks_are_not_another_build() {
    let profile = shipped(0);
    let target = process(TargetAbi::LITTLE_64, &classes_of(&profile));
    assert!(shipped_profile(&target, (4, 1, 4)).is_ok());
    let error = shipped_profile(&Nameless(&target), (4, 1, 4)).unwrap_err();
    assert!(matches!(error, NoProfile::LeftOut(TargetError::NotInCore { .. })), "{error}");
    assert!(error.to_string().contains("memory of libmpi.so"), "{error}");
}
