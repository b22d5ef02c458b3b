//! Which object of the program an expression names, by how it is written: the same words in one function name the same.

use super::tree::{Asked, Node, Operator, Prefix, Subscript};
use super::{c_grammar, fortran_grammar};

/// Where a value lies that a function of MPI is given by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// A variable, and the members that lead from it: `req`, `halo.requests`.
    pub path: String,
    /// Which element of it, from 0 (of Fortran: its index), where the source says a number; a value that is not an array is its
    /// own element 0.
    pub element: Option<i128>,
    /// Whether it is the address of what a pointer holds, so that other paths may lead to it.
    pub pointer: bool,
}

impl Object {
    /// The variable with which the path begins.
    pub fn variable(&self) -> &str {
        self.path.split(['.', '[']).next().unwrap_or_default()
    }
}

/// What an address names, in C or C++. `None` where that cannot be told by its words.
pub fn object_in_c(text: &str) -> Option<Object> {
    // Of a name that stands for a type or a value, it is a value here: what is cast is in parentheses anyway.
    let parsed = |text: &str| c_grammar::parse(text, &|_| None, false).ok();
    // What stands in brackets may do something: `&reqs[next++]`.
    let node = parsed(text).or_else(|| parsed(&without_indices(text)))?;
    of_address(&node)
}

/// With a name for what stands in each of the outer brackets.
fn without_indices(text: &str) -> String {
    let mut found = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        if c == ']' {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                found.push_str("index");
            }
        }
        if depth == 0 {
            found.push(c);
        }
        depth += usize::from(c == '[');
    }
    found
}

/// The same of an argument of Fortran, which is given by its address.
pub fn object_in_fortran(text: &str) -> Option<Object> {
    match fortran_grammar::parse(text).ok()? {
        Node::Indexed(base, subscripts) => {
            let element = match subscripts.as_slice() {
                [Subscript::One(Node::Number(index)) | Subscript::Bounds(Some(Node::Number(index)), _)] => Some(*index),
                _ => None,
            };
            Some(Object { path: path(&base)?, element, pointer: false })
        }
        node => Some(Object { path: path(&node)?, element: None, pointer: false }),
    }
}

/// Whether an expression has the same value everywhere: it names no variable.
pub fn is_literal(text: &str, fortran: bool) -> bool {
    let node = if fortran { fortran_grammar::parse(text) } else { c_grammar::parse(text, &|_| None, false) };
    node.is_ok_and(|node| has_no_names(&node))
}

fn has_no_names(node: &Node) -> bool {
    match node {
        Node::Number(_) | Node::SizeOfType(_) => true,
        Node::Unary(_, inner) | Node::Cast(_, inner) => has_no_names(inner),
        Node::Binary(_, left, right) => has_no_names(left) && has_no_names(right),
        _ => false,
    }
}

fn of_address(node: &Node) -> Option<Object> {
    match node {
        Node::Unary(Prefix::AddressOf, inner) => of_value(inner),
        Node::Cast(_, inner) => of_address(inner),
        Node::Container(base, Asked::Data) => Some(Object { path: path(base)?, element: Some(0), pointer: false }),
        Node::Binary(operator @ (Operator::Add | Operator::Subtract), base, by) => {
            let mut found = of_address(base)?;
            found.element = match (&**by, found.element, operator) {
                (Node::Number(by), Some(at), Operator::Add) => at.checked_add(*by),
                (Node::Number(by), Some(at), _) => at.checked_sub(*by),
                _ => None,
            };
            Some(found)
        }
        _ => Some(Object { path: path(node)?, element: Some(0), pointer: true }),
    }
}

fn of_value(node: &Node) -> Option<Object> {
    match node {
        Node::Element(base, index) => {
            let element = if let Node::Number(index) = **index { Some(index) } else { None };
            Some(Object { path: path(base)?, element, pointer: false })
        }
        Node::Unary(Prefix::At, pointer) => of_address(pointer),
        _ => Some(Object { path: path(node)?, element: Some(0), pointer: false }),
    }
}

/// The words that lead to a value.
fn path(node: &Node) -> Option<String> {
    match node {
        Node::Name(name) => Some(name.clone()),
        Node::Member(base, member) => match &**base {
            Node::Name(name) if name == "this" => Some(member.clone()),
            base => Some(format!("{}.{member}", path(base)?)),
        },
        Node::Unary(Prefix::At, inner) | Node::Cast(_, inner) => path(inner),
        Node::Element(base, index) => match &**index {
            Node::Number(index) => Some(format!("{}[{index}]", path(base)?)),
            _ => Some(format!("{}[]", path(base)?)),
        },
        Node::Indexed(base, _) => Some(format!("{}[]", path(base)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c(text: &str) -> Option<(String, Option<i128>, bool)> {
        object_in_c(text).map(|found| (found.path, found.element, found.pointer))
    }

    #[test]
    fn objects_of_c() {
        let object = |path: &str, element| Some((path.to_owned(), element, false));
        assert_eq!(c("&req"), object("req", Some(0)));
        assert_eq!(c("&(req)"), object("req", Some(0)));
        assert_eq!(c("&reqs[2]"), object("reqs", Some(2)));
        assert_eq!(c("&reqs[i]"), object("reqs", None));
        assert_eq!(c("&reqs[0] + 3"), object("reqs", Some(3)));
        assert_eq!(c("&halo->reqs[n + 1]"), object("halo.reqs", None));
        assert_eq!(c("&(*halo).req"), object("halo.req", Some(0)));
        assert_eq!(c("&this->req"), object("req", Some(0)));
        assert_eq!(c("&halos[3].req"), object("halos[3].req", Some(0)));
        assert_eq!(c("reqs.data() + 1"), object("reqs", Some(1)));
        assert_eq!(c("reqs + i"), Some(("reqs".to_owned(), None, true)));
        assert_eq!(c("reqs"), Some(("reqs".to_owned(), Some(0), true)));
        assert_eq!(c("(MPI_Request *)buffer"), Some(("buffer".to_owned(), Some(0), true)));
        assert_eq!(c("&reqs[next++]"), object("reqs", None));
        assert_eq!(c("&halo[next()].reqs[at[n++]]"), object("halo[].reqs", None));
        assert_eq!(c("next()"), None);
        assert_eq!(object_in_c("&halo->reqs[1]").map(|found| found.variable().to_owned()).as_deref(), Some("halo"));
    }

    #[test]
    fn objects_of_fortran() {
        let object = |text: &str| object_in_fortran(text).map(|found| (found.path, found.element));
        assert_eq!(object("Req"), Some(("req".to_owned(), None)));
        assert_eq!(object("reqs(2)"), Some(("reqs".to_owned(), Some(2))));
        assert_eq!(object("reqs(i)"), Some(("reqs".to_owned(), None)));
        assert_eq!(object("halo%reqs(3:)"), Some(("halo.reqs".to_owned(), Some(3))));
    }
}
