//! The record of the flight recorder, as it lies in the memory of a process: one mapping of its own, found by the exported
//! pointer [`SYMBOL`] or by its first bytes, [`MAGIC`], at the start of a page.
//!
//! Everything is little- or big-endian as the machine is. Places are offsets from the start of the mapping. Each table is
//! a [`Section`] with its stride and count, so that a reader can walk tables whose rows have grown. A reader refuses another
//! [`VERSION`]; fields that are only added keep it.
//!
//! **Whole or torn.** A writer sets a row's `number` to 0, writes the row, and sets `number` last. A row whose number is 0
//! is torn or was never written; of a ring's row the number must also be the one that belongs at its place
//! ([`Call::belongs_at`]).
//!
//! **Sends.** The row of a call that sends may be written only when its function has returned. While the thread is in it
//! ([`Thread::current`]) and its row has another number, what it was given stands in its frame on the stack ([`Thread::frame`]),
//! whose `call` is the same number then ([`FrameLayout`]). It is not among the numbers of messages yet.
#![no_std]

/// The first bytes of the mapping.
pub const MAGIC: [u8; 16] = *b"MPIQ\x01recorder\r\n\0";
/// Of the layout. Another one is not to be read.
pub const VERSION: u32 = 1;
/// The exported variable that holds the address of the mapping; 0 before the first call that is recorded.
pub const SYMBOL: &str = "mpi_queues_recorder_header";

/// A table in the mapping.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// Where it begins (bytes from the start of the mapping).
    pub offset: u64,
    /// From one row to the next (bytes).
    pub stride: u32,
    /// How many rows it has.
    pub count: u32,
}

/// One time by two clocks.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calibration {
    /// CLOCK_MONOTONIC (ns).
    pub monotonic: u64,
    /// CLOCK_REALTIME (ns since 1970).
    pub realtime: u64,
}

/// The start of the mapping.
#[repr(C)]
#[derive(Debug)]
pub struct Header {
    /// [`MAGIC`]; written last.
    pub magic: [u8; 16],
    /// [`VERSION`].
    pub version: u32,
    /// Of this structure (bytes).
    pub header_bytes: u32,
    /// Of the mapping (bytes).
    pub total_bytes: u64,
    /// Where the mapping lies in the process that writes it.
    pub address: u64,
    /// The process that writes it; after a fork the child's.
    pub pid: u32,
    /// The process that forked this one; 0: none. What was recorded before is that one's.
    pub forked_from: u32,
    /// One of [`family`].
    pub family: u32,
    /// One of [`stage`].
    pub stage: u32,
    /// What MPI_Init_thread was asked for; 0 after MPI_Init.
    pub thread_level: i32,
    /// In MPI_COMM_WORLD; -1: not known.
    pub world_rank: i32,
    /// Of MPI_COMM_WORLD (processes); -1: not known.
    pub world_size: i32,
    /// By how much a call's time may lie before its beginning (ns).
    pub resolution: u32,
    /// When the record began.
    pub first: Calibration,
    /// The latest time that was taken by all clocks.
    pub latest: Calibration,
    /// [`FunctionName`]: the row is the number of a function.
    pub functions: Section,
    /// [`Thread`].
    pub threads: Section,
    /// [`Call`]: the rings of all threads, one after the other ([`Thread::ring`]).
    pub calls: Section,
    /// Of each row of `requests` the request; 0: the row is free.
    pub request_keys: Section,
    /// [`Request`].
    pub requests: Section,
    /// Of each row of `communicators` the handle by which C knows it; 0: the row is free.
    pub communicator_keys: Section,
    /// [`Communicator`].
    pub communicators: Section,
    /// [`Collective`]: [`COLLECTIVES`] for each row of `communicators`, one after the other.
    pub collectives: Section,
    /// Threads that were given no row, because all were taken.
    pub lost_threads: u64,
    /// Calls of such threads.
    pub lost_calls: u64,
    /// Requests that found no free row.
    pub lost_requests: u64,
    /// Requests that left their row when a call began to wait for more of them than it has room to remember.
    pub early_requests: u64,
    /// Communicators that found no free row.
    pub lost_communicators: u64,
    /// Not 0: the program, or a library before the recorder, has MPI's functions in itself. Nothing is recorded.
    pub bypassed: u64,
    /// Of each row of `message_counts` whose it is ([`MessageKey`]); 0: the row is free. Records without this and what follows
    /// have a shorter header.
    pub message_keys: Section,
    /// How many messages ([`u64`]).
    pub message_counts: Section,
    /// Messages that found no free row.
    pub lost_messages: u64,
    /// Of each row of `communicators` what the program called it last, ended by a zero ([`COMMUNICATOR_NAME`] bytes).
    pub communicator_names: Section,
    /// What stands in the frame of a call that sends. Records without this write all rows before the function runs.
    pub frame: FrameLayout,
}

