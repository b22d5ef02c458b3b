//! Where the fields of MPIR_PROCDESC lie.

use layouts::{FieldKind, LayoutError, Layouts};
use target::{Reason, TargetAbi};

const TYPE: &str = "MPIR_PROCDESC";

/// A larger entry is damaged debug information.
const MAX_SIZE: u64 = 1 << 16;

/// Offset and size of one field, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// From the start of the entry.
    pub offset: u64,
    /// 1, 2, 4 or 8.
    pub size: u64,
}

/// The layout of one entry of a process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcDesc {
    /// From one entry to the next, in bytes.
    pub stride: u64,
    /// A pointer to the host's name.
    pub host: Place,
    /// A pointer to the executable's name.
    pub executable: Place,
    /// The process id; launchers may use a wider type than the document's `int`.
    pub pid: Place,
    /// Who says so.
    pub origin: &'static str,
}

impl ProcDesc {
    /// The structure of the document, `{char *host_name; char *executable_name; int pid;}`, with the alignment that C
    /// gives it.
    pub fn built_in(abi: TargetAbi) -> Self {
        let width = abi.pointer_width.bytes();
        Self {
            stride: 3 * width,
            host: Place { offset: 0, size: width },
            executable: Place { offset: width, size: width },
            pid: Place { offset: 2 * width, size: 4 },
            origin: "built-in layout",
        }
    }

    /// The structure as debug information describes it, the document's where there is none; and what there is to be
    /// told about that.
    ///
    /// # Errors
    /// A sentence, where the debug information has a structure of that name that is another one: then nobody knows where
    /// the fields are.
    pub fn find(layouts: &Layouts, abi: TargetAbi) -> Result<(Self, Option<String>), Reason> {
        match Self::described(layouts, abi) {
            Ok(found) => Ok((found, None)),
            Err(LayoutError::NoType { .. }) => Ok((Self::built_in(abi), None)),
            Err(error @ LayoutError::Source { .. }) => {
                let note = format!("its types cannot be read ({error}), so {TYPE} is assumed to be as in the document");
                Ok((Self::built_in(abi), Some(note)))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn described(layouts: &Layouts, abi: TargetAbi) -> Result<Self, LayoutError> {
        let stride = layouts.size_of(TYPE)?;
        let bad = |field: &str, reason: String| LayoutError::BadField {
            type_name: TYPE.to_owned(),
            field: field.to_owned(),
            source_name: "debug information".to_owned(),
            reason,
        };
        let place = |name: &str, is_pointer: bool| {
            let field = layouts.field(TYPE, name)?;
            let fits = match field.kind {
                FieldKind::Pointer => is_pointer && field.size == abi.pointer_width.bytes(),
                FieldKind::Signed | FieldKind::Unsigned => !is_pointer && matches!(field.size, 1 | 2 | 4 | 8),
                _ => false,
            };
            if fits {
                Ok(Place { offset: field.offset, size: field.size })
            } else {
                Err(bad(name, format!("its type is {}, of {} bytes", field.type_name, field.size)))
            }
        };
        let (host, executable) = (place("host_name", true)?, place("executable_name", true)?);
        let pid = place("pid", false)?;
        if stride > MAX_SIZE {
            return Err(bad("pid", format!("the structure has {stride} bytes")));
        }
        Ok(Self { stride, host, executable, pid, origin: "types of debug information" })
    }
}
