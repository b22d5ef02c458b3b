//! Words and signs of C and C++ that have a meaning of their own, and the values of literals.

use super::tree::{LARGEST, Operator, Prefix, SyntaxProblem, too_large};

/// Words that begin the name of a type whatever names the program has.
pub(super) const TYPE_WORDS: [&str; 16] = [
    "const", "volatile", "struct", "class", "union", "enum", "unsigned", "signed", "char", "short", "int", "long",
    "void", "bool", "float", "double",
];
/// Those of one word that C++ writes like functions.
pub(super) const INTEGERS: [&str; 6] = ["char", "short", "int", "long", "unsigned", "bool"];
/// Words that a type is found without.
pub(super) const QUALIFIERS: [&str; 7] = ["const", "volatile", "struct", "class", "union", "enum", "typename"];
/// Those that change what stands before or behind them.
pub(super) const ASSIGNMENTS: [&str; 13] =
    ["=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
/// C++ casts with words.
pub(super) const CXX_CASTS: [&str; 3] = ["static_cast", "reinterpret_cast", "const_cast"];

/// How an operator between two is written, and how tightly it binds (C11, 6.5.5 to 6.5.14).
pub(super) fn binary(word: &str) -> Option<(Operator, u8)> {
    Some(match word {
        "*" => (Operator::Multiply, 10),
        "/" => (Operator::Divide, 10),
        "%" => (Operator::Remainder, 10),
        "+" => (Operator::Add, 9),
        "-" => (Operator::Subtract, 9),
        "<<" => (Operator::ShiftLeft, 8),
        ">>" => (Operator::ShiftRight, 8),
        "<" => (Operator::Less, 7),
        ">" => (Operator::Greater, 7),
        "<=" => (Operator::LessOrEqual, 7),
        ">=" => (Operator::GreaterOrEqual, 7),
        "==" => (Operator::Equal, 6),
        "!=" => (Operator::NotEqual, 6),
        "&" => (Operator::BitAnd, 5),
        "^" => (Operator::BitXor, 4),
        "|" => (Operator::BitOr, 3),
        "&&" => (Operator::And, 2),
        "||" => (Operator::Or, 1),
        _ => return None,
    })
}

pub(super) fn prefix(word: &str) -> Option<Prefix> {
    Some(match word {
        "*" => Prefix::At,
        "&" => Prefix::AddressOf,
        "-" => Prefix::Minus,
        "+" => Prefix::Plus,
        "!" => Prefix::Not,
        "~" => Prefix::Complement,
        _ => return None,
    })
}

pub(super) fn constant(word: &str) -> Option<i128> {
    match word {
        "NULL" | "nullptr" | "false" => Some(0),
        "true" => Some(1),
        _ => None,
    }
}

pub(super) fn number(word: &str) -> Result<i128, SyntaxProblem> {
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']).replace('\'', "");
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', _, ..] => (8, digits.as_str()),
        _ => (10, digits.as_str()),
    };
    if !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(SyntaxProblem(format!("{word} is not a number")));
    }
    i128::from_str_radix(digits, radix).ok().filter(|value| *value < LARGEST).ok_or_else(too_large)
}

/// The number of a character in quotes.
pub(super) fn letter(word: &str) -> i128 {
    let mut inside = word.chars().skip(1);
    let number = match (inside.next(), inside.next()) {
        (Some('\\'), Some(escaped)) => match escaped {
            '0' => 0,
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            other => u32::from(other),
        },
        (first, _) => first.map_or(0, u32::from),
    };
    i128::from(number)
}
