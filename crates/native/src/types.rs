//! The types of an MPI library that has debug information, without a debugger.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use layouts::{LayoutSource, MakeError, TypeLayout, Wanted, types_of_file};
use symbols::ObjectFile;
use target::file_budget::cuts;
use target::files::{Identity, about};
use target::libraries::{c_library, is_application};
use target::{PageCache, Reason, Target};

use crate::images::{Image, Images};
use crate::process::Process;

type Types = Result<BTreeMap<String, TypeLayout>, Reason>;

/// The types of so many files are kept.
const MOST: usize = 16;

static KNOWN: Mutex<BTreeMap<Identity, Arc<Types>>> = Mutex::new(BTreeMap::new());

/// The debug information of the MPI library of a process: of the library itself, or of its separate debug file.
pub struct MpiTypes<P: Process> {
    memory: Rc<PageCache<P>>,
    wanted: &'static [&'static Wanted],
    types: OnceCell<Option<Arc<Types>>>,
}

impl<P: Process> MpiTypes<P> {
    /// Those that are `wanted`, which is the same for all processes. Nothing is read yet.
    pub fn new(memory: Rc<PageCache<P>>, wanted: &'static [&'static Wanted]) -> Self {
        Self { memory, wanted, types: OnceCell::new() }
    }

    fn types(&self) -> Option<&Types> {
        self.types.get_or_init(|| self.read()).as_deref()
    }

    /// Those of the MPI library; else of a library of the user's, as a debugger would take them, of which there seldom is one
    /// with such types.
    fn read(&self) -> Option<Arc<Types>> {
        let listed = self.memory.images().ok()?;
        let library = c_library(&listed).or_else(|| listed.iter().find(|image| image.is_executable))?;
        let images = Images::new(Rc::clone(&self.memory));
        let own = match library.is_executable {
            true => images.program()?.start,
            false => library.bias.get(),
        };
        let program = images.program().map_or_else(String::new, Image::shown);
        let of_user = |image: &&Image| !image.is_program && is_application(&image.shown(), &program);
        let others = images.all().iter().filter(of_user).map(|image| image.start);
        let mut found = std::iter::once(own).chain(others).filter_map(|start| types_at(&images, start, self.wanted));
        found.find(|types| types.as_ref().as_ref().is_ok_and(|types| !types.is_empty()))
    }
}

fn types_at<P: Process>(images: &Images<P>, start: u64, wanted: &[&'static Wanted]) -> Option<Arc<Types>> {
    let file = images.loaded(start)?.file.clone()?;
    file.object.dwarf()?;
    let object = file.object.debug_file().map_or(&file.object, |debug| debug.as_ref());
    Some(types_of(object, wanted))
}

impl<P: Process> LayoutSource for MpiTypes<P> {
    fn name(&self) -> String {
        "debug-info".to_owned()
    }

    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason> {
        match self.types() {
            None => Ok(None),
            Some(Ok(types)) => Ok(types.get(type_name).cloned()),
            Some(Err(reason)) => Err(reason.clone()),
        }
    }

    fn constant(&self, _: &str) -> Result<Option<i64>, Reason> {
        // Preprocessor constants are not in debug information (but with -g3, which no distribution uses).
        Ok(None)
    }
}

/// All types that are wanted, of one file; read once for all ranks.
fn types_of(object: &ObjectFile, wanted: &[&'static Wanted]) -> Arc<Types> {
    let identity = about(object.path()).ok().map(|about| Identity::of(&about));
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = identity.and_then(|identity| known().get(&identity).cloned()) {
        return found;
    }
    let before = cuts();
    let made = Arc::new(match types_of_file(object, wanted) {
        Ok(types) => Ok(types),
        Err(MakeError::NoDebugInfo { .. } | MakeError::MissingTypes { .. }) => Ok(BTreeMap::new()),
        Err(error) => Err(Reason::of(error)),
    });
    if let Some(identity) = identity.filter(|_| cuts() == before) {
        let mut known = known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(identity, Arc::clone(&made));
    }
    made
}
