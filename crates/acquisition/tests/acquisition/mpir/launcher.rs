//! A launcher in made-up memory: its variables in an image of its own, its table and texts elsewhere.

use std::collections::BTreeMap;

use acquisition::{Candidates, ProcessTable, process_table};
use layouts::{LayoutSource, Layouts};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Image, PointerWidth, TargetAbi};

use made_up::memory::{Memory, PAGE};
use made_up::process::ABIS;

/// Where the image of the launcher is loaded, and its variables.
const BIAS: u64 = 0x1000_0000;
pub const DATA: u64 = BIAS + 0x4000;

/// Host, executable and process id of one entry; an empty text is a null pointer.
pub type Row = (&'static str, &'static str, i64);

/// A launcher.
pub struct Launcher {
    pub mem: Memory,
    pub table: TargetAddr,
    /// Where the next variable goes.
    next: u64,
    /// Variables by name: address and size.
    pub symbols: BTreeMap<String, (u64, u64)>,
    texts: BTreeMap<&'static str, TargetAddr>,
    data_len: u64,
}

impl Launcher {
    /// One whose table has these entries, with the variables that hydra has.
    pub fn new(abi: TargetAbi, rows: &[Row]) -> Self {
        let mut mem = Memory::new(abi, 7);
        let data_len = 4 * PAGE;
        for page in [BIAS].into_iter().chain((DATA..DATA + data_len).step_by(PAGE as usize)) {
            mem.pages.insert(page, vec![0; PAGE as usize]);
        }
        let width = abi.pointer_width.bytes();
        let table = mem.alloc(3 * width * rows.len().max(1) as u64, width);
        let (symbols, texts) = (BTreeMap::new(), BTreeMap::new());
        let mut launcher = Self { mem, table, next: DATA + 0x910, symbols, texts, data_len };
        launcher.put_image();
        for (index, row) in rows.iter().enumerate() {
            launcher.put_row(index as u64, *row);
        }
        launcher.variable("MPIR_proctable", width, table.get() as i64);
        launcher.variable("MPIR_proctable_size", 4, rows.len() as i64);
        launcher.variable("MPIR_i_am_starter", 4, 0);
        launcher.variable("MPIR_debug_state", 4, 1);
        launcher.variable("MPIR_being_debugged", 4, 0);
        launcher.symbols.insert("MPIR_Breakpoint".to_owned(), (BIAS + 0x100, 7));
        launcher
    }

    /// An ELF header with one segment: the variables. See the ELF structures of the System V ABI.
    fn put_image(&mut self) {
        let wide = self.mem.abi.pointer_width == PointerWidth::Eight;
        let at = |offset: u64| TargetAddr::new(BIAS + offset);
        self.mem.put(at(0), b"\x7fELF");
        let (phoff, phentsize, phnum, header) = if wide { (32, 54, 56, 64) } else { (28, 42, 44, 52) };
        let width = self.mem.abi.pointer_width.bytes();
        self.mem.put_int(at(phoff), width, header as i64);
        self.mem.put_int(at(phentsize), 2, if wide { 56 } else { 32 });
        self.mem.put_int(at(phnum), 2, 1);
        let (flags, vaddr, memsz) = if wide { (4, 16, 40) } else { (24, 8, 20) };
        self.mem.put_int(at(header), 4, 1);
        self.mem.put_int(at(header + flags), 4, 6);
        self.mem.put_int(at(header + vaddr), width, (DATA - BIAS) as i64);
        self.mem.put_int(at(header + memsz), width, self.data_len as i64);
    }

    /// A further page of variables behind the others.
    pub fn grow(&mut self, pages: u64) -> u64 {
        let start = DATA + self.data_len;
        for page in 0..pages {
            self.mem.pages.insert(start + page * PAGE, vec![0; PAGE as usize]);
        }
        self.data_len += pages * PAGE;
        self.put_image();
        start
    }

    /// Adds a variable, with its symbol.
    pub fn variable(&mut self, name: &str, size: u64, value: i64) -> TargetAddr {
        let at = TargetAddr::new(self.next.next_multiple_of(size));
        self.next = at.get() + size;
        self.mem.put_int(at, size, value);
        self.symbols.insert(name.to_owned(), (at.get(), size));
        at
    }

    /// Adds an array of characters.
    pub fn array(&mut self, name: &str, size: u64, bytes: &[u8]) {
        let at = TargetAddr::new(self.next);
        self.next += size;
        self.mem.put(at, bytes);
        self.symbols.insert(name.to_owned(), (at.get(), size));
    }

    /// A text somewhere, the same one for the same text.
    pub fn text(&mut self, text: &'static str) -> TargetAddr {
        if text.is_empty() {
            return TargetAddr::NULL;
        }
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let at = self.mem.alloc(text.len() as u64 + 1, 1);
        self.mem.put(at, text.as_bytes());
        self.texts.insert(text, at);
        at
    }

