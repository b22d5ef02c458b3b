//! Expressions of Fortran that only look: names, components, elements and sections of arrays, and arithmetic.
//!
//! Which of `name(...)` are intrinsic functions and which arrays is decided by the variables that there are.

use super::fortran_tokens::tokens;
use super::tokens::{Binary, Cursor, Kind, Refusals};
use super::tree::{
    DEEPEST, LARGEST, Node, Operator, Prefix, Subscript, SyntaxProblem, checked_length, too_deep, too_large,
};

const REFUSALS: Refusals =
    Refusals { assignments: &["="], calls: false, known: "only names, components, elements and arithmetic are known" };

/// Takes an expression apart; names are in small letters then.
///
/// # Errors
/// Where it is none of these expressions.
pub fn parse(text: &str) -> Result<Node, SyntaxProblem> {
    checked_length(text)?;
    let mut parser = Parser { cursor: Cursor::new(tokens(text)?, &REFUSALS) };
    let node = parser.sum(1)?;
    parser.cursor.end()?;
    Ok(node)
}

/// Of two numbers, by how tightly they bind (Fortran 2018, 10.1.2); the power is apart, as it goes from the right.
fn binary(word: &str) -> Option<(Operator, u8)> {
    Some(match word {
        "*" => (Operator::Multiply, 2),
        "/" => (Operator::Divide, 2),
        "+" => (Operator::Add, 1),
        "-" => (Operator::Subtract, 1),
        _ => return None,
    })
}

/// Recursive descent; the grammar stands at the methods.
struct Parser {
    cursor: Cursor,
}

impl Parser {
    /// `[+|-] power (OPERATOR power)*`, by how tightly operators bind.
    fn sum(&mut self, least: u8) -> Result<Node, SyntaxProblem> {
        self.cursor.down()?;
        // A sign belongs to the whole product behind it, and only to the first of a sum.
        let sign = if least == 1 { self.sign() } else { None };
        let node = match sign {
            Some(sign) => Node::Unary(sign, Box::new(self.sum(2)?)),
            None => self.power()?,
        };
        let node = self.operators(node, least)?;
        self.cursor.up();
        Ok(node)
    }

    /// `postfix [** [+|-] power]`
    fn power(&mut self) -> Result<Node, SyntaxProblem> {
        let base = self.postfix()?;
        if self.cursor.next() != "**" {
            return Ok(base);
        }
        self.cursor.at += 1;
        let sign = self.sign();
        // From the right: 2**3**2 is 2**9.
        self.cursor.down()?;
        let exponent = self.power()?;
        self.cursor.up();
        let exponent = match sign {
            Some(sign) => Node::Unary(sign, Box::new(exponent)),
            None => exponent,
        };
        Ok(Node::Binary(Operator::Power, Box::new(base), Box::new(exponent)))
    }

    fn sign(&mut self) -> Option<Prefix> {
        let sign = match self.cursor.next() {
            "+" => Prefix::Plus,
            "-" => Prefix::Minus,
            _ => return None,
        };
        self.cursor.at += 1;
        Some(sign)
    }

    /// `primary (%name | (given, ...))*`
    fn postfix(&mut self) -> Result<Node, SyntaxProblem> {
        let mut node = self.primary()?;
        for _ in 0..DEEPEST {
            match self.cursor.next() {
                "%" => {
                    self.cursor.at += 1;
                    node = Node::Member(Box::new(node), self.cursor.name()?);
                }
                "(" if matches!(node, Node::Name(_) | Node::Member(..)) => {
                    self.cursor.at += 1;
                    node = Node::Indexed(Box::new(node), self.given()?);
                }
                _ => return Ok(node),
            }
        }
        Err(too_deep())
    }

    /// What stands in parentheses, and the one that closes them.
    fn given(&mut self) -> Result<Vec<Subscript>, SyntaxProblem> {
        let mut found = Vec::new();
        while self.cursor.next() != ")" || !found.is_empty() {
            let first = if self.cursor.next() == ":" { None } else { Some(self.sum(1)?) };
            if self.cursor.next() == ":" {
                self.cursor.at += 1;
                let last = if matches!(self.cursor.next(), "," | ")") { None } else { Some(self.sum(1)?) };
                found.push(Subscript::Bounds(first, last));
            } else {
                found.extend(first.map(Subscript::One));
            }
            if self.cursor.next() != "," {
                break;
            }
            self.cursor.at += 1;
        }
        self.cursor.expect(")")?;
        Ok(found)
    }

    fn primary(&mut self) -> Result<Node, SyntaxProblem> {
        let word = self.cursor.next().to_owned();
        match self.cursor.kind() {
            Some(Kind::Number) => {
                self.cursor.at += 1;
                let value = if word.len() > 20 { None } else { word.parse().ok() };
                value.filter(|value| *value < LARGEST).map(Node::Number).ok_or_else(too_large)
            }
            Some(Kind::Truth) => {
                self.cursor.at += 1;
                Ok(Node::Number(i128::from(word == ".true.")))
            }
            Some(Kind::Name) => {
                self.cursor.at += 1;
                Ok(Node::Name(word))
            }
            Some(Kind::Operator) if word == "(" => {
                self.cursor.at += 1;
                let node = self.sum(1)?;
                self.cursor.expect(")")?;
                Ok(node)
            }
            Some(Kind::Operator | Kind::Letter) => Err(self.cursor.refused()),
            None => Err(SyntaxProblem("something is missing at its end".to_owned())),
        }
    }
}

impl Binary for Parser {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn binary(&self) -> Option<(Operator, u8)> {
        binary(self.cursor.next())
    }

    fn operand(&mut self, binding: u8) -> Result<Node, SyntaxProblem> {
        self.sum(binding)
    }
}
