//! Core files, and programs that dumped them, made up byte by byte.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use target::Target;
use target::address::TargetAddr;
use target::cores::{self, CoreFile, CoreProcess};

use crate::rng::Rng;

pub const PAGE: u64 = 4096;
pub const READ: u32 = 4;
pub const WRITE: u32 = 2;
pub const EXECUTE: u32 = 1;

pub const PRSTATUS: u32 = 1;
pub const PRPSINFO: u32 = 3;
pub const AUXV: u32 = 6;
pub const FILES: u32 = 0x4649_4c45;

pub const AT_PHDR: u64 = 3;
pub const AT_PHNUM: u64 = 5;
pub const AT_ENTRY: u64 = 9;
pub const AT_EXECFN: u64 = 31;

/// `e_machine` of this machine.
pub const MACHINE: u16 = if cfg!(target_arch = "aarch64") { 183 } else { 62 };
/// Which word of a thread's registers is its stack pointer.
pub const STACK_POINTER: usize = if cfg!(target_arch = "aarch64") { 31 } else { 19 };

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const NOTE: u32 = 4;
const PHDR: u32 = 6;

#[derive(Debug, Clone)]
struct Segment {
    kind: u32,
    flags: u32,
    address: u64,
    size: u64,
    bytes: Vec<u8>,
}

/// An ELF file that is made up.
#[derive(Debug, Clone)]
pub struct Elf {
    pub kind: u16,
    pub machine: u16,
    pub entry: u64,
    segments: Vec<Segment>,
}

impl Elf {
    /// A core file of nothing.
    pub fn core() -> Self {
        Self { kind: 4, machine: MACHINE, entry: 0, segments: Vec::new() }
    }

    /// Memory that it holds.
    pub fn memory(&mut self, address: u64, bytes: &[u8], flags: u32) -> &mut Self {
        self.partly(address, bytes, bytes.len() as u64, flags)
    }

    /// Memory of which it holds the first bytes.
    pub fn partly(&mut self, address: u64, bytes: &[u8], size: u64, flags: u32) -> &mut Self {
        self.segment(LOAD, address, bytes, size, flags)
    }

    fn segment(&mut self, kind: u32, address: u64, bytes: &[u8], size: u64, flags: u32) -> &mut Self {
        self.segments.push(Segment { kind, flags, address, size, bytes: bytes.to_vec() });
        self
    }

    /// A segment of notes with one note.
    pub fn note(&mut self, kind: u32, content: &[u8]) -> &mut Self {
        self.segment(NOTE, 0, &note(b"CORE\0\0\0\0", 5, kind, content), 0, 0)
    }

    /// The auxiliary vector.
    pub fn auxiliary(&mut self, entries: &[(u64, u64)]) -> &mut Self {
        self.note(AUXV, &vector(entries))
    }

    /// A thread with the kernel's words of registers.
    pub fn thread(&mut self, id: u32, words: &[(usize, u64)]) -> &mut Self {
        let mut status = vec![0; 112 + 8 * 34 + 8];
        status[12] = 11;
        status[32..36].copy_from_slice(&id.to_le_bytes());
        for (place, word) in words {
            status[112 + 8 * place..][..8].copy_from_slice(&word.to_le_bytes());
        }
        self.note(PRSTATUS, &status)
    }

    /// User and process.
    pub fn process(&mut self, user: u32, pid: u32) -> &mut Self {
        let mut about = vec![0; 136];
        about[16..20].copy_from_slice(&user.to_le_bytes());
        about[24..28].copy_from_slice(&pid.to_le_bytes());
        self.note(PRPSINFO, &about)
    }

    /// The files that were mapped: first address, first one after it, offset in pages, path.
    pub fn files(&mut self, files: &[(u64, u64, u64, &[u8])]) -> &mut Self {
        let mut content: Vec<u8> = [files.len() as u64, PAGE].iter().flat_map(|word| word.to_le_bytes()).collect();
        content.extend(files.iter().flat_map(|file| [file.0, file.1, file.2]).flat_map(u64::to_le_bytes));
        content.extend(files.iter().flat_map(|file| [file.3, b"\0"].concat()));
        self.note(FILES, &content)
    }

    /// The file: headers, then the segments' bytes, each from a page's beginning on.
    pub fn bytes(&self) -> Vec<u8> {
        let count = self.segments.len();
        let mut out = header(self, count as u16);
        let mut at = (out.len() as u64 + 56 * count as u64).next_multiple_of(PAGE);
        for segment in &self.segments {
            let held = segment.bytes.len() as u64;
            out.extend(program_header(segment, at, held));
            at = (at + held).next_multiple_of(PAGE);
        }
        for segment in &self.segments {
            out.resize(out.len().next_multiple_of(PAGE as usize), 0);
            out.extend(&segment.bytes);
        }
        out
    }
}

