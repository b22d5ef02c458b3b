//! Which pml moves the messages: on this it depends who reads the queues, and how.

use std::fmt;

/// A pml (ompi/mca/pml, a component each).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pml {
    /// Matches messages itself.
    Ob1,
    /// Leaves matching to UCX.
    Ucx,
    /// Leaves matching to an mtl, and that to a network's library.
    Cm,
    /// Another one, by its name.
    Other(String),
    /// None is selected yet.
    NotSelected,
}

impl Pml {
    /// The pml of a name; the empty one is that of none.
    pub fn named(name: &str) -> Self {
        match name {
            "ob1" => Self::Ob1,
            "ucx" => Self::Ucx,
            "cm" => Self::Cm,
            "" => Self::NotSelected,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Its name, where one is selected.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Ob1 => Some("ob1"),
            Self::Ucx => Some("ucx"),
            Self::Cm => Some("cm"),
            Self::Other(name) => Some(name),
            Self::NotSelected => None,
        }
    }
}

impl fmt::Display for Pml {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(formatter, "the pml {name}"),
            None => write!(formatter, "no pml"),
        }
    }
}
