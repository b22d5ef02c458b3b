//! What calls were given, from what a real compiler writes: both forms of DWARF, other files, damaged ones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use calls::{CallFrame, CallSite, call_site, call_values};
use object::read::{Object, ObjectSection, ObjectSymbol};

/// `callee` is called with a number, data, an address on the stack, what the caller was given, and a number in a kept register.
const SOURCE: &str = r#"
#define KEPT __attribute__((noipa))
int data[4];
KEPT int callee(int a, int *b, int *c, int d, int e, int f, long g) { *c = a + d + e + f + (int)g; return b[0]; }
KEPT int outer(int d, int e) {
    int local;
    int sum = callee(-7, data + 1, &local, d + 3, e, 5, 1L << 40);
    return sum + local + e;
}
KEPT int jumping(int d) { return d > 3 ? outer(d, 1) : callee(1, data, data, d, 2, 3, 4) + 1; }
int main(int argc, char **argv) { (void)argv; return outer(40, argc) + jumping(argc) + 1; }
"#;

pub fn compile(test: &str, source: &str, flags: &[&str]) -> PathBuf {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("frames").join(test);
    std::fs::create_dir_all(&base).unwrap();
    std::fs::write(base.join("input.c"), source).unwrap();
    let output = base.join("output");
    let mut command = Command::new("gcc");
    command.current_dir(&base).args(["-O2", "-o", "output", "input.c"]).args(flags);
    assert!(command.status().unwrap().success());
    output
}

/// Where each function lies: its beginning and its end, counted from the beginning of `.text`.
pub struct Program {
    text: u64,
    pub functions: HashMap<String, (u64, u64)>,
}

pub fn program(path: &Path) -> Program {
    let bytes = std::fs::read(path).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let section = file.section_by_name(".text").unwrap();
    let text = section.address();
    let place = |symbol: object::Symbol<'_, '_>| {
        let begin = symbol.address().wrapping_sub(text);
        (symbol.name().unwrap().to_owned(), (begin, begin.wrapping_add(symbol.size())))
    };
    Program { text, functions: file.symbols().map(place).collect() }
}

impl Program {
    /// The calls of `target` in a function.
    fn calls(&self, path: &Path, function: &str, target: &str) -> Vec<CallSite> {
        let (begin, end) = self.functions[function];
        let found = (begin..=end).filter_map(|offset| call_site(path, offset, None));
        found.filter(|site| site.target.as_deref() == Some(target) && site.entry == begin).collect()
    }
}

/// Where `.text` is loaded in these tests.
pub const LOADED: u64 = 0x7f00_0000_1000;

fn frame<'a>(site: &'a CallSite, registers: &[(u16, u64)]) -> CallFrame<'a> {
    CallFrame { site, text: LOADED, registers: registers.iter().copied().collect(), cfa: Some(0x7ffc_0000_0100) }
}

