//! Which pml moves the messages: on this it depends who reads the queues, and how.
//!
//! A wrapper stands before it. It takes the places of the pml's functions, and of nothing else: communicators keep what
//! the real pml has made of them, and requests come from the real one's pools.

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

/// A pml that hands on to a real one what it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wrapper {
    /// Counts messages (ompi/mca/pml/monitoring/pml_monitoring_component.c, v4.1.4 and v5.0.10).
    Monitoring,
    /// Logs messages for a protocol of fault tolerance. With the protocol `pessimist` requests have the protocol's part at
    /// their end, and classes of the protocol's (ompi/mca/pml/v/pml_v_component.c,
    /// ompi/mca/vprotocol/base/vprotocol_base_request.c, v4.1.4 and v5.0.10).
    V,
}

impl Wrapper {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Monitoring => "monitoring",
            Self::V => "v",
        }
    }

    /// What the name of a component says: the wrapper, and the name of the pml behind it, where it tells that.
    pub fn in_name(name: &str) -> Option<(Self, Option<&str>)> {
        if name == Self::Monitoring.name() {
            return Some((Self::Monitoring, None));
        }
        // `v` adds itself to the name of the pml: `ob1]v`, and the protocol's name if that is chosen by then.
        let (behind, own) = name.split_once(']')?;
        own.starts_with(Self::V.name()).then_some((Self::V, Some(behind)))
    }
}