/// Where words stand in a frame ([`Thread::frame`]), from its start (bytes). It begins with the arguments that registers have, which
/// are words of 64 bits ([`MESSAGE_COUNT`] and those below).
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLayout {
    /// The number of the call ([`Call::number`]).
    pub call: u32,
    /// When it began, by the clock of [`Call::time`]: seconds and nanoseconds, each a word of 64 bits; or the second of
    /// CLOCK_REALTIME and [`TO_THE_SECOND`].
    pub time: u32,
    /// The function with its marks, 16 bits.
    pub function: u32,
    /// Where the call returns to ([`Call::site`]).
    pub site: u32,
}

/// Stands for the nanoseconds of a call's beginning that is known to the second only.
pub const TO_THE_SECOND: u64 = u64::MAX;

/// Of a function of C that sends the place of an argument: how many elements, 32 bits with a sign.
pub const MESSAGE_COUNT: u8 = 1;
/// The datatype.
pub const MESSAGE_DATATYPE: u8 = 2;
/// The destination, 32 bits with a sign.
pub const MESSAGE_PEER: u8 = 3;
/// The tag, 32 bits with a sign.
pub const MESSAGE_TAG: u8 = 4;
/// The communicator. As the datatype it has the bits of a handle of the MPI alone ([`family`]): of MPICH's the lower 32.
pub const MESSAGE_COMMUNICATOR: u8 = 5;

/// Whose a number of messages is: those that this process has sent to one rank of a communicator with one tag, or has begun
/// to receive from it. A receive that names both its source and its tag counts when it begins; one from any source or with any
/// tag when it is complete, by its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageKey {
    /// The row of the communicator.
    pub communicator: u64,
    /// Whether they are received.
    pub received: bool,
    /// The other process, in the communicator's numbering (of an intercommunicator that of the remote group).
    pub peer: i32,
    /// The tag.
    pub tag: i32,
}

impl MessageKey {
    const TAG_BITS: u32 = 31;
    const PEER_BITS: u32 = 22;
    const COMMUNICATOR_BITS: u32 = 9;
    const RECEIVED: u64 = 1 << 62;
    const USED: u64 = 1 << 63;

    /// As one word, which is not 0; `None` where a number has no room in it.
    #[inline(always)]
    pub const fn word(self) -> Option<u64> {
        if self.tag < 0
            || self.peer < 0
            || self.peer >> Self::PEER_BITS != 0
            || self.communicator >> Self::COMMUNICATOR_BITS != 0
        {
            return None;
        }
        let received = if self.received { Self::RECEIVED } else { 0 };
        let peer = (self.peer as u64) << Self::TAG_BITS;
        Some(Self::USED | received | self.communicator << (Self::TAG_BITS + Self::PEER_BITS) | peer | self.tag as u64)
    }

    /// Of a word.
    pub fn of(word: u64) -> Self {
        let bits = |from: u32, count: u32| word >> from & ((1 << count) - 1);
        Self {
            communicator: bits(Self::TAG_BITS + Self::PEER_BITS, Self::COMMUNICATOR_BITS),
            received: word & Self::RECEIVED != 0,
            peer: bits(Self::TAG_BITS, Self::PEER_BITS) as i32,
            tag: bits(0, Self::TAG_BITS) as i32,
        }
    }
}

