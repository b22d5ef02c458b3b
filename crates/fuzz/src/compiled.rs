//! Small programs that gcc compiles once, whose files are what inputs change.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const SOURCE: &str = "typedef struct inner { char c; double d; } inner_t;
enum colour { RED, GREEN = 200 };
typedef struct outer { inner_t super; union { int i; void *p; }; inner_t many[3]; enum colour colour;
    unsigned flag : 3; struct outer *next; int (*function)(void); int flexible[]; } outer_t;
outer_t *o; static int table[4][3] = {{1}};
static inline int twice(int value) { int local = value * 2; return local + table[local & 3][1]; }
int deeper(int *given, outer_t *of) { int sum = twice(*given) + sizeof(outer_t); *given = sum; return sum + (of ? of->i : 0); }
int main(int argc, char **argv) { int number = argc; (void)argv; return deeper(&number, o) + twice(number); }
";

/// A compiled file.
pub struct Compiled {
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// An object with all types of the source, by version 5 of DWARF.
pub fn object() -> &'static [u8] {
    static MADE: OnceLock<Compiled> = OnceLock::new();
    &made(&MADE, &["-c", "-gdwarf-5", "-fno-eliminate-unused-debug-types"]).bytes
}

/// A program that is optimised, by version 5 of DWARF, and by version 4.
pub fn program(version: u8) -> &'static [u8] {
    static MADE: [OnceLock<Compiled>; 2] = [OnceLock::new(), OnceLock::new()];
    let (place, form) = if version == 4 { (&MADE[0], "-gdwarf-4") } else { (&MADE[1], "-gdwarf-5") };
    &made(place, &["-O2", form]).bytes
}

fn made(place: &'static OnceLock<Compiled>, options: &[&str]) -> &'static Compiled {
    place.get_or_init(|| {
        let (source, made) = (file("c", SOURCE.as_bytes()), file("made", b""));
        let compiled = Command::new("gcc").args(options).arg("-o").arg(&made.0).arg(&source.0).status();
        assert!(compiled.unwrap().success(), "gcc");
        Compiled { bytes: std::fs::read(&made.0).unwrap() }
    })
}

/// A file that goes when it is dropped.
pub struct File(pub PathBuf);

/// One with these bytes.
pub fn file(suffix: &str, bytes: &[u8]) -> File {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("mpi-queues-fuzz-{}-{number}.{suffix}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    File(path)
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
