//! What is known of each wrapped function: where its arguments stand that are written down.

use record_format::{FORTRAN, FORTRAN_2008, LARGE_COUNT};

use crate::frames::{NO_HANDLE, NO_INTEGER};

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// The number of a function, as a call has it.
const fn numbered(number: u16) -> u16 {
    number
}

/// The place of an argument that the function does not have.
pub const NO: u8 = u8::MAX;

/// One name under which a function is exported. Arguments are named by the words of a frame in which they stand.
pub struct Wrapper {
    /// Where its name stands in [`SYMBOLS`].
    symbol: u32,
    /// Its number and marks, as a call has them.
    pub function: u16,
    /// Its arguments stand where those of MPI_Send in C do: the functions that are called most often.
    pub is_message: bool,
    /// Besides, it sends one: its row is written when it has returned.
    pub is_send: bool,
    /// How many of its arguments stand on the stack, with those that Fortran adds for texts.
    pub copied: u8,
    /// All arguments are addresses.
    pub fortran: bool,
    /// Counts have 64 bits.
    pub wide: bool,
    /// The communicator, window, file or session; [`NO_HANDLE`], as with the next two.
    pub object: u8,
    /// Whether C gives that by address.
    pub by_address: bool,
    /// Of what is sent, or else received.
    pub datatype: u8,
    /// See above.
    pub count: u8,
    /// Destination, source, root or target; [`NO_INTEGER`], as with the next.
    pub peer: u8,
    /// The tag.
    pub tag: u8,
    /// The operator; [`NO`], as with all that follow.
    pub op: u8,
    /// What is received by a function that sends as well.
    pub second: Second,
    /// Which messages it sends or receives.
    pub messages: Messages,
    /// The status, or the statuses, that it returns.
    pub status: u8,
    /// The request that it returns.
    pub request: u8,
    /// Whether that is persistent.
    pub persistent: bool,
    /// The requests that it is given, by address.
    pub given: u8,
    /// How many, where they are an array.
    pub given_count: u8,
    /// Whether they are one.
    pub is_array: bool,
    /// Whether they are complete; of MPI_Init_thread the level that is provided.
    pub flag: u8,
    /// Which of them.
    pub index: u8,
    /// How many of them.
    pub outcount: u8,
    /// Which of them.
    pub indices: u8,
    /// The communicator that it makes.
    pub made: u8,
    /// The color of MPI_Comm_split.
    pub color: u8,
    /// What MPI_Comm_set_name calls a communicator.
    pub name: u8,
    /// How long that is, in Fortran.
    pub name_length: u8,
    /// The text by which MPI_Comm_create_from_group is called.
    pub string_tag: u8,
    /// Whether it is ordered after other collectives of its communicator.
    pub collective: bool,
    /// Whether it frees that.
    pub frees: bool,
    /// What it does to the requests it is given.
    pub completion: Completion,
    /// How the communicator is made.
    pub creation: Creation,
    /// What it begins or ends.
    pub stage: Stage,
    /// Whether it writes something down after the function has returned.
    pub has_result: bool,
    /// Whether more is written down than the call.
    pub has_more: bool,
    /// Whether it only asks whether something has come about.
    pub is_poll: bool,
}

/// What is received by a function that sends as well: places of arguments.
pub struct Second {
    /// The source.
    pub peer: u8,
    /// The tag.
    pub tag: u8,
    /// The count.
    pub count: u8,
    /// The datatype.
    pub datatype: u8,
}

/// Which messages a function sends or receives, at once or by the request that it returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Messages {
    /// None.
    None,
    /// It sends one.
    Send,
    /// It receives one.
    Receive,
    /// It does both.
    Both,
    /// It finds one that is received by no other (MPI_Mprobe).
    Probe,
}

/// What a function does to the requests it is given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Completion {
    /// Nothing.
    None,
    /// It completes one.
    Wait,
    /// It completes all.
    All,
    /// It completes the one of its index.
    Any,
    /// It completes those of its indices.
    Some,
    /// It completes one, where its flag says so.
    Test,
    /// It completes all, where its flag says so.
    TestAll,
    /// It frees one.
    Free,
    /// It starts one.
    Start,
    /// It starts all.
    StartAll,
    /// It cancels one.
    Cancel,
}

/// How a communicator is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// The function makes none.
    None,
    /// By all members of another, with all of them, or one of them.
    Whole,
    /// By all members of another, several at once.
    Part,
    /// By the members of a group in another.
    Group,
    /// By the members of a group.
    FromGroup,
    /// Of two others.
    Inter,
    /// With processes that share no communicator with this one.
    Elsewhere,
}

/// What a function begins or ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing.
    None,
    /// MPI.
    Init,
    /// A session.
    SessionInit,
    /// MPI.
    Finalize,
}

impl Wrapper {
    /// Its name, with the zero at its end.
    pub fn symbol(&self) -> &'static [u8] {
        let rest = &SYMBOLS[self.symbol as usize..];
        let end = rest.iter().position(|byte| *byte == 0).unwrap_or(0);
        &rest[..=end]
    }

    /// Whether C calls it.
    pub fn is_c(&self) -> bool {
        self.function & (FORTRAN | FORTRAN_2008) == 0
    }
}