/// Which MPI's handles the record has.
pub mod family {
    /// Not known yet.
    pub const UNKNOWN: u32 = 0;
    /// Open MPI: handles of C are pointers, those of Fortran indexes.
    pub const OPEN_MPI: u32 = 1;
    /// MPICH and its ABI: handles are 32 bits, the same in C and Fortran.
    pub const MPICH: u32 = 2;
    /// The ABI of MPI 5: handles of C are pointers.
    pub const ABI: u32 = 3;
}

/// How far the process is.
pub mod stage {
    /// Before MPI_Init.
    pub const BEFORE: u32 = 0;
    /// Between MPI_Init and MPI_Finalize.
    pub const RUNNING: u32 = 1;
    /// In MPI_Finalize.
    pub const FINALIZING: u32 = 2;
    /// After it.
    pub const FINALIZED: u32 = 3;
}

/// A function's name in C, ended by zeros.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FunctionName {
    /// Such as `MPI_Send`.
    pub name: [u8; FUNCTION_NAME],
    /// What the member `object` of its calls is: one of [`object`].
    pub object: u8,
    /// Whether it is a collective of the communicator `object`.
    pub collective: u8,
    /// Not used.
    pub padding: [u8; 6],
}

/// Room for a communicator's name (bytes).
pub const COMMUNICATOR_NAME: usize = 64;

/// Room for a function's name (bytes).
pub const FUNCTION_NAME: usize = 40;

/// What the member `object` of a call is.
pub mod object {
    /// The function has none.
    pub const NONE: u8 = 0;
    /// A communicator.
    pub const COMMUNICATOR: u8 = 1;
    /// A window.
    pub const WINDOW: u8 = 2;
    /// A file.
    pub const FILE: u8 = 3;
    /// A session.
    pub const SESSION: u8 = 4;
}

/// Set in handles that are Fortran's and mean something else than the same number in C (Open MPI, the ABI of MPI 5).
pub const FORTRAN_HANDLE: u64 = 1 << 62;
/// No peer, tag, root or number was given.
pub const NOT_GIVEN: i32 = i32::MIN;

/// `function` of a call: the number of the function.
pub const FUNCTION_NUMBER: u16 = 0x0fff;
/// `function` of a call: it is the binding for large counts.
pub const LARGE_COUNT: u16 = 0x1000;
/// `function` of a call: it was called from Fortran, by `mpif.h` or `use mpi`.
pub const FORTRAN: u16 = 0x2000;
/// `function` of a call: it was called from Fortran, by `use mpi_f08`.
pub const FORTRAN_2008: u16 = 0x4000;
/// `function` of a call: the row goes on with the one before it, for what is received (MPI_Sendrecv).
pub const SECOND_HALF: u16 = 0x8000;

/// `count` holds the count in these bits, and the function in those above.
pub const COUNT_BITS: u32 = 48;

/// A thread: whose calls, and where it is. A row is used again after its thread has ended.
#[repr(C)]
#[derive(Debug)]
pub struct Thread {
    /// Rows that its ring was given: the number of the latest call, and that of the next row less one.
    pub calls: u64,
    /// The number of the call that it is in; 0: in none. Of calls inside calls (a callback) the innermost.
    pub current: u64,
    /// Where that call's frame is: a call further out on the stack means that this one was left by longjmp or an exception.
    pub frame: u64,
    /// The frame of a call from Fortran, inside which the same function of C is not recorded again; 0: none.
    pub fortran_frame: u64,
    /// Whose it is (`gettid`).
    pub id: u32,
    /// One of [`thread_state`].
    pub state: u32,
    /// The lowest address of its stack; 0: not known.
    pub stack_low: u64,
    /// The first address above its stack.
    pub stack_high: u64,
    /// Where its ring begins (rows of `calls`).
    pub ring: u32,
    /// Of its ring (rows; a power of two).
    pub capacity: u32,
    /// Where it keeps requests that a call waits for: the recorder's own (bytes from the start of the mapping).
    pub waited: u64,
    /// How many it can keep.
    pub waited_count: u32,
    /// Fortran's function that is at work, by its number.
    pub fortran_function: u32,
    /// The communicator of its latest collective, and its row: the recorder's own.
    pub latest_communicator: u64,
    /// See above.
    pub latest_row: u64,
    /// How many it keeps now, of calls inside calls.
    pub waited_used: u64,
    /// How far it is: one for each call that does more than to ask whether something has come about (MPI_Test, MPI_Iprobe), when it
    /// begins, and one for each request that such a call has completed.
    pub steps: u64,
    /// Not used.
    pub padding: [u64; 2],
}

