//! Text of the target. Each pointer is read once: all entries of a table often point to the same few names.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use target::address::TargetAddr;
use target::{Reason, Target, printable};

/// Text that is longer is none: Linux has no longer paths (PATH_MAX), and no name here is longer than a path.
pub const MAX_TEXT: usize = 4096;

/// More bytes than this are not read for the text of one process.
const MAX_BYTES: usize = 64 << 20;

/// Reads end here, because the next page may not be mapped.
const PAGE: u64 = 4096;

/// What a pointer to text leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// Nowhere: it is null.
    Null,
    /// Printable text; what cannot be shown in it stands as `\xNN`.
    Is(Rc<str>),
    /// To no text, with the reason.
    Not(Rc<str>),
}

impl Text {
    /// The text; `None` where there is none, for whatever reason.
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Is(text) => Some(text),
            Self::Null | Self::Not(_) => None,
        }
    }

    /// Why there is no text behind a pointer that is not null.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::Not(reason) => Some(reason),
            Self::Null | Self::Is(_) => None,
        }
    }
}

/// The text of one process.
pub struct Strings<'t> {
    target: &'t dyn Target,
    known: RefCell<HashMap<TargetAddr, Text>>,
    bytes: Cell<usize>,
}

impl<'t> Strings<'t> {
    /// Reads from this process.
    pub fn new(target: &'t dyn Target) -> Self {
        Self { target, known: RefCell::default(), bytes: Cell::new(0) }
    }

    /// The process that is read.
    pub fn target(&self) -> &'t dyn Target {
        self.target
    }

    /// The text at `pointer`.
    pub fn at(&self, pointer: TargetAddr) -> Text {
        if pointer.is_null() {
            return Text::Null;
        }
        if let Some(known) = self.known.borrow().get(&pointer) {
            return known.clone();
        }
        let text = match self.read(pointer) {
            Ok(text) => Text::Is(text.into()),
            Err(reason) => Text::Not(reason.to_string().into()),
        };
        self.known.borrow_mut().insert(pointer, text.clone());
        text
    }

    fn read(&self, pointer: TargetAddr) -> Result<String, Reason> {
        let mut text = Vec::new();
        let mut at = pointer;
        while text.len() < MAX_TEXT {
            if self.bytes.get() > MAX_BYTES {
                return Err(Reason::new(format!(
                    "{} MiB of text are read already, and this at {pointer} was not",
                    MAX_BYTES >> 20
                )));
            }
            let to_page_end = usize::try_from(PAGE - at.get() % PAGE).unwrap_or(1);
            let len = to_page_end.min(MAX_TEXT - text.len());
            let piece = self.piece(at, len);
            let had = piece.len();
            self.bytes.set(self.bytes.get() + had.max(1));
            if let Some(end) = piece.iter().position(|&byte| byte == 0) {
                text.extend_from_slice(&piece[..end]);
                return Ok(printable(&text));
            }
            text.extend_from_slice(&piece);
            if had < len {
                let readable = if text.is_empty() { "nothing can be read".to_owned() } else { unended(text.len()) };
                return Err(Reason::new(format!("{readable} at {pointer}")));
            }
            at = at.wrapping_add(had as u64);
        }
        Err(Reason::new(format!("{} at {pointer}", unended(MAX_TEXT))))
    }

    /// As many of `len` bytes as can be read.
    fn piece(&self, at: TargetAddr, len: usize) -> Vec<u8> {
        // Within a page either all can be read or nothing, but for memory that is not made of pages (a mock's, a core's).
        self.target.read_bytes(at, len).unwrap_or_else(|_| {
            let byte = |index: usize| self.target.read_bytes(at.checked_add(index as u64)?, 1).ok();
            (0..len).map_while(|index| byte(index)?.first().copied()).collect()
        })
    }
}

fn unended(bytes: usize) -> String {
    format!("no end is found in {bytes} bytes")
}
