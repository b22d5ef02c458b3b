//! The values of expressions of C and C++.

use super::arithmetic::{applied, too_large};
use super::scope::{Scope, Shape, Typed, Value, of_type};
use super::tree::{Asked, Node, Operator, Prefix};
use super::{Constant, name};
use crate::Unknown;

/// The values of trees in a scope.
pub(super) struct Evaluator<'s, S> {
    pub scope: &'s S,
    pub constant: Constant<'s>,
}

impl<S: Scope> Evaluator<'_, S> {
    /// The value of a tree.
    pub(super) fn value(&self, node: &Node) -> Result<Value<S::Typed>, Unknown> {
        Ok(match node {
            Node::Number(number) => Value::Number(*number),
            Node::Name(of) => name(self.scope, self.constant, of)?,
            Node::Member(base, name) => Value::Typed(self.value(base)?.record(name)?.member(name)?),
            Node::Element(base, index) => {
                let base = self.value(base)?;
                Value::Typed(element(&base, self.value(index)?.integer()?)?)
            }
            Node::Container(base, asked) => asked_of(self.value(base)?, *asked)?,
            Node::Unary(prefix, operand) => self.unary(*prefix, operand)?,
            Node::Cast(to, operand) => self.scope.cast(self.value(operand)?, &to.name, to.pointers)?,
            Node::SizeOfType(of) => Value::Number(self.scope.size_of(&of.name, of.pointers)?),
            Node::SizeOf(operand) => match self.value(operand)? {
                Value::Number(_) => return Err(Unknown::new("the type of a number is not known")),
                Value::Typed(operand) => Value::Number(operand.size()?),
            },
            // What is not chosen need have no value.
            Node::Choice(condition, first, second) => {
                self.value(if self.truth(condition)? { first } else { second })?
            }
            Node::Binary(operator, left, right) => self.binary(*operator, left, right)?,
            Node::Indexed(..) => return Err(Unknown::new("the expression is not understood")),
        })
    }

    fn truth(&self, node: &Node) -> Result<bool, Unknown> {
        Ok(self.value(node)?.plain()? != 0)
    }

    fn binary(&self, operator: Operator, left: &Node, right: &Node) -> Result<Value<S::Typed>, Unknown> {
        if let Operator::And | Operator::Or = operator {
            let first = self.truth(left)?;
            let decided = first == (operator == Operator::Or);
            return Ok(Value::Number(i128::from(if decided { first } else { self.truth(right)? })));
        }
        let (mut first, mut second) = (self.value(left)?, self.value(right)?);
        if let Operator::Add | Operator::Subtract = operator {
            let points = first.pointing()?.is_some();
            if operator == Operator::Add && !points && second.pointing()?.is_some() {
                std::mem::swap(&mut first, &mut second);
            }
            if let Some(pointer) = first.pointing()? {
                if let Some(other) = second.pointing()? {
                    let distance = distance(operator, (pointer, &first), (other, &second))?;
                    return Ok(Value::Number(distance));
                }
                let count = second.integer()?;
                let count = if operator == Operator::Add { Some(count) } else { count.checked_neg() };
                return Ok(Value::Typed(pointer.moved(count.ok_or_else(too_large)?)?));
            }
        }
        let compares = matches!(
            operator,
            Operator::Less
                | Operator::Greater
                | Operator::LessOrEqual
                | Operator::GreaterOrEqual
                | Operator::Equal
                | Operator::NotEqual
        );
        let (left, right) =
            if compares { (first.plain()?, second.plain()?) } else { (first.integer()?, second.integer()?) };
        applied(operator, left, right).map(Value::Number)
    }

    fn unary(&self, prefix: Prefix, operand: &Node) -> Result<Value<S::Typed>, Unknown> {
        if prefix == Prefix::AddressOf {
            return self.address(operand);
        }
        let value = self.value(operand)?;
        let number = match prefix {
            Prefix::At => return pointed_at(&value).map(Value::Typed),
            Prefix::Not => i128::from(value.plain()? == 0),
            Prefix::Minus => value.integer()?.checked_neg().ok_or_else(too_large)?,
            Prefix::Complement => !value.integer()?,
            Prefix::Plus | Prefix::AddressOf => value.integer()?,
        };
        Ok(Value::Number(number))
    }

    fn address(&self, operand: &Node) -> Result<Value<S::Typed>, Unknown> {
        match operand {
            Node::Unary(Prefix::At, pointer) => return self.value(pointer),
            Node::Name(name) if self.scope.variable(name)?.is_none() => {
                if let Some(found) = self.scope.address_of_name(name)? {
                    return Ok(Value::Typed(found));
                }
            }
            _ => {}
        }
        match self.value(operand)? {
            Value::Number(_) => Err(Unknown::new("a number has no address")),
            Value::Typed(value) => value.address().map(Value::Typed),
        }
    }
}

