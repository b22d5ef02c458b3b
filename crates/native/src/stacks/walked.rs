//! The frames of one thread: those of its stack, and for each the functions that are inlined there.

use std::rc::Rc;
use std::sync::Arc;

use model::Frame;
use symbols::{Language, SourceFrame};
use target::Target;
use target::address::TargetAddr;
use target::libraries::{VDSO, is_application};
use target::registers::Machine;
use unwind::{Code, End, Found, Memory, Module, Registers};

use crate::images::{Image, Loaded};
use crate::process::{Process, Thread};
use crate::stacks::{Shared, jumps};

/// A frame as it is shown.
pub(crate) struct Shown {
    pub(crate) frame: Frame,
    /// Its place on the stack: inlined functions have the one of the function that they are inlined in, those that ended with
    /// a jump that of the function which called them.
    pub(crate) at: usize,
    /// How many functions are inlined within it there.
    pub(crate) depth: usize,
    /// What the debug information says.
    pub(crate) source: Option<SourceFrame>,
    /// Where its function ended with a jump to that of the frame before: the frame is made up.
    pub(crate) jump: Option<Jump>,
}

/// The jump that ended a function.
pub(crate) struct Jump {
    /// The address behind it.
    after: u64,
    /// The file of its code.
    loaded: Option<Arc<Loaded>>,
}

impl Shown {
    /// Whether it is inlined in the function of the next frame.
    pub(crate) fn is_inlined(&self) -> bool {
        self.jump.is_none() && self.source.as_ref().is_some_and(|source| source.inlined)
    }
}

/// The frames of a thread.
pub(crate) struct Walked {
    pub(crate) stack: Vec<unwind::Frame>,
    /// The file of each frame of the stack.
    pub(crate) loaded: Vec<Option<Arc<Loaded>>>,
    pub(crate) shown: Vec<Shown>,
    /// Whether the stack was seen down to its outermost frame.
    pub(crate) complete: bool,
}

impl Walked {
    pub(crate) fn new<P: Process>(shared: &Rc<Shared<P>>, thread: &Thread, most: usize) -> Self {
        let asked = Asked { shared };
        let registers = registers(thread);
        let machine = registers.machine();
        let stack = unwind::unwind(registers, machine, &asked, &asked, most);
        let guessed = stack.first_guess().is_some();
        let outermost = stack.end == End::Outermost;
        let mut found = Self { stack: Vec::new(), loaded: Vec::new(), shown: Vec::new(), complete: false };
        let (mut main, mut blocked) = (false, thread.blocked);
        for (at, frame) in stack.frames.into_iter().enumerate() {
            let address = place(&frame);
            let loaded = shared.images.loaded(address);
            if let Some(called) = found.stack.last().filter(|_| frame.found == Found::CallFrameInformation) {
                let jumps = jumps::between(shared, place(called), frame.pc());
                found.shown.extend(jumps.into_iter().filter_map(|after| made_up(shared, at, after)));
            }
            let before = found.shown.len();
            found.shown.extend(shown(shared, loaded.as_deref(), at, address));
            if frame.signal_trampoline
                && let Some(trampoline) = found.shown.last_mut()
            {
                let before = blocked_before(shared, thread.registers.machine(), &frame);
                trampoline.frame.signal = Some(signal_number(blocked, before));
                blocked = before;
            }
            let last = found.shown[before..].last();
            main = last.is_some_and(is_main) && loaded.as_ref().is_some_and(|one| one.image.is_program);
            found.stack.push(frame);
            found.loaded.push(loaded);
            if main {
                break;
            }
        }
        let named = found.shown.iter().any(|shown| shown.frame.function.is_some());
        let files = found.loaded.iter().all(|loaded| loaded.as_ref().is_some_and(|one| one.file.is_some()));
        let placed = found.shown.iter().all(|shown| shown.frame.image.is_some());
        found.complete = (main || outermost) && !guessed && placed && (named || files);
        found
    }

    /// The address of a frame's next instruction.
    pub(crate) fn pc(&self, shown: &Shown) -> Option<u64> {
        let of_jump = shown.jump.as_ref().map(|jump| jump.after);
        of_jump.or_else(|| self.stack.get(shown.at).map(unwind::Frame::pc))
    }

    /// The file of a frame's code.
    pub(crate) fn file<'w>(&'w self, shown: &'w Shown) -> Option<&'w Arc<Loaded>> {
        match &shown.jump {
            Some(jump) => jump.loaded.as_ref(),
            None => self.loaded.get(shown.at)?.as_ref(),
        }
    }

    /// The images on the stack whose file cannot be had.
    pub(crate) fn without_file(&self) -> impl Iterator<Item = &Image> {
        self.loaded.iter().flatten().filter(|loaded| loaded.file.is_none()).map(|loaded| &loaded.image)
    }
}

