//! Expressions of C and C++ that only look: names, members, elements, pointers, casts, `sizeof` and arithmetic.
//!
//! Assignments and calls are not in the language, so that nothing can be changed or run. What a std::vector is asked with
//! `data()` and `size()` is in it: its members answer.

use super::c_tokens::tokens;
use super::c_words::{
    ASSIGNMENTS, CXX_CASTS, INTEGERS, QUALIFIERS, TYPE_WORDS, binary, constant, letter, number, prefix,
};
use super::tokens::{Binary, Cursor, Kind, Refusals};
use super::tree::{Asked, DEEPEST, Node, Operator, SyntaxProblem, TypeName, checked_length, too_deep};

const REFUSALS: Refusals = Refusals {
    assignments: &ASSIGNMENTS,
    calls: true,
    known: "only names, members, elements, casts, numbers and arithmetic are known",
};

/// Takes an expression apart; `is_type` says whether a name is that of a type, `None` where nothing has that name.
/// `registers`: names with a dollar sign are taken, which mean something to debuggers; only in what a user typed.
///
/// # Errors
/// Where it is none of these expressions.
pub fn parse(text: &str, is_type: &dyn Fn(&str) -> Option<bool>, registers: bool) -> Result<Node, SyntaxProblem> {
    checked_length(text)?;
    let mut parser = Parser { cursor: Cursor::new(tokens(text, registers)?, &REFUSALS), is_type };
    let node = parser.choice()?;
    parser.cursor.end()?;
    Ok(node)
}

/// Recursive descent; the grammar stands at the methods.
struct Parser<'t> {
    cursor: Cursor,
    is_type: &'t dyn Fn(&str) -> Option<bool>,
}