/// Whether a row of `threads` is in use.
pub mod thread_state {
    /// It never was.
    pub const FREE: u32 = 0;
    /// It is.
    pub const LIVE: u32 = 1;
    /// Its thread has ended, or is the parent's after a fork.
    pub const ENDED: u32 = 2;
}

/// A call, written when it begins.
#[repr(C)]
#[derive(Debug)]
pub struct Call {
    /// Its number in its thread, from 1; 0: torn.
    pub number: u64,
    /// When it began, by CLOCK_MONOTONIC_COARSE (ns): the processor's counter takes three times as long to read, most of the
    /// time that a call may cost.
    pub time: u64,
    /// Where it returns to.
    pub site: u64,
    /// Where its caller returns to, by the unwinding tables of the caller's code; 0: these do not tell. On AArch64 it may be
    /// signed (PAC).
    pub caller: u64,
    /// The communicator, window, file or session that it was given ([`object`]); 0: none.
    pub object: u64,
    /// The datatype; of functions that are given requests the address of the first.
    pub datatype: u64,
    /// How many elements, or requests, and above [`COUNT_BITS`] the function with its marks.
    pub count: u64,
    /// The other process: destination, source, root or target, in the communicator's numbering. [`NOT_GIVEN`]: none.
    pub peer: i32,
    /// The tag.
    pub tag: i32,
}

impl Call {
    /// What `count` holds of a number of elements and a function with its marks.
    #[inline(always)]
    pub const fn counted(count: u64, function: u16) -> u64 {
        count & ((1 << COUNT_BITS) - 1) | (function as u64) << COUNT_BITS
    }

    /// Whether a row's number is one that is written at that place of a ring with so many rows.
    pub const fn belongs_at(number: u64, place: u64, capacity: u64) -> bool {
        number != 0 && (number - 1) % capacity == place
    }
}

/// An open request: one that a call returned and that nobody has completed or freed, as far as calls tell.
#[repr(C)]
#[derive(Debug)]
pub struct Request {
    /// The number of the call that made it, with the row of its thread above [`COUNT_BITS`]; 0: torn or free.
    pub number: u64,
    /// The request, as in `request_keys`.
    pub request: u64,
    /// One of [`request_state`].
    pub state: u32,
    /// Of [`request_flags`].
    pub flags: u32,
    /// When the call began that made it (ns).
    pub time: u64,
    /// As in [`Call`], of the call that made it; so are those that follow.
    pub site: u64,
    /// See [`Call::caller`].
    pub caller: u64,
    /// See [`Call::object`].
    pub object: u64,
    /// See [`Call::datatype`].
    pub datatype: u64,
    /// See [`Call::count`].
    pub count: u64,
    /// See [`Call::peer`].
    pub peer: i32,
    /// See [`Call::tag`].
    pub tag: i32,
    /// Of a persistent request the call that started it last, as `number`; 0: it was never started.
    pub started: u64,
    /// When that was (ns).
    pub started_time: u64,
    /// Where it returns to.
    pub started_site: u64,
    /// See [`Call::caller`].
    pub started_caller: u64,
    /// Of what both sends and receives (MPI_Isendrecv) the source.
    pub source: i32,
    /// And the tag of the receive.
    pub source_tag: i32,
    /// Not used.
    pub more: u64,
}

/// What a request is at.
pub mod request_state {
    /// It was started and nobody has completed it.
    pub const ACTIVE: u32 = 1;
    /// It is persistent and not started.
    pub const INACTIVE: u32 = 2;
    /// It is persistent and was started.
    pub const STARTED: u32 = 3;
}

/// What a request is about.
pub mod request_flags {
    /// It sends a message.
    pub const SENDS: u32 = 1;
    /// It receives one.
    pub const RECEIVES: u32 = 2;
    /// From any source, or with any tag.
    pub const ANY: u32 = 4;
}