fn header(of: &Elf, count: u16) -> Vec<u8> {
    let mut out = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for half in [of.kind, of.machine, 1, 0] {
        out.extend(half.to_le_bytes());
    }
    for word in [of.entry, 64, 0] {
        out.extend(word.to_le_bytes());
    }
    for half in [0, 0, 64, 56, count, 0, 0, 0] {
        out.extend(u16::to_le_bytes(half));
    }
    out
}

fn program_header(of: &Segment, offset: u64, held: u64) -> Vec<u8> {
    let mut out = [of.kind.to_le_bytes(), of.flags.to_le_bytes()].concat();
    for word in [offset, of.address, of.address, held, of.size, PAGE] {
        out.extend(word.to_le_bytes());
    }
    out
}

/// The entries of an auxiliary vector and its end, as it lies in memory.
pub fn vector(entries: &[(u64, u64)]) -> Vec<u8> {
    let ended = entries.iter().chain(&[(0, 0)]);
    ended.flat_map(|(entry, value)| [entry.to_le_bytes(), value.to_le_bytes()].concat()).collect()
}

fn note(name: &[u8], name_size: u32, kind: u32, content: &[u8]) -> Vec<u8> {
    let sizes = [name_size, content.len() as u32, kind];
    let mut out = sizes.map(u32::to_le_bytes).concat();
    out.extend(name);
    out.extend(content);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// A program of three pages: headers and build-id, code, data with the dynamic section. Linked at 0.
pub fn program(build_id: &[u8; 8]) -> Vec<u8> {
    let elf = Elf { kind: 3, machine: MACHINE, entry: PAGE, segments: Vec::new() };
    let build_id = note(b"GNU\0", 4, 3, build_id);
    let headers: [(u32, u32, u64, u64); 6] = [
        (PHDR, READ, 64, 6 * 56),
        (LOAD, READ, 0, PAGE),
        (LOAD, READ | EXECUTE, PAGE, PAGE),
        (LOAD, READ | WRITE, 2 * PAGE, PAGE),
        (DYNAMIC, READ | WRITE, 2 * PAGE, 48),
        (NOTE, READ, 0x400, build_id.len() as u64),
    ];
    let mut out = header(&elf, headers.len() as u16);
    for (kind, flags, address, size) in headers {
        out.extend(program_header(&Segment { kind, flags, address, size, bytes: Vec::new() }, address, size));
    }
    out.resize(0x400, 0);
    out.extend(build_id);
    out.resize(PAGE as usize, 0);
    out.resize(2 * PAGE as usize, 0xcc);
    out.resize(3 * PAGE as usize, 0xdd);
    out
}

/// Where the parts of [`whole`] lie.
pub const PROGRAM: u64 = 0x5555_0000_0000;
pub const DATA: u64 = PROGRAM + 2 * PAGE;
pub const HEAP: u64 = PROGRAM + 16 * PAGE;
pub const OTHER: u64 = 0x7f00_0000_0000;
pub const STACK: u64 = 0x7fff_0000_0000;

/// The core of a process of [`program`], whose file is at `path`: with a heap, a stack with an environment, a list of
/// libraries with the one name, and without the program's code.
pub fn whole(path: &[u8], library: &[u8]) -> Elf {
    let entries: Vec<(u64, u64)> =
        [(AT_PHDR, PROGRAM + 64), (AT_PHNUM, 6), (AT_ENTRY, PROGRAM + PAGE), (6, PAGE), (AT_EXECFN, STACK + PAGE - 16)]
            .to_vec();
    let mut data = vec![0xdd; PAGE as usize];
    // The dynamic section: something else, then DT_DEBUG. `r_debug` and two entries of its list follow.
    let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let (debug, first, second, names) = (DATA + 0x100, DATA + 0x200, DATA + 0x300, DATA + 0x400);
    let mut put = |at: u64, bytes: &[u8]| data[(at - DATA) as usize..][..bytes.len()].copy_from_slice(bytes);
    put(DATA, &words(&[1, 1, 21, debug, 0, 0]));
    put(debug, &words(&[1, first]));
    put(first, &words(&[PROGRAM, names, 0, second]));
    put(second, &words(&[OTHER, names + 1, 0, 0]));
    put(names, &[b"\0", library, b"\0"].concat());
    let mut elf = Elf::core();
    elf.memory(PROGRAM, &program(b"12345678")[..PAGE as usize], READ)
        .partly(PROGRAM + PAGE, &[], PAGE, READ | EXECUTE)
        .memory(DATA, &data, READ | WRITE)
        .memory(HEAP, &[b'h'; PAGE as usize], READ | WRITE)
        .partly(OTHER, &[b'o'; 100], PAGE, READ | WRITE)
        .memory(STACK, &stack(&entries), READ | WRITE)
        .files(&[
            (PROGRAM, PROGRAM + PAGE, 0, path),
            (PROGRAM + PAGE, PROGRAM + 2 * PAGE, 1, path),
            (DATA, DATA + PAGE, 2, path),
        ])
        .auxiliary(&entries)
        .process(1234, 4711)
        .thread(4711, &[(STACK_POINTER, STACK + 0x100)]);
    elf
}

/// As the kernel lays it out: argc, argv, NULL, envp, NULL, the vector, the strings.
fn stack(entries: &[(u64, u64)]) -> Vec<u8> {
    let mut stack = vec![0; PAGE as usize];
    let strings = STACK + 0xe00;
    let mut words = vec![2, strings, strings + 2, 0, strings + 8, strings + 20, 0];
    words.extend(entries.iter().chain(&[(0, 0)]).flat_map(|(entry, value)| [*entry, *value]));
    for (place, word) in words.iter().enumerate() {
        stack[0x800 + 8 * place..][..8].copy_from_slice(&word.to_le_bytes());
    }
    let text = b"a\0-flag\0HOME=/home\0PMIX_HOSTNAME=node\xff7\0EMPTY=\0";
    stack[0xe00..][..text.len()].copy_from_slice(text);
    stack[0xff0..][..2].copy_from_slice(b"a\0");
    stack
}

/// A directory that is removed with what is in it.
pub struct Directory(pub PathBuf);

impl Directory {
    #[allow(clippy::new_without_default, clippy::expect_used)]
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mpi-queues-made-up-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).expect("a directory for temporary files");
        Self(path)
    }

    /// A file in it.
    #[allow(clippy::expect_used)]
    pub fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a temporary file");
        path
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Looks at everything that a core file tells; what a fuzzer calls. Whether it was opened.
pub fn look(core: &Path, program: &Path) -> bool {
    let Ok(file) = CoreFile::open(core).map(Arc::new) else { return false };
    let _ = (file.environment(b"HOME"), file.holds_stacks(), file.executable(), file.owner(), file.pid());
    let _ = (cores::checked(&file, Some(program)), cores::checked(&file, None), file.is_program(core));
    assert!(cores::named_libraries(&file, program).len() <= 8192);
    let regions = file.regions();
    let starts = regions.iter().map(|region| region.start).chain(file.mappings().iter().map(|one| one.start));
    for start in starts.take(200).chain([0, u64::MAX, u64::MAX - 8, DATA, STACK]) {
        for len in [0, 1, 64, 3 * PAGE] {
            if let Ok(read) = file.read_bytes(start, len) {
                assert_eq!(read.len() as u64, len);
            }
        }
        let _ = (file.read_held_bytes(start, u64::MAX).is_err(), file.is_code(start));
    }
    let process = CoreProcess::new(file, program.to_owned());
    let images = process.images().unwrap_or_default();
    assert!(images.len() <= 8192);
    let _ = (process.symbol("main"), process.function_at(TargetAddr::new(PROGRAM + PAGE)), process.symbols());
    true
}

