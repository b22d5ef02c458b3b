//! Profiles that the programs carry, packed by `build.rs`: unpacked when one is asked for, and parsed once a process.

use std::fmt;
use std::io::Read;
use std::sync::OnceLock;

use flate2::read::DeflateDecoder;

use super::profile::{MAX_PROFILE, Profile, ProfileError, ProfileHeader};

/// A profile that this program carries.
pub struct Shipped {
    /// The profile's name.
    pub name: &'static str,
    head: &'static str,
    whole: Whole,
    parsed: OnceLock<Profile>,
}

/// The text of a profile.
enum Whole {
    Deflated(&'static [u8]),
    Plain(&'static str),
}

/// The profiles of the files `layouts/NAME.json`.
macro_rules! shipped {
    ($($name:literal),* $(,)?) => {{
        static ALL: [$crate::shipped::Shipped; [$($name),*].len()] = [$($crate::shipped::Shipped::new(
            $name,
            include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json")),
            include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".deflate")),
        )),*];
        &ALL
    }};
}
pub(super) use shipped;

impl Shipped {
    /// A profile by its name, its head (JSON) and all of it (JSON, deflated).
    pub const fn new(name: &'static str, head: &'static str, deflated: &'static [u8]) -> Self {
        Self { name, head, whole: Whole::Deflated(deflated), parsed: OnceLock::new() }
    }

    /// A profile by its name and its text, as tests have it.
    pub const fn plain(name: &'static str, text: &'static str) -> Self {
        Self { name, head: text, whole: Whole::Plain(text), parsed: OnceLock::new() }
    }

    /// What it is for. It costs nothing.
    ///
    /// # Errors
    /// Where its text is damaged.
    pub fn header(&self) -> Result<ProfileHeader, ProfileError> {
        ProfileHeader::from_json(self.head)
    }

    /// All of it. The ranks of a job have the same MPI, so it is kept.
    ///
    /// # Errors
    /// Where its text is damaged.
    pub fn profile(&self) -> Result<Profile, ProfileError> {
        if let Some(known) = self.parsed.get() {
            return Ok(known.clone());
        }
        let profile = Profile::from_json(&self.text()?)?;
        Ok(self.parsed.get_or_init(|| profile).clone())
    }

    /// Its text, as `layouts/NAME.json` has it.
    ///
    /// # Errors
    /// Where what is packed is damaged.
    pub fn text(&self) -> Result<String, ProfileError> {
        let fail = |source| ProfileError::File { path: self.name.to_owned(), source };
        match self.whole {
            Whole::Plain(text) => Ok(text.to_owned()),
            Whole::Deflated(packed) => {
                let mut text = String::new();
                DeflateDecoder::new(packed).take(MAX_PROFILE).read_to_string(&mut text).map_err(fail)?;
                Ok(text)
            }
        }
    }
}

impl fmt::Debug for Shipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shipped").field(&self.name).finish()
    }
}