type Pointer<'v, T> = (&'v T, &'v Value<T>);

fn distance<T: Typed>(operator: Operator, first: Pointer<'_, T>, second: Pointer<'_, T>) -> Result<i128, Unknown> {
    let width = first.0.width()?;
    if operator == Operator::Add || width <= 0 || second.0.width()? != width {
        return Err(Unknown::new("pointers to different things have no distance"));
    }
    Ok(first.1.plain()?.checked_sub(second.1.plain()?).ok_or_else(too_large)?.div_euclid(width))
}

fn pointed_at<T: Typed>(value: &Value<T>) -> Result<T, Unknown> {
    match value {
        Value::Number(_) => {
            Err(Unknown::new("a number points at nothing; say of which type it is: *(MPI_Comm *)NUMBER"))
        }
        Value::Typed(pointer) if value.pointing()?.is_none() => Err(of_type(pointer, "points at nothing")),
        Value::Typed(pointer) => pointer.element(0),
    }
}

fn element<T: Typed>(base: &Value<T>, index: i128) -> Result<T, Unknown> {
    let owner = match base {
        Value::Number(_) => return Err(Unknown::new("a number has no elements")),
        Value::Typed(owner) => owner,
    };
    match owner.shape()? {
        Shape::Record => {
            let (first, count) = vector(owner)?;
            if !(0..count).contains(&index) {
                return Err(Unknown::new(format!("the container has no element {index}: there are {count}")));
            }
            first.element(index)
        }
        Shape::Pointer | Shape::Array => owner.element(index),
        Shape::Number | Shape::Other => Err(of_type(owner, "has no elements")),
    }
}

fn asked_of<T: Typed>(base: Value<T>, asked: Asked) -> Result<Value<T>, Unknown> {
    let owner = base.record(match asked {
        Asked::Data => "data",
        Asked::Size => "size",
    })?;
    let (first, count) = if owner.shape()? == Shape::Pointer { vector(&owner.element(0)?)? } else { vector(&owner)? };
    Ok(match asked {
        Asked::Data => Value::Typed(first),
        Asked::Size => Value::Number(count),
    })
}

/// A pointer to the first element of a std::vector, and their number (libstdc++: bits/stl_vector.h).
fn vector<T: Typed>(value: &T) -> Result<(T, i128), Unknown> {
    if value.shape()? != Shape::Record {
        return Err(of_type(value, "has no elements"));
    }
    let no_container = || of_type(value, "is not a known container");
    let inside = value.member("_M_impl").map_err(|_| no_container())?;
    let first = inside.member("_M_start").map_err(|_| no_container())?;
    let last = inside.member("_M_finish").map_err(|_| no_container())?;
    let points = first.shape()? == Shape::Pointer && last.shape()? == Shape::Pointer;
    let width = if points { first.width()? } else { 0 };
    if width <= 0 {
        return Err(no_container());
    }
    let bytes = last.number()?.checked_sub(first.number()?).ok_or_else(too_large)?;
    Ok((first, bytes.div_euclid(width)))
}
