//! Statuses: what those of all MPIs have in common. They lie in the application's memory and carry no mark of what they are:
//! only members that nobody but the library writes tell garbage.

use super::beginning;
use layouts::Layouts;
use model::{Handle, HandleKind, HandleState};
use target::address::TargetAddr;

/// The error classes of the standard.
const ERROR_CLASSES: &[&str] = &[
    "MPI_ERR_ACCESS",
    "MPI_ERR_AMODE",
    "MPI_ERR_ARG",
    "MPI_ERR_ASSERT",
    "MPI_ERR_BAD_FILE",
    "MPI_ERR_BASE",
    "MPI_ERR_BUFFER",
    "MPI_ERR_COMM",
    "MPI_ERR_CONVERSION",
    "MPI_ERR_COUNT",
    "MPI_ERR_DIMS",
    "MPI_ERR_DISP",
    "MPI_ERR_DUP_DATAREP",
    "MPI_ERR_FILE",
    "MPI_ERR_FILE_EXISTS",
    "MPI_ERR_FILE_IN_USE",
    "MPI_ERR_GROUP",
    "MPI_ERR_INFO",
    "MPI_ERR_INFO_KEY",
    "MPI_ERR_INFO_NOKEY",
    "MPI_ERR_INFO_VALUE",
    "MPI_ERR_INTERN",
    "MPI_ERR_IN_STATUS",
    "MPI_ERR_IO",
    "MPI_ERR_KEYVAL",
    "MPI_ERR_LOCKTYPE",
    "MPI_ERR_NAME",
    "MPI_ERR_NOT_SAME",
    "MPI_ERR_NO_MEM",
    "MPI_ERR_NO_SPACE",
    "MPI_ERR_NO_SUCH_FILE",
    "MPI_ERR_OP",
    "MPI_ERR_OTHER",
    "MPI_ERR_PENDING",
    "MPI_ERR_PORT",
    "MPI_ERR_PROC_ABORTED",
    "MPI_ERR_PROC_FAILED",
    "MPI_ERR_PROC_FAILED_PENDING",
    "MPI_ERR_QUOTA",
    "MPI_ERR_RANK",
    "MPI_ERR_READ_ONLY",
    "MPI_ERR_REQUEST",
    "MPI_ERR_REVOKED",
    "MPI_ERR_RMA_ATTACH",
    "MPI_ERR_RMA_CONFLICT",
    "MPI_ERR_RMA_FLAVOR",
    "MPI_ERR_RMA_RANGE",
    "MPI_ERR_RMA_SHARED",
    "MPI_ERR_RMA_SYNC",
    "MPI_ERR_ROOT",
    "MPI_ERR_SERVICE",
    "MPI_ERR_SESSION",
    "MPI_ERR_SIZE",
    "MPI_ERR_SPAWN",
    "MPI_ERR_TAG",
    "MPI_ERR_TOPOLOGY",
    "MPI_ERR_TRUNCATE",
    "MPI_ERR_TYPE",
    "MPI_ERR_UNKNOWN",
    "MPI_ERR_UNSUPPORTED_DATAREP",
    "MPI_ERR_UNSUPPORTED_OPERATION",
    "MPI_ERR_VALUE_TOO_LARGE",
    "MPI_ERR_WIN",
];

/// What a status says.
#[derive(Debug, Clone, Copy)]
pub struct Status {
    /// MPI_SOURCE.
    pub source: i64,
    /// MPI_TAG.
    pub tag: i64,
    /// MPI_ERROR.
    pub error: i64,
    /// The name of its error class.
    pub error_name: Option<&'static str>,
    /// Length of the message in bytes.
    pub bytes: u64,
    /// Whether it was cancelled.
    pub cancelled: bool,
}

