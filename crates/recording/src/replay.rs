//! A recorded process as a target.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::rc::Rc;

use super::RecordingError;
use super::described::{ProcessDescription, ProcessEnd};
use super::file::{RecordingFile, Section};
use super::frame::{Frame, Kind};
use super::limits::{self, MAX_FAULTS, MAX_LOADED, MAX_OBJECTS, MAX_RANGES, MAX_SYMBOLS, MAX_THREADS};
use super::ranges::Range;
use layouts::{LayoutSource, Profile, TypeLayout};
use model::Stack;
use target::address::TargetAddr;
use target::{CodePlace, Image, Reason, Symbol, Target, TargetAbi, TargetError};

/// Frames of memory that are kept decompressed, each of about a mebibyte.
const KEPT: usize = 64;

/// Different ranges that were asked for in vain are remembered up to this many.
const MAX_MISSING: usize = 1000;

/// A range of recorded memory: which frame has it, and where in it.
#[derive(Debug, Clone, Copy)]
struct Piece {
    range: Range,
    frame: u32,
    offset: u32,
}

/// A recorded process: memory, symbols, images and types as they were.
pub struct Replay {
    file: Rc<RecordingFile>,
    /// What the recording says of the process; the stacks are back in its facts.
    pub description: ProcessDescription,
    /// What could not be recorded.
    pub end: ProcessEnd,
    /// The layout profile that was used.
    pub profile: Option<Profile>,
    types: BTreeMap<String, Option<TypeLayout>>,
    pieces: Vec<Piece>,
    bytes: Vec<Frame>,
    faults: Vec<Range>,
    symbols: HashMap<Box<str>, Option<Symbol>>,
    /// The name of each address, made when the first is asked for.
    functions: OnceCell<HashMap<TargetAddr, Box<str>>>,
    kept: RefCell<VecDeque<(u32, Rc<Vec<u8>>)>>,
    missing: RefCell<Vec<TargetError>>,
}

impl Replay {
    /// Loads the process with number `index`; memory is decompressed when it is read.
    ///
    /// # Errors
    /// Where the process is not whole, or what it says is impossible.
    pub fn open(file: &Rc<RecordingFile>, index: usize) -> Result<Self, RecordingError> {
        let damaged = |reason: String| RecordingError::Damaged { path: file.path.clone(), index, reason };
        let section = file.sections.get(index).ok_or_else(|| damaged("there is no such process".to_owned()))?;
        let (Some(process), Some(end), false) = (&section.process, &section.end, section.damaged) else {
            return Err(damaged("parts of it are lost".to_owned()));
        };
        // Counted before anything is unpacked.
        let texts = section.frames.iter().filter(|frame| frame.kind != Some(Kind::Bytes)).chain([process, end]);
        let size = texts.map(|frame| frame.raw_len).sum();
        if size > MAX_LOADED {
            return Err(damaged("it says more than any process".to_owned()));
        }
        let too_large = |reason| RecordingError::TooLarge { path: file.path.clone(), index, reason };
        file.unpacked.text(size, file.len).map_err(too_large)?;
        let load = |frame: &Frame| file.raw(frame).map_err(|error| damaged(error.to_string()));
        let json = |error: serde_json::Error| damaged(format!("its description makes no sense: {error}"));
        let mut replay = Self {
            description: serde_json::from_slice(&load(process)?).map_err(json)?,
            end: serde_json::from_slice(&load(end)?).map_err(json)?,
            file: Rc::clone(file),
            profile: None,
            types: BTreeMap::new(),
            pieces: Vec::new(),
            bytes: Vec::new(),
            faults: Vec::new(),
            symbols: HashMap::new(),
            functions: OnceCell::new(),
            kept: RefCell::default(),
            missing: RefCell::default(),
        };
        replay.load(section).map_err(|error| damaged(error.to_string()))?;
        Ok(replay)
    }

    fn load(&mut self, section: &Section) -> io::Result<()> {
        let mut objects = 0;
        let mut announced: Vec<Range> = Vec::new();
        for frame in &section.frames {
            // A frame of memory is decompressed when somebody reads it.
            let raw = |file: &RecordingFile| file.raw(frame);
            match frame.kind {
                Some(Kind::Ranges) => announced = unpacked(&raw(&self.file)?)?,
                Some(Kind::Bytes) => self.add_bytes(frame, &std::mem::take(&mut announced))?,
                Some(Kind::Faults) => self.faults.extend(unpacked(&raw(&self.file)?)?),
                Some(Kind::Symbols) => self.add_symbols(&raw(&self.file)?)?,
                Some(Kind::Stacks) => {
                    let text = raw(&self.file)?;
                    objects += text.iter().filter(|byte| **byte == b'{').count();
                    if objects > MAX_OBJECTS {
                        return Err(invalid("its stacks have more frames than any process"));
                    }
                    let stacks = &mut self.description.facts.stacks;
                    stacks.extend(serde_json::from_slice::<Vec<Stack>>(&text)?);
                    if stacks.len() > MAX_THREADS {
                        return Err(invalid("it has more threads than any process"));
                    }
                }
                Some(Kind::Types) => self.types.extend(serde_json::from_slice::<BTreeMap<_, _>>(&raw(&self.file)?)?),
                Some(Kind::Profile) => {
                    let text =
                        String::from_utf8(raw(&self.file)?).map_err(|_| invalid("a profile that is not text"))?;
                    self.profile = Some(Profile::from_json(&text).map_err(|error| invalid(&error.to_string()))?);
                }
                _ => {}
            }
            if self.pieces.len() > MAX_RANGES || self.faults.len() > MAX_FAULTS {
                return Err(invalid("it has more parts than any process"));
            }
        }
        self.faults = joined(std::mem::take(&mut self.faults));
        Ok(())
    }

