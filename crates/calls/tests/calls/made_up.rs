//! Variables that are made up.

use std::rc::Rc;

use calls::Unknown;
use calls::expression::{Scope, Shape, Typed, Value};

const INT: i128 = 4;

/// What a variable holds.
#[derive(Clone)]
enum Content {
    Number(i128),
    Record(Vec<(&'static str, MadeUp)>),
    Elements(Vec<i128>),
    Pointer(Rc<MadeUp>),
}

/// A number, a record, an array of integers with bounds, or a pointer to one of these.
#[derive(Clone)]
pub struct MadeUp {
    content: Content,
    place: i128,
    bounds: Vec<(i128, i128)>,
    stride: i128,
}

fn made(content: Content, place: i128) -> MadeUp {
    MadeUp { content, place, bounds: Vec::new(), stride: INT }
}

fn number(value: i128) -> MadeUp {
    made(Content::Number(value), 0x1000)
}

fn elements(values: &[i128], place: i128) -> MadeUp {
    made(Content::Elements(values.to_vec()), place)
}

fn record(members: Vec<(&'static str, MadeUp)>) -> MadeUp {
    made(Content::Record(members), 0x1000)
}

fn pointer(to: MadeUp) -> MadeUp {
    made(Content::Pointer(Rc::new(to)), 0x1000)
}

fn variable(name: &str) -> Option<MadeUp> {
    Some(match name {
        "a" => number(5),
        "b" => number(3),
        "x" => pointer(record(vec![("n", made(Content::Number(7), 0x1234))])),
        "v" => elements(&[9, 10, 11, 12, 13], 0x2000),
        "p" => pointer(elements(&[2, 4, 6], 0x5000)),
        "c" => record(vec![("d", elements(&[7, 8, 9], 0x4000)), ("vec", record(Vec::new()))]),
        "vec" => {
            let first = pointer(elements(&[5, 6, 7, 8], 0x3000));
            let last = pointer(elements(&[], 0x300C));
            record(vec![("_M_impl", record(vec![("_M_start", first), ("_M_finish", last)]))])
        }
        "rank" => number(1),
        // integer grid(0:2, 5:6)
        "grid" => MadeUp { bounds: vec![(0, 2), (5, 6)], ..elements(&[1, 2, 3, 4, 5, 6], 0x6000) },
        // every second element of something larger
        "sparse" => MadeUp { bounds: vec![(1, 3)], stride: 2 * INT, ..elements(&[1, 2, 3], 0x7000) },
        "req" => record(vec![("mpi_val", number(77))]),
        _ => return None,
    })
}

impl MadeUp {
    fn inside(&self, name: &str) -> Option<MadeUp> {
        match &self.content {
            Content::Record(members) => members.iter().find(|(one, _)| *one == name).map(|(_, value)| value.clone()),
            _ => None,
        }
    }
}

impl Typed for MadeUp {
    fn shape(&self) -> Result<Shape, Unknown> {
        Ok(match self.content {
            Content::Number(_) => Shape::Number,
            Content::Record(_) => Shape::Record,
            Content::Elements(_) => Shape::Array,
            Content::Pointer(_) => Shape::Pointer,
        })
    }

    fn type_name(&self) -> Result<String, Unknown> {
        Ok(format!("made-up {}", format!("{:?}", self.shape()?).to_uppercase()))
    }

    fn number(&self) -> Result<i128, Unknown> {
        match &self.content {
            Content::Number(value) => Ok(*value),
            Content::Pointer(inside) => Ok(inside.place),
            _ => unreachable!("only numbers and pointers are numbers"),
        }
    }

    fn place(&self) -> Result<Option<i128>, Unknown> {
        Ok(Some(self.place))
    }

    fn size(&self) -> Result<i128, Unknown> {
        let count = if let Content::Elements(values) = &self.content { values.len() } else { 1 };
        Ok(INT * i128::try_from(count).unwrap())
    }

    fn width(&self) -> Result<i128, Unknown> {
        Ok(INT)
    }

    fn member(&self, name: &str) -> Result<Self, Unknown> {
        match &self.content {
            Content::Pointer(inside) => inside.member(name),
            _ => self.inside(name).ok_or_else(|| Unknown::new(format!("no member {name}"))),
        }
    }

    fn element(&self, index: i128) -> Result<Self, Unknown> {
        match &self.content {
            Content::Pointer(inside) if index == 0 && !matches!(inside.content, Content::Elements(_)) => {
                Ok(MadeUp::clone(inside))
            }
            Content::Pointer(inside) => inside.element(index),
            Content::Elements(values) => {
                let value = usize::try_from(index).ok().and_then(|index| values.get(index));
                let value = value.ok_or_else(|| Unknown::new("no such element"))?;
                Ok(made(Content::Number(*value), self.place + self.stride * index))
            }
            _ => unreachable!("only arrays and pointers have elements"),
        }
    }

    fn address(&self) -> Result<Self, Unknown> {
        Ok(pointer(self.clone()))
    }

    fn moved(&self, count: i128) -> Result<Self, Unknown> {
        let inside = if let Content::Pointer(inside) = &self.content { inside } else { self };
        let place = inside.place + INT * count;
        let Content::Elements(values) = &inside.content else {
            return Ok(pointer(made(inside.content.clone(), place)));
        };
        let rest = values.get(usize::try_from(count).unwrap()..).unwrap_or_default();
        Ok(pointer(elements(rest, place)))
    }

    fn bounds(&self) -> Result<Vec<(i128, i128)>, Unknown> {
        Ok(self.bounds.clone())
    }

    fn at(&self, indices: &[i128]) -> Result<Self, Unknown> {
        let (mut place, mut step) = (0, 1);
        for (index, (low, high)) in indices.iter().zip(&self.bounds) {
            place += (index - low) * step;
            step *= high - low + 1;
        }
        self.element(place)
    }

    fn handle(&self) -> Result<Option<i128>, Unknown> {
        self.inside("mpi_val").map(|inside| inside.number()).transpose()
    }
}

/// A frame with these variables.
pub struct MadeUpScope;

impl Scope for MadeUpScope {
    type Typed = MadeUp;

    fn variable(&self, name: &str) -> Result<Option<MadeUp>, Unknown> {
        if name == "gone" { Err(Unknown::new("optimised away")) } else { Ok(variable(name)) }
    }

    fn has_type(&self, name: &str) -> Result<bool, Unknown> {
        Ok(matches!(name, "int" | "long" | "MPI_Comm"))
    }

    fn missing(&self, name: &str) -> Result<String, Unknown> {
        Ok(format!("no variable {name}"))
    }

    fn cast(&self, value: Value<MadeUp>, type_name: &str, _: usize) -> Result<Value<MadeUp>, Unknown> {
        if self.has_type(type_name)? { Ok(value) } else { Err(Unknown::new(format!("no type {type_name}"))) }
    }

    fn size_of(&self, type_name: &str, pointers: usize) -> Result<i128, Unknown> {
        Ok(if pointers > 0 || type_name == "long" { 8 } else { INT })
    }
}
