//! Expressions of C and C++ that only look: names, members, elements, pointers, casts, `sizeof` and arithmetic.
//!
//! Assignments and calls are not in the language, so that nothing can be changed or run. What a std::vector is asked with
//! `data()` and `size()` is in it: its members answer.

use super::c_tokens::{Kind, Token, tokens};
use super::c_words::{
    ASSIGNMENTS, CXX_CASTS, INTEGERS, QUALIFIERS, TYPE_WORDS, binary, constant, letter, number, prefix,
};
use super::tree::{Asked, DEEPEST, Node, SyntaxProblem, TypeName, checked_length, too_deep};
use crate::words::quoted;

/// Takes an expression apart; `is_type` says whether a name is that of a type, `None` where nothing has that name.
/// `registers`: names with a dollar sign are taken, which mean something to debuggers; only in what a user typed.
///
/// # Errors
/// Where it is none of these expressions.
pub fn parse(text: &str, is_type: &dyn Fn(&str) -> Option<bool>, registers: bool) -> Result<Node, SyntaxProblem> {
    checked_length(text)?;
    let mut parser = Parser { tokens: tokens(text, registers)?, is_type, at: 0, depth: 0 };
    let node = parser.choice()?;
    if parser.next().is_empty() { Ok(node) } else { Err(parser.refused()) }
}

