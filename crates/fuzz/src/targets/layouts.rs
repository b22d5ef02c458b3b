//! Layout profiles, which people hand on as files.

use layouts::{Profile, ProfileHeader};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = ProfileHeader::from_json(text);
    if let Ok(profile) = Profile::from_json(text) {
        assert!(Profile::from_json(&profile.to_json()).is_ok());
    }
}

/// One that is made of a program, and that with the rest of its types cut off.
pub fn seeds() -> Vec<Vec<u8>> {
    vec![super::dwarf::profile().into_bytes()]
}
