//! The shipped profiles hold what readers declare, and nothing else.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::path::Path;
use std::{env, fs};

use layouts::shipped_profiles;
use readers::wanted::wanted_of;

/// Set by `tools/trim-layouts`: the profiles are written anew without what nobody reads any more.
const TRIM: &str = "MPI_QUEUES_TRIM_LAYOUTS";

#[test]
fn shipped_profiles_hold_what_is_read_and_nothing_else() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../layouts");
    for shipped in shipped_profiles() {
        let (name, text) = (shipped.name, shipped.text().unwrap());
        let mut profile = shipped.profile().unwrap();
        let wanted = wanted_of(&profile.identity.implementation);
        profile.keep_only(&wanted);
        assert!(profile.types.contains_key(wanted[0].probed), "{name} lacks {}", wanted[0].probed);
        if env::var_os(TRIM).is_some() {
            fs::write(folder.join(name).with_extension("json"), profile.to_json()).unwrap();
        } else {
            assert!(profile.to_json() == text, "{name} holds what nobody reads; run: tools/trim-layouts");
        }
    }
}

#[test]
fn what_is_wanted_of_an_implementation_is_found_by_its_name() {
    let names = |asked: &str| wanted_of(asked).iter().map(|wanted| wanted.name).collect::<Vec<_>>();
    assert_eq!((names("openmpi"), names("mpich")), (vec!["Open MPI"], vec!["MPICH"]));
    assert_eq!(names("Intel MPI"), ["Open MPI", "MPICH"]);
}
