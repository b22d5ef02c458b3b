//! Expressions of the program's source as trees, whatever language they were written in.
//!
//! Only what looks is in these trees: no assignments, no calls of functions. What a source says is data that anybody can
//! have written, so no debugger's own parser ever sees it.

use crate::Unknown;

/// An expression with more characters, words and signs, or levels is none that a person typed; together they keep the
/// recursion over a tree far from the end of the stack.
pub const LONGEST: usize = 2000;
/// See [`LONGEST`].
pub const MOST_TOKENS: usize = 200;
/// See [`LONGEST`].
pub const DEEPEST: usize = 50;
/// A literal number is below this.
pub const LARGEST: i128 = 1 << 64;

/// Why a text is no such expression, as a sentence without a capital and a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SyntaxProblem(pub String);

impl From<SyntaxProblem> for Unknown {
    fn from(problem: SyntaxProblem) -> Self {
        Self::new(problem.0)
    }
}

/// A literal that is beyond all numbers.
pub(super) fn too_large() -> SyntaxProblem {
    SyntaxProblem("a number in it is larger than a program's".to_owned())
}

pub(super) fn too_deep() -> SyntaxProblem {
    SyntaxProblem(format!("it is nested more than {DEEPEST} deep"))
}

pub(super) fn too_many_tokens() -> SyntaxProblem {
    SyntaxProblem(format!("it has more than {MOST_TOKENS} words and signs"))
}

/// A text that may be an expression, by its length.
pub(super) fn checked_length(text: &str) -> Result<(), SyntaxProblem> {
    if text.chars().nth(LONGEST).is_some() {
        return Err(SyntaxProblem(format!("it has more than {LONGEST} characters")));
    }
    Ok(())
}

/// The name of a type, with stars behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeName {
    /// Without the words that a type is found without.
    pub name: String,
    /// The stars.
    pub pointers: usize,
}

/// What a container of C++ is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// `data()`: where its elements are.
    Data,
    /// `size()`: how many there are.
    Size,
}

/// An operator before its operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prefix {
    /// `*`: what a pointer points at.
    At,
    /// `&`: the address.
    AddressOf,
    /// `-`.
    Minus,
    /// `+`.
    Plus,
    /// `!`.
    Not,
    /// `~`.
    Complement,
}

/// An operator between two numbers, or a pointer and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operator {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    Greater,
    LessOrEqual,
    GreaterOrEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
    /// Fortran's `**`.
    Power,
}

/// A subscript of Fortran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subscript {
    /// An index, or what a function is given.
    One(Node),
    /// `first:last`; none: as far as the array goes.
    Bounds(Option<Node>, Option<Node>),
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A variable, with its namespaces; `$rax`, in what a user typed, is a register or one of lldb's own variables.
    Name(String),
    /// A literal.
    Number(i128),
    /// `base.name`; of a pointer, what it points at has the member.
    Member(Box<Node>, String),
    /// One element, by an index from 0.
    Element(Box<Node>, Box<Node>),
    /// What a container of C++ is asked. Its members answer, no function is called.
    Container(Box<Node>, Asked),
    /// An operator before its operand.
    Unary(Prefix, Box<Node>),
    /// To a type.
    Cast(TypeName, Box<Node>),
    /// The bytes of a type.
    SizeOfType(TypeName),
    /// The bytes of what an expression is.
    SizeOf(Box<Node>),
    /// An operator between two.
    Binary(Operator, Box<Node>, Box<Node>),
    /// `condition ? first : second`.
    Choice(Box<Node>, Box<Node>, Box<Node>),
    /// `base(given, ...)` of Fortran: an element or a section of an array, or an intrinsic function.
    Indexed(Box<Node>, Vec<Subscript>),
}
