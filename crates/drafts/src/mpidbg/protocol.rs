//! What the helper with a plug-in for handles tells the host, besides what every helper tells, and what an answer consists of.

use std::collections::BTreeMap;

use plugins::{messages, numbered};

messages! {
    /// What a run delivers, in the order of the plug-in's life cycle.
    Event<'a> {
        /// The plug-in is for another machine.
        OtherMachine = 26 {
            found: &'a [u8],
        }
        /// What the functions of these names gave; no words where the interface is of another version.
        Versions = 27 {
            interface: i32,
            width: i32,
            words: &'a [u8],
        }
        /// It is set up.
        Ready = 28 {}
        /// The name of the type that it gave for one of [`HANDLE_TYPES`](super::abi::HANDLE_TYPES).
        HandleType = 29 {
            number: u8,
            name: &'a [u8],
        }
        /// What it can tell of one of the kinds of [`VARIABLES`](super::abi::VARIABLES).
        Capabilities = 30 {
            number: u8,
            flags: u32,
        }
        /// A handle of one of these kinds to which it gives a name.
        NamedHandle = 31 {
            number: u8,
            handle: u64,
            name: &'a [u8],
        }
        /// The answer to the next query begins.
        Answer = 32 {
            stage: Stage,
            code: Option<i32>,
            handle: u64,
        }
        /// A piece of a part of it.
        Piece = 33 {
            part: Part,
            bytes: &'a [u8],
        }
        /// Why a part of it is missing.
        NoPart = 34 {
            part: Part,
            reason: &'a [u8],
        }
        /// An attribute of the communicator.
        Attribute = 35 {
            keyval: i32,
            name: Option<&'a [u8]>,
            value: Option<&'a [u8]>,
        }
        /// The answer ends.
        AnswerEnd = 36 {}
    }
}

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

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A part of an answer.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Part { $($(#[$doc])* $name),* }

        impl Part {
            /// All parts, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$name),*];
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

numbered!(Stage: [Self::Query, Self::Fortran, Self::Cxx]; Part: Self::ALL);

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