/// A whole core of which `data` says the damage, or `data` as it is; what a fuzzer calls.
pub fn fuzz(data: &[u8]) -> bool {
    let Some((first, rest)) = data.split_first() else { return false };
    let directory = Directory::new();
    let path = directory.0.join("program");
    let name = path.as_os_str().as_encoded_bytes();
    let program = directory.file("program", &program(b"12345678"));
    let mut core = whole(name, b"/nowhere/libc.so.6").bytes();
    match first % 4 {
        0 => core = rest.to_vec(),
        1 => core.truncate(number(rest.get(..4).unwrap_or_default()) as usize % core.len()),
        _ => {
            for piece in rest.chunks_exact(9) {
                // Most of what decides anything are words of the headers and notes.
                let places = if piece[0] % 2 == 0 { 64 + 10 * 56 } else { core.len() as u64 };
                let at = number(&piece[1..4]) % (places - 8);
                let value = match piece[0] / 2 % 4 {
                    0 => number(&piece[4..9]),
                    1 => u64::MAX - number(&piece[4..9]),
                    2 => 1 << (piece[4] % 64),
                    _ => number(&piece[4..5]) << 8,
                };
                let len = 1 << (piece[0] / 8 % 4);
                core[at as usize..][..len].copy_from_slice(&value.to_le_bytes()[..len]);
            }
        }
    }
    look(&directory.file("core", &core), &program)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Damage as bytes for [`fuzz`], from a seed.
pub fn damage_from_seed(seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed);
    let mut data = vec![seed as u8];
    let pieces = rng.below(8) + 1;
    data.extend((0..9 * pieces).map(|_| rng.next() as u8));
    data
}
