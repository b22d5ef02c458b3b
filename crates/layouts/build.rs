//! Packs the layout profiles that the programs carry: JSON of 1.4 MB, of which one process needs two or three.
//!
//! Of each there is the head, by which one is chosen, as it is. All of those of one library, which differ little, are deflated together:
//! that has half the size. Of each stands where it begins there, and how long it is.

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::{Compression, write::DeflateEncoder};
use serde_json::{Map, Value};

/// The parts of a profile that are long, and that nobody needs who only chooses one.
const LONG: [&str; 3] = ["producer", "constants", "types"];

fn main() -> Result<(), Box<dyn Error>> {
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../layouts");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?);
    println!("cargo::rerun-if-changed={}", profiles.display());
    let mut libraries: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for entry in fs::read_dir(&profiles)? {
        let path = entry?.path();
        let Some(name) = path.file_name().filter(|_| path.extension() == Some(OsStr::new("json"))) else { continue };
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path)?;
        let mut head: Map<String, Value> = serde_json::from_str(&text)?;
        head.retain(|key, _| !LONG.contains(&key.as_str()));
        fs::write(out.join(name), serde_json::to_string(&head)?)?;
        if let Some((library, _)) = name.to_str().and_then(|name| name.split_once('-')) {
            libraries.entry(library.to_owned()).or_default().insert(name.to_string_lossy().into_owned(), text);
        }
    }
    for (library, profiles) in libraries {
        let (mut packed, mut start) = (DeflateEncoder::new(Vec::new(), Compression::best()), 0);
        for (name, text) in profiles {
            packed.write_all(text.as_bytes())?;
            fs::write(out.join(name).with_extension("place"), format!("({start}, {})", text.len()))?;
            start += text.len();
        }
        fs::write(out.join(library).with_extension("deflate"), packed.finish()?)?;
    }
    Ok(())
}
