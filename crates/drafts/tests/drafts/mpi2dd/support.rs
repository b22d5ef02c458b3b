//! A made-up job: processes whose memory is written field by field, as the text of the draft has them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use drafts::mpi2dd::{NotOpened, Opened, Processes};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, PointerWidth, TargetAbi};

pub const ABIS: [TargetAbi; 4] = [
    TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Eight },
    TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Four },
    TargetAbi { byte_order: ByteOrder::Big, pointer_width: PointerWidth::Eight },
    TargetAbi { byte_order: ByteOrder::Big, pointer_width: PointerWidth::Four },
];

pub const EXECUTABLE: &str = "/bin/app";
pub const METADIRECTORY: u32 = 1;
pub const DIRECTORY: u32 = 2;
pub const STARTER: u32 = 4;

/// Text and tables lie here, the variable further up.
const BASE: u64 = 0x10_0000;
const INFO: u64 = 0x1000;

/// Fields of `MPI2DD_info`, all zero where a test says nothing.
#[derive(Clone, Default)]
pub struct InfoFields {
    pub debug_state: u8,
    pub debugger_flags: u32,
    pub mpi_flags: u32,
    pub dll_name_32: u64,
    pub dll_name_64: u64,
    pub meta_host: u64,
    pub meta_executable: u64,
    pub abort_string: u64,
    pub tables: [(u64, i32); 3],
    pub meta_pid: i32,
}

/// One process in the making.
pub struct Maker {
    pub abi: TargetAbi,
    pub bytes: Vec<u8>,
    pub info: InfoFields,
    pub head: [u8; 7],
    pub symbol_size: Option<u64>,
}

impl Maker {
    pub fn new(abi: TargetAbi) -> Self {
        let head = [b'M', b'P', b'I', b'2', 0x7f, 1, 1];
        Self { abi, bytes: Vec::new(), info: InfoFields::default(), head, symbol_size: None }
    }

    /// An integer of the target.
    pub fn number(&self, value: u64, width: u64) -> Vec<u8> {
        let width = usize::try_from(width).unwrap();
        match self.abi.byte_order {
            ByteOrder::Little => value.to_le_bytes()[..width].to_vec(),
            ByteOrder::Big => value.to_be_bytes()[8 - width..].to_vec(),
        }
    }

    pub fn int(&self, value: i32) -> Vec<u8> {
        self.number(u64::from(value.cast_unsigned()), 4)
    }

    pub fn pointer(&self, value: u64) -> Vec<u8> {
        self.number(value, self.abi.pointer_width.bytes())
    }

    /// Puts bytes into memory; returns their address.
    pub fn put(&mut self, bytes: &[u8]) -> u64 {
        let at = BASE + self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        at
    }

    pub fn text(&mut self, text: &str) -> u64 {
        let bytes: Vec<u8> = text.bytes().chain([0]).collect();
        self.put(&bytes)
    }

    pub fn spawn(&mut self, world: u64, rank: i32, sequence: i32) -> u64 {
        let bytes = [self.pointer(world), self.int(rank), self.int(sequence)].concat();
        self.put(&bytes)
    }

    /// An entry of a proctable: addresses of host, executable, spawn descriptor and world; process id and rank.
    pub fn process(&self, addresses: [u64; 4], pid: i32, rank: i32) -> Vec<u8> {
        let addresses: Vec<u8> = addresses.iter().flat_map(|&address| self.pointer(address)).collect();
        [addresses, self.int(pid), self.int(rank)].concat()
    }

    /// An entry of a directory or metadirectory.
    pub fn entry(&self, host: u64, executable: u64, pid: i32) -> Vec<u8> {
        [self.pointer(host), self.pointer(executable), self.int(pid)].concat()
    }

    /// Sets one of the tables: 0 the ranks, 1 the directories, 2 the metadirectories.
    pub fn table(&mut self, which: usize, entries: &[Vec<u8>]) {
        let at = self.put(&entries.concat());
        self.info.tables[which] = (at, i32::try_from(entries.len()).unwrap());
    }

    pub fn info_bytes(&self) -> Vec<u8> {
        let info = &self.info;
        let mut bytes = self.head.to_vec();
        bytes.push(info.debug_state);
        bytes.extend(self.number(info.debugger_flags.into(), 4));
        bytes.extend(self.number(info.mpi_flags.into(), 4));
        let texts = [info.dll_name_32, info.dll_name_64, info.meta_host, info.meta_executable, info.abort_string];
        for address in texts.into_iter().chain(info.tables.map(|(address, _)| address)) {
            bytes.extend(self.pointer(address));
        }
        for value in info.tables.map(|(_, size)| size).into_iter().chain([info.meta_pid]) {
            bytes.extend(self.int(value));
        }
        bytes.extend([0; 32]);
        bytes
    }

    pub fn finish(&self) -> MockTarget {
        let mut target = MockTarget::new(self.abi);
        target.add_segment(TargetAddr::new(BASE), self.bytes.clone());
        target.add_segment(TargetAddr::new(INFO), self.info_bytes());
        target.add_symbol("MPI2DD_info", TargetAddr::new(INFO), self.symbol_size);
        target
    }
}

/// The processes of a machine with the names `here` and `localhost`.
#[derive(Clone, Default)]
pub struct Machine {
    pub processes: BTreeMap<i32, MockTarget>,
    /// Process ids in the order in which they were opened.
    pub opened: Rc<RefCell<Vec<i32>>>,
}

impl Machine {
    pub fn add(&mut self, pid: i32, maker: &Maker) {
        self.processes.insert(pid, maker.finish());
    }

    /// A process without `MPI2DD_info`.
    pub fn add_other(&mut self, pid: i32) {
        self.processes.insert(pid, MockTarget::new(TargetAbi::LITTLE_64));
    }
}

impl Processes for Machine {
    fn is_here(&self, host: &str) -> bool {
        ["here", "localhost"].contains(&host)
    }

    fn open(&self, pid: i32, named: Option<&str>) -> Result<Opened, NotOpened> {
        self.opened.borrow_mut().push(pid);
        let target = self.processes.get(&pid).cloned().ok_or(NotOpened::Ended)?;
        let agrees = named.is_none_or(|named| named == EXECUTABLE);
        Ok(Opened { target: Box::new(target), executable: EXECUTABLE.to_owned(), agrees })
    }
}
