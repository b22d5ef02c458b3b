//! A frame's caller, by the rules that the tables have for the frame.

use gimli::{CfaRule, Register, RegisterRule};

use crate::expression::Surroundings;
use crate::module::Module;
use crate::process::Process;
use crate::registers::Registers;
use crate::row::Row;
use crate::stack::End;

/// What rules say: the frame's canonical address, and its caller's registers, where it has one.
pub(crate) struct Ruled {
    pub cfa: Option<u64>,
    pub caller: Result<Registers, End>,
}

/// Applies the row of a module that is loaded with a bias to a frame. `interrupted` is whether the frame waits for no call.
pub(crate) fn apply(
    row: &Row,
    (module, bias): (&Module, u64),
    process: Process<'_>,
    registers: &Registers,
    interrupted: bool,
) -> Ruled {
    let at = Surroundings { process, registers, bias, encoding: row.encoding, cfa: None };
    let cfa = match cfa(row, module, &at) {
        Ok(cfa) => cfa,
        Err(end) => return Ruled { cfa: None, caller: Err(end) },
    };
    let at = Surroundings { cfa: Some(cfa), ..at };
    Ruled { cfa: Some(cfa), caller: Rules { row, module, at, cfa, interrupted }.caller() }
}

fn cfa(row: &Row, module: &Module, at: &Surroundings<'_>) -> Result<u64, End> {
    match &row.cfa {
        CfaRule::RegisterAndOffset { register, offset } => Ok(at.register(*register)?.wrapping_add_signed(*offset)),
        CfaRule::Expression(expression) => {
            let pc = at.registers.pc().unwrap_or_default();
            at.evaluate(module.expression(row.table, expression).ok_or(End::Damaged { pc })?)
        }
    }
}

struct Rules<'a> {
    row: &'a Row,
    module: &'a Module,
    at: Surroundings<'a>,
    cfa: u64,
    interrupted: bool,
}

impl Rules<'_> {
    fn caller(&self) -> Result<Registers, End> {
        let registers = self.at.registers;
        let machine = registers.machine();
        let mut caller = Registers::new(machine);
        for number in machine.kept() {
            if self.row.rule(Register(*number)).is_none()
                && let Some(value) = registers.get(*number)
            {
                caller.set(*number, value);
            }
        }
        if self.row.rule(Register(machine.stack_pointer())).is_none() {
            caller.set(machine.stack_pointer(), self.cfa);
        }
        for (register, rule) in &self.row.rules {
            // A register that cannot be restored is one that is not known.
            if let Ok(Some(value)) = self.value(*register, rule) {
                caller.set(register.0, value);
            }
        }
        let pc = machine.without_signature(self.return_address()?);
        if let Some(link) = machine.link()
            && !self.row.signal
        {
            caller.set(link, pc);
        }
        caller.set(machine.program_counter(), pc);
        Ok(caller)
    }

    /// Where the frame returns to.
    fn return_address(&self) -> Result<u64, End> {
        let register = self.row.return_address;
        let pc = self.at.registers.pc().unwrap_or_default();
        match self.row.rule(register) {
            Some(RegisterRule::Undefined) => Err(End::Outermost),
            Some(RegisterRule::SameValue) | None => {
                // The register is the one that the last call wrote to; once that has returned it says where the frame stands.
                let link = self.at.registers.machine().link() == Some(register.0);
                if link && self.interrupted { self.at.register(register) } else { Err(End::Damaged { pc }) }
            }
            Some(rule) => self.value(register, rule)?.ok_or(End::Damaged { pc }),
        }
    }

    /// The value that a register had in the caller; `None` where it has none that can be told.
    fn value(&self, register: Register, rule: &RegisterRule<usize>) -> Result<Option<u64>, End> {
        let pc = self.at.registers.pc().unwrap_or_default();
        let evaluated = |expression| {
            let expression = self.module.expression(self.row.table, expression).ok_or(End::Damaged { pc })?;
            self.at.evaluate(expression)
        };
        let word = |address| self.at.process.word(address).ok_or(End::NoMemory { address });
        Ok(Some(match rule {
            RegisterRule::SameValue => self.at.register(register)?,
            RegisterRule::Offset(offset) => word(self.cfa.wrapping_add_signed(*offset))?,
            RegisterRule::ValOffset(offset) => self.cfa.wrapping_add_signed(*offset),
            RegisterRule::Register(other) => self.at.register(*other)?,
            RegisterRule::Expression(expression) => word(evaluated(expression)?)?,
            RegisterRule::ValExpression(expression) => evaluated(expression)?,
            RegisterRule::Undefined | RegisterRule::Architectural | RegisterRule::Constant(_) => return Ok(None),
        }))
    }
}
