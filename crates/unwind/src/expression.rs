//! DWARF expressions in rules (DWARF 5, 6.4.2 and 2.5).

use gimli::{Encoding, EvaluationResult, Expression, Value};

use crate::Section;
use crate::process::Process;
use crate::registers::Registers;
use crate::stack::End;

/// Expressions have a dozen operations; one that loops does not end by itself.
const MOST_STEPS: u32 = 1000;

/// What an expression can refer to.
pub(crate) struct Surroundings<'a> {
    pub process: Process<'a>,
    pub registers: &'a Registers,
    /// What is added to addresses of the file.
    pub bias: u64,
    pub encoding: Encoding,
    pub cfa: Option<u64>,
}

impl Surroundings<'_> {
    /// The value of an expression that begins with the canonical frame address on its stack, where that is known.
    pub fn evaluate(&self, expression: Expression<Section>) -> Result<u64, End> {
        let pc = self.registers.pc().unwrap_or_default();
        let damaged = |_: gimli::Error| End::Damaged { pc };
        let mut evaluation = expression.evaluation(self.encoding);
        evaluation.set_max_iterations(MOST_STEPS);
        if let Some(cfa) = self.cfa {
            evaluation.set_initial_value(cfa);
        }
        let mut result = evaluation.evaluate().map_err(damaged)?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresMemory { address, size, space: None, base_type } if base_type.0 == 0 => {
                    evaluation.resume_with_memory(Value::Generic(self.memory(address, size)?))
                }
                EvaluationResult::RequiresRegister { register, base_type } if base_type.0 == 0 => {
                    evaluation.resume_with_register(Value::Generic(self.register(register)?))
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address.wrapping_add(self.bias))
                }
                _ => return Err(End::Damaged { pc }),
            }
            .map_err(damaged)?;
        }
        evaluation.value_result().and_then(|value| value.to_u64(u64::MAX).ok()).ok_or(End::Damaged { pc })
    }

    /// The value of a register that a rule needs.
    pub fn register(&self, register: gimli::Register) -> Result<u64, End> {
        self.registers.get(register.0).ok_or_else(|| End::Unknown {
            pc: self.registers.pc().unwrap_or_default(),
            register: self.registers.machine().name(register.0),
        })
    }

    fn memory(&self, address: u64, size: u8) -> Result<u64, End> {
        let mut bytes = [0; 8];
        let wanted = bytes.get_mut(..usize::from(size)).ok_or(End::NoMemory { address })?;
        if address.checked_add(u64::from(size)).is_none() || !self.process.memory.read(address, wanted) {
            return Err(End::NoMemory { address });
        }
        Ok(u64::from_le_bytes(bytes))
    }
}
