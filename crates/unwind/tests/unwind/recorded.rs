//! A program that gdb stopped: what gdb says of its frames, and a core file in which we look ourselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use object::read::{Object, ObjectSegment};
use target::cores::CoreFile;
use unwind::{Code, Machine, Memory, Module, Registers, Stack};

/// One thread at one stop.
#[derive(Debug, Default)]
pub struct Stop {
    pub registers: BTreeMap<String, u64>,
    memory: (u64, Vec<u8>),
    pub frames: Vec<GdbFrame>,
}

/// A frame as gdb has it.
#[derive(Debug)]
pub struct GdbFrame {
    pub pc: u64,
    pub cfa: Option<u64>,
    pub registers: BTreeMap<String, u64>,
}

impl Stop {
    /// All registers of the innermost frame.
    pub fn known(&self) -> Registers {
        let mut registers = Registers::new(Machine::X86_64);
        for (name, value) in &self.registers {
            registers.set(Machine::X86_64.number(name).unwrap(), *value);
        }
        registers
    }

    /// What is above the stack pointer, and where that begins.
    pub fn stack(&self) -> &(u64, Vec<u8>) {
        &self.memory
    }
}

/// A process that was stopped, and whose code we know.
pub struct Recorded {
    pub core: CoreFile,
    pub stops: Vec<Stop>,
    /// Where files lie, and what they say.
    modules: Vec<(std::ops::Range<u64>, Arc<Module>, u64)>,
}

/// A directory that is gone afterwards.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mpi-queues-unwind-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unwind").join(name)
}

/// Compiles one of the programs.
pub fn compiled(directory: &Directory, source: &str, flags: &[&str]) -> PathBuf {
    let program = directory.0.join("program");
    let source = here("programs").join(source);
    let status = Command::new("gcc").arg(source).args(flags).arg("-o").arg(&program).status().unwrap();
    assert!(status.success());
    program
}

/// Runs a program in gdb up to `stop_here`, then these commands of gdb, and writes down what is there: of all threads, or of
/// one after each of so many instructions.
pub fn recorded(directory: &Directory, program: &Path, arguments: &str, commands: &[&str], steps: u32) -> Recorded {
    let (text, core) = (directory.0.join("frames"), directory.0.join("core"));
    let mut gdb = Command::new("gdb");
    gdb.args(["-batch", "-nx", "-iex", "set debuginfod enabled off", "-ex", "set confirm off"]);
    gdb.args(["-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on"]);
    gdb.args(["-ex", "handle SIGUSR1 SIGSEGV nostop noprint pass", "-ex", "break *stop_here"]);
    gdb.arg("-ex").arg(format!("run {arguments}"));
    gdb.arg("-ex").arg(format!("source {}", here("frames.py").display()));
    for command in commands {
        gdb.args(["-ex", command]);
    }
    gdb.arg("-ex").arg(format!("python record('{}', '{}', {steps})", text.display(), core.display()));
    let output = gdb.args(["-ex", "kill"]).arg(program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let text = std::fs::read_to_string(&text).unwrap_or_else(|error| panic!("{error}: {said}"));
    let core = CoreFile::open(&core).unwrap_or_else(|error| panic!("{error}: {said}"));
    let modules = modules(&core);
    Recorded { stops: stops(&text), core, modules }
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap()
}

fn named<'a>(words: impl Iterator<Item = &'a str>) -> BTreeMap<String, u64> {
    words.filter_map(|word| word.split_once('=')).map(|(name, value)| (name.to_owned(), hex(value))).collect()
}

fn stops(text: &str) -> Vec<Stop> {
    let mut stops: Vec<Stop> = Vec::new();
    for line in text.lines() {
        let mut words = line.split(' ');
        match words.next().unwrap() {
            "thread" => stops.push(Stop::default()),
            "registers" => stops.last_mut().unwrap().registers = named(words),
            "memory" => {
                let address = hex(words.next().unwrap());
                let digits = words.next().unwrap().as_bytes().chunks(2);
                let bytes = digits.map(|pair| hex(std::str::from_utf8(pair).unwrap()) as u8);
                stops.last_mut().unwrap().memory = (address, bytes.collect());
            }
            _ => {
                let (pc, cfa) = (hex(words.next().unwrap()), words.next().unwrap());
                let cfa = (cfa != "-").then(|| hex(cfa));
                stops.last_mut().unwrap().frames.push(GdbFrame { pc, cfa, registers: named(words) });
            }
        }
    }
    stops
}

fn modules(core: &CoreFile) -> Vec<(std::ops::Range<u64>, Arc<Module>, u64)> {
    let mut found = Vec::new();
    let mut add = |bytes: &[u8], start: u64, end: u64| {
        let Ok(file) = object::File::parse(bytes) else { return };
        let Some(first) = file.segments().map(|segment| segment.address()).min() else { return };
        let module = Module::from_elf_bytes(bytes).unwrap();
        found.push((start..end, Arc::new(module), start.wrapping_sub(first & !0xfff)));
    };
    for mapping in core.mappings().iter().filter(|mapping| mapping.offset == 0) {
        let of_file = core.mappings().iter().filter(|other| other.name == mapping.name);
        let Ok(bytes) = std::fs::read(&mapping.name) else { continue };
        add(&bytes, mapping.start, of_file.map(|other| other.end).max().unwrap());
    }
    // What is no file: the vDSO.
    for region in core.regions().iter().filter(|region| core.mapping(region.start).is_none()) {
        if let Ok(bytes) = core.read_bytes(region.start, region.end - region.start)
            && bytes.starts_with(b"\x7fELF")
        {
            add(&bytes, region.start, region.end);
        }
    }
    found
}

impl Recorded {
    /// The module of the program.
    pub fn program(&self) -> &Arc<Module> {
        &self.modules[0].1
    }

    /// Our frames at a stop.
    pub fn unwound(&self, stop: &Stop) -> Stack {
        self.unwound_by(stop, self)
    }

    /// The same with other tables.
    pub fn unwound_by(&self, stop: &Stop, code: &dyn Code) -> Stack {
        unwind::unwind(stop.known(), Machine::X86_64, code, &Stopped { core: &self.core, stop }, 200)
    }
}

impl Code for Recorded {
    fn module(&self, address: u64) -> Option<(Arc<Module>, u64)> {
        let (_, module, bias) = self.modules.iter().find(|(range, _, _)| range.contains(&address))?;
        Some((Arc::clone(module), *bias))
    }

    fn is_code(&self, address: u64) -> bool {
        self.core.is_code(address)
    }
}

/// A process without the tables of the first file: the program.
pub struct Hidden<'a>(pub &'a Recorded);

impl Code for Hidden<'_> {
    fn module(&self, address: u64) -> Option<(Arc<Module>, u64)> {
        let (program, _, _) = &self.0.modules[0];
        if program.contains(&address) { None } else { self.0.module(address) }
    }

    fn is_code(&self, address: u64) -> bool {
        self.0.is_code(address)
    }
}

struct Stopped<'a> {
    core: &'a CoreFile,
    stop: &'a Stop,
}

impl Memory for Stopped<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let (begin, bytes) = &self.stop.memory;
        let own = address.checked_sub(*begin).and_then(|from| bytes.get(from as usize..)?.get(..into.len()));
        match own {
            Some(own) => into.copy_from_slice(own),
            None => return self.core.read(address, into).is_ok(),
        }
        true
    }
}
