//! The words and signs of an expression, and the place of a parser among them. C and Fortran share it.

use super::tree::{DEEPEST, MOST_TOKENS, Node, Operator, SyntaxProblem, too_deep, too_many_tokens};
use crate::words::{is_space, quoted};

/// What a word or sign is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Name,
    /// A character in quotes (C).
    Letter,
    /// `.true.` or `.false.` (Fortran).
    Truth,
    Operator,
}

/// A word or sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    /// Without the spaces in it, but for those of a letter; of Fortran in small letters.
    pub text: String,
}

/// All of a text. `token`: what it begins with, and the rest of it; `None` where that has no meaning.
pub(super) fn tokens<'t>(
    text: &'t str,
    token: impl Fn(&'t str) -> Result<Option<(Token, &'t str)>, SyntaxProblem>,
) -> Result<Vec<Token>, SyntaxProblem> {
    let mut found = Vec::new();
    let mut rest = text.trim_end_matches(is_space);
    while !rest.is_empty() {
        let Some((first, next)) = token(after_spaces(rest))? else { return Err(meaningless(rest)) };
        found.push(first);
        if found.len() > MOST_TOKENS {
            return Err(too_many_tokens());
        }
        rest = next;
    }
    Ok(found)
}

/// What begins with a character that no word or sign begins with.
fn meaningless(rest: &str) -> SyntaxProblem {
    let first: String = rest.trim_matches(is_space).chars().take(1).collect();
    SyntaxProblem(format!("{} has no meaning here", quoted(&first)))
}

/// Spaces between words are those of ASCII.
pub(super) fn after_spaces(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b')
}

pub(super) fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// What a language says of what cannot stand where it stands.
pub(super) struct Refusals {
    /// The signs that change the program.
    pub assignments: &'static [&'static str],
    /// Whether a parenthesis where none is expected calls a function.
    pub calls: bool,
    /// What is known, for people.
    pub known: &'static str,
}

/// The place of a parser among the words and signs.
pub(super) struct Cursor {
    tokens: Vec<Token>,
    pub at: usize,
    depth: usize,
    refusals: &'static Refusals,
}

impl Cursor {
    pub fn new(tokens: Vec<Token>, refusals: &'static Refusals) -> Self {
        Self { tokens, at: 0, depth: 0, refusals }
    }

    /// Those from a place on.
    pub fn from(&self, at: usize) -> &[Token] {
        self.tokens.get(at..).unwrap_or_default()
    }

    /// What the next one is; `None` at the end.
    pub fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// The word or sign at a place, empty behind the end.
    pub fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    pub fn next(&self) -> &str {
        self.word(self.at)
    }

    /// The sign that is next, empty where a word is.
    pub fn operator(&self) -> &str {
        if self.kind() == Some(Kind::Operator) { self.next() } else { "" }
    }

    /// Passes a name.
    pub fn name(&mut self) -> Result<String, SyntaxProblem> {
        match self.tokens.get(self.at) {
            Some(token) if token.kind == Kind::Name => {
                self.at += 1;
                Ok(token.text.clone())
            }
            Some(token) => Err(SyntaxProblem(format!("a name is missing before {}", quoted(&token.text)))),
            None => Err(SyntaxProblem("a name is missing at its end".to_owned())),
        }
    }

    /// Passes that word or sign.
    pub fn expect(&mut self, word: &str) -> Result<(), SyntaxProblem> {
        match self.next() {
            next if next == word => self.at += 1,
            "" => return Err(SyntaxProblem(format!("{} is missing at its end", quoted(word)))),
            _ => return Err(self.refused()),
        }
        Ok(())
    }

    /// Goes one level deeper, which has an end; [`Self::up`] comes back.
    pub fn down(&mut self) -> Result<(), SyntaxProblem> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(too_deep()) } else { Ok(()) }
    }

    pub fn up(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Where all has been passed.
    pub fn end(&self) -> Result<(), SyntaxProblem> {
        if self.next().is_empty() { Ok(()) } else { Err(self.refused()) }
    }

    /// Why what is next cannot stand here.
    pub fn refused(&self) -> SyntaxProblem {
        let left = self.next();
        if self.refusals.assignments.contains(&left) {
            return SyntaxProblem("it changes the program".to_owned());
        }
        if left == "(" && self.refusals.calls {
            return SyntaxProblem("it calls a function".to_owned());
        }
        SyntaxProblem(format!("{}, not {} here", self.refusals.known, quoted(left)))
    }
}

/// A parser of operators between two operands, by how tightly they bind.
pub(super) trait Binary {
    fn cursor(&mut self) -> &mut Cursor;

    /// The operator of two operands that is next, and how tightly it binds.
    fn binary(&self) -> Option<(Operator, u8)>;

    /// What stands behind an operator that binds so tightly.
    fn operand(&mut self, binding: u8) -> Result<Node, SyntaxProblem>;

    /// The operators that bind at least so tightly behind `node`, with their operands.
    fn operators(&mut self, mut node: Node, least: u8) -> Result<Node, SyntaxProblem> {
        let mut count = 0;
        while let Some((operator, binding)) = self.binary().filter(|(_, binding)| *binding >= least) {
            self.cursor().at += 1;
            node = Node::Binary(operator, Box::new(node), Box::new(self.operand(binding + 1)?));
            count += 1;
            if count > DEEPEST {
                return Err(SyntaxProblem(format!("it has more than {DEEPEST} summands")));
            }
        }
        Ok(node)
    }
}