impl Parser<'_> {
    /// `binary [? choice : choice]`
    fn choice(&mut self) -> Result<Node, SyntaxProblem> {
        let node = self.product(1)?;
        if self.cursor.next() != "?" {
            return Ok(node);
        }
        self.cursor.at += 1;
        let first = self.choice()?;
        self.cursor.expect(":")?;
        Ok(Node::Choice(Box::new(node), Box::new(first), Box::new(self.choice()?)))
    }

    /// `unary (OPERATOR unary)*`, by how tightly operators bind.
    fn product(&mut self, least: u8) -> Result<Node, SyntaxProblem> {
        let node = self.unary()?;
        self.operators(node, least)
    }

    /// `(*|&|-|+|!|~) unary | (TYPE) unary | sizeof unary | sizeof (TYPE) | postfix`
    fn unary(&mut self) -> Result<Node, SyntaxProblem> {
        if matches!(self.cursor.next(), "&&" | "--" | "++") {
            return Err(self.cursor.refused());
        }
        self.cursor.down()?;
        let node = if let Some(prefix) = prefix(self.cursor.operator()) {
            self.cursor.at += 1;
            Node::Unary(prefix, Box::new(self.unary()?))
        } else if self.cursor.kind() == Some(Kind::Name) && self.cursor.next() == "sizeof" {
            self.cursor.at += 1;
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
        self.cursor.up();
        Ok(node)
    }

    /// `primary (.name | ->name | [choice] | .data() | .size())*`
    fn postfix(&mut self) -> Result<Node, SyntaxProblem> {
        let mut node = self.primary()?;
        for _ in 0..DEEPEST {
            match self.cursor.operator() {
                "." | "->" => {
                    self.cursor.at += 1;
                    let name = self.cursor.name()?;
                    let asked = match name.as_str() {
                        "data" => Some(Asked::Data),
                        "size" => Some(Asked::Size),
                        _ => None,
                    };
                    node = match asked.filter(|_| {
                        self.cursor.word(self.cursor.at) == "(" && self.cursor.word(self.cursor.at + 1) == ")"
                    }) {
                        Some(asked) => {
                            self.cursor.at += 2;
                            Node::Container(Box::new(node), asked)
                        }
                        None => Node::Member(Box::new(node), name),
                    };
                }
                "[" => {
                    self.cursor.at += 1;
                    node = Node::Element(Box::new(node), Box::new(self.choice()?));
                    self.cursor.expect("]")?;
                }
                _ => return Ok(node),
            }
        }
        Err(too_deep())
    }

    fn primary(&mut self) -> Result<Node, SyntaxProblem> {
        let word = self.cursor.next().to_owned();
        match self.cursor.kind() {
            Some(Kind::Name) => {
                self.cursor.at += 1;
                if CXX_CASTS.contains(&word.as_str()) {
                    return self.cxx_cast();
                }
                if INTEGERS.contains(&word.as_str()) && self.cursor.operator() == "(" {
                    let type_name = TypeName { name: word, pointers: 0 };
                    return Ok(Node::Cast(type_name, Box::new(self.parenthesised()?)));
                }
                Ok(constant(&word).map_or(Node::Name(word), Node::Number))
            }
            Some(Kind::Number) => {
                self.cursor.at += 1;
                number(&word).map(Node::Number)
            }
            Some(Kind::Letter) => {
                self.cursor.at += 1;
                Ok(Node::Number(letter(&word)))
            }
            _ if word == "(" => self.parenthesised(),
            Some(Kind::Operator | Kind::Truth) => Err(self.cursor.refused()),
            None => Err(SyntaxProblem("something is missing at its end".to_owned())),
        }
    }

    /// `static_cast<TYPE>(choice)`
    fn cxx_cast(&mut self) -> Result<Node, SyntaxProblem> {
        if self.cursor.operator() != "<" {
            self.cursor.expect("<")?;
        }
        let Some(named) = self.type_until(self.cursor.at + 1, ">") else {
            return Err(SyntaxProblem("the type of a cast is not understood".to_owned()));
        };
        Ok(Node::Cast(named, Box::new(self.parenthesised()?)))
    }

    /// `(choice)`
    fn parenthesised(&mut self) -> Result<Node, SyntaxProblem> {
        self.cursor.expect("(")?;
        let node = self.choice()?;
        self.cursor.expect(")")?;
        Ok(node)
    }

    /// `(TYPE)`, where that begins here. `before_value`: also a name that nobody knows, if a value follows.
    fn type_in_parentheses(&mut self, before_value: bool) -> Option<TypeName> {
        if self.cursor.operator() != "(" {
            return None;
        }
        let start = self.cursor.at;
        let named = self.type_until(start + 1, ")")?;
        let first = self.cursor.word(start + 1);
        let known = if TYPE_WORDS.contains(&first) || QUALIFIERS.contains(&first) {
            Some(true)
        } else {
            (self.is_type)(&named.name)
        };
        // No value can follow another; but a variable in parentheses can be one of a product.
        let value =
            matches!(self.cursor.kind(), Some(Kind::Name | Kind::Number | Kind::Letter)) || self.cursor.next() == "(";
        let followed = value || (known.is_none() && matches!(self.cursor.next(), "*" | "&"));
        if named.pointers > 0 || known == Some(true) || (before_value && followed) {
            return Some(named);
        }
        self.cursor.at = start;
        None
    }

    /// A type's name and its stars up to a sign, which is passed.
    fn type_until(&mut self, from: usize, closing: &str) -> Option<TypeName> {
        let names = self.cursor.from(from).iter().take_while(|token| token.kind == Kind::Name).count();
        let mut at = from + names;
        let mut pointers = 0;
        while matches!(self.cursor.word(at), "*" | "const" | "volatile") {
            pointers += usize::from(self.cursor.word(at) == "*");
            at += 1;
        }
        if names == 0 || self.cursor.word(at) != closing {
            return None;
        }
        let words = self.cursor.from(from).iter().take(names).map(|token| token.text.as_str());
        let words: Vec<_> = words.filter(|word| !QUALIFIERS.contains(word)).collect();
        let name = words.join(" ");
        self.cursor.at = at + 1;
        Some(TypeName { name, pointers })
    }
}

impl Binary for Parser<'_> {
    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn binary(&self) -> Option<(Operator, u8)> {
        binary(self.cursor.operator())
    }

    fn operand(&mut self, binding: u8) -> Result<Node, SyntaxProblem> {
        self.product(binding)
    }
}
