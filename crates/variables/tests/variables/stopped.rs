//! A program that was compiled and stopped, as gdb has it: frames, registers, memory, and the values of expressions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;

use calls::Unknown;
use gimli::{Dwarf, RunTimeEndian, SectionId};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, ObjectSymbolTable};
use symbols::{Information, UnitReader, Units};
use target::TargetAbi;
use target::file_budget::FileBudget;
use variables::{DebugInfo, FrameFacts, FrameScope, Memory, OuterFrame, Section};

/// What is compiled.
pub struct Build<'b> {
    /// Sources of a library that the program is linked to.
    pub library: &'b [&'b str],
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
    /// The program, then its library.
    pub files: Vec<Loaded>,
}

/// A file that the program has loaded: where it lies, and what is added to its addresses.
#[derive(Clone)]
pub struct Loaded {
    pub path: PathBuf,
    pub begin: u64,
    pub end: u64,
    pub bias: u64,
}

/// The same with its debug information.
pub type Infos = Vec<(Arc<DebugInfo>, Loaded)>;

/// Its memory.
pub struct Dump {
    ranges: Vec<(u64, Vec<u8>)>,
    symbols: BTreeMap<String, u64>,
    copied: BTreeMap<String, u64>,
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

    fn copied(&self, name: &str) -> Option<u64> {
        self.copied.get(name).copied()
    }
}

fn folder() -> PathBuf {
    // crates/fuzz has this file as well.
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../variables/tests/variables")
}

