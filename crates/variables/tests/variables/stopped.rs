//! A program that was compiled and stopped, as gdb has it: frames, registers, memory, and the values of expressions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use calls::Unknown;
use gimli::{Dwarf, RunTimeEndian, SectionId};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol};
use target::TargetAbi;
use variables::{DebugInfo, FrameFacts, FrameScope, Memory, OuterFrame, Section};

/// What is compiled.
pub struct Build<'b> {
    pub compiler: &'b str,
    pub sources: &'b [&'b str],
    pub options: &'b [&'b str],
    pub expressions: &'b str,
}

/// One expression, and what gdb says of it.
pub struct Asked {
    pub frame: usize,
    pub inlined: usize,
    pub function: String,
    pub text: String,
    pub gdb: String,
}

/// A stopped program.
pub struct Stopped {
    pub frames: Vec<(u64, u64, BTreeMap<u16, u64>)>,
    pub asked: Vec<Asked>,
    pub truth: BTreeMap<(String, String), i128>,
    pub memory: Rc<Dump>,
    pub program: PathBuf,
    pub bias: u64,
}

/// Its memory.
pub struct Dump {
    ranges: Vec<(u64, Vec<u8>)>,
    symbols: BTreeMap<String, u64>,
    pub thread: Option<u64>,
}

impl Memory for Dump {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let found = self.ranges.iter().find_map(|(begin, bytes)| {
            let from = usize::try_from(address.checked_sub(*begin)?).ok()?;
            bytes.get(from..from.checked_add(into.len())?)
        });
        if let Some(found) = found {
            into.copy_from_slice(found);
        }
        found.is_some()
    }

    fn tls(&self, _bias: u64, offset: u64) -> Option<u64> {
        Some(self.thread?.wrapping_add(offset))
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        self.symbols.get(name).copied()
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/variables")
}

/// Compiles a program of `programs/`.
pub fn compile(build: &Build<'_>, place: &Path) -> PathBuf {
    let program = place.join("program");
    let mut command = Command::new(build.compiler);
    command.current_dir(place).args(build.options).arg("-o").arg(&program);
    command.args(build.sources.iter().map(|source| folder().join("programs").join(source)));
    let done = command.output();
    let done = done.unwrap_or_else(|error| panic!("{} cannot be run: {error} (apt-get install it)", build.compiler));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    program
}

/// A folder of its own.
pub fn place(name: &str) -> PathBuf {
    let place = std::env::temp_dir().join(format!("mpi-queues-variables-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    place
}

/// Compiles a program and stops it in `stop_here`.
pub fn stopped(build: &Build<'_>, name: &str) -> Stopped {
    let place = place(name);
    let program = compile(build, &place);
    let expressions = folder().join("programs").join(build.expressions);
    let (facts, memory) = (place.join("facts"), place.join("memory"));
    let mut command = Command::new("gdb");
    command.args(["-batch", "-nx", "-x"]).arg(folder().join("dump.py")).arg("--args").arg(&program);
    command.env("EXPRESSIONS", &expressions).env("FACTS", &facts).env("MEMORY", &memory);
    let done = command.output().unwrap_or_else(|error| panic!("gdb cannot be run: {error} (apt-get install gdb)"));
    let told = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    let facts = std::fs::read_to_string(&facts).unwrap_or_else(|error| panic!("gdb wrote nothing ({error}): {told}"));
    let mut found = Stopped {
        frames: Vec::new(),
        asked: Vec::new(),
        truth: truth(&std::fs::read_to_string(&expressions).unwrap()),
        memory: Rc::new(Dump { ranges: Vec::new(), symbols: BTreeMap::new(), thread: None }),
        program: program.clone(),
        bias: 0,
    };
    let mut dump = Dump { ranges: ranges(&std::fs::read(&memory).unwrap()), symbols: BTreeMap::new(), thread: None };
    let first = first_address(&program);
    for line in facts.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "file" => {
                let (begin, path) = rest.split_once(' ').unwrap();
                if Path::new(path) == program.canonicalize().unwrap() {
                    found.bias = begin.parse::<u64>().unwrap() - first;
                }
            }
            "frame" => {
                let mut words = rest.split(' ');
                let pc = words.next().unwrap().parse().unwrap();
                let cfa = words.next().unwrap().parse().unwrap();
                let registers = words.filter(|word| !word.is_empty()).map(|word| {
                    let (number, value) = word.split_once(':').unwrap();
                    (number.parse().unwrap(), value.parse().unwrap())
                });
                found.frames.push((pc, cfa, registers.collect()));
            }
            "value" => {
                let mut parts = rest.splitn(3, " | ");
                let mut words = parts.next().unwrap().split(' ');
                found.asked.push(Asked {
                    frame: words.next().unwrap().parse().unwrap(),
                    inlined: words.next().unwrap().parse().unwrap(),
                    function: words.collect::<Vec<_>>().join(" "),
                    text: parts.next().unwrap().to_owned(),
                    gdb: parts.next().unwrap().to_owned(),
                });
            }
            _ => {}
        }
    }
    assert!(!found.frames.is_empty(), "gdb did not stop the program: {told}");
    dump.symbols = symbols(&program, found.bias);
    // The variables that each thread has are where gdb says that one of them is.
    let known = found.asked.iter().find(|asked| asked.text == "&each_thread");
    dump.thread = known.and_then(|asked| asked.gdb.split(' ').nth(1)?.parse().ok());
    found.memory = Rc::new(dump);
    std::fs::remove_file(&memory).unwrap();
    found
}

