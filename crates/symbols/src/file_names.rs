//! Names of source files as gdb 13 tells them (`dwarf2_start_subfile` in gdb/dwarf2/read.c), and the paths they come to.

use std::path::PathBuf;

use gimli::{AttributeValue, Dwarf, LineProgramHeader, Unit};
use target::printable;
use target::source_path::{joined, resolved};

use super::DebugSection;

/// A longer name is damage.
const MAX_NAME: usize = 4096;

/// More files of one unit, or bytes of their names, are damage.
const MAX_FILES: usize = 1 << 16;
const MAX_NAMES: usize = 1 << 24;

/// A source file.
#[derive(Debug, Clone)]
pub(crate) struct FileName {
    /// As it is told.
    pub(crate) name: String,
    /// From the root where that is known.
    pub(crate) path: PathBuf,
    /// What makes it the same as another one.
    pub(crate) id: String,
}

/// The files of one unit.
#[derive(Default)]
pub(crate) struct FileNames {
    pub(crate) main: Option<FileName>,
    /// By their indices in the line table.
    files: Vec<Option<FileName>>,
    /// The index of the first of them.
    first: usize,
}

impl FileNames {
    pub(crate) fn new(dwarf: &Dwarf<DebugSection>, unit: &Unit<DebugSection>) -> Self {
        let directory = text(unit.comp_dir.as_ref());
        let header = unit.line_program.as_ref().map(|program| program.header());
        let main = unit.name.as_ref().map(|name| main_file(dwarf, unit, &directory, &text(Some(name)), header));
        let Some(header) = header else { return Self { main, ..Self::default() } };
        let mut length = 0;
        let files = header.file_names().iter().take(MAX_FILES).map(|entry| {
            let string =
                |value: AttributeValue<DebugSection>| dwarf.attr_string(unit, value).ok().map(|name| text(Some(&name)));
            let mut name = string(entry.path_name())?;
            // Before DWARF 5, directory 0 is the unit's own and has no entry.
            let listed = header.version() >= 5 || entry.directory_index() != 0;
            if let (true, false, Some(parent)) =
                (listed, name.starts_with('/'), entry.directory(header).and_then(string))
            {
                name = joined(&parent, &name);
            }
            let id = joined(&directory, &name);
            length += id.len();
            if length > MAX_NAMES {
                return None;
            }
            match &main {
                Some(main) if main.id == id => Some(main.clone()),
                // The unit's own directory stands in the table as well: where it is relative, it counts once.
                _ => {
                    let own = header.version() >= 5 && entry.directory_index() == 0;
                    let path = resolved(if own { &name } else { &id }).into();
                    Some(FileName { path, name, id })
                }
            }
        });
        Self { files: files.collect(), main, first: usize::from(header.version() < 5) }
    }

    /// The memory that they take, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let name = |file: &FileName| file.name.len() + file.path.as_os_str().len() + file.id.len();
        let names: usize = self.files.iter().flatten().map(name).sum();
        size_of_val(self.files.as_slice()) + names
    }

    pub(crate) fn get(&self, index: u64) -> Option<&FileName> {
        self.files.get(usize::try_from(index).ok()?.checked_sub(self.first)?)?.as_ref()
    }
}

fn main_file(
    dwarf: &Dwarf<DebugSection>,
    unit: &Unit<DebugSection>,
    directory: &str,
    name: &str,
    header: Option<&LineProgramHeader<DebugSection>>,
) -> FileName {
    let id = joined(directory, name);
    // A directory that is not absolute (-ffile-prefix-map) is told with the name where the line table has it so.
    let relative = !directory.is_empty() && !directory.starts_with('/');
    let listed = relative
        && header.filter(|header| header.version() >= 5).is_some_and(|header| {
            header.file_names().iter().take(MAX_FILES).any(|entry| {
                let listed = dwarf.attr_string(unit, entry.path_name()).ok();
                entry.directory_index() == 0 && listed.is_some_and(|listed| text(Some(&listed)) == name)
            })
        });
    FileName { name: if listed { id.clone() } else { name.to_owned() }, path: resolved(&id).into(), id }
}

pub(crate) fn text(section: Option<&DebugSection>) -> String {
    let bytes = section.and_then(DebugSection::bytes).unwrap_or_default();
    printable(bytes.get(..MAX_NAME).unwrap_or(&bytes))
}
