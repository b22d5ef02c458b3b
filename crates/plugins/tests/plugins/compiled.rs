//! Plug-ins of tests/programs/plugins, compiled once and copied for each test, and the processes that have loaded one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Compiles `source` with options of the compiler, once for all tests, and gives each test a file of its own.
pub fn plugin(source: &str, options: &[&str]) -> PathBuf {
    let words = format!("{source} {}", options.join(" "));
    let out = file_of(&words);
    std::fs::copy(base(source, options), &out).expect("a copy of the plug-in");
    out
}

/// A variant of a plug-in: `VARIANT` or `VARIANT -DX=Y`. The name is written into a copy (variant.h).
pub fn variant(source: &str, options: &str) -> PathBuf {
    let (variant, rest) = options.split_once(' ').unwrap_or((options, ""));
    let others: Vec<&str> = rest.split_whitespace().collect();
    let mut bytes = std::fs::read(base(source, &others)).expect("the plug-in");
    let mark = b"variant=good\0";
    let found = bytes.windows(mark.len()).position(|window| window == mark);
    let place = found.expect("the name of the variant") + "variant=".len();
    let room = 128 - "variant=".len();
    assert!(variant.len() < room, "{variant} is too long a name");
    bytes[place..place + room].fill(0);
    bytes[place..place + variant.len()].copy_from_slice(variant.as_bytes());
    let out = file_of(&format!("{source} {options}"));
    std::fs::write(&out, bytes).expect("a copy of the plug-in");
    out
}

/// What a compiler makes of `source` with some options.
fn base(source: &str, options: &[&str]) -> PathBuf {
    static KNOWN: Mutex<BTreeMap<String, PathBuf>> = Mutex::new(BTreeMap::new());
    let words = format!("{source} {}", options.join(" "));
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(words.clone()).or_insert_with(|| compile(source, options, &format!("base {words}"))).clone()
}

fn compile(source: &str, options: &[&str], words: &str) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let out = file_of(words);
    let status = Command::new("cc")
        .args(["-Wall", "-shared", "-fPIC", "-O1"])
        .args(options)
        .arg("-o")
        .arg(&out)
        .arg(root.join("tests/programs/plugins").join(source))
        .status()
        .expect("a C compiler (cc)");
    assert!(status.success(), "cc failed for {words}");
    out
}

/// A file that no other test has.
fn file_of(words: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins");
    std::fs::create_dir_all(&dir).expect("a directory for plug-ins");
    let name: String = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    dir.join(format!("{name}-{}-{:?}.so", std::process::id(), std::thread::current().id()))
}

/// Processes whose maps hold the plug-in: only a helper process loads it.
pub fn helpers_of(path: &Path) -> Vec<String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let maps = processes.filter_map(|entry| {
        let maps = std::fs::read_to_string(entry.path().join("maps")).ok()?;
        maps.contains(name).then(|| entry.path().display().to_string())
    });
    maps.collect()
}
