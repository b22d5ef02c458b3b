//! Layouts from debug information: an object file that gcc made and the input damages, or the input as it is.
#![no_main]

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use layouts::{MakeRequest, Profile, profile_from_objects};
use libfuzzer_sys::fuzz_target;

const SOURCE: &str = "typedef struct inner { char c; double d; } inner_t;
enum colour { RED, GREEN = 200 };
typedef struct outer { inner_t super; union { int i; void *p; }; inner_t many[3]; enum colour colour;
    unsigned flag : 3; struct outer *next; int (*function)(void); int flexible[]; } outer_t;
outer_t *o; int function(void) { return sizeof(outer_t); }
";

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let mut bytes = object().to_vec();
    if first % 8 == 0 {
        bytes = rest.to_vec();
    } else {
        for piece in rest.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([piece[0], piece[1]])) % bytes.len();
            bytes[at] = piece[2];
        }
    }
    let path = place("o");
    if std::fs::write(&path, &bytes).is_err() {
        return;
    }
    let types = ["outer_t", "inner", "colour"].map(str::to_owned).to_vec();
    let request = MakeRequest { objects: vec![path], types, ..MakeRequest::default() };
    if let Ok(profile) = profile_from_objects(&request) {
        Profile::from_json(&profile.to_json()).unwrap();
    }
});

fn place(suffix: &str) -> PathBuf {
    std::env::temp_dir().join(format!("mpi-queues-fuzz-{}.{suffix}", std::process::id()))
}

/// With version 5 of DWARF.
fn object() -> &'static [u8] {
    static MADE: OnceLock<Vec<u8>> = OnceLock::new();
    MADE.get_or_init(|| {
        let (source, made) = (place("c"), place("made.o"));
        std::fs::write(&source, SOURCE).unwrap();
        let arguments = ["-c", "-gdwarf-5", "-fno-eliminate-unused-debug-types", "-o"];
        let compiled = Command::new("gcc").args(arguments).arg(&made).arg(&source).status();
        assert!(compiled.unwrap().success(), "gcc");
        let bytes = std::fs::read(&made).unwrap();
        let _ = (std::fs::remove_file(source), std::fs::remove_file(made));
        bytes
    })
}
