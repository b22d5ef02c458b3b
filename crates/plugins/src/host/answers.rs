//! The host's answers to what a plug-in asks through its callbacks, and what it says there.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use super::abi::TADDR_WIDTH;
use super::error::PluginError;
use super::library::other_series;
use super::message::Told;
use super::wire::{Failure, Kind, MAX_FETCH, PAGE, Put, RUN, RUN_PAGES, Take};
use layouts::{LayoutError, Layouts};
use target::address::TargetAddr;
use target::{Target, TargetError, printable};

/// How many failed reads are told one by one.
const TOLD_READS: usize = 8;
/// How many missing types and fields are told one by one.
const TOLD_MISSES: usize = 64;

/// A read that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadRead {
    /// Where.
    pub addr: TargetAddr,
    /// How many bytes.
    pub len: u64,
}

/// More types than this are not remembered as asked for.
const MAX_ASKED: usize = 256;

/// What a plug-in asked for and no source has. In their order they are told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// A field of a type: the type's name, the field's.
    Field(String, String),
    /// A type, by its name.
    Type(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name, field) => write!(f, "the field {name}.{field}"),
            Self::Type(name) => write!(f, "the type {name}"),
        }
    }
}

/// What the helper asks about; none while a plug-in is only inspected.
pub struct Asked<'a> {
    /// The memory and symbols.
    pub target: &'a dyn Target,
    /// The types.
    pub layouts: &'a Layouts,
    /// Which member a plug-in means by a field of a type that has no direct member of that name.
    pub member: &'a dyn Fn(&str, &str) -> Option<&'static str>,
}

/// The answer to a request.
#[derive(Default)]
pub struct Answer {
    /// Its payload.
    pub payload: Vec<u8>,
    /// Whether there is one.
    pub given: bool,
}

/// Answers what a plug-in asks, and keeps what it says.
pub struct Answers<'a> {
    asked: Option<Asked<'a>>,
    path: &'a Path,
    message_limit: usize,
    message_bytes: usize,
    /// What the plug-in said.
    pub messages: Vec<String>,
    /// Reads that failed.
    pub failed_reads: u64,
    /// The first of them.
    pub first_failed_reads: Vec<BadRead>,
    missing: BTreeSet<Missing>,
    asked_types: BTreeSet<String>,
}

impl<'a> Answers<'a> {
    /// For the plug-in at `path`; so many bytes of messages are kept.
    pub fn new(path: &'a Path, message_limit: usize) -> Self {
        Self {
            asked: None,
            path,
            message_limit,
            message_bytes: 0,
            messages: Vec::new(),
            failed_reads: 0,
            first_failed_reads: Vec::new(),
            missing: BTreeSet::new(),
            asked_types: BTreeSet::new(),
        }
    }

    /// Serves memory, symbols and types.
    pub fn ask(&mut self, asked: Asked<'a>) {
        self.asked = Some(asked);
    }

    /// Types, fields and other names that no source has.
    pub fn missing(&self) -> impl Iterator<Item = &Missing> {
        self.missing.iter()
    }