    fn add_bytes(&mut self, frame: &Frame, announced: &[Range]) -> io::Result<()> {
        if frame.raw_len > limits::most(Kind::Bytes) {
            return Err(invalid("a part of its memory is larger than any that is written"));
        }
        let index = u32::try_from(self.bytes.len()).map_err(|_| invalid("too many parts"))?;
        self.bytes.push(*frame);
        let mut offset = 0;
        for &range in announced {
            let before = self.pieces.last().map_or(0, |piece| piece.range.end);
            if range.start < before || range.start >= range.end {
                return Err(invalid("its memory is not in order"));
            }
            self.pieces.push(Piece { range, frame: index, offset });
            let next = u64::from(offset).checked_add(range.bytes()).filter(|end| *end <= frame.raw_len);
            offset = next
                .and_then(|end| u32::try_from(end).ok())
                .ok_or_else(|| invalid("memory reaches out of its part"))?;
        }
        Ok(())
    }

    fn add_symbols(&mut self, raw: &[u8]) -> io::Result<()> {
        let text = std::str::from_utf8(raw).map_err(|_| invalid("symbols that are not text"))?;
        let lines = raw.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.file.unpacked.symbols(lines, self.file.len).map_err(|reason| invalid(&reason.to_string()))?;
        self.symbols.reserve((lines as usize).min(MAX_SYMBOLS));
        for line in text.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(addr), Some(size), Some(name)) = (words.next(), words.next(), words.next()) else {
                return Err(invalid("a symbol makes no sense"));
            };
            let number = |digits: &str| u64::from_str_radix(digits, 16).map_err(|_| invalid("a symbol makes no sense"));
            let symbol = match addr {
                "absent" => None,
                addr => Some(Symbol {
                    addr: TargetAddr::new(number(addr)?),
                    size: if size == "-" { None } else { Some(number(size)?) },
                }),
            };
            self.symbols.insert(name.into(), symbol);
            if self.symbols.len() > MAX_SYMBOLS {
                return Err(invalid("it has more symbols than any process"));
            }
        }
        Ok(())
    }

    /// Forgets what was missing before another reading.
    pub fn forget_missing(&self) {
        self.missing.borrow_mut().clear();
    }

    /// The errors of reads that asked for what was not recorded, the first of them.
    pub fn missing(&self) -> Vec<TargetError> {
        self.missing.borrow().clone()
    }

    /// The debugger's types as they were recorded.
    pub fn types(&self) -> RecordedTypes {
        RecordedTypes { types: self.types.clone() }
    }

    /// The ranges of memory that it has.
    pub fn ranges(&self) -> impl Iterator<Item = Range> + '_ {
        self.pieces.iter().map(|piece| piece.range)
    }

    /// How many symbols it has.
    pub fn symbol_count(&self) -> usize {
        self.symbols.values().flatten().count()
    }

    fn not_there(&self, error: TargetError) -> TargetError {
        let mut missing = self.missing.borrow_mut();
        if missing.len() < MAX_MISSING && !missing.contains(&error) {
            missing.push(error.clone());
        }
        error
    }

    fn piece_at(&self, at: u64) -> Option<Piece> {
        let after = self.pieces.partition_point(|piece| piece.range.start <= at);
        self.pieces.get(after.checked_sub(1)?).copied().filter(|piece| at < piece.range.end)
    }

    fn frame(&self, index: u32) -> io::Result<Rc<Vec<u8>>> {
        let mut kept = self.kept.borrow_mut();
        if let Some(place) = kept.iter().position(|(number, _)| *number == index) {
            // Most reads stay in the frame of the one before: it is first.
            kept.swap(0, place);
            return Ok(Rc::clone(&kept[0].1));
        }
        let frame = self.bytes.get(index as usize).ok_or_else(|| invalid("a part is missing"))?;
        self.file.unpacked.memory(frame.raw_len, self.file.len).map_err(|reason| invalid(&reason.to_string()))?;
        let raw = Rc::new(self.file.raw(frame)?);
        kept.truncate(KEPT - 1);
        kept.push_front((index, Rc::clone(&raw)));
        Ok(raw)
    }
}

