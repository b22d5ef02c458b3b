//! Choosing among profiles by the sizes of pooled objects, which the header of a profile says.

use super::profile::{Profile, ProfileError, ProfileHeader};
use super::shipped::Shipped;
use super::verify::Difference;

/// A profile of which only the header was read.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// What the profile is for.
    pub header: ProfileHeader,
    whole: &'a Shipped,
}

impl Candidate<'_> {
    /// The whole profile.
    ///
    /// # Errors
    /// Where its text is damaged.
    pub fn profile(&self) -> Result<Profile, ProfileError> {
        self.whole.profile()
    }

    /// How the sizes of the profile differ from those of a process (type and bytes); types that only one of them has are
    /// not compared.
    pub fn differences<'a>(&self, found: impl IntoIterator<Item = (&'a str, u64)>) -> Vec<Difference> {
        let sizes = &self.header.identity.sizes;
        let differs = |(name, size): (&'a str, u64)| {
            let expected = sizes.get(name).filter(|expected| **expected != size)?;
            Some(Difference {
                type_name: name.to_owned(),
                expected: format!("{expected} bytes"),
                found: format!("{size} bytes"),
            })
        };
        found.into_iter().filter_map(differs).collect()
    }
}

/// The given profiles for a series (such as `(4, 1)`; all where it is not known), those of the very version and device
/// first.
///
/// # Errors
/// Where the text of one is damaged.
pub fn candidates<'a>(
    profiles: &'a [Shipped],
    series: Option<(u64, u64)>,
    version: Option<&str>,
    device: Option<&str>,
) -> Result<Vec<Candidate<'a>>, ProfileError> {
    let series = series.map(|(major, minor)| format!("{major}.{minor}"));
    let mut found = Vec::new();
    for whole in profiles {
        let header = whole.header()?;
        if series.as_ref().is_none_or(|series| header.identity.fits.contains(series)) {
            found.push(Candidate { header, whole });
        }
    }
    found.sort_by_key(|candidate| {
        let identity = &candidate.header.identity;
        (identity.device.as_deref() != device, Some(identity.version.as_str()) != version)
    });
    Ok(found)
}
