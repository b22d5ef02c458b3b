//! The walk from a thread's registers to its outermost frame.

use std::collections::HashSet;

use crate::guess;
use crate::machine::Machine;
use crate::process::{Code, Memory, Process};
use crate::registers::Registers;
use crate::rules;
use crate::signal;
use crate::stack::{End, Found, Frame, Stack};

/// The frames of a thread that has these registers, the innermost first, `most` of them at most.
pub fn unwind(registers: Registers, machine: Machine, code: &dyn Code, memory: &dyn Memory, most: usize) -> Stack {
    let process = Process { code, memory };
    let mut stack = Stack { frames: Vec::new(), end: End::Limit };
    if registers.machine() != machine || registers.pc().is_none() {
        stack.end = End::Unknown { pc: 0, register: machine.name(machine.program_counter()) };
        return stack;
    }
    let mut next = Caller { registers, found: Found::Innermost, interrupted: true };
    let mut seen = HashSet::new();
    // What lies above the frames so far, where these are on one stack.
    let mut above = None;
    while stack.frames.len() < most {
        let pc = next.registers.pc().unwrap_or_default();
        if !seen.insert((pc, next.registers.sp(), next.registers.fp())) {
            stack.end = End::Loop { pc };
            break;
        }
        let step = look(process, &next.registers, next.interrupted);
        stack.frames.push(Frame {
            registers: next.registers,
            cfa: step.cfa,
            found: next.found,
            interrupted: next.interrupted,
            signal_trampoline: step.trampoline,
        });
        match step.caller {
            Err(end) => {
                stack.end = end;
                break;
            }
            // The handler may have had a stack of its own.
            Ok(caller) if step.trampoline => {
                above = None;
                next = caller;
            }
            Ok(_) if step.above.is_some() && above.is_some_and(|above| step.above <= Some(above)) => {
                stack.end = End::Loop { pc };
                break;
            }
            Ok(caller) => {
                above = step.above.or(above);
                next = caller;
            }
        }
    }
    stack
}

struct Caller {
    registers: Registers,
    found: Found,
    interrupted: bool,
}

/// What one frame tells.
struct Step {
    cfa: Option<u64>,
    trampoline: bool,
    /// An address above all of the frame.
    above: Option<u64>,
    caller: Result<Caller, End>,
}

impl Step {
    const fn end(end: End) -> Self {
        Self { cfa: None, trampoline: false, above: None, caller: Err(end) }
    }
}

fn look(process: Process<'_>, registers: &Registers, interrupted: bool) -> Step {
    let pc = registers.pc().unwrap_or_default();
    let by_tables = match by_tables(process, registers, interrupted) {
        Some(step) if !matches!(step.caller, Err(End::Damaged { .. } | End::Unknown { .. })) => return step,
        other => other,
    };
    if let Some(found) = signal::interrupted(process, registers) {
        let cfa = found.sp();
        let caller = Caller { registers: found, found: Found::SignalFrame, interrupted: true };
        return Step { cfa, trampoline: true, above: cfa, caller: Ok(caller) };
    }
    if let Some(found) = guess::guess(process, registers, interrupted) {
        let caller = Caller { registers: found.caller, found: found.found, interrupted: false };
        return Step { cfa: found.cfa, trampoline: false, above: Some(found.above), caller: Ok(caller) };
    }
    by_tables.unwrap_or(Step::end(End::NoTables { pc }))
}

/// By the tables of the frame's code; `None` where they say nothing about it.
fn by_tables(process: Process<'_>, registers: &Registers, interrupted: bool) -> Option<Step> {
    let pc = registers.pc()?;
    let lookup = if interrupted { pc } else { pc.wrapping_sub(1) };
    let (module, bias) = process.code.module(lookup)?;
    if module.machine() != registers.machine() {
        return None;
    }
    let row = match module.row(lookup.wrapping_sub(bias)) {
        Ok(Some(row)) => row,
        Ok(None) => return None,
        Err(_) => return Some(Step::end(End::Damaged { pc })),
    };
    let ruled = rules::apply(&row, (&module, bias), process, registers, interrupted);
    let caller = ruled.caller.and_then(|registers| {
        let pc = registers.pc().unwrap_or_default();
        if row.signal {
            // It may have been interrupted because it went to where no code is.
            return Ok(Caller { registers, found: Found::SignalFrame, interrupted: true });
        }
        if pc == 0 {
            return Err(End::Outermost);
        }
        // What a handler returns to may begin its page, what does not return may end it.
        if !process.may_stand(pc) && !process.may_stand(pc.wrapping_sub(1)) {
            return Err(End::NotCode { pc });
        }
        Ok(Caller { registers, found: Found::CallFrameInformation, interrupted: false })
    });
    Some(Step { cfa: ruled.cfa, trampoline: row.signal, above: ruled.cfa, caller })
}