/// Recursive descent; the grammar stands at the methods.
struct Parser<'t> {
    tokens: Vec<Token>,
    is_type: &'t dyn Fn(&str) -> Option<bool>,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    /// `binary [? choice : choice]`
    fn choice(&mut self) -> Result<Node, SyntaxProblem> {
        let node = self.binary(1)?;
        if self.next() != "?" {
            return Ok(node);
        }
        self.at += 1;
        let first = self.choice()?;
        self.expect(":")?;
        Ok(Node::Choice(Box::new(node), Box::new(first), Box::new(self.choice()?)))
    }

    /// `unary (OPERATOR unary)*`, by how tightly operators bind.
    fn binary(&mut self, least: u8) -> Result<Node, SyntaxProblem> {
        let mut node = self.unary()?;
        let mut count = 0;
        while let Some((operator, binding)) = binary(self.operator()).filter(|(_, binding)| *binding >= least) {
            self.at += 1;
            node = Node::Binary(operator, Box::new(node), Box::new(self.binary(binding + 1)?));
            count += 1;
            if count > DEEPEST {
                return Err(SyntaxProblem(format!("it has more than {DEEPEST} summands")));
            }
        }
        Ok(node)
    }

    /// `(*|&|-|+|!|~) unary | (TYPE) unary | sizeof unary | sizeof (TYPE) | postfix`
    fn unary(&mut self) -> Result<Node, SyntaxProblem> {
        if matches!(self.next(), "&&" | "--" | "++") {
            return Err(self.refused());
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(too_deep());
        }
        let node = if let Some(prefix) = prefix(self.operator()) {
            self.at += 1;
            Node::Unary(prefix, Box::new(self.unary()?))
        } else if self.kind() == Some(Kind::Name) && self.next() == "sizeof" {
            self.at += 1;
            match self.type_in_parentheses(false) {
                Some(named) => Node::SizeOfType(named),
                None => Node::SizeOf(Box::new(self.unary()?)),
            }
        } else {
            match self.type_in_parentheses(true) {
                Some(cast) => Node::Cast(cast, Box::new(self.unary()?)),
                None => self.postfix()?,
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    /// `primary (.name | ->name | [choice] | .data() | .size())*`
    fn postfix(&mut self) -> Result<Node, SyntaxProblem> {
        let mut node = self.primary()?;
        for _ in 0..DEEPEST {
            match self.operator() {
                "." | "->" => {
                    self.at += 1;
                    let name = self.name()?;
                    let asked = match name.as_str() {
                        "data" => Some(Asked::Data),
                        "size" => Some(Asked::Size),
                        _ => None,
                    };
                    node = match asked.filter(|_| self.word(self.at) == "(" && self.word(self.at + 1) == ")") {
                        Some(asked) => {
                            self.at += 2;
                            Node::Container(Box::new(node), asked)
                        }
                        None => Node::Member(Box::new(node), name),
                    };
                }
                "[" => {
                    self.at += 1;
                    node = Node::Element(Box::new(node), Box::new(self.choice()?));
                    self.expect("]")?;
                }
                _ => return Ok(node),
            }
        }
        Err(too_deep())
    }

    fn primary(&mut self) -> Result<Node, SyntaxProblem> {
        let word = self.next().to_owned();
        match self.kind() {
            Some(Kind::Name) => {
                self.at += 1;
                if CXX_CASTS.contains(&word.as_str()) {
                    return self.cxx_cast();
                }
                if INTEGERS.contains(&word.as_str()) && self.operator() == "(" {
                    let type_name = TypeName { name: word, pointers: 0 };
                    return Ok(Node::Cast(type_name, Box::new(self.parenthesised()?)));
                }
                Ok(constant(&word).map_or(Node::Name(word), Node::Number))
            }
            Some(Kind::Number) => {
                self.at += 1;
                number(&word).map(Node::Number)
            }
            Some(Kind::Letter) => {
                self.at += 1;
                Ok(Node::Number(letter(&word)))
            }
            _ if word == "(" => self.parenthesised(),
            Some(Kind::Operator) => Err(self.refused()),
            None => Err(SyntaxProblem("something is missing at its end".to_owned())),
        }
    }

    /// `static_cast<TYPE>(choice)`
    fn cxx_cast(&mut self) -> Result<Node, SyntaxProblem> {
        if self.operator() != "<" {
            self.expect("<")?;
        }
        let Some(named) = self.type_until(self.at + 1, ">") else {
            return Err(SyntaxProblem("the type of a cast is not understood".to_owned()));
        };
        Ok(Node::Cast(named, Box::new(self.parenthesised()?)))
    }

    /// `(choice)`
    fn parenthesised(&mut self) -> Result<Node, SyntaxProblem> {
        self.expect("(")?;
        let node = self.choice()?;
        self.expect(")")?;
        Ok(node)
    }

    /// `(TYPE)`, where that begins here. `before_value`: also a name that nobody knows, if a value follows.
    fn type_in_parentheses(&mut self, before_value: bool) -> Option<TypeName> {
        if self.operator() != "(" {
            return None;
        }
        let start = self.at;
        let named = self.type_until(start + 1, ")")?;
        let first = self.word(start + 1);
        let known = if TYPE_WORDS.contains(&first) || QUALIFIERS.contains(&first) {
            Some(true)
        } else {
            (self.is_type)(&named.name)
        };
        // No value can follow another; but a variable in parentheses can be one of a product.
        let value = matches!(self.kind(), Some(Kind::Name | Kind::Number | Kind::Letter)) || self.next() == "(";
        let followed = value || (known.is_none() && matches!(self.next(), "*" | "&"));
        if named.pointers > 0 || known == Some(true) || (before_value && followed) {
            return Some(named);
        }
        self.at = start;
        None
    }

    /// A type's name and its stars up to a sign, which is passed.
    fn type_until(&mut self, from: usize, closing: &str) -> Option<TypeName> {
        let names = self.tokens.get(from..)?.iter().take_while(|token| token.kind == Kind::Name).count();
        let mut at = from + names;
        let mut pointers = 0;
        while matches!(self.word(at), "*" | "const" | "volatile") {
            pointers += usize::from(self.word(at) == "*");
            at += 1;
        }
        if names == 0 || self.word(at) != closing {
            return None;
        }
        let words = self.tokens.get(from..from + names)?.iter().map(|token| token.text.as_str());
        let words: Vec<_> = words.filter(|word| !QUALIFIERS.contains(word)).collect();
        let name = words.join(" ");
        self.at = at + 1;
        Some(TypeName { name, pointers })
    }

    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.text)
    }

    fn next(&self) -> &str {
        self.word(self.at)
    }

    /// The sign that is next, empty where a word is.
    fn operator(&self) -> &str {
        if self.kind() == Some(Kind::Operator) { self.next() } else { "" }
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

    /// Why what is next cannot stand here.
    fn refused(&self) -> SyntaxProblem {
        let left = self.next();
        if ASSIGNMENTS.contains(&left) {
            return SyntaxProblem("it changes the program".to_owned());
        }
        if left == "(" {
            return SyntaxProblem("it calls a function".to_owned());
        }
        let known = "only names, members, elements, casts, numbers and arithmetic are known";
        SyntaxProblem(format!("{known}, not {} here", quoted(left)))
    }
}
