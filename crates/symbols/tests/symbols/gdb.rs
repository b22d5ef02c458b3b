//! What gdb says, and whether we say the same.

use std::fs;
use std::path::Path;
use std::process::Command;

use made_up::share::every;
use serde_json::Value;
use symbols::{ObjectFile, without_parameters};

use super::compiled::{Directory, programs};

/// Sections of code.
const CODE: [&str; 6] = [".init", ".plt", ".plt.got", ".plt.sec", ".text", ".fini"];

/// What [`without_parameters`] makes of gdb's name where what a function returns has parentheses, and the function.
const RETURNED: [(&str, &str); 2] =
    [("char const (&std::forward<", "std::forward<"), ("grid::Solver::run", "std::for_each<")];

/// One address, as gdb has it.
pub struct Answer {
    pub address: u64,
    /// Functions, the innermost first, with file, path and line.
    pub frames: Vec<(String, Place)>,
    /// Where no function is known.
    pub at: Place,
    pub symbol: Option<(String, u64)>,
}

pub type Place = Option<(String, String, u64)>;

/// Asks gdb about the addresses of the file's code. `settings` go before.
pub fn ask(directory: &Directory, path: &Path, settings: &[String]) -> Vec<Answer> {
    ask_some(directory, path, settings, every(3) as u64)
}

/// The same of every so many addresses.
pub fn ask_some(directory: &Directory, path: &Path, settings: &[String], step: u64) -> Vec<Answer> {
    let file = ObjectFile::from_bytes("sections", fs::read(path).unwrap()).unwrap();
    let ranges = CODE.iter().filter_map(|name| file.section(name)).map(|(bytes, address)| {
        let size = u64::try_from(bytes.bytes().len()).unwrap();
        format!("({address}, {}, {step})", address + size)
    });
    let ranges: Vec<String> = ranges.collect();
    let out = directory.path("gdb.json");
    let mut command = Command::new("gdb");
    command.args(["-batch", "-nx", "-ex", "set debuginfod enabled off"]);
    for setting in settings {
        command.args(["-ex", setting]);
    }
    let variables = format!("python OUT = '{}'; ADDRESSES = [{}]", out.display(), ranges.join(", "));
    let script = format!("source {}", programs().join("ask_gdb.py").display());
    command.args(["-ex", &format!("file {}", path.display()), "-ex", &variables, "-ex", &script]);
    let done = command.current_dir(&directory.0).output().expect("gdb is needed by this test");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let told = fs::read_to_string(&out).unwrap();
    let answers: Vec<Answer> = told.lines().map(|line| answer(&serde_json::from_str(line).unwrap())).collect();
    assert!(!answers.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
    answers
}

fn answer(told: &Value) -> Answer {
    let place = |told: &Value| {
        let text = |number: usize| told[number].as_str().unwrap().to_owned();
        (!told.is_null()).then(|| (text(0), comparable(&text(1)), told[2].as_u64().unwrap()))
    };
    let frames = told["frames"].as_array().unwrap().iter();
    let symbol = &told["symbol"];
    Answer {
        address: told["pc"].as_u64().unwrap(),
        frames: frames.map(|frame| (without_parameters(frame[0].as_str().unwrap()), place(&frame[1]))).collect(),
        at: place(&told["at"]),
        symbol: symbol
            .as_array()
            .map(|told| (without_parameters(told[0].as_str().unwrap()), told[1].as_u64().unwrap())),
    }
}

/// gdb does not clean a path that does not begin at the root: such are not compared.
fn comparable(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { String::new() }
}

/// Differences between gdb and us, each once.
pub fn differences(answers: &[Answer], file: &ObjectFile) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut differ = |what: String| {
        if !found.contains(&what) {
            found.push(what);
        }
    };
    for answer in answers {
        let symbol = file.symbol_at(answer.address).map(|symbol| (symbol.name(), answer.address - symbol.start));
        let known = answer.symbol.as_ref().zip(symbol.as_ref()).is_some_and(|((gdb, _), (we, _))| {
            RETURNED.iter().any(|(told, meant)| gdb.starts_with(told) && we.starts_with(meant))
        });
        if symbol != answer.symbol && !known {
            let name = |symbol: &Option<(String, u64)>| symbol.as_ref().map(|(name, _)| name.clone());
            differ(format!("symbol: gdb {:?}, we {:?}", name(&answer.symbol), name(&symbol)));
        }
        let ours = file.frames_at(answer.address);
        let line = |line: Option<u32>| line.map(u64::from);
        let place = |frame: &symbols::SourceFrame| {
            let path = frame.path.as_ref().map(|path| path.display().to_string());
            Some((frame.file.clone()?, comparable(&path?), line(frame.line)?))
        };
        let functions: Vec<_> = ours.iter().filter(|frame| frame.function.is_some()).collect();
        if functions.is_empty() && !ours.is_empty() && place(&ours[0]) != answer.at {
            differ(format!("line: gdb {:?}, we {:?}", answer.at, place(&ours[0])));
        }
        let told: Vec<_> = functions.iter().map(|frame| (frame.function.clone().unwrap(), place(frame))).collect();
        if told != answer.frames {
            differ(format!("{:#x}\n gdb {:?}\n we  {told:?}", answer.address, answer.frames));
        }
        for (number, frame) in functions.iter().enumerate() {
            assert_eq!(frame.inlined, number + 1 < functions.len());
        }
    }
    found
}
