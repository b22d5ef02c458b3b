//! The tables of one process: its entries as they stand there. Their sizes are numbers like any other, and may be absurd.

use super::info::TableAt;
use super::strings::{Strings, Text};
use target::address::TargetAddr;
use target::{PointerWidth, Reason, Target};

/// Entries that are read of all tables of a job together.
pub const MAX_ENTRIES: usize = 1 << 20;

/// A table with more entries that are none is given up.
const MAX_BAD: usize = 1000;

/// Reads end here, because the next page may not be mapped.
const PAGE: u64 = 4096;

/// `MPI2DD_PROCDESC`: one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Name or address of its host.
    pub host: Text,
    /// Path of its executable.
    pub executable: Text,
    /// What names its MPI_COMM_WORLD.
    pub world: Text,
    /// How its MPI_COMM_WORLD was spawned; `None` where a starter made it. The error is a sentence.
    pub spawned: Result<Option<SpawnDescription>, Reason>,
    /// Process id on its host.
    pub pid: i32,
    /// Its rank in its MPI_COMM_WORLD; nothing has checked it.
    pub rank: i32,
}

/// `MPI2DD_SPAWNDESC`: who spawned an MPI_COMM_WORLD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpawnDescription {
    /// What names the MPI_COMM_WORLD of the process that spawned it.
    pub world: Text,
    /// That process's rank there.
    pub rank: i32,
    /// Its place among the spawns of that process, from 0.
    pub sequence: i32,
}

/// `MPI2DD_DIRECTORYENTRY`: where a directory or a metadirectory is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name or address of its host.
    pub host: Text,
    /// Path of its executable.
    pub executable: Text,
    /// Process id on its host.
    pub pid: i32,
}

/// What a table had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table<T> {
    /// Entries with their numbers.
    pub entries: Vec<(usize, T)>,
    /// What is wrong with it, in the form of "its proctable …".
    pub problems: Vec<String>,
}

/// The table of ranks. `left` is how many entries may be read yet.
pub fn processes(strings: &Strings<'_>, at: TableAt, left: &mut usize) -> Table<Process> {
    let abi = strings.target().abi();
    let width = abi.pointer_width.bytes();
    let stride = 4 * width + 8;
    let rows = Rows::read(strings.target(), at, stride, "proctable", *left);
    let row = |bytes: &[u8]| {
        let fields = Fields { strings, bytes, width: width as usize };
        Process {
            host: fields.text(0),
            executable: fields.text(1),
            spawned: spawn_description(strings, fields.address(2)),
            world: fields.text(3),
            pid: fields.number(4, 0),
            rank: fields.number(4, 1),
        }
    };
    let sound = |process: &Process| {
        process.rank >= 0
            && process.spawned.is_ok()
            && [&process.host, &process.executable, &process.world].iter().all(|text| text.problem().is_none())
    };
    rows.entries(row, |process| process.pid > 0, sound, left)
}

/// A table of directories or of metadirectories, which is called `name`.
pub fn directory(strings: &Strings<'_>, at: TableAt, name: &str, left: &mut usize) -> Table<Entry> {
    let width = strings.target().abi().pointer_width;
    let row = |bytes: &[u8]| {
        let fields = Fields { strings, bytes, width: width.bytes() as usize };
        Entry { host: fields.text(0), executable: fields.text(1), pid: fields.number(2, 0) }
    };
    let sound =
        |entry: &Entry| [&entry.host, &entry.executable].iter().all(|text| text.problem().is_none()) && entry.pid > 0;
    let packed = 2 * width.bytes() + 4;
    let read = |stride: u64| Rows::read(strings.target(), at, stride, name, *left);
    let mut rows = read(packed);
    // A compiler that is not told to pack the structure pads it to a multiple of a pointer. Then all makes sense that way,
    // and nothing from the second entry on the other way.
    if width == PointerWidth::Eight && rows.count > 1 && !rows.iter().all(|bytes| sound(&row(bytes))) {
        let mut padded = read(packed + 4);
        if padded.is_whole && padded.iter().all(|bytes| sound(&row(bytes))) {
            let told = "has entries 24 bytes apart, where the MPI2DD draft packs them in 20; it was read so";
            padded.problems.push(format!("its {name} {told}"));
            rows = padded;
        }
    }
    rows.entries(row, |entry| entry.pid > 0, sound, left)
}

fn spawn_description(strings: &Strings<'_>, at: TargetAddr) -> Result<Option<SpawnDescription>, Reason> {
    if at.is_null() {
        return Ok(None);
    }
    let width = strings.target().abi().pointer_width.bytes() as usize;
    let unreadable = |_| format!("its spawn descriptor at {at} cannot be read");
    let bytes = strings.target().read_bytes(at, width + 8).map_err(unreadable)?;
    let fields = Fields { strings, bytes: &bytes, width };
    let world = fields.text(0);
    if let Some(reason) = world.problem() {
        return Err(Reason::new(format!("the world that its spawn descriptor at {at} names is not text: {reason}")));
    }
    Ok(Some(SpawnDescription { world, rank: fields.number(1, 0), sequence: fields.number(1, 1) }))
}