/// Those that are no thread's own.
fn symbols(program: &Path, bias: u64) -> BTreeMap<String, u64> {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let wanted = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let wanted = wanted.filter(|symbol| symbol.kind() != object::SymbolKind::Tls);
    wanted.map(|symbol| (symbol.name().unwrap().to_owned(), symbol.address() + bias)).collect()
}

fn truth(lines: &str) -> BTreeMap<(String, String), i128> {
    let all = lines.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let told = |(function, rest): (&str, &str)| {
        let (text, value) = rest.split_once(" = ")?;
        Some(((function.to_owned(), text.to_owned()), value.parse().unwrap()))
    };
    all.filter_map(told).collect()
}

fn ranges(bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some((head, after)) = rest.split_at_checked(16) {
        let begin = u64::from_le_bytes(head[..8].try_into().unwrap());
        let length = u64::from_le_bytes(head[8..].try_into().unwrap()) as usize;
        found.push((begin, after[..length].to_vec()));
        rest = &after[length..];
    }
    found
}

fn first_address(program: &Path) -> u64 {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    file.segments().map(|segment| segment.address()).min().unwrap() & !0xfff
}

/// The debug sections of a file by their names, which a test may change before they are read.
pub fn sections(program: &Path) -> BTreeMap<&'static str, Vec<u8>> {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let all = [
        SectionId::DebugAbbrev,
        SectionId::DebugAddr,
        SectionId::DebugInfo,
        SectionId::DebugLine,
        SectionId::DebugLineStr,
        SectionId::DebugLoc,
        SectionId::DebugLocLists,
        SectionId::DebugRanges,
        SectionId::DebugRngLists,
        SectionId::DebugStr,
        SectionId::DebugStrOffsets,
        SectionId::DebugTypes,
    ];
    let read = |id: SectionId| {
        let section = file.section_by_name(id.name());
        (id.name(), section.map_or(Vec::new(), |section| section.uncompressed_data().unwrap().into_owned()))
    };
    all.into_iter().map(read).collect()
}

pub fn debug_info(sections: &BTreeMap<&'static str, Vec<u8>>) -> Arc<DebugInfo> {
    let load = |id: SectionId| {
        let bytes: Arc<[u8]> = sections.get(id.name()).map_or(Arc::from([]), |bytes| bytes.as_slice().into());
        Ok::<_, gimli::Error>(Section::new(bytes, RunTimeEndian::Little))
    };
    Arc::new(DebugInfo::new(Arc::new(Dwarf::load(load).unwrap()), TargetAbi::LITTLE_64))
}

impl Stopped {
    /// A frame, with those that called it.
    pub fn facts(&self, info: &Arc<DebugInfo>, at: usize) -> Option<Rc<FrameFacts>> {
        facts(&Rc::new(self.frames.clone()), info, self.bias, at)
    }

    /// What names mean in a frame.
    pub fn scope(&self, info: &Arc<DebugInfo>, asked: &Asked, fortran: bool) -> Result<FrameScope, Unknown> {
        let facts = self.facts(info, asked.frame).unwrap();
        FrameScope::new(info.clone(), facts, Vec::new(), asked.inlined, fortran, self.memory.clone())
    }
}

type Frames = Rc<Vec<(u64, u64, BTreeMap<u16, u64>)>>;

fn facts(frames: &Frames, info: &Arc<DebugInfo>, bias: u64, at: usize) -> Option<Rc<FrameFacts>> {
    let (pc, cfa, registers) = frames.get(at)?.clone();
    let (all, own) = (frames.clone(), info.clone());
    let outer = move || Some(OuterFrame { info: Some(own.clone()), facts: facts(&all, &own, bias, at + 1)? });
    Some(Rc::new(FrameFacts { pc, bias, registers, cfa: Some(cfa), outer: Some(Rc::new(outer)) }))
}
