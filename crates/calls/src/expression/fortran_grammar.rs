//! Expressions of Fortran that only look: names, components, elements and sections of arrays, and arithmetic.
//!
//! Which of `name(...)` are intrinsic functions and which arrays is decided by the variables that there are.

use super::fortran_tokens::{Kind, Token, tokens};
use super::tree::{
    DEEPEST, LARGEST, Node, Operator, Prefix, Subscript, SyntaxProblem, checked_length, too_deep, too_large,
};
use crate::words::quoted;

/// Takes an expression apart; names are in small letters then.
///
/// # Errors
/// Where it is none of these expressions.
pub fn parse(text: &str) -> Result<Node, SyntaxProblem> {
    checked_length(text)?;
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let node = parser.sum(1)?;
    if parser.next().is_empty() { Ok(node) } else { Err(parser.refused()) }
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
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    /// `[+|-] power (OPERATOR power)*`, by how tightly operators bind.
    fn sum(&mut self, least: u8) -> Result<Node, SyntaxProblem> {
        self.deeper()?;
        // A sign belongs to the whole product behind it, and only to the first of a sum.
        let sign = if least == 1 { self.sign() } else { None };
        let mut node = match sign {
            Some(sign) => Node::Unary(sign, Box::new(self.sum(2)?)),
            None => self.power()?,
        };
        let mut count = 0;
        while let Some((operator, binding)) = binary(self.next()).filter(|(_, binding)| *binding >= least) {
            self.at += 1;
            node = Node::Binary(operator, Box::new(node), Box::new(self.sum(binding + 1)?));
            count += 1;
            if count > DEEPEST {
                return Err(SyntaxProblem(format!("it has more than {DEEPEST} summands")));
            }
        }
        self.depth -= 1;
        Ok(node)
    }

    /// `postfix [** [+|-] power]`
    fn power(&mut self) -> Result<Node, SyntaxProblem> {
        let base = self.postfix()?;
        if self.next() != "**" {
            return Ok(base);
        }
        self.at += 1;
        let sign = self.sign();
        // From the right: 2**3**2 is 2**9.
        self.deeper()?;
        let exponent = self.power()?;
        self.depth -= 1;
        let exponent = match sign {
            Some(sign) => Node::Unary(sign, Box::new(exponent)),
            None => exponent,
        };
        Ok(Node::Binary(Operator::Power, Box::new(base), Box::new(exponent)))
    }

    fn sign(&mut self) -> Option<Prefix> {
        let sign = match self.next() {
            "+" => Prefix::Plus,
            "-" => Prefix::Minus,
            _ => return None,
        };
        self.at += 1;
        Some(sign)
    }

    /// `primary (%name | (given, ...))*`
    fn postfix(&mut self) -> Result<Node, SyntaxProblem> {
        let mut node = self.primary()?;
        for _ in 0..DEEPEST {
            match self.next() {
                "%" => {
                    self.at += 1;
                    node = Node::Member(Box::new(node), self.name()?);
                }
                "(" if matches!(node, Node::Name(_) | Node::Member(..)) => {
                    self.at += 1;
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
        while self.next() != ")" || !found.is_empty() {
            let first = if self.next() == ":" { None } else { Some(self.sum(1)?) };
            if self.next() == ":" {
                self.at += 1;
                let last = if matches!(self.next(), "," | ")") { None } else { Some(self.sum(1)?) };
                found.push(Subscript::Bounds(first, last));
            } else {
                found.extend(first.map(Subscript::One));
            }
            if self.next() != "," {
                break;
            }
            self.at += 1;
        }
        self.expect(")")?;
        Ok(found)
    }

    fn primary(&mut self) -> Result<Node, SyntaxProblem> {
        let word = self.next().to_owned();
        match self.tokens.get(self.at).map(|token| token.kind) {
            Some(Kind::Number) => {
                self.at += 1;
                let value = if word.len() > 20 { None } else { word.parse().ok() };
                value.filter(|value| *value < LARGEST).map(Node::Number).ok_or_else(too_large)
            }
            Some(Kind::Truth) => {
                self.at += 1;
                Ok(Node::Number(i128::from(word == ".true.")))
            }
            Some(Kind::Name) => {
                self.at += 1;
                Ok(Node::Name(word))
            }
            Some(Kind::Operator) if word == "(" => {
                self.at += 1;
                let node = self.sum(1)?;
                self.expect(")")?;
                Ok(node)
            }
            Some(Kind::Operator) => Err(self.refused()),
            None => Err(SyntaxProblem("something is missing at its end".to_owned())),
        }
    }

    fn next(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| &token.text)
    }

    fn name(&mut self) -> Result<String, SyntaxProblem> {
        match self.tokens.get(self.at) {
            Some(token) if token.kind == Kind::Name => {
                self.at += 1;
                Ok(token.text.clone())
            }
            Some(token) => Err(SyntaxProblem(format!("a name is missing before {}", quoted(&token.text)))),
            None => Err(SyntaxProblem("a name is missing at its end".to_owned())),
        }
    }

    fn expect(&mut self, word: &str) -> Result<(), SyntaxProblem> {
        match self.next() {
            next if next == word => self.at += 1,
            "" => return Err(SyntaxProblem(format!("{} is missing at its end", quoted(word)))),
            _ => return Err(self.refused()),
        }
        Ok(())
    }

    fn deeper(&mut self) -> Result<(), SyntaxProblem> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(too_deep()) } else { Ok(()) }
    }

    /// Why what is next cannot stand here.
    fn refused(&self) -> SyntaxProblem {
        let left = self.next();
        if left == "=" {
            return SyntaxProblem("it changes the program".to_owned());
        }
        let known = "only names, components, elements and arithmetic are known";
        SyntaxProblem(format!("{known}, not {} here", quoted(left)))
    }
}
