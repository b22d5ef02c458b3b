//! The values of expressions of Fortran.

use super::arithmetic::{Function, applied, too_large};
use super::scope::{Evaluated, Scope, Shape, Typed, Value, no_memory};
use super::tree::{Node, Prefix, Subscript};
use super::{Constant, name};
use crate::Unknown;

/// The value of a whole expression, which may be a section of an array.
pub(super) enum Whole<T> {
    Value(Value<T>),
    Section(Evaluated),
}

/// The values of trees in a scope.
pub(super) struct Evaluator<'s, S> {
    pub scope: &'s S,
    pub constant: Constant<'s>,
}

type Bounds = (i128, i128);

impl<S: Scope> Evaluator<'_, S> {
    pub(super) fn whole(&self, node: &Node) -> Result<Whole<S::Typed>, Unknown> {
        match node {
            Node::Indexed(base, given) if given.iter().any(|one| matches!(one, Subscript::Bounds(..))) => {
                self.section(base, given).map(Whole::Section)
            }
            _ => self.value(node).map(Whole::Value),
        }
    }

    fn value(&self, node: &Node) -> Result<Value<S::Typed>, Unknown> {
        Ok(match node {
            Node::Number(number) => Value::Number(*number),
            Node::Name(of) => behind(name(self.scope, self.constant, of)?)?,
            Node::Member(base, name) => behind(Value::Typed(self.value(base)?.record(name)?.member(name)?))?,
            Node::Indexed(base, given) => self.indexed(base, given)?,
            Node::Unary(prefix, operand) => {
                let number = self.integer(operand)?;
                let minus = *prefix == Prefix::Minus;
                Value::Number(if minus { number.checked_neg().ok_or_else(too_large)? } else { number })
            }
            Node::Binary(operator, left, right) => {
                Value::Number(applied(*operator, self.integer(left)?, self.integer(right)?)?)
            }
            _ => return Err(Unknown::new("the expression is not understood")),
        })
    }

    fn integer(&self, node: &Node) -> Result<i128, Unknown> {
        self.value(node)?.integer()
    }

    fn indexed(&self, base: &Node, given: &[Subscript]) -> Result<Value<S::Typed>, Unknown> {
        let Some(array) = self.array(base)? else { return self.intrinsic(base, given).map(Value::Number) };
        let mut indices = Vec::new();
        for (bounds, one) in dimensions(&array, given)?.into_iter().zip(given) {
            let Subscript::One(index) = one else { return Err(Unknown::new("a section of an array is not a number")) };
            indices.push(inside(self.integer(index)?, bounds)?);
        }
        behind(Value::Typed(array.at(&indices)?))
    }

    /// The array that is indexed; `None` where it is a function.
    fn array(&self, base: &Node) -> Result<Option<S::Typed>, Unknown> {
        let value = match base {
            Node::Name(name) => match self.scope.variable(name)? {
                Some(found) => behind(Value::Typed(found))?,
                None => return Ok(None),
            },
            _ => self.value(base)?,
        };
        match value {
            Value::Typed(array) if array.shape()? == Shape::Array => Ok(Some(array)),
            // To programs names of intrinsic functions are free: rank, size, max.
            _ if matches!(base, Node::Name(name) if Function::named(name).is_some()) => Ok(None),
            _ => Err(Unknown::new("what is indexed is not an array")),
        }
    }

    /// Where a section begins that is one piece of memory: another one may have been copied for the call.
    fn section(&self, base: &Node, given: &[Subscript]) -> Result<Evaluated, Unknown> {
        let copied = || Unknown::new("a section that is not one piece of memory may have been copied for the call");
        let Some(array) = self.array(base)? else { return Err(Unknown::new("a section of what is not an array")) };
        let dimensions = dimensions(&array, given)?;
        let mut first = Vec::new();
        let mut second = None;
        let mut whole = true;
        for (at, ((low, high), one)) in dimensions.iter().copied().zip(given).enumerate() {
            let (begin, end) = match one {
                Subscript::One(index) => {
                    first.push(self.integer(index)?);
                    whole = false;
                    continue;
                }
                Subscript::Bounds(begin, end) => (
                    begin.as_ref().map_or(Ok(low), |begin| self.integer(begin))?,
                    end.as_ref().map_or(Ok(high), |end| self.integer(end))?,
                ),
            };
            if !whole && at > 0 {
                return Err(copied());
            }
            whole = whole && (begin, end) == (low, high);
            if at == 0 && end > begin {
                second = Some(begin.checked_add(1).ok_or_else(too_large)?);
            }
            first.push(begin);
        }
        for (index, bounds) in first.iter().zip(dimensions) {
            inside(*index, bounds)?;
        }
        let (place, width) = (array.at(&first)?.place()?.ok_or_else(no_memory), array.width()?);
        let place = place?;
        if let (Some(second), Some(index)) = (second, first.first_mut()) {
            *index = second;
            if array.at(&first)?.place()? != place.checked_add(width) {
                return Err(copied());
            }
        }
        Ok(Evaluated { number: place, width: Some(width), place: Some(place) })
    }

    fn intrinsic(&self, base: &Node, given: &[Subscript]) -> Result<i128, Unknown> {
        let name = if let Node::Name(name) = base { name.as_str() } else { "" };
        if let Some(asked) = Extent::named(name) {
            return self.extent(name, asked, given);
        }
        let Some(function) = Function::named(name) else {
            return Err(Unknown::new(format!("{name} is a function, or is not known here")));
        };
        let mut numbers = Vec::new();
        for one in given {
            if let Subscript::One(node) = one {
                numbers.push(self.integer(node)?);
            }
        }
        let all = numbers.len() == given.len();
        function.of(&numbers).filter(|_| all).ok_or_else(|| not_understood(name))?
    }

    fn extent(&self, name: &str, asked: Extent, given: &[Subscript]) -> Result<i128, Unknown> {
        let Some(Subscript::One(array)) = given.first() else { return Err(not_understood(name)) };
        let mut bounds = match self.value(array)? {
            Value::Typed(array) if array.shape()? == Shape::Array && given.len() <= 2 => array.bounds()?,
            _ => return Err(not_understood(name)),
        };
        if let Some(which) = given.get(1) {
            let dimension = if let Subscript::One(which) = which { self.integer(which)? } else { 0 };
            let at = usize::try_from(dimension).ok().and_then(|dimension| dimension.checked_sub(1));
            let one = at.and_then(|at| bounds.get(at).copied());
            bounds = vec![one.ok_or_else(|| Unknown::new(format!("the array has no dimension {dimension}")))?];
        }
        match (asked, bounds.as_slice()) {
            (Extent::Size, all) => {
                let extent = |(low, high): &Bounds| Some(high.checked_sub(*low)?.checked_add(1)?.max(0));
                let total = all.iter().try_fold(1_i128, |total, bounds| total.checked_mul(extent(bounds)?));
                total.ok_or_else(too_large)
            }
            (Extent::Lower, [(low, _)]) => Ok(*low),
            (Extent::Upper, [(_, high)]) => Ok(*high),
            _ => Err(Unknown::new(format!("{name} of several dimensions is not a number"))),
        }
    }
}

