//! Plug-ins of tests/programs/plugins, compiled once for each test, and the processes that have loaded one.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `source` with options of the compiler.
pub fn plugin(source: &str, options: &[&str]) -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugins");
    std::fs::create_dir_all(&dir).expect("a directory for plug-ins");
    let words = format!("{source} {}", options.join(" "));
    let name: String = words.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let out = dir.join(format!("{name}-{}-{:?}.so", std::process::id(), std::thread::current().id()));
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

/// A variant of a plug-in: `VARIANT` or `VARIANT -DX=Y`.
pub fn variant(source: &str, options: &str) -> PathBuf {
    let (variant, rest) = options.split_once(' ').unwrap_or((options, ""));
    let variant = format!("-DVARIANT=\"{variant}\"");
    let options: Vec<&str> = std::iter::once(variant.as_str()).chain(rest.split_whitespace()).collect();
    plugin(source, &options)
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
