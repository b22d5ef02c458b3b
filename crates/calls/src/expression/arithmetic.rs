//! Operators and functions on numbers, which are far larger than a program's while they are worked out.

use super::tree::Operator;
use crate::Unknown;

/// Numbers beyond this are none that a program computes with; it keeps powers and products from growing.
const LARGEST: u128 = 1 << 80;

pub(super) fn too_large() -> Unknown {
    Unknown::new("a number in it is larger than a program's")
}

fn by_zero() -> Unknown {
    Unknown::new("the expression divides by zero")
}

/// An operator of C on two numbers.
pub(super) fn applied(operator: Operator, left: i128, right: i128) -> Result<i128, Unknown> {
    let found = match operator {
        Operator::Multiply => left.checked_mul(right),
        // C and Fortran round towards zero, and so does Rust.
        Operator::Divide if right == 0 => return Err(by_zero()),
        Operator::Divide => return left.checked_div(right).ok_or_else(too_large),
        Operator::Remainder if right == 0 => return Err(by_zero()),
        Operator::Remainder => return Ok(left.wrapping_rem(right)),
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::ShiftLeft => left.checked_mul(1 << bits(right)?),
        Operator::ShiftRight => Some(left >> bits(right)?),
        Operator::Less => Some(i128::from(left < right)),
        Operator::Greater => Some(i128::from(left > right)),
        Operator::LessOrEqual => Some(i128::from(left <= right)),
        Operator::GreaterOrEqual => Some(i128::from(left >= right)),
        Operator::Equal => Some(i128::from(left == right)),
        Operator::NotEqual => Some(i128::from(left != right)),
        Operator::BitAnd => Some(left & right),
        Operator::BitXor => Some(left ^ right),
        Operator::BitOr => Some(left | right),
        Operator::And => Some(i128::from(left != 0 && right != 0)),
        Operator::Or => Some(i128::from(left != 0 || right != 0)),
        Operator::Power => return power(left, right),
    };
    found.filter(|found| found.unsigned_abs() <= LARGEST).ok_or_else(too_large)
}

fn bits(number: i128) -> Result<u32, Unknown> {
    let found = u32::try_from(number).ok().filter(|bits| *bits < 64);
    found.ok_or_else(|| Unknown::new("the expression shifts by more than a number has bits"))
}

fn power(base: i128, exponent: i128) -> Result<i128, Unknown> {
    if exponent < 0 {
        return applied(Operator::Divide, 1, power(base, exponent.checked_neg().ok_or_else(too_large)?)?);
    }
    let times = match base {
        0 => exponent.min(1),
        -1 | 1 => exponent % 2,
        // 2**80 is beyond all numbers here.
        _ if exponent > 80 => return Err(too_large()),
        _ => exponent,
    };
    (0..times).try_fold(1, |found, _| applied(Operator::Multiply, found, base))
}

/// A function of Fortran on integers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Mod,
    Modulo,
    Min,
    Max,
    Abs,
    Int,
    Ieor,
    Iand,
    Ior,
    Merge,
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "mod" => Self::Mod,
            "modulo" => Self::Modulo,
            "min" => Self::Min,
            "max" => Self::Max,
            "abs" => Self::Abs,
            "int" => Self::Int,
            "ieor" => Self::Ieor,
            "iand" => Self::Iand,
            "ior" => Self::Ior,
            "merge" => Self::Merge,
            _ => return None,
        })
    }

    /// Its value; `None` where it takes more or fewer numbers.
    pub(super) fn of(self, given: &[i128]) -> Option<Result<i128, Unknown>> {
        Some(Ok(match (self, given) {
            (Self::Mod, [left, right]) => return Some(applied(Operator::Remainder, *left, *right)),
            (Self::Modulo, [_, 0]) => return Some(Err(by_zero())),
            // The sign is that of the second.
            (Self::Modulo, [left, right]) => left.wrapping_rem(*right).wrapping_add(*right).wrapping_rem(*right),
            (Self::Min, [_, ..]) if given.len() <= 64 => *given.iter().min()?,
            (Self::Max, [_, ..]) if given.len() <= 64 => *given.iter().max()?,
            (Self::Abs, [number]) => return Some(number.checked_abs().ok_or_else(too_large)),
            (Self::Int, [number] | [number, _]) => *number,
            (Self::Ieor, [left, right]) => left ^ right,
            (Self::Iand, [left, right]) => left & right,
            (Self::Ior, [left, right]) => left | right,
            (Self::Merge, [first, second, which]) => {
                if *which != 0 {
                    *first
                } else {
                    *second
                }
            }
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_numbers_overflow() {
        for operator in [Operator::Multiply, Operator::Add, Operator::Subtract, Operator::Divide, Operator::Power] {
            for (left, right) in [(i128::MIN, -1), (i128::MAX, i128::MAX), (i128::MIN, i128::MIN)] {
                let _ = applied(operator, left, right);
            }
        }
        assert_eq!(applied(Operator::Remainder, i128::MIN, -1), Ok(0));
        assert_eq!(Function::Modulo.of(&[-5, 3]), Some(Ok(1)));
        assert_eq!(Function::Modulo.of(&[5, -3]), Some(Ok(-1)));
        assert_eq!(Function::Abs.of(&[i128::MIN]), Some(Err(too_large())));
        assert_eq!(applied(Operator::Power, -1, (1 << 80) + 1), Ok(-1));
        assert_eq!(applied(Operator::Power, 0, 0), Ok(1));
        assert_eq!(applied(Operator::Power, 0, -1), Err(by_zero()));
        assert_eq!(applied(Operator::ShiftRight, -1, 63), Ok(-1));
    }
}