/// What is asked of an array's bounds.
#[derive(Clone, Copy)]
enum Extent {
    Size,
    Lower,
    Upper,
}

impl Extent {
    fn named(name: &str) -> Option<Self> {
        match name {
            "size" => Some(Self::Size),
            "lbound" => Some(Self::Lower),
            "ubound" => Some(Self::Upper),
            _ => None,
        }
    }
}

/// In Fortran the name of a pointer means what it points at.
fn behind<T: Typed>(value: Value<T>) -> Result<Value<T>, Unknown> {
    match &value {
        Value::Typed(pointer) if pointer.shape()? == Shape::Pointer && pointer.width()? > 0 => {
            pointer.element(0).map(Value::Typed)
        }
        _ => Ok(value),
    }
}

fn dimensions<T: Typed>(array: &T, given: &[Subscript]) -> Result<Vec<Bounds>, Unknown> {
    let bounds = array.bounds()?;
    if bounds.len() == given.len() {
        return Ok(bounds);
    }
    Err(Unknown::new(format!("an array of {} dimensions with {} indices", bounds.len(), given.len())))
}

fn inside(index: i128, (low, high): Bounds) -> Result<i128, Unknown> {
    if (low..=high).contains(&index) {
        return Ok(index);
    }
    Err(Unknown::new(format!("the array has no element {index}: they go from {low} to {high}")))
}

fn not_understood(name: &str) -> Unknown {
    Unknown::new(format!("{name} is not understood with these arguments"))
}
