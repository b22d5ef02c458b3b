//! Why facts are not known.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

type Reasons = BTreeMap<Cow<'static, str>, Cow<'static, str>>;

static NONE: LazyLock<Reasons> = LazyLock::new(Reasons::new);

/// Reasons by the names of facts. A hundred thousand operations mostly share them, and copies cost next to nothing.
#[derive(Debug, Clone, Default)]
pub struct Unknown(Option<Arc<Reasons>>);

impl Unknown {
    /// Whether everything is known.
    pub fn is_empty(&self) -> bool {
        self.deref().is_empty()
    }
}

impl Deref for Unknown {
    type Target = Reasons;

    fn deref(&self) -> &Reasons {
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for Unknown {
    fn deref_mut(&mut self) -> &mut Reasons {
        Arc::make_mut(self.0.get_or_insert_with(Arc::default))
    }
}

impl PartialEq for Unknown {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Unknown {}

impl Serialize for Unknown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.deref().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Unknown {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let reasons = Reasons::deserialize(deserializer)?;
        Ok(Self((!reasons.is_empty()).then(|| Arc::new(reasons))))
    }
}