fn values(frames: &[CallFrame<'_>]) -> HashMap<usize, u64> {
    call_values(frames, &mut |_, length| Some(vec![1; length])).into_iter().collect()
}

#[test]
fn arguments_are_what_the_compiler_says() {
    for flags in [&["-g", "-gdwarf-5"][..], &["-g", "-gdwarf-4"], &["-g", "-gz"], &["-g", "-fno-pie", "-no-pie"]] {
        let path = compile(&format!("calls{}", flags.join("")), SOURCE, flags);
        let program = program(&path);
        let inner = program.calls(&path, "outer", "callee");
        let outer = program.calls(&path, "main", "outer");
        let ([inner], [outer]) = (inner.as_slice(), outer.as_slice()) else { unreachable!("{flags:?}") };
        assert!(inner.needs_caller() && !inner.jumps && !outer.needs_caller());
        // rbx keeps the caller's `e`, whichever register the compiler has chosen for it.
        let kept = [(3, 9), (6, 9), (12, 9), (13, 9), (14, 9), (15, 9)];
        let found = values(&[frame(inner, &kept), frame(outer, &[])]);
        let data = program.functions["data"].0.wrapping_add(LOADED);
        assert_eq!(found[&0] as i32, -7, "{flags:?}");
        assert_eq!(found[&1], data + 4);
        assert!((0x7ffc_0000_0000..0x7ffc_0000_0100).contains(&found[&2]));
        assert_eq!((found[&3] as i32, found[&4] as i32, found[&5] as i32), (43, 9, 5));
        assert!(found.get(&6).is_none_or(|value| *value == 1 << 40));
        // Alone it does not know what it was given, nor without registers and the stack.
        let alone = values(&[frame(inner, &[])]);
        assert!(!alone.contains_key(&3) && !alone.contains_key(&4) && alone.contains_key(&5));
        let lost = values(&[CallFrame { cfa: None, ..frame(inner, &[]) }]);
        assert!(!lost.contains_key(&2) && lost.contains_key(&0));
        assert!(values(&[]).is_empty());
        assert_ne!(program.text, 0);
    }
}

#[test]
fn a_function_that_jumps_says_so_and_has_no_frame_at_its_jump() {
    let path = compile("jumps", SOURCE, &["-g"]);
    let program = program(&path);
    assert!(program.calls(&path, "jumping", "callee").iter().all(|site| site.jumps));
    let jumps = program.calls(&path, "jumping", "outer");
    assert!(!jumps.is_empty());
    for site in &jumps {
        let found = values(&[frame(site, &[(3, 1), (6, 1), (7, 1)]), frame(site, &[(5, 40)])]);
        assert!(found.values().all(|value| *value == 1), "only the number in the code: {found:?}");
    }
}

#[test]
fn other_files_do_not_describe_it() {
    let path = compile("other", SOURCE, &["-g", "-Wl,--build-id=0x0123456789abcdef"]);
    let program = program(&path);
    let (begin, end) = program.functions["outer"];
    let known = |path: &Path, id| (begin..=end).any(|offset| call_site(path, offset, id).is_some());
    assert!(known(&path, None) && known(&path, Some("0123456789ABCDEF")));
    assert!(!known(&path, Some("1123456789abcdef")));
    assert!(!known(&compile("plain", SOURCE, &[]), None));
    assert!(!known(&compile("unoptimised", SOURCE, &["-O0", "-g"]), None));
    assert!(!known(&path.with_file_name("missing"), None));
    assert!(!known(Path::new(env!("CARGO_TARGET_TMPDIR")), None));
    assert!(call_site(&path, u64::MAX, None).is_none());
}

#[test]
fn damaged_debug_information_gives_fewer_answers_and_no_panic() {
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let path = compile(&format!("damagedcalls{version}"), SOURCE, &["-g", version]);
        let program = program(&path);
        let bytes = std::fs::read(&path).unwrap();
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let ranges: Vec<_> = [".debug_info", ".debug_abbrev", ".debug_rnglists", ".debug_ranges", ".debug_str"]
            .iter()
            .filter_map(|name| file.section_by_name(name)?.file_range())
            .collect();
        let (begin, end) = program.functions["outer"];
        let offset = (begin..=end).find(|offset| call_site(&path, *offset, None).is_some()).unwrap();
        let whole = call_site(&path, offset, None).unwrap();
        let copy = path.with_file_name("damaged");
        let (mut state, mut described) = (7_u64, 0);
        for _ in 0..400 {
            let mut damaged = bytes.clone();
            for _ in 0..3 {
                // As in main.rs.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let (start, length) = ranges[usize::try_from(state >> 60).unwrap() % ranges.len()];
                damaged[usize::try_from(start + (state >> 20) % length).unwrap()] = (state >> 52) as u8;
            }
            std::fs::write(&copy, &damaged).unwrap();
            let Some(site) = call_site(&copy, offset, None) else { continue };
            described += 1;
            site.needs_caller();
            let mut reads = 0_u32;
            let found =
                call_values(&[frame(&site, &[(3, 9), (7, 1)]), frame(&site, &[]), frame(&whole, &[])], &mut |_, _| {
                    reads += 1;
                    None
                });
            assert!(found.len() <= 64 && reads <= 500);
        }
        assert!(described > 20, "the damage must leave calls to evaluate");
    }
}
