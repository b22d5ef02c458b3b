//! Which Open MPI, in which state, with which transport.

use readers::Lifetime;
use readers::openmpi::detect::{is_open_mpi, lifetime, selected_pml};
use readers::openmpi::pml::{Pml, Wrapper};
use target::address::TargetAddr;
use target::mock::MockTarget;

use made_up::openmpi_types::{Build, types};
use made_up::process::{ABIS, Process};

/// A target with `ompi_mpi_state` and, where given, `ompi_instance_count`.
fn in_state(abi: target::TargetAbi, state: u32, instances: Option<u32>) -> MockTarget {
    let mut target = MockTarget::new(abi);
    let number = |value: u32| match abi.byte_order {
        target::ByteOrder::Little => value.to_le_bytes().to_vec(),
        target::ByteOrder::Big => value.to_be_bytes().to_vec(),
    };
    target.add_segment(TargetAddr::new(0x1000), number(state));
    target.add_symbol("ompi_mpi_state", TargetAddr::new(0x1000), Some(4));
    if let Some(instances) = instances {
        target.add_segment(TargetAddr::new(0x2000), number(instances));
        target.add_symbol("ompi_instance_count", TargetAddr::new(0x2000), Some(4));
    }
    target
}

#[test]
fn the_life_of_mpi() {
    use Lifetime::{Active, Finalized, Finalizing, NotInitialized};
    for abi in ABIS {
        let states = [NotInitialized, NotInitialized, Active, Finalizing, Finalizing, Finalized];
        for (number, expected) in (0..).zip(states) {
            assert_eq!(lifetime(&in_state(abi, number, None)).unwrap(), expected, "{number}");
        }
        // Sessions use MPI without MPI_Init.
        assert_eq!(lifetime(&in_state(abi, 0, Some(1))).unwrap(), Active);
        assert_eq!(lifetime(&in_state(abi, 0, Some(0))).unwrap(), NotInitialized);
        assert!(lifetime(&in_state(abi, 6, None)).unwrap_err().to_string().contains("ompi_mpi_state is 6"));
        let error = lifetime(&MockTarget::new(abi)).unwrap_err().to_string();
        assert!(error.contains("no symbol ompi_mpi_state"), "{error}");
    }
}

#[test]
fn the_mark_of_open_mpi() {
    let (process, _) = Process::new(ABIS[0], Build::default(), 1);
    assert!(is_open_mpi(&process.target()).unwrap());
    assert!(!is_open_mpi(&MockTarget::new(ABIS[0])).unwrap());
}

#[test]
fn the_selected_transport_and_its_version() {
    for abi in ABIS {
        let (mut process, _) = Process::new(abi, Build::default(), 4);
        let at = process.object("mca_base_component_t");
        process.symbols.push(("mca_pml_base_selected_component", at));
        let read = |process: &Process| selected_pml(&process.target(), &process.layouts());
        // None is selected yet.
        assert_eq!(read(&process).unwrap().pml, Pml::NotSelected);
        process.set_text(at, "mca_base_component_t", "mca_project_name", b"ompi");
        process.set_text(at, "mca_base_component_t", "mca_component_name", b"ob1\0garbage");
        for (field, value) in [("major", 5), ("minor", 0), ("release", 7)] {
            process.set(at, "mca_base_component_t", &format!("mca_component_{field}_version"), value);
        }
        let selected = read(&process).unwrap();
        assert_eq!((selected.pml, selected.version), (Pml::Ob1, (5, 0, 7)));
        process.set_text(at, "mca_base_component_t", "mca_project_name", b"\x1b[2J");
        let error = read(&process).unwrap_err().to_string();
        assert!(error.contains("x1b[2J") && !error.contains('\x1b'), "{error}");
    }
}