/// An address in the instruction at which a frame stands. The kernel's call of a signal's handler was called by nobody.
pub(crate) fn place(frame: &unwind::Frame) -> u64 {
    if frame.signal_trampoline { frame.pc() } else { frame.lookup() }
}

/// The signals that were blocked before the kernel called a handler.
fn blocked_before<P: Process>(shared: &Shared<P>, machine: Machine, trampoline: &unwind::Frame) -> Option<u64> {
    let at = trampoline.registers.sp()?.checked_add(machine.blocked_before())?;
    shared.memory.read_uint(TargetAddr::new(at), 8).ok()
}

/// The signal that a handler has blocked besides those of before: its own; 0 where there are more or none.
fn signal_number(blocked: Option<u64>, before: Option<u64>) -> i64 {
    let more = blocked.zip(before).map_or(0, |(blocked, before)| blocked & !before);
    if more.count_ones() == 1 { i64::from(more.trailing_zeros()) + 1 } else { 0 }
}

/// The frame of a function that ended with a jump, behind which `after` is, in the call that the frame `at` of the stack made.
/// What is inlined around the jump has none of its own, as in gdb.
fn made_up<P: Process>(shared: &Shared<P>, at: usize, after: u64) -> Option<Shown> {
    let address = after.checked_sub(1)?;
    let loaded = shared.images.loaded(address);
    let innermost = shown(shared, loaded.as_deref(), at, address).into_iter().next()?;
    Some(Shown { jump: Some(Jump { after, loaded }), ..innermost })
}

/// The functions at one place of the stack, from the innermost that is inlined.
fn shown<P: Process>(shared: &Shared<P>, loaded: Option<&Loaded>, at: usize, address: u64) -> Vec<Shown> {
    let named = |loaded: &Loaded| match shared.names.get(&loaded.bias) {
        Some(name) if loaded.image.path != VDSO => name.clone(),
        _ => loaded.image.shown(),
    };
    let image = loaded.map(named);
    let application = image.as_deref().map(|image| is_application(image, &shared.executable));
    let file = loaded.and_then(|loaded| Some((loaded.file.as_ref()?, address.wrapping_sub(loaded.bias))));
    let sources = file.as_ref().map(|(file, address)| file.object.frames_at(*address)).unwrap_or_default();
    let symbol = || {
        let (file, address) = file.as_ref()?;
        let function = file.object.symbol_at(*address)?;
        Some((function.name(), address.wrapping_sub(function.start)))
    };
    if sources.is_empty() {
        let (function, offset) = symbol().unzip();
        let of_application = |_: &u64| application == Some(true);
        // Of a call the address is one less than that at which the function goes on, which debuggers show.
        let back = u64::from(at > 0);
        let offset = offset.filter(of_application).and_then(|offset| i64::try_from(offset.saturating_add(back)).ok());
        let frame = Frame { function, offset, image, application, ..Frame::default() };
        return vec![Shown { frame, at, depth: 0, source: None, jump: None }];
    }
    let named = |(depth, source): (usize, SourceFrame)| {
        let known = source.line.is_some_and(|line| line > 0);
        let frame = Frame {
            function: source.function.clone().or_else(|| Some(symbol()?.0)),
            file: source.file.clone().filter(|_| known),
            line: source.line.filter(|_| known).map(i64::from),
            image: image.clone(),
            application,
            ..Frame::default()
        };
        Shown { frame, at, depth, source: Some(source), jump: None }
    };
    sources.into_iter().enumerate().map(named).collect()
}

/// Whether gdb shows nothing further out. It asks what the program's language calls its main function: in Fortran that is the
/// program's name, which no symbol has (gdb 13, `inside_main_func` in gdb/frame.c, `main_name` in gdb/symtab.c).
fn is_main(shown: &Shown) -> bool {
    let fortran = shown.source.as_ref().is_some_and(|source| source.language == Language::Fortran);
    shown.frame.function.as_deref() == Some("main") && !fortran
}

/// The registers of a thread, as the walk has them.
fn registers(thread: &Thread) -> Registers {
    let machine = match thread.registers.machine() {
        Machine::X86_64 => unwind::Machine::X86_64,
        Machine::Aarch64 => unwind::Machine::Aarch64,
    };
    let mut found = Registers::new(machine);
    for (number, value) in thread.registers.all() {
        found.set(*number, *value);
    }
    found
}

/// A process, as the walk asks for it.
struct Asked<'s, P: Process> {
    shared: &'s Shared<P>,
}

impl<P: Process> Code for Asked<'_, P> {
    fn module(&self, address: u64) -> Option<(Arc<Module>, u64)> {
        let loaded = self.shared.images.loaded(address)?;
        let module = loaded.file.as_ref()?.module()?;
        Some((Arc::clone(module), loaded.bias))
    }

    fn is_code(&self, address: u64) -> bool {
        self.shared.images.is_code(address)
    }
}

impl<P: Process> Memory for Asked<'_, P> {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.shared.memory.read(TargetAddr::new(address), into).is_ok()
    }
}