    /// The types that were asked for and are known; taken away.
    pub fn take_asked_types(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.asked_types)
    }

    /// The names of the sources of types.
    pub fn sources(&self) -> String {
        self.asked.as_ref().map_or_else(String::new, |asked| asked.layouts.source_names().join(", "))
    }

    /// The error for what makes no sense.
    pub fn nonsense(&self, reason: &str) -> PluginError {
        PluginError::Protocol { path: self.path.to_owned(), reason: reason.to_owned() }
    }

    /// Counts a read that failed.
    pub fn count_failed_read(&mut self, addr: u64, len: u64) {
        self.failed_reads = self.failed_reads.saturating_add(1);
        if self.first_failed_reads.len() < TOLD_READS {
            self.first_failed_reads.push(BadRead { addr: TargetAddr::new(addr), len });
        }
    }

    fn miss(&mut self, what: Missing) {
        if self.missing.len() < TOLD_MISSES {
            self.missing.insert(what);
        }
    }

    /// Keeps a message, within the limit.
    pub fn message(&mut self, text: String) {
        if text.is_empty() || self.message_bytes >= self.message_limit {
            return;
        }
        self.message_bytes += text.len();
        self.messages.push(text);
    }

    /// Answers a request, or keeps what the plug-in prints; `false` where the frame is neither.
    ///
    /// # Errors
    /// Where it makes no sense, or the target is gone.
    pub fn serve(&mut self, kind: Kind, payload: &[u8], answer: &mut Answer) -> Result<bool, PluginError> {
        let mut take = Take(payload);
        let out = &mut answer.payload;
        match kind {
            Kind::RUN => self.answer_run(&mut take, out)?,
            Kind::READ => self.answer_read(&mut take, out)?,
            Kind::SYMBOL => self.answer_symbol(&mut take, out)?,
            Kind::TYPE => self.answer_type(&mut take, out)?,
            Kind::FIELD => self.answer_field(&mut take, out)?,
            _ => {
                match Told::read(kind, payload) {
                    Some(Told::Print { text }) => {
                        self.message(format!("plug-in (debug): {}", printable(text).trim_end()));
                    }
                    Some(Told::BadFetch { addr, len }) => self.count_failed_read(addr, len),
                    _ => return Ok(false),
                }
                return Ok(true);
            }
        }
        answer.given = true;
        Ok(true)
    }

    /// Refuses a plug-in whose own words say that it is for another series of the MPI library than `library`.
    ///
    /// # Errors
    /// [`PluginError::OtherLibrary`].
    pub fn check_series(&self, words: Option<&str>, library: Option<&str>) -> Result<(), PluginError> {
        let (Some(words), Some(library)) = (words, library) else { return Ok(()) };
        other_series(words, library).map_or(Ok(()), |found| {
            Err(PluginError::OtherLibrary { path: self.path.to_owned(), found, library: library.to_owned() })
        })
    }

    /// The error for a failure that is the same in all interfaces; `spoken`: the versions of this one that are.
    pub fn failure(&self, failure: Failure, code: i32, text: &[u8], spoken: &'static str) -> Option<PluginError> {
        let path = self.path.to_owned();
        Some(match failure {
            Failure::Load => PluginError::Load { path, reason: printable(text) },
            Failure::Version => PluginError::Version { path, found: code, expected: spoken },
            Failure::Width => PluginError::Width { path, found: code, expected: TADDR_WIDTH },
            _ => return None,
        })
    }

    /// The error for too much of something.
    pub fn too_much(&self, what: &'static str, limit: usize) -> PluginError {
        PluginError::TooMuch { path: self.path.to_owned(), what, limit }
    }

    /// A source that failed, or knows something impossible, is another matter than one that does not know.
    fn layout_failure(&mut self, error: &LayoutError) {
        if !matches!(error, LayoutError::NoType { .. } | LayoutError::NoField { .. }) {
            self.message(error.to_string());
        }
    }

    fn answer_run(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let start = take.u64().ok_or_else(|| self.nonsense("a short request"))?;
        let Some(asked) = &self.asked else { return Err(self.nonsense("a read without a target")) };
        let mut bytes = vec![0; RUN];
        match asked.target.read(TargetAddr::new(start), &mut bytes) {
            Ok(()) => {
                out.u32((1 << RUN_PAGES) - 1);
                out.bytes(&bytes);
                return Ok(());
            }
            Err(error @ TargetError::Gone) => return Err(error.into()),
            Err(_) => {}
        }
        let mut readable = 0_u32;
        let at = out.len();
        out.u32(0);
        for page in 0..RUN_PAGES {
            let piece = &mut bytes[..PAGE];
            match asked.target.read(TargetAddr::new(start).wrapping_add((page * PAGE) as u64), piece) {
                Ok(()) => {
                    readable |= 1 << page;
                    out.bytes(piece);
                }
                Err(error @ TargetError::Gone) => return Err(error.into()),
                Err(_) => {}
            }
        }
        out[at..at + 4].copy_from_slice(&readable.to_ne_bytes());
        Ok(())
    }

    fn answer_read(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let (Some(addr), Some(len)) = (take.u64(), take.u32()) else { return Err(self.nonsense("a short request")) };
        let Some(asked) = &self.asked else { return Err(self.nonsense("a read without a target")) };
        let wanted = usize::try_from(len).ok().filter(|len| *len <= MAX_FETCH);
        let read = wanted.map(|len| asked.target.read_bytes(TargetAddr::new(addr), len));
        match read {
            Some(Ok(bytes)) => {
                out.u8(1);
                out.bytes(&bytes);
            }
            Some(Err(error @ TargetError::Gone)) => return Err(error.into()),
            _ => {
                out.u8(0);
                self.count_failed_read(addr, u64::from(len));
            }
        }
        Ok(())
    }

    fn answer_symbol(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let name = take.text().ok_or_else(|| self.nonsense("a short request"))?;
        let Some(asked) = &self.asked else { return Err(self.nonsense("a symbol without a target")) };
        let name = printable(name);
        match asked.target.symbol(&name) {
            Ok(Some(symbol)) => {
                out.u8(1);
                out.u64(symbol.addr.get());
            }
            Ok(None) => out.u8(0),
            Err(error @ TargetError::Gone) => return Err(error.into()),
            Err(error) => {
                out.u8(0);
                self.message(format!("the symbol {name} could not be looked up: {error}"));
            }
        }
        Ok(())
    }

    fn answer_type(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let name = take.text().ok_or_else(|| self.nonsense("a short request"))?;
        let Some(asked) = &self.asked else { return Err(self.nonsense("a type without a target")) };
        let name = printable(name);
        // The callback takes names as the debugger's types have them.
        let plain = name.strip_prefix("struct ").unwrap_or(&name);
        match asked.layouts.size_of(plain) {
            Ok(size) => {
                out.u8(1);
                out.u64(size);
                if self.asked_types.len() < MAX_ASKED {
                    self.asked_types.insert(plain.to_owned());
                }
            }
            Err(error) => {
                out.u8(0);
                self.miss(Missing::Type(name));
                self.layout_failure(&error);
            }
        }
        Ok(())
    }

    fn answer_field(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let (Some(name), Some(field)) = (take.text(), take.text()) else {
            return Err(self.nonsense("a short request"));
        };
        let Some(asked) = &self.asked else { return Err(self.nonsense("a field without a target")) };
        let (name, field) = (printable(name), printable(field));
        let plain = name.strip_prefix("struct ").unwrap_or(&name);
        let found = asked.layouts.field(plain, &field);
        let found = match (&found, (asked.member)(plain, &field)) {
            (Err(LayoutError::NoField { .. }), Some(member)) => asked.layouts.field(plain, member).or(found),
            _ => found,
        };
        match found {
            Ok(found) => {
                out.u8(1);
                out.u64(found.offset);
            }
            Err(error) => {
                out.u8(0);
                self.miss(Missing::Field(name, field));
                self.layout_failure(&error);
            }
        }
        Ok(())
    }
}
