//! What goes wrong, as the interface has it: a number, and a text for it.
//!
//! The texts lie in memory that is never given back: a debugger may keep a pointer to one as long as it likes.

use std::cell::UnsafeCell;
use std::ffi::{c_char, c_int};

use mqs_interface::{END_OF_LIST, FIRST_USER_CODE, NO_INFORMATION, OK};
use session::SessionError;

/// Bytes of a text, its NUL included.
const ROOM: usize = 1024;

macro_rules! codes {
    ($($code:ident = $number:literal $kind:literal $text:literal;)*) => {
        /// A code of ours.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(i32)]
        pub enum Code { $(#[doc = $text] $code = FIRST_USER_CODE + $number),* }

        impl Code {
            /// All of them, by their numbers.
            pub const ALL: &[Self] = &[$(Self::$code),*];

            /// What it means, where nothing more is known.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$code => $text),* }
            }

            /// The code for an error of a session.
            fn of_kind(kind: &str) -> Self {
                match kind {
                    $($kind => Self::$code,)*
                    _ => Self::Unreadable,
                }
            }
        }
    };
}

codes! {
    NotMpi = 0 "not_mpi" "this is no MPI process";
    UnsupportedMpi = 1 "unsupported_mpi" "this MPI is neither Open MPI nor made from MPICH";
    NotInitialized = 2 "not_initialized" "MPI is not initialised in this process";
    Finalized = 3 "finalized" "MPI is finalised in this process";
    NoLayout = 4 "no_layout" "no layout fits this MPI library";
    Unreadable = 5 "" "the memory of the process cannot be read";
    Queue = 6 "queue" "the queue could not be read to its end";
    Busy = 7 "busy" "it is at work already";
    BadArgument = 8 "argument" "the debugger has given what the interface does not allow";
    NoCallbacks = 9 "callbacks" "the debugger has not given its callbacks";
    NoMemory = 10 "memory" "the debugger has no memory";
    Internal = 11 "internal" "an error of mpi-queues itself";
    NoIdentity = 12 "identity" "the process is in no job that the debugger has told of";
}

/// An error: its code, and a text that says more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The code.
    pub code: Code,
    /// In a sentence.
    pub text: String,
}

impl From<Code> for Error {
    fn from(code: Code) -> Self {
        Self { code, text: code.text().to_owned() }
    }
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        Self { code: Code::of_kind(error.kind()), text: error.to_string() }
    }
}

/// A text that C reads.
pub struct Text(UnsafeCell<[u8; ROOM]>);

// SAFETY: it is written by whoever holds the lock of the library's state (`state::with`) only, and handed out as a pointer.
#[allow(unsafe_code)]
unsafe impl Sync for Text {}

/// The latest text of each code.
static TEXTS: [Text; Code::ALL.len()] = [const { Text::new() }; Code::ALL.len()];

impl Text {
    /// An empty one.
    pub const fn new() -> Self {
        Self(UnsafeCell::new([0; ROOM]))
    }

    /// Puts a text in place of what is there; what has no room is cut off.
    #[allow(unsafe_code)]
    pub fn set(&self, text: &str) {
        let length = fitting(text, ROOM - 1);
        let mut bytes = [0; ROOM];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        // SAFETY: nobody else writes (see `Sync`), and no reference to it is kept.
        unsafe { *self.0.get() = bytes };
    }

    /// For C.
    pub fn pointer(&self) -> *mut c_char {
        self.0.get().cast()
    }
}

/// How many bytes of a text fit into so many, in whole letters.
pub fn fitting(text: &str, room: usize) -> usize {
    (0..=room.min(text.len())).rev().find(|length| text.is_char_boundary(*length)).unwrap_or(0)
}

impl Error {
    /// Keeps the text for [`text_of`]; returns the number.
    pub fn kept(&self) -> c_int {
        let text = if self.text.is_empty() { self.code.text() } else { &self.text };
        TEXTS[(self.code as c_int - FIRST_USER_CODE) as usize].set(text);
        self.code as c_int
    }
}

/// The text for a code, as `mqs_dll_error_string` gives it.
pub fn text_of(code: c_int) -> *mut c_char {
    let fixed = match code {
        OK => c"no error",
        NO_INFORMATION => c"no information",
        END_OF_LIST => c"end of the list",
        _ => {
            let Some(known) = Code::ALL.iter().find(|known| **known as c_int == code) else {
                return c"an error code that mpi-queues does not have".as_ptr().cast_mut();
            };
            let text = &TEXTS[(code - FIRST_USER_CODE) as usize];
            if text.is_empty() {
                text.set(known.text());
            }
            return text.pointer();
        }
    };
    fixed.as_ptr().cast_mut()
}

impl Text {
    #[allow(unsafe_code)]
    fn is_empty(&self) -> bool {
        // SAFETY: nobody writes meanwhile (see `Sync`).
        unsafe { (*self.0.get())[0] == 0 }
    }
}
