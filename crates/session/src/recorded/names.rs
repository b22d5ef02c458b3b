//! What MPI calls the datatypes and operators that calls were given.

use std::cell::OnceCell;
use std::collections::HashMap;

use functions::constants::Family;
use history::Record;
use model::{Given, HandleWord, Text};
use readers::mpich::handle_value::HandleValue;
use readers::mpich::handles;
use readers::openmpi::predefined;
use record_format::FORTRAN_HANDLE;
use target::Target;

/// Names of one process's handles. Those that the program made have none.
pub(super) struct Names<'t, T> {
    target: &'t T,
    family: Option<Family>,
    /// Open MPI's variables by their addresses.
    variables: OnceCell<HashMap<u64, &'static str>>,
}

impl<'t, T: Target> Names<'t, T> {
    pub(super) fn new(target: &'t T, family: Option<Family>) -> Self {
        Self { target, family, variables: OnceCell::new() }
    }

    /// Gives all that is told of calls the names of their handles.
    pub(super) fn tell(&self, record: &mut Record) {
        let history = &mut record.history;
        for collective in history.communicators.iter_mut().flat_map(|one| one.latest.iter_mut()) {
            self.tell_given(&mut collective.given);
            collective.op_name = collective.op.and_then(|op| self.op(op));
        }
        for given in history.threads.iter_mut().flat_map(|one| &mut one.calls).map(|call| &mut call.given) {
            self.tell_given(given);
        }
        for request in &mut history.requests {
            self.tell_given(&mut request.given);
        }
        let open = record.open.iter_mut().map(|one| &mut one.posted);
        for posted in open.chain(record.current.iter_mut().map(|one| &mut one.posted)) {
            for message in std::iter::once(&mut posted.first).chain(&mut posted.second) {
                message.datatype_name = message.datatype.and_then(|datatype| self.datatype(datatype));
            }
        }
    }

    fn tell_given(&self, given: &mut Given) {
        given.datatype_name = given.datatype.and_then(|datatype| self.datatype(datatype));
    }

    fn datatype(&self, handle: HandleWord) -> Option<Text> {
        self.name(handle, predefined::datatype_in_fortran)
    }

    fn op(&self, handle: HandleWord) -> Option<Text> {
        self.name(handle, predefined::op_in_fortran)
    }

    fn name(&self, HandleWord(word): HandleWord, in_fortran: fn(u64) -> Option<&'static str>) -> Option<Text> {
        let name = match self.family? {
            Family::Mpich => handles::name_of(HandleValue(u32::try_from(word).ok()?)),
            Family::Abi => handles::name_of_abi(word & !FORTRAN_HANDLE),
            Family::OpenMpi if word & FORTRAN_HANDLE != 0 => in_fortran(word & !FORTRAN_HANDLE),
            Family::OpenMpi => self.variables().get(&word).copied(),
        };
        name.map(Into::into)
    }

    fn variables(&self) -> &HashMap<u64, &'static str> {
        self.variables.get_or_init(|| {
            let at = |(name, variable): (&'static str, _)| {
                let variable: std::borrow::Cow<'static, str> = variable;
                Some((self.target.symbol(&variable).ok().flatten()?.addr.get(), name))
            };
            predefined::variables().filter_map(at).collect()
        })
    }
}