/// MPI_STATUS_IGNORE.
pub fn ignored(addr: TargetAddr) -> Handle {
    Handle {
        kind: HandleKind::Status,
        handle: Some(addr.to_string()),
        name: Some("MPI_STATUS_IGNORE".to_owned()),
        predefined: Some(true),
        state: HandleState::Null,
        summary: "MPI_STATUS_IGNORE".to_owned(),
        ..Handle::default()
    }
}

/// A status that cannot be read, and why.
pub fn unknown(addr: Option<TargetAddr>, detail: String) -> Handle {
    Handle {
        kind: HandleKind::Status,
        handle: addr.map(|addr| addr.to_string()),
        state: HandleState::Unknown,
        summary: format!("unknown MPI_Status: {}", beginning(&detail)),
        detail: Some(detail),
        ..Handle::default()
    }
}

/// The name of the error class with that number; `None` where the standard has no such class.
pub fn error_class(layouts: &Layouts, class: i64) -> Option<&'static str> {
    if class == 0 {
        return Some("MPI_SUCCESS");
    }
    ERROR_CLASSES.iter().copied().find(|name| layouts.constant(name).is_ok_and(|value| value == class))
}

impl Status {
    /// The status as a handle; `garbage`: why no MPI function can have left its members so.
    pub fn described(&self, layouts: &Layouts, addr: Option<TargetAddr>, garbage: Option<String>) -> Handle {
        let Self { source, tag, error, error_name, bytes, cancelled } = *self;
        let mut handle = Handle {
            kind: HandleKind::Status,
            handle: addr.map(|addr| addr.to_string()),
            predefined: Some(false),
            state: HandleState::Live,
            ..Handle::default()
        };
        handle.fact("source", source);
        handle.fact("tag", tag);
        handle.fact("error", error);
        match error_name {
            Some(name) => handle.fact("error_name", name),
            None => handle.unknown(
                "error_name",
                "it is not an error class of the standard: functions that complete one operation leave this member \
                 as it was",
            ),
        }
        handle.fact("bytes", bytes);
        handle.unknown("elements", "a status does not know the datatype");
        handle.fact("cancelled", cancelled);
        if let Some(detail) = garbage.or_else(|| self.no_source(layouts)) {
            handle.state = HandleState::Invalid;
            handle.summary = format!("not an MPI_Status: {detail}");
            handle.detail = Some(detail);
            return handle;
        }
        handle.summary = self.summary(layouts);
        handle
    }

    fn summary(&self, layouts: &Layouts) -> String {
        let Self { source, tag, bytes, .. } = *self;
        let constant = |name: &str| layouts.constant(name).ok();
        // Names of constants make no sense of numbers that the library does not have.
        let named = |value: i64, names: &[&str]| {
            let found = names.iter().find(|name| constant(name) == Some(value));
            found.map_or_else(|| value.to_string(), |name| (*name).to_owned())
        };
        let empty = constant("MPI_ANY_SOURCE") == Some(source) && constant("MPI_ANY_TAG") == Some(tag) && bytes == 0;
        let summary = if self.cancelled {
            "cancelled".to_owned()
        } else if empty {
            // What completing an inactive request gives (MPI-3.1, 3.7.3).
            "empty".to_owned()
        } else {
            let source = named(source, &["MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_UNDEFINED"]);
            let tag = named(tag, &["MPI_ANY_TAG", "MPI_UNDEFINED"]);
            format!("from {source}, tag {tag}, {bytes} bytes")
        };
        match self.error_name.filter(|_| self.error != 0) {
            Some(name) => format!("{summary}, {name}"),
            None => summary,
        }
    }

    /// Why no MPI function can have left the source so.
    fn no_source(&self, layouts: &Layouts) -> Option<String> {
        let allowed = ["MPI_ANY_SOURCE", "MPI_PROC_NULL", "MPI_ROOT", "MPI_UNDEFINED"];
        let special = || allowed.iter().any(|name| layouts.constant(name).is_ok_and(|value| value == self.source));
        let source = self.source;
        (source < 0 && !special()).then(|| format!("its member MPI_SOURCE is {source} (never set, or garbage)"))
    }
}