impl Target for Replay {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        if addr.checked_add(buf.len() as u64).is_none() {
            // Nothing is mapped beyond the end of the address space: no recording needs to say so.
            return Err(TargetError::Fault { addr, len: buf.len() as u64 });
        }
        let (mut at, mut done) = (addr.get(), 0);
        while done < buf.len() {
            let Some(piece) = self.piece_at(at) else {
                let wanted = Range::new(addr.get(), buf.len() as u64);
                let before = self.faults.partition_point(|fault| fault.start < wanted.end);
                if before.checked_sub(1).is_some_and(|last| wanted.start < self.faults[last].end) {
                    return Err(TargetError::Fault { addr, len: wanted.bytes() });
                }
                let len = (buf.len() - done) as u64;
                return Err(self.not_there(TargetError::NotRecorded { addr: TargetAddr::new(at), len }));
            };
            let raw = self.frame(piece.frame).map_err(|error| TargetError::File {
                path: self.file.path.display().to_string(),
                reason: error.to_string(),
            })?;
            let len = (buf.len() - done).min(usize::try_from(piece.range.end - at).unwrap_or(usize::MAX));
            let from = piece.offset as usize + (at - piece.range.start) as usize;
            let Some(bytes) = raw.get(from..from + len) else {
                return Err(TargetError::Fault { addr, len: buf.len() as u64 });
            };
            buf[done..done + len].copy_from_slice(bytes);
            done += len;
            at = at.wrapping_add(len as u64);
        }
        Ok(())
    }

    /// Strings are recorded with their NUL and no further.
    fn read_c_string(&self, addr: TargetAddr, max: usize) -> Result<Vec<u8>, TargetError> {
        let mut text = Vec::new();
        while text.len() < max {
            let at = addr.wrapping_add(text.len() as u64);
            let Some(piece) = self.piece_at(at.get()) else {
                // One byte tells the error that this is; later ones end the string, as in memory.
                if text.is_empty() {
                    self.read(addr, &mut [0])?;
                }
                break;
            };
            let len = usize::try_from(piece.range.end - at.get()).unwrap_or(max).min(max - text.len());
            let bytes = self.read_bytes(at, len)?;
            if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
                text.extend_from_slice(&bytes[..end]);
                break;
            }
            text.extend_from_slice(&bytes);
        }
        Ok(text)
    }

    fn is_held(&self, addr: TargetAddr, len: usize) -> bool {
        let wanted = Range::new(addr.get(), len as u64);
        let mut at = wanted.start;
        while let Some(piece) = (at < wanted.end).then(|| self.piece_at(at)).flatten() {
            at = piece.range.end;
        }
        at >= wanted.end
    }

    fn abi(&self) -> TargetAbi {
        self.description.abi
    }

    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        match self.symbols.get(name) {
            Some(known) => Ok(*known),
            None if self.description.symbols_complete => Ok(None),
            None => Err(self.not_there(TargetError::SymbolNotRecorded { name: name.to_owned() })),
        }
    }

    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        let known = || self.symbols.iter().filter_map(|(name, symbol)| Some((name.to_string(), (*symbol)?)));
        Ok(self.description.symbols_complete.then(|| known().collect()))
    }

    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        let pointers = self.end.stack_pointers.as_ref();
        let pointers = pointers.ok_or("the recording does not say where the stacks of its threads ended")?;
        Ok(pointers.iter().copied().map(TargetAddr::new).collect())
    }

    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        Ok(self.functions.get_or_init(|| by_address(&self.symbols)).get(&addr).map(ToString::to_string))
    }

    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        Ok(self.end.places.get(&addr.get()).cloned())
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(self.description.images.iter().map(Image::from).collect())
    }
}

/// Structure layouts that a debugger had from debug information.
pub struct RecordedTypes {
    types: BTreeMap<String, Option<TypeLayout>>,
}

impl LayoutSource for RecordedTypes {
    fn name(&self) -> String {
        "debug-info".to_owned()
    }

    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason> {
        Ok(self.types.get(type_name).cloned().flatten())
    }

    fn constant(&self, _: &str) -> Result<Option<i64>, Reason> {
        Ok(None)
    }
}

/// The last name of each address in the order of their characters.
fn by_address(symbols: &HashMap<Box<str>, Option<Symbol>>) -> HashMap<TargetAddr, Box<str>> {
    let mut named: HashMap<TargetAddr, Box<str>> = HashMap::new();
    for (name, symbol) in symbols {
        let Some(symbol) = symbol else { continue };
        let known = named.entry(symbol.addr).or_insert_with(|| name.clone());
        if *known < *name {
            known.clone_from(name);
        }
    }
    named
}

/// The ranges in order, those that overlap as one.
fn joined(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut found: Vec<Range> = Vec::new();
    for range in ranges {
        match found.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => found.push(range),
        }
    }
    found
}

fn unpacked(raw: &[u8]) -> io::Result<Vec<Range>> {
    let (pairs, rest) = raw.as_chunks::<16>();
    if !rest.is_empty() || pairs.len() > MAX_RANGES {
        return Err(invalid("a list of addresses makes no sense"));
    }
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| (value << 8) | u64::from(*byte));
    Ok(pairs.iter().map(|pair| Range::new(number(&pair[..8]), number(&pair[8..]))).collect())
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}