/// A process with that pml, and one that the wrapper monitoring has kept where there is a name.
fn with_pmls(abi: target::TargetAbi, outer: &str, kept: Option<&[u8]>) -> Process {
    let (mut process, _) = Process::new(abi, Build::default(), 4);
    let kept = kept.map(|name| ("pml_selected_component", name));
    for (symbol, name) in [("mca_pml_base_selected_component", outer.as_bytes())].into_iter().chain(kept) {
        let at = process.object("mca_base_component_t");
        process.symbols.push((symbol, at));
        process.set_text(at, "mca_base_component_t", "mca_project_name", b"ompi");
        process.set_text(at, "mca_base_component_t", "mca_component_name", name);
    }
    process
}

/// The outermost pml's name, the one that monitoring has kept; and what is told.
type Case = (&'static str, Option<&'static [u8]>, &'static str, &'static [Wrapper]);

#[test]
fn the_real_transport_stands_behind_wrappers() {
    use Wrapper::{Monitoring, V};
    let cases: [Case; 13] = [
        ("monitoring", Some(b"ob1"), "ob1 behind monitoring", &[Monitoring]),
        ("monitoring", Some(b"ucx"), "ucx behind monitoring", &[Monitoring]),
        ("ob1]v", None, "ob1 behind v", &[V]),
        ("ob1]vpessimist", None, "ob1 behind v", &[V]),
        ("monitoring", Some(b"ob1]v"), "ob1 behind monitoring, v", &[Monitoring, V]),
        ("monitoring]v", Some(b"cm"), "cm behind v, monitoring", &[V, Monitoring]),
        // What is behind a wrapper is not known, or it is none.
        ("monitoring", None, "monitoring", &[]),
        ("monitoring", Some(b""), "monitoring", &[]),
        ("]v", None, "]v", &[]),
        ("ob1]w", None, "ob1]w", &[]),
        ("v", None, "v", &[]),
        // Damage: none stands before itself.
        ("monitoring", Some(b"monitoring"), "monitoring behind monitoring", &[Monitoring]),
        ("ob1]v]v]v", None, "ob1 behind v", &[V]),
    ];
    for abi in ABIS {
        for (outer, kept, words, wrappers) in cases {
            let process = with_pmls(abi, outer, kept);
            let selected = selected_pml(&process.target(), &process.layouts()).unwrap();
            assert_eq!((selected.transport().as_deref(), selected.wrappers.as_slice()), (Some(words), wrappers));
            assert_eq!(selected.pml, Pml::named(words.split(" behind").next().unwrap()));
        }
    }
}

#[test]
fn damage_behind_a_wrapper_is_survived() {
    let process = with_pmls(ABIS[0], "monitoring", Some(b"ob1"));
    let layouts = process.layouts();
    let kept = process.symbols.iter().find(|(name, _)| *name == "pml_selected_component").unwrap().1;
    for value in [0, 0x5d5d_5d5d, 0xa5a5_a5a5, 0xffff_ffff_u32] {
        for word in 0..layouts.size_of("mca_base_component_t").unwrap() / 4 {
            let mut memory = process.mem.clone();
            memory.put(kept.wrapping_add(4 * word), &value.to_le_bytes());
            let mut target = memory.target();
            for (name, at) in &process.symbols {
                target.add_symbol(name, *at, None);
            }
            let words = selected_pml(&target, &layouts).unwrap().transport().unwrap();
            assert!(words.len() < 400 && !words.chars().any(char::is_control), "{words:?}");
        }
    }
}

#[test]
fn made_up_layouts_differ_from_one_another() {
    // Otherwise the tests would show nothing about layouts.
    let one = types(ABIS[0], Build::default(), 1);
    let differs = |name: &str, field: &str| {
        (2..12).any(|seed| types(ABIS[0], Build::default(), seed).field(name, field) != one.field(name, field))
    };
    assert!(differs("ompi_communicator_t", "c_flags") && differs("mca_pml_base_request_t", "req_tag"));
    assert!(differs("mca_pml_ob1_recv_frag_t", "segments") && differs("mca_pml_ob1_match_hdr_t", "hdr_src"));
}