/// Collectives kept for each communicator.
pub const COLLECTIVES: usize = 64;

/// A communicator.
#[repr(C)]
#[derive(Debug)]
pub struct Communicator {
    /// As in `communicator_keys`.
    pub handle: u64,
    /// One of [`communicator_state`].
    pub state: u32,
    /// Of [`communicator_flags`].
    pub flags: u32,
    /// Its name, the same in all processes that have it (docs/recorder.md); 0: not known.
    pub identity: u64,
    /// That of the communicator it was made from; 0: none.
    pub parent: u64,
    /// How many communicators were made from it by all its members.
    pub children: u64,
    /// How many collectives this process began on it.
    pub collectives: u64,
    /// Running hash of these: function and root, which all members must give alike.
    pub order: u64,
    /// Running hash of count, datatype and operator as well: where it is equal they are, and it may differ rightly.
    pub contents: u64,
    /// The call that made it, as in [`Request::number`]; 0: MPI itself did, or it was not seen.
    pub made: u64,
    /// Where that call returns to.
    pub site: u64,
    /// This process in it; -1: not known.
    pub rank: i32,
    /// Its processes; -1: not known.
    pub size: i32,
    /// Processes of the other side of an intercommunicator; -1: it is none.
    pub remote_size: i32,
    /// What MPI_Comm_split was given; [`NOT_GIVEN`] otherwise.
    pub color: i32,
    /// By how many communicators made the same way before the identity differs from theirs: the recorder's own.
    pub occurrence: u64,
    /// What the identity is made of besides that: the recorder's own.
    pub origin: u64,
    /// Fortran's handle of it, where that is another number than C's and was used ([`FORTRAN_HANDLE`]); 0: none.
    pub fortran: u64,
    /// Messages of which it is not known by whom they were sent, or whether they were received: a request was cancelled, or
    /// freed, or nothing told its status. The counts of its messages say too little then.
    pub untold: u32,
    /// How many of `collectives` return a request.
    pub started: u32,
}

/// What a communicator is at.
pub mod communicator_state {
    /// It can be used.
    pub const LIVE: u32 = 1;
    /// It was freed; the row is used again when others are needed.
    pub const FREED: u32 = 2;
}

/// What is particular to a communicator.
pub mod communicator_flags {
    /// An intercommunicator: roots are given as MPI_ROOT there, and are not in `order`.
    pub const INTER: u32 = 1;
    /// The identity is known to this process only: others that have it call it otherwise.
    pub const OWN_NAME: u32 = 2;
    /// It was first seen when it was used.
    pub const NOT_SEEN_MADE: u32 = 4;
    /// Fortran has used it.
    pub const FORTRAN: u32 = 8;
    /// C has used it.
    pub const C: u32 = 16;
    /// Of an intercommunicator: this process is in the second of its groups. Which is the second is the same for all.
    pub const SECOND: u32 = 32;
    /// Messages were counted on it: the recorder's own.
    pub const MESSAGES: u32 = 64;
}

/// A collective, in the ring of its communicator.
#[repr(C)]
#[derive(Debug)]
pub struct Collective {
    /// Which of the communicator's collectives it is, from 1; 0: torn.
    pub number: u64,
    /// The call, as in [`Request::number`].
    pub call: u64,
    /// See [`Call::site`].
    pub site: u64,
    /// See [`Call::caller`].
    pub caller: u64,
    /// See [`Call::count`].
    pub count: u64,
    /// See [`Call::datatype`].
    pub datatype: u64,
    /// The operator; 0: none.
    pub op: u64,
    /// See [`Call::peer`].
    pub root: i32,
    /// Which of those it is that return a request, from 1; 0: it is none of them.
    pub started: u32,
}

// Readers of other languages have these numbers.
const _: () = {
    assert!(size_of::<Header>() == 352);
    assert!(size_of::<FunctionName>() == 48);
    assert!(size_of::<Thread>() == 128);
    assert!(size_of::<Call>() == 64);
    assert!(size_of::<Request>() == 128);
    assert!(size_of::<Communicator>() == 128);
    assert!(size_of::<Collective>() == 64);
};
