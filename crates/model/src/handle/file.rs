//! Files.

use serde_json::{Value, json};

use super::facts::{as_in_json, facts};
use super::{Entry, Handle, Known, Reference, References};

/// Modes of MPI_File_open, in the order in which the standard lists them (MPI-3.1, 13.2.1): how the file is accessed first.
const MODES: &[&str] = &[
    "MPI_MODE_RDONLY",
    "MPI_MODE_RDWR",
    "MPI_MODE_WRONLY",
    "MPI_MODE_CREATE",
    "MPI_MODE_EXCL",
    "MPI_MODE_DELETE_ON_CLOSE",
    "MPI_MODE_UNIQUE_OPEN",
    "MPI_MODE_SEQUENTIAL",
    "MPI_MODE_APPEND",
];

facts! {
    /// What the line of a file needs.
    File {
        /// Its path.
        filename: String,
        /// The access mode, as a number.
        amode: u64,
        /// The names of its bits; what has no name as a number.
        amode_names: Vec<String>,
    }
}

facts! {
    /// The rest.
    FileDetails {
        /// The communicator that the application gave.
        communicator: Known<Option<Reference>>,
        /// Hints.
        info: Known<Vec<Entry>>,
        /// Who does the input and output.
        component: Known<String>,
        /// What the process sees of it.
        view: Known<View>,
        /// Its requests.
        requests: Known<References>,
        /// Its error handler.
        errhandler: Known<Option<Reference>>,
    }
}

/// What a process sees of a file (MPI_File_set_view).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Where it begins, in bytes.
    pub displacement: i64,
    /// The elementary datatype.
    pub etype: Option<Reference>,
    /// The type of the file.
    pub filetype: Option<Reference>,
    /// The representation of the data.
    pub representation: String,
}

impl From<View> for Value {
    fn from(view: View) -> Self {
        let View { displacement, etype, filetype, representation } = view;
        json!({
            "displacement": displacement,
            "etype": Self::from(etype),
            "filetype": Self::from(filetype),
            "representation": representation,
        })
    }
}

as_in_json!(View);

/// How much a line shows of a file.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// Characters of its name: its end, which tells files apart.
    pub characters: usize,
    /// Modes.
    pub modes: usize,
}

impl Shown {
    /// The end of a file's name.
    pub fn tail(self, name: &str) -> String {
        let skipped = name.chars().count().saturating_sub(self.characters);
        if skipped == 0 { name.to_owned() } else { format!("…{}", name.chars().skip(skipped).collect::<String>()) }
    }
}

impl File {
    /// That with this name and access mode; `bit`: the bit of a mode, 0 where it is not known.
    pub fn new(filename: String, amode: u64, bit: impl Fn(&str) -> u64) -> Self {
        let (mut left, mut amode_names) = (amode, Vec::new());
        for name in MODES {
            let bit = bit(name);
            if bit != 0 && left & bit == bit {
                left &= !bit;
                amode_names.push((*name).to_owned());
            }
        }
        if left != 0 || amode_names.is_empty() {
            amode_names.push(format!("{left:#x}"));
        }
        Self { filename, amode, amode_names }
    }

    /// Tells it, with its name and line.
    pub fn describe(self, shown: Shown, handle: &mut Handle) {
        let modes: Vec<&str> = self.amode_names.iter().take(shown.modes).map(String::as_str).collect();
        let more = if self.amode_names.len() > shown.modes { "|…" } else { "" };
        handle.summary = format!("\"{}\", {}{more}", shown.tail(&self.filename), modes.join("|"));
        handle.name = Some(self.filename.clone());
        self.tell(handle);
    }
}