    /// Sets an entry of the table.
    pub fn put_row(&mut self, index: u64, (host, executable, pid): Row) {
        let width = self.mem.abi.pointer_width.bytes();
        let (host, executable) = (self.text(host), self.text(executable));
        let at = self.table.wrapping_add(index * 3 * width);
        self.mem.put_pointer(at, host);
        self.mem.put_pointer(at.wrapping_add(width), executable);
        self.mem.put_int(at.wrapping_add(2 * width), 4, pid);
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: i64) {
        let (at, size) = self.symbols[name];
        self.mem.put_int(TargetAddr::new(at), size, value);
    }

    /// The launcher with its symbols.
    pub fn target(&self) -> MockTarget {
        let mut target = self.stripped();
        for (name, (at, size)) in &self.symbols {
            target.add_symbol(name, TargetAddr::new(*at), Some(*size));
        }
        target
    }

    /// The launcher without its symbols.
    pub fn stripped(&self) -> MockTarget {
        let mut target = self.mem.target();
        let path = "/usr/bin/mpiexec.hydra".to_owned();
        target.add_image(Image { path, bias: TargetAddr::new(BIAS), build_id: None, is_executable: true });
        target
    }

    /// What is read by symbols, without types.
    pub fn read(&self) -> ProcessTable {
        process_table(&self.target(), &Layouts::new(Vec::new()), &Candidates::new()).unwrap()
    }

    /// What is read by symbols and these types.
    pub fn read_with(&self, types: impl LayoutSource + 'static) -> ProcessTable {
        process_table(&self.target(), &Layouts::new(vec![Box::new(types)]), &Candidates::new()).unwrap()
    }

    /// What is found without symbols.
    pub fn search(&self, candidates: &[(i64, Option<u64>)]) -> ProcessTable {
        let candidates = candidates.iter().copied().collect();
        process_table(&self.stripped(), &Layouts::new(Vec::new()), &candidates).unwrap()
    }
}

/// The entries as they were made.
pub fn rows(table: &ProcessTable) -> Vec<(String, String, i64)> {
    let text = |text: &Option<std::sync::Arc<str>>| text.as_deref().unwrap_or_default().to_owned();
    table.entries.iter().map(|one| (text(&one.host), text(&one.executable), one.pid.unwrap_or(-1))).collect()
}

/// Rows as [`rows`] tells them.
pub fn made(rows: &[Row]) -> Vec<(String, String, i64)> {
    rows.iter().map(|(host, executable, pid)| ((*host).to_owned(), (*executable).to_owned(), *pid)).collect()
}

/// A launcher in which the input sets words of the variables, the table and the texts: reading it ends, and what is found
/// by its processes has at least one of them at its place.
pub fn fuzz(data: &[u8]) {
    let Some((first, pieces)) = data.split_first() else { return };
    let job = [("node1", "./solver", 4242), ("node1", "./solver", 4243), ("node2", "./io", 777)];
    let abi = ABIS[usize::from(*first) % ABIS.len()];
    let mut launcher = Launcher::new(abi, &job);
    launcher.array("MPIR_attach_fifo", 256, b"/tmp/fifo");
    launcher.array("MPIR_server_arguments", 256, b"a\0b\0\0");
    launcher.variable("MPIR_debug_abort_string", abi.pointer_width.bytes(), DATA as i64);
    let mut places = launcher.mem.objects.clone();
    places.push((TargetAddr::new(DATA + 0x900), 256));
    for piece in pieces.chunks_exact(12) {
        let (start, len) = places[usize::from(piece[0]) % places.len()];
        let at = start.wrapping_add(u64::from(piece[1]) % len.saturating_sub(8).max(1));
        let number = u64::from_le_bytes(std::array::from_fn(|index| piece[4 + index]));
        let value = match piece[2] % 5 {
            0 => number,
            1 => DATA + number % (4 * PAGE),
            2 => number % 100_000,
            3 => places[number as usize % places.len()].0.get(),
            _ => u64::MAX - number % 16,
        };
        let size = if piece[3] % 2 == 0 { 4 } else { 8 };
        if len >= size {
            launcher.mem.put_int(at, size.min(len), value as i64);
        }
    }
    assert!(launcher.read().entries.len() <= 1 << 20);
    let candidates = [(4242, Some(0)), (4243, Some(1)), (777, None)];
    let found = launcher.search(&candidates);
    let agrees = |(index, row): (usize, &(String, String, i64))| candidates.contains(&(row.2, Some(index as u64)));
    assert!(found.found.is_none() || rows(&found).iter().enumerate().any(agrees));
    assert!(found.found.is_some() || !found.problems.is_empty());
}
