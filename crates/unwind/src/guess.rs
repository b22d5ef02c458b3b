//! The caller of code that has no tables, as far as it can be guessed.
//!
//! Two places may hold the return address: the one where a call leaves it, and the record to which the frame pointer leads.
//! What lies there must point behind a call; where both do, the called function tells which one it was.

use crate::instructions::{Call, call_before, is_untouched, jump_target, pushed_by_linkage, pushed_record, set_up};
use crate::machine::Machine;
use crate::process::Process;
use crate::registers::Registers;
use crate::signal;
use crate::stack::Found;

/// Functions are no longer than this, when a return address is weighed.
const LONGEST: u64 = 1 << 16;

/// A return address so little before an instruction is likely of the same function.
const NEAR: u64 = 256;

/// A caller that may be the one.
pub(crate) struct Guess {
    pub caller: Registers,
    pub cfa: Option<u64>,
    pub found: Found,
    /// An address above all of the frame that was left.
    pub above: u64,
    entered: Entered,
}

/// Whether the call that a return address stands behind led to where the frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entered {
    /// It did, if the function that begins here goes on to there.
    At(u64),
    /// It does not say what it called.
    Somewhere,
    /// It called something else, which may have jumped there.
    Elsewhere,
}

/// The likeliest caller of a frame. `interrupted` is whether the frame waits for no call.
pub(crate) fn guess(process: Process<'_>, registers: &Registers, interrupted: bool) -> Option<Guess> {
    let guesses = Guesses { process, registers, machine: registers.machine(), pc: registers.pc()? };
    let record = guesses.by_record();
    if !interrupted {
        return record;
    }
    let (Some(top), Some(record)) = (guesses.just_called(), guesses.by_record()) else {
        return guesses.just_called().or(record);
    };
    let by_record = match (top.entered, record.entered) {
        _ if guesses.is_untouched() => false,
        _ if guesses.has_called(&top) || top.caller.pc() == record.caller.pc() => true,
        (Entered::At(top), _) if guesses.has_set_up(top) => true,
        (Entered::At(top), Entered::At(record)) => record > top,
        (Entered::At(_), _) => false,
        (Entered::Somewhere, Entered::At(_)) => true,
        (Entered::Somewhere, _) => false,
        (Entered::Elsewhere, Entered::Elsewhere) => false,
        (Entered::Elsewhere, _) => true,
    };
    Some(if by_record { record } else { top })
}

struct Guesses<'a> {
    process: Process<'a>,
    registers: &'a Registers,
    machine: Machine,
    pc: u64,
}

impl Guesses<'_> {
    /// Whether the place where a call leaves the return address still holds it for sure.
    fn is_untouched(&self) -> bool {
        is_untouched(self.machine, self.process, self.pc) || self.pushed().is_some() || self.record_size().is_some()
    }

    /// Whether the link register holds where a call of the same function returned to: a little before where the frame stands.
    /// It may also hold what is in the record, as it does until the first call.
    fn has_called(&self, top: &Guess) -> bool {
        let Some(address) = top.caller.pc().filter(|_| self.machine.link().is_some()) else { return false };
        let near = self.pc.checked_sub(address).is_some_and(|past| past < NEAR);
        near && !matches!(top.entered, Entered::At(begin) if begin >= address)
    }

    /// Whether a function that begins at an address has set up its frame pointer when it comes to where the frame stands.
    fn has_set_up(&self, begin: u64) -> bool {
        set_up(self.machine, self.process, begin).is_some_and(|end| end <= self.pc)
    }

    /// The size of a record on AArch64 to which the frame pointer will lead with the next instruction.
    fn record_size(&self) -> Option<u64> {
        let before = self.pc.checked_sub(4).filter(|_| self.machine == Machine::Aarch64)?;
        pushed_record(self.process, before)
    }

    fn pushed(&self) -> Option<u64> {
        pushed_by_linkage(self.machine, self.process, self.pc)
    }

    /// As after a call, before the function has changed anything.
    fn just_called(&self) -> Option<Guess> {
        let sp = self.registers.sp()?;
        if let Some(link) = self.machine.link() {
            let address = self.machine.without_signature(self.registers.get(link)?);
            let cfa = sp.checked_add(self.record_size().unwrap_or_default());
            return self.caller(address, cfa, self.registers.fp(), Found::ReturnAddress);
        }
        let frame_pointer = self.registers.fp();
        if let Some(pushed) = self.pushed() {
            let at = sp.checked_add(pushed)?;
            return self.caller(self.process.word(at)?, at.checked_add(8), frame_pointer, Found::ReturnAddress);
        }
        let first = self.process.word(sp)?;
        let found = self.caller(first, sp.checked_add(8), frame_pointer, Found::ReturnAddress);
        // The frame pointer may have been saved already.
        found.or_else(|| {
            let second = self.process.word(sp.checked_add(8)?)?;
            let saved = frame_pointer.filter(|frame_pointer| *frame_pointer == first)?;
            self.caller(second, sp.checked_add(16), Some(saved), Found::ReturnAddress)
        })
    }

    /// By the record to which the frame pointer leads: that of the caller, and the return address.
    fn by_record(&self) -> Option<Guess> {
        let record = self.registers.fp()?;
        if record == 0 || record % self.machine.alignment() != 0 || self.registers.sp().is_some_and(|sp| record < sp) {
            return None;
        }
        let saved = self.process.word(record)?;
        let address = self.machine.without_signature(self.process.word(record.checked_add(8)?)?);
        let above = record.checked_add(16)?;
        // On AArch64 the record may lie anywhere in the frame.
        let cfa = (self.machine == Machine::X86_64).then_some(above);
        Some(Guess { above, ..self.caller(address, cfa, Some(saved), Found::FramePointer)? })
    }

    fn caller(&self, address: u64, cfa: Option<u64>, frame_pointer: Option<u64>, found: Found) -> Option<Guess> {
        // A handler returns to the kernel's code, which nobody called.
        let entered = match call_before(self.machine, self.process, address) {
            Some(call) => self.entered(call),
            None if signal::starts(self.machine, self.process, address) => Entered::Somewhere,
            None => return None,
        };
        // Where no code is, nothing was done since the call.
        let mut caller = if self.process.may_stand(self.pc) { Registers::new(self.machine) } else { self.kept() };
        caller.set(self.machine.program_counter(), address);
        if let Some(link) = self.machine.link() {
            caller.set(link, address);
        }
        if let Some(cfa) = cfa {
            caller.set(self.machine.stack_pointer(), cfa);
        }
        if let Some(frame_pointer) = frame_pointer {
            caller.set(self.machine.frame_pointer(), frame_pointer);
        }
        Some(Guess { caller, cfa, found, above: cfa.unwrap_or_default(), entered })
    }

    fn kept(&self) -> Registers {
        let mut kept = Registers::new(self.machine);
        for number in self.machine.kept() {
            if let Some(value) = self.registers.get(*number) {
                kept.set(*number, value);
            }
        }
        kept
    }

    fn entered(&self, call: Call) -> Entered {
        let Call::Direct(target) = call else { return Entered::Somewhere };
        let holds = |begin: &u64| self.pc.checked_sub(*begin).is_some_and(|into| into < LONGEST);
        let jump = jump_target(self.machine, self.process, target);
        match [Some(target), jump].into_iter().flatten().filter(holds).max() {
            Some(begin) => Entered::At(begin),
            None => Entered::Elsewhere,
        }
    }
}
