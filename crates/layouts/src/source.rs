//! The ordered list of layout sources.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::{Field, FieldKind, LayoutError, TypeLayout};
use target::Reason;

/// Something that knows structure layouts: the debugger, DWARF, a profile.
pub trait LayoutSource {
    /// The name that `mpi info` and the JSON show: `debug-info`, `dwarf` or `profile:NAME`.
    fn name(&self) -> String;

    /// The layout of a type by the name that the MPI's source uses for it (a structure tag or a typedef).
    ///
    /// # Errors
    /// A sentence, where the source itself failed (not: where it does not know the type).
    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason>;

    /// The value of a preprocessor or enumeration constant.
    ///
    /// # Errors
    /// A sentence, where the source itself failed.
    fn constant(&self, name: &str) -> Result<Option<i64>, Reason>;
}

/// A source that is shared, for instance between the sessions of one debugger.
impl<T: LayoutSource + ?Sized> LayoutSource for Rc<T> {
    fn name(&self) -> String {
        (**self).name()
    }
    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason> {
        (**self).type_layout(type_name)
    }
    fn constant(&self, name: &str) -> Result<Option<i64>, Reason> {
        (**self).constant(name)
    }
}

/// The sources in the order in which they are asked, with their answers remembered.
pub struct Layouts {
    sources: Vec<Box<dyn LayoutSource>>,
    types: RefCell<HashMap<String, Rc<KnownType>>>,
}

struct KnownType {
    source_name: String,
    layout: TypeLayout,
}

impl Layouts {
    /// A list of sources, the preferred one first.
    pub fn new(sources: Vec<Box<dyn LayoutSource>>) -> Self {
        Self { sources, types: RefCell::default() }
    }

    /// The names of the sources in the order in which they are asked.
    pub fn source_names(&self) -> Vec<String> {
        self.sources.iter().map(|source| source.name()).collect()
    }

    /// Size in bytes of a type.
    ///
    /// # Errors
    /// Where no source knows the type.
    pub fn size_of(&self, type_name: &str) -> Result<u64, LayoutError> {
        Ok(self.known(type_name)?.layout.size)
    }

    /// Whether a source knows the type and the first one that does has the field (members are probed, never MPI
    /// versions).
    pub fn has_field(&self, type_name: &str, field: &str) -> bool {
        self.known(type_name).is_ok_and(|known| known.layout.fields.contains_key(field))
    }

    /// A field of a type.
    ///
    /// # Errors
    /// Where no source knows the type, the type lacks the field, or the field reaches out of its type.
    pub fn field(&self, type_name: &str, field: &str) -> Result<Field, LayoutError> {
        let known = self.known(type_name)?;
        let Some(found) = known.layout.fields.get(field) else {
            return Err(LayoutError::NoField {
                type_name: type_name.to_owned(),
                field: field.to_owned(),
                source_name: known.source_name.clone(),
            });
        };
        let bad = |reason: String| LayoutError::BadField {
            type_name: type_name.to_owned(),
            field: field.to_owned(),
            source_name: known.source_name.clone(),
            reason,
        };
        if found.offset.checked_add(found.size).is_none_or(|end| end > known.layout.size) {
            return Err(bad(format!(
                "offset {} and size {} reach out of {} bytes",
                found.offset, found.size, known.layout.size
            )));
        }
        let scalar = matches!(found.kind, FieldKind::Signed | FieldKind::Unsigned | FieldKind::Pointer);
        if scalar && !matches!(found.size, 1 | 2 | 4 | 8) {
            return Err(bad(format!("a number of {} bytes", found.size)));
        }
        Ok(found.clone())
    }

    /// A constant.
    ///
    /// # Errors
    /// Where no source knows it.
    pub fn constant(&self, name: &str) -> Result<i64, LayoutError> {
        for source in &self.sources {
            match source.constant(name) {
                Ok(Some(value)) => return Ok(value),
                Ok(None) => {}
                Err(reason) => return Err(LayoutError::Source { source_name: source.name(), reason }),
            }
        }
        Err(LayoutError::NoConstant { name: name.to_owned(), sources: self.source_names().join(", ") })
    }

    fn known(&self, type_name: &str) -> Result<Rc<KnownType>, LayoutError> {
        if let Some(known) = self.types.borrow().get(type_name) {
            return Ok(Rc::clone(known));
        }
        for source in &self.sources {
            match source.type_layout(type_name) {
                Ok(Some(layout)) => {
                    let known = Rc::new(KnownType { source_name: source.name(), layout });
                    self.types.borrow_mut().insert(type_name.to_owned(), Rc::clone(&known));
                    return Ok(known);
                }
                Ok(None) => {}
                Err(reason) => return Err(LayoutError::Source { source_name: source.name(), reason }),
            }
        }
        Err(LayoutError::NoType { type_name: type_name.to_owned(), sources: self.source_names().join(", ") })
    }
}
