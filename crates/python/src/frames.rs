//! The frames of one of Python's threads.

use std::collections::HashSet;

use model::{Frame, FrameLanguage};
use target::address::TargetAddr;

use crate::code::Codes;
use crate::error::{PythonError, unlike};
use crate::layout::{Entry, Innermost, OWNED_BY_C, Position};
use crate::memory::Memory;
use crate::places::{self, Place};
use crate::threads::PythonThread;

/// A stack deeper than this is not walked to its end.
const DEEPEST: usize = 2000;
/// What a frame costs of what may be read and gone through, beside its names.
const FRAME: u64 = 64;

/// The frames of a thread.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Frames {
    /// What each C function of the interpreter runs, innermost first.
    pub groups: Vec<Vec<Frame>>,
    /// Why further out is not known.
    pub unknown: Option<PythonError>,
    /// Whether there are more than were walked.
    pub cut: bool,
}

impl Frames {
    /// Whether the program may run: a frame is that of a module, or of what runs one (`python -m`), or not all are known. At the
    /// end of a program others stand there, of functions that it has asked for (the module `atexit`).
    pub fn may_run_a_program(&self) -> bool {
        if self.unknown.is_some() || self.cut {
            return true;
        }
        let is_module = |frame: &Frame| {
            frame.function.as_deref() == Some("<module>") || frame.file.as_deref().is_some_and(places::runs_modules)
        };
        self.groups.iter().flatten().any(is_module)
    }
}

/// The frames that a thread runs.
pub(crate) fn frames(memory: &Memory<'_>, codes: &Codes, thread: &PythonThread) -> Frames {
    let mut frames = Frames::default();
    let mut group = Vec::new();
    if let Err(error) = walk(memory, codes, thread, &mut group, &mut frames) {
        frames.unknown = Some(error);
    }
    if !group.is_empty() {
        frames.groups.push(group);
    }
    frames
}

fn walk(
    memory: &Memory<'_>,
    codes: &Codes,
    thread: &PythonThread,
    group: &mut Vec<Frame>,
    frames: &mut Frames,
) -> Result<(), PythonError> {
    let layout = &memory.layout;
    let mut at = match layout.innermost {
        Innermost::Here(offset) => memory.pointer(thread.address, offset)?,
        Innermost::Cframe { cframe, current } => match memory.pointer(thread.address, cframe)? {
            TargetAddr::NULL => return Ok(()),
            found => memory.pointer(found, current)?,
        },
    };
    let mut seen = HashSet::new();
    while !at.is_null() {
        if !seen.insert(at) {
            return Err(unlike("the frames of a thread of Python's lead in a circle"));
        }
        if seen.len() > DEEPEST {
            frames.cut = true;
            return Ok(());
        }
        let end = match layout.entry {
            Entry::Each => {
                group.extend(frame(memory, codes, at)?);
                true
            }
            Entry::Marked(offset) => {
                group.extend(frame(memory, codes, at)?);
                memory.target.read_uint(at.wrapping_add(offset), 1)? != 0
            }
            Entry::Owner(offset) => {
                let own = memory.target.read_uint(at.wrapping_add(offset), 1)? >= OWNED_BY_C;
                if !own {
                    group.extend(frame(memory, codes, at)?);
                }
                own
            }
        };
        if end {
            frames.groups.push(std::mem::take(group));
        }
        at = memory.pointer(at, layout.frame_previous)?;
    }
    Ok(())
}

/// One frame; none where it is the interpreter's own.
fn frame(memory: &Memory<'_>, codes: &Codes, at: TargetAddr) -> Result<Option<Frame>, PythonError> {
    let layout = &memory.layout;
    let address = memory.code_of(at)?;
    let code = codes.get(memory, address)?;
    let offset = match layout.position {
        Position::Index { offset, unit } => memory.int(at, offset)?.saturating_mul(unit),
        Position::Pointer(offset) => {
            let position = memory.pointer(at, offset)?;
            own_offset(memory, address, at, position).unwrap_or_else(|| code.offset_of(position))
        }
    };
    memory.pay(FRAME + (code.function.len() + code.file.len()) as u64)?;
    let line = code.line(memory, offset)?;
    if code.made_up && line.is_none() {
        return Ok(None);
    }
    let place = places::of(&code.file);
    Ok(Some(Frame {
        function: Some(code.function.clone()),
        file: Some(code.file.clone()),
        line,
        offset: None,
        application: Some(place == Place::Application),
        image: None,
        language: Some(FrameLanguage::Python),
        wrapper: place == Place::Wrapper,
        signal: None,
    }))
}

/// How far a frame is in code that only its thread has: in builds without the lock, since 3.14 (_PyFrame_GetBytecode in
/// pycore_interpframe.h; _PyCodeArray in cpython/code.h: a number, then addresses).
fn own_offset(memory: &Memory<'_>, code: TargetAddr, frame: TargetAddr, position: TargetAddr) -> Option<i64> {
    let (tlbc, index) = memory.layout.own_code?;
    let codes = memory.pointer(code, tlbc).ok().filter(|codes| !codes.is_null())?;
    let index = u64::try_from(memory.int(frame, index).ok()?).ok()?;
    let count = memory.target.read_uint(codes, 8).ok()?;
    let begin = (index < count).then(|| memory.pointer(codes.wrapping_add(8), 8 * index).ok()).flatten()?;
    Some(position.get().wrapping_sub(begin.get()).cast_signed())
}
