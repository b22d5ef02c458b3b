//! Profiles that the programs carry, packed by `build.rs`: unpacked when one is asked for, and parsed once a process.

use std::fmt;
use std::io::{self, Read};
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
    /// Among those of its library, deflated together: the first byte, and how many.
    Deflated(&'static [u8], (u64, u64)),
    Plain(&'static str),
}

/// The profiles of the files `layouts/NAME.json`, which `make layouts` makes.
macro_rules! shipped {
    ($library:literal: $($name:literal),* $(,)?) => {{
        const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $library, ".deflate"));
        static ALL: [$crate::shipped::Shipped; [$($name),*].len()] = [$($crate::shipped::Shipped::new(
            $name,
            include_str!(concat!(env!("OUT_DIR"), "/", $name, ".json")),
            PACKED,
            include!(concat!(env!("OUT_DIR"), "/", $name, ".place")),
        )),*];
        &ALL
    }};
}
impl Shipped {
    /// A profile by its name, its head (JSON), and all of it: its place in what is deflated.
    pub const fn new(name: &'static str, head: &'static str, deflated: &'static [u8], place: (u64, u64)) -> Self {
        Self { name, head, whole: Whole::Deflated(deflated, place), parsed: OnceLock::new() }
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
            Whole::Deflated(packed, (start, length)) => {
                let (mut text, mut unpacked) = (String::new(), DeflateDecoder::new(packed));
                io::copy(&mut unpacked.by_ref().take(start), &mut io::sink()).map_err(fail)?;
                unpacked.take(length.min(MAX_PROFILE)).read_to_string(&mut text).map_err(fail)?;
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

static OPEN_MPI: &[Shipped] = shipped!["openmpi": "openmpi-4.1", "openmpi-5.0", "openmpi-6.0", "openmpi-4.1.0",];

static MPICH: &[Shipped] = shipped![
    "mpich":
    "mpich-3.4-ch3-nemesis",
    "mpich-3.4-ch4-ofi-ucx",
    "mpich-4.0-ch3-nemesis",
    "mpich-4.0-ch3-nemesis-debuginfo",
    "mpich-4.0-ch4-ofi",
    "mpich-4.0-ch4-ofi-ucx",
    "mpich-4.0-ch4-ucx",
    "mpich-4.1-ch3-nemesis",
    "mpich-4.1-ch4-ofi",
    "mpich-4.1-ch4-ofi-ucx",
    "mpich-4.1-ch4-ucx",
    "mpich-4.2-ch3-nemesis",
    "mpich-4.2-ch4-ofi",
    "mpich-4.2-ch4-ofi-ucx",
    "mpich-4.2-ch4-ucx",
    "mpich-4.3-ch3-nemesis",
    "mpich-4.3-ch4-ofi",
    "mpich-4.3-ch4-ucx",
    "mpich-4.3-ch4-ucx-ofi",
    "mpich-5.0-ch3-nemesis",
    "mpich-5.0-ch4-ofi",
    "mpich-5.0-ch4-ucx",
    "mpich-5.0-ch4-ucx-ofi",
    "mpich-5.0-ch4-ucx-ofi-abi",
    "mpich-5.0-ch4-ucx-ucc",
];

static UCX: &[Shipped] = shipped![
    "ucx":
    "ucx-1.13",
    "ucx-1.13-assertions",
    "ucx-1.18",
    "ucx-1.18-assertions",
    "ucx-1.19",
    "ucx-1.19-assertions",
    "ucx-1.20",
    "ucx-1.20-assertions",
];

static LIBFABRIC: &[Shipped] = shipped![
    "libfabric":
    "libfabric-1.15",
    "libfabric-1.17",
    "libfabric-1.18",
    "libfabric-1.19",
    "libfabric-1.20",
    "libfabric-1.22",
    "libfabric-2.0",
    "libfabric-2.1",
    "libfabric-2.2",
    "libfabric-2.3",
    "libfabric-2.4",
    "libfabric-2.5",
    "libfabric-2.6",
];

/// All profiles that this build carries.
pub fn shipped_profiles() -> impl Iterator<Item = &'static Shipped> {
    [OPEN_MPI, MPICH, UCX, LIBFABRIC].into_iter().flatten()
}

/// The one of a name.
pub fn shipped_named(name: &str) -> Option<&'static Shipped> {
    shipped_profiles().find(|shipped| shipped.name == name)
}

impl Profile {
    /// The same with what the shipped one of its name has besides: of one that was kept, such as by a recording, readers have
    /// learned more since.
    #[must_use]
    pub fn with_shipped(&self) -> Self {
        let mut profile = self.clone();
        if let Some(Ok(shipped)) = shipped_named(&self.name).map(Shipped::profile) {
            profile.add_from(&shipped);
        }
        profile
    }
}

/// Those of one implementation, by the name that [`super::Identity`] has.
pub fn shipped_for(implementation: &str) -> &'static [Shipped] {
    match implementation {
        "Open MPI" => OPEN_MPI,
        "MPICH" => MPICH,
        "UCX" => UCX,
        "libfabric" => LIBFABRIC,
        _ => &[],
    }
}
