//! What handles mean, and which objects of a kind a process has.

use super::{Session, SessionError};
use model::{Handle, HandleKind, HandleList, HandleState, Process};
use readers::{Depth, HandleSource, ReaderError};
use target::Target;

/// How somebody names a handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Designator {
    /// The value of the C handle; of a status, its address.
    Handle(u64),
    /// The Fortran integer.
    Fortran(i64),
    /// The bytes of a status.
    Status(Vec<u8>),
    /// The object's name.
    Name(String),
}

impl Designator {
    /// What a person types: `0x7f…` is the value of a C handle, a decimal number the Fortran integer, anything else a name.
    pub fn parse(text: &str) -> Self {
        let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        if let Some(value) = hex.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
            return Self::Handle(value);
        }
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Fortran)
    }
}

impl<T: Target> Session<T> {
    /// What one handle means. A value that is no handle is told as such, not an error.
    ///
    /// # Errors
    /// Where the process has no MPI that can be read now, or none of its objects has the name asked for.
    pub fn describe_handle(
        &self,
        kind: HandleKind,
        designator: &Designator,
        depth: Depth,
    ) -> Result<Handle, SessionError> {
        if let Designator::Name(name) = designator {
            return Ok(self.called(kind, name)?.handles.swap_remove(0));
        }
        self.with_handles(|reader| match designator {
            Designator::Handle(value) => reader.describe(kind, *value, depth),
            Designator::Fortran(index) => reader.describe_fortran(kind, *index, depth),
            Designator::Status(bytes) => reader.describe_status(bytes),
            Designator::Name(_) => Handle::default(),
        })
    }

    /// What is wanted of the process's handles, in that order: all objects of a kind, or those that somebody names. pid, host
    /// and stacks are the caller's to fill in.
    ///
    /// # Errors
    /// As [`Session::describe_handle`].
    pub fn read_handles(&self, wanted: &[(HandleKind, Option<Designator>)]) -> Result<Process, SessionError> {
        let _request = self.target.budget().request();
        let mut process = self.read_builtin(false)?;
        process.communicators.clear();
        for (kind, designator) in wanted {
            let kind = *kind;
            let list = match designator {
                None => self.list_builtin(kind)?,
                Some(Designator::Name(name)) => self.called(kind, name)?,
                Some(one) => {
                    let handle = self.describe_handle(kind, one, Depth::Full)?;
                    HandleList { kind, complete: true, detail: None, handles: vec![handle] }
                }
            };
            process.handles.push(list);
        }
        Ok(process)
    }

    /// The objects of a kind that have this name, one at least.
    fn called(&self, kind: HandleKind, name: &str) -> Result<HandleList, SessionError> {
        let mut list = self.list_builtin(kind)?;
        list.handles.retain(|handle| handle.state == HandleState::Live && handle.name.as_deref() == Some(name));
        if list.handles.is_empty() {
            let (kind, name) = (kind.noun(), name.to_owned());
            let but = list.detail.map(|detail| format!(" (but {detail})")).unwrap_or_default();
            return Err(SessionError::NoHandle { kind, name, but });
        }
        Ok(list)
    }

    /// The objects of a kind that the built-in reader finds.
    ///
    /// # Errors
    /// Where the process has no MPI that can be read now.
    pub fn list_builtin(&self, kind: HandleKind) -> Result<HandleList, SessionError> {
        self.with_handles(|reader| reader.list(kind))
    }

    pub(super) fn with_handles<R>(&self, read: impl FnOnce(&dyn HandleSource) -> R) -> Result<R, SessionError> {
        let _request = self.target.budget().request();
        let detected = self.detected()?;
        let (mut read, mut result) = (Some(read), None);
        detected.installed.handles(&self.target, &detected, &mut |source| {
            result = read.take().map(|read| read(source));
        })?;
        result.ok_or_else(|| ReaderError::NotRead("what handles mean is not known".to_owned()).into())
    }
}