/// Compiles a program of `programs/`.
pub fn compile(build: &Build<'_>, place: &Path) -> PathBuf {
    let program = place.join("program");
    let run = |sources: &[&str], more: &[&str], output: &Path| {
        let mut command = Command::new(build.compiler);
        command.current_dir(place).args(build.options).arg("-o").arg(output);
        command.args(sources.iter().map(|source| folder().join("programs").join(source))).args(more);
        let done = command.output();
        let done =
            done.unwrap_or_else(|error| panic!("{} cannot be run: {error} (apt-get install it)", build.compiler));
        assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let library = place.join(LIBRARY);
    if !build.library.is_empty() {
        run(build.library, &["-shared", "-fPIC"], &library);
        run(build.sources, &[library.to_str().unwrap(), "-Wl,-rpath,$ORIGIN"], &program);
    } else {
        run(build.sources, &[], &program);
    }
    program
}

const LIBRARY: &str = "liblibrary.so";

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
        memory: Rc::new(Dump { ranges: Vec::new(), symbols: BTreeMap::new(), copied: BTreeMap::new(), thread: None }),
        files: Vec::new(),
    };
    let mut dump = Dump {
        ranges: ranges(&std::fs::read(&memory).unwrap()),
        symbols: BTreeMap::new(),
        copied: BTreeMap::new(),
        thread: None,
    };
    let own = [program.canonicalize().unwrap(), place.canonicalize().unwrap().join(LIBRARY)];
    for line in facts.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "file" => {
                let mut words = rest.splitn(3, ' ');
                let (begin, end) = (words.next().unwrap().parse().unwrap(), words.next().unwrap().parse().unwrap());
                let path = PathBuf::from(words.next().unwrap());
                if own.contains(&path) {
                    let bias = begin - first_address(&path);
                    found.files.push(Loaded { path, begin, end, bias });
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
    // As the dynamic linker binds them: the program's first.
    found.files.sort_by_key(|file| own.iter().position(|path| *path == file.path));
    for file in found.files.iter().rev() {
        dump.symbols.append(&mut symbols(file));
    }
    dump.copied = copied(&found.files);
    // The variables that each thread has are where gdb says that one of them is.
    let known = found.asked.iter().find(|asked| asked.text == "&each_thread");
    dump.thread = known.and_then(|asked| asked.gdb.split(' ').nth(1)?.parse().ok());
    found.memory = Rc::new(dump);
    std::fs::remove_file(&memory).unwrap();
    found
}

/// Those that are no thread's own.
fn symbols(loaded: &Loaded) -> BTreeMap<String, u64> {
    let bytes = std::fs::read(&loaded.path).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let bias = loaded.bias;
    let wanted = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let wanted = wanted.filter(|symbol| symbol.kind() != object::SymbolKind::Tls);
    wanted.map(|symbol| (symbol.name().unwrap().to_owned(), symbol.address() + bias)).collect()
}

/// The variables of the library that the program has copies of.
fn copied(files: &[Loaded]) -> BTreeMap<String, u64> {
    let bytes = std::fs::read(&files[0].path).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let mut found = BTreeMap::new();
    for (address, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let object::RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
        let object::RelocationTarget::Symbol(index) = relocation.target() else { continue };
        if r_type == object::elf::R_X86_64_COPY {
            let symbol = file.dynamic_symbol_table().unwrap().symbol_by_index(index).unwrap();
            found.insert(symbol.name().unwrap().to_owned(), address + files[0].bias);
        }
    }
    found
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
pub type Sections = BTreeMap<&'static str, Vec<u8>>;

fn sections(program: &Path) -> Sections {
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

/// What they say.
pub fn debug_info(sections: &Sections) -> Arc<DebugInfo> {
    let load = |id: SectionId| {
        let bytes: Arc<[u8]> = sections.get(id.name()).map_or(Arc::from([]), |bytes| bytes.as_slice().into());
        Ok::<_, gimli::Error>(Section::new(bytes, RunTimeEndian::Little))
    };
    let dwarf = Arc::new(Dwarf::load(load).unwrap());
    let reader = Arc::new(UnitReader::new(dwarf, FileBudget::new(Path::new("/made-up/program"))));
    Arc::new(DebugInfo::new(Arc::new(Information::new(Units::new(reader))), TargetAbi::LITTLE_64))
}

impl Drop for Stopped {
    fn drop(&mut self) {
        if let Some(place) = self.files.first().and_then(|file| file.path.parent()) {
            let _ = std::fs::remove_dir_all(place);
        }
    }
}

impl Stopped {
    /// The debug information of its files, after `change` has done something to that of each.
    pub fn infos(&self, change: &mut dyn FnMut(&mut Sections)) -> Rc<Infos> {
        let read = |loaded: &Loaded| {
            let mut sections = sections(&loaded.path);
            change(&mut sections);
            (debug_info(&sections), loaded.clone())
        };
        Rc::new(self.files.iter().map(read).collect())
    }

    /// What names mean where something was asked.
    pub fn scope(&self, infos: &Rc<Infos>, asked: &Asked, fortran: bool) -> Result<FrameScope, Unknown> {
        let (info, facts) = frame(&Rc::new(self.frames.clone()), infos, asked.frame).unwrap();
        let info = info.ok_or_else(|| Unknown::new("it has no debug information"))?;
        let others = infos.iter().map(|(info, loaded)| (info.clone(), loaded.bias)).collect();
        FrameScope::new(info, facts, others, asked.inlined, fortran, self.memory.clone())
    }
}

type Frames = Rc<Vec<(u64, u64, BTreeMap<u16, u64>)>>;

/// A frame, with those that called it.
fn frame(frames: &Frames, infos: &Rc<Infos>, at: usize) -> Option<(Option<Arc<DebugInfo>>, Rc<FrameFacts>)> {
    let (pc, cfa, registers) = frames.get(at)?.clone();
    let file = infos.iter().find(|(_, loaded)| (loaded.begin..loaded.end).contains(&pc));
    let bias = file.map_or(0, |(_, loaded)| loaded.bias);
    let (all, own) = (frames.clone(), infos.clone());
    let outer = move || {
        let (info, facts) = frame(&all, &own, at + 1)?;
        Some(OuterFrame { info, facts })
    };
    let facts = FrameFacts { pc, bias, registers, cfa: Some(cfa), outer: Some(Rc::new(outer)) };
    Some((file.map(|(info, _)| info.clone()), Rc::new(facts)))
}
