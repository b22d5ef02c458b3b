//! The corpus of recordings, as `tests/recordings/corpus.py` packs it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use lzma_rust2::XzReader;
use serde_json::Value;

/// Where it lies.
pub fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings/corpus")
}

/// The recordings of an MPI, by the names of their programs.
pub fn recordings(mpi: &str) -> BTreeMap<String, Vec<u8>> {
    let file = fs::File::open(place().join(format!("{mpi}.xz"))).unwrap();
    let mut pack = BufReader::new(XzReader::new(file, false));
    let mut line = String::new();
    pack.read_line(&mut line).unwrap();
    let index: Value = serde_json::from_str(&line).unwrap();
    let numbers = |list: &Value| -> Vec<usize> {
        list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap() as usize).collect()
    };
    let mut pieces = Vec::new();
    for length in numbers(&index["pieces"]) {
        let mut piece = vec![0; length];
        pack.read_exact(&mut piece).unwrap();
        pieces.push(piece);
    }
    let put_together =
        |one: &Value| numbers(&one["pieces"]).iter().map(|at| &pieces[*at][..]).collect::<Vec<_>>().concat();
    index["recordings"].as_object().unwrap().iter().map(|(name, one)| (name.clone(), put_together(one))).collect()
}