/// Addresses, then numbers of four bytes.
struct Fields<'a> {
    strings: &'a Strings<'a>,
    bytes: &'a [u8],
    width: usize,
}

impl Fields<'_> {
    fn address(&self, index: usize) -> TargetAddr {
        let from = index * self.width;
        TargetAddr::new(self.strings.target().abi().uint(&self.bytes[from..from + self.width]))
    }

    fn text(&self, index: usize) -> Text {
        self.strings.at(self.address(index))
    }

    fn number(&self, addresses: usize, index: usize) -> i32 {
        let from = addresses * self.width + 4 * index;
        i32::try_from(self.strings.target().abi().int(&self.bytes[from..from + 4])).unwrap_or_default()
    }
}

/// The bytes of a table.
struct Rows<'a> {
    name: &'a str,
    bytes: Vec<u8>,
    stride: usize,
    /// How many entries there are in `bytes`.
    count: usize,
    /// Whether these are all that the table says to have.
    is_whole: bool,
    problems: Vec<String>,
}

impl<'a> Rows<'a> {
    fn read(target: &dyn Target, at: TableAt, stride: u64, name: &'a str, left: usize) -> Self {
        let stride = usize::try_from(stride).unwrap_or(1);
        let mut rows = Self { name, bytes: Vec::new(), stride, count: 0, is_whole: true, problems: Vec::new() };
        let said = match usize::try_from(at.size) {
            Ok(0) => return rows,
            Ok(said) if !at.address.is_null() => said,
            Ok(said) => {
                rows.problems.push(format!("its {name} is said to have {said} entries, and its address is null"));
                return rows;
            }
            Err(_) => {
                rows.problems.push(format!("its {name} is said to have {} entries, and was not read", at.size));
                return rows;
            }
        };
        rows.bytes = readable(target, at.address, stride, said.min(left));
        rows.count = rows.bytes.len() / stride;
        rows.is_whole = rows.count == said;
        if !rows.is_whole {
            let why = if rows.count == left {
                format!("no more than {MAX_ENTRIES} are read of a job")
            } else {
                format!("only {} of them can be read at {}", rows.count, at.address)
            };
            rows.problems.push(format!("its {name} is said to have {said} entries, and {why}"));
        }
        rows
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.stride)
    }

    /// The entries that name a process.
    ///
    /// Where not even the memory of all of them is there, the number of entries is wrong: then what stands behind the
    /// true ones is something else, and the first that is not `sound` in every field is the end.
    fn entries<T>(
        mut self,
        row: impl Fn(&[u8]) -> T,
        is_process: impl Fn(&T) -> bool,
        sound: impl Fn(&T) -> bool,
        left: &mut usize,
    ) -> Table<T> {
        let mut entries = Vec::new();
        let mut bad = Vec::new();
        for (index, bytes) in self.iter().enumerate() {
            *left = left.saturating_sub(1);
            let entry = row(bytes);
            if !self.is_whole && !sound(&entry) {
                bad.push(index);
                break;
            }
            if is_process(&entry) {
                entries.push((index, entry));
            } else {
                bad.push(index);
                if bad.len() == MAX_BAD {
                    break;
                }
            }
        }
        let name = self.name;
        match bad[..] {
            [] => {}
            [index] if self.is_whole => self.problems.push(format!("entry {index} of its {name} names no process")),
            [index] => {
                let told = "makes no sense, so it was read no further";
                self.problems.push(format!("entry {index} of its {name} {told}"));
            }
            [first, .., last] => {
                let end = if bad.len() == MAX_BAD { ", and it was read no further" } else { "" };
                let told = format!("{} entries of its {name} name no process, the first is entry {first}", bad.len());
                self.problems.push(format!("{told}, the last entry {last}{end}"));
            }
        }
        Table { entries, problems: self.problems }
    }
}

/// As many of `count` entries as can be read.
fn readable(target: &dyn Target, at: TargetAddr, stride: usize, count: usize) -> Vec<u8> {
    let wanted = count.saturating_mul(stride);
    let mut bytes = Vec::new();
    while bytes.len() < wanted {
        let Some(from) = at.checked_add(bytes.len() as u64) else { break };
        let to_page_end = usize::try_from(PAGE - from.get() % PAGE).unwrap_or(1);
        let Ok(piece) = target.read_bytes(from, to_page_end.min(wanted - bytes.len())) else { break };
        bytes.extend_from_slice(&piece);
    }
    bytes.truncate(bytes.len() / stride * stride);
    // Memory that is not made of pages may end within one.
    while bytes.len() < wanted {
        let entry = at.checked_add(bytes.len() as u64).and_then(|from| target.read_bytes(from, stride).ok());
        let Some(entry) = entry else { break };
        bytes.extend_from_slice(&entry);
    }
    bytes
}
