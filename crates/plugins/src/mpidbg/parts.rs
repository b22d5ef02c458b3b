//! What the answer to a query consists of, on its way from the helper process to the host.

use std::collections::BTreeMap;

/// Which step of a query failed or succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Stage {
    /// The query itself.
    #[default]
    Query = 0,
    /// The way from the Fortran integer to the C handle.
    Fortran = 1,
    /// The way from the C++ object to the C handle.
    Cxx = 2,
}

impl Stage {
    /// The stage with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Query, Self::Fortran, Self::Cxx].get(usize::from(number)).copied()
    }
}

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A part of an answer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Part { $($(#[$doc])* $name),* }

        impl Part {
            /// The part with this number.
            pub fn from_number(number: u8) -> Option<Self> {
                [$(Self::$name),*].get(usize::from(number)).copied()
            }
        }
    };
}

parts! {
    /// The structure itself.
    Structure,
    /// World ranks of the local group.
    LocalProcs,
    /// World ranks of the remote group.
    RemoteProcs,
    /// Lengths of the dimensions.
    CartDims,
    /// Whether each dimension is periodic, in bytes.
    CartPeriods,
    /// Of a graph, the sums of the nodes' degrees.
    GraphIndex,
    /// Of a graph, the neighbours.
    GraphEdges,
    /// Handles of pending requests.
    Requests,
    /// Handles of windows.
    Windows,
    /// Handles of files.
    Files,
    /// Attributes; their pairs come in messages of their own.
    Attributes,
    /// Handles to which an error handler is attached.
    Attached,
    /// The Fortran integer is one, and no code.
    Fortran,
}

/// An attribute, as the plug-in tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// Its key.
    pub keyval: i32,
    /// The key's name, where it has one.
    pub name: Option<String>,
    /// Its value, in the plug-in's words.
    pub value: Option<String>,
}

/// The answer to one query, as it was delivered.
#[derive(Debug, Clone, Default)]
pub struct RawAnswer {
    /// How far the query went.
    pub stage: Stage,
    /// The function's return code; `None` where the plug-in lacks the function.
    pub code: Option<i32>,
    /// The C handle.
    pub handle: u64,
    /// The parts.
    pub parts: BTreeMap<Part, Vec<u8>>,
    /// Why parts are missing.
    pub missing: BTreeMap<Part, String>,
    /// The attributes.
    pub attributes: Vec<Attribute>,
    /// How many reads failed while the plug-in looked.
    pub failed_reads: u64,
    /// Whether all of it was delivered.
    pub complete: bool,
}

impl RawAnswer {
    /// The ints of an array.
    pub fn ints(&self, part: Part) -> Vec<i32> {
        let bytes = self.parts.get(&part).map_or(&[][..], Vec::as_slice);
        bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect()
    }

    /// The handles of a list.
    pub fn handles(&self, part: Part) -> Vec<u64> {
        let bytes = self.parts.get(&part).map_or(&[][..], Vec::as_slice);
        bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect()
    }
}
