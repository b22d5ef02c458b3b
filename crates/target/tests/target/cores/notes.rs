//! What the notes of a core file tell.

use std::os::unix::fs::MetadataExt;

use made_up::core_file::{AUXV, Directory, Elf, FILES, PAGE, PROGRAM, PRSTATUS, STACK, STACK_POINTER, whole};
use target::cores::CoreFile;

fn opened(elf: &Elf) -> CoreFile {
    let directory = Directory::new();
    CoreFile::open(&directory.file("core", &elf.bytes())).unwrap()
}

#[test]
fn the_process_and_its_files() {
    let core = opened(&whole(b"/nowhere/\xff prog", b""));
    assert_eq!(core.pid(), Some(4711));
    assert_eq!(core.program_headers(), Some((PROGRAM + 64, 6)));
    assert_eq!(core.executable().unwrap().as_encoded_bytes(), b"/nowhere/\xff prog");
    let own = std::fs::metadata("/proc/self").unwrap().uid();
    assert_eq!(core.owner(), if own == 0 { Some(1234) } else { Some(own) });
    let offsets: Vec<u64> = core.mappings().iter().map(|mapping| mapping.offset).collect();
    assert_eq!(offsets, [0, PAGE, 2 * PAGE]);
    assert_eq!(core.mapping(PROGRAM + 2 * PAGE + 7).unwrap().start, PROGRAM + 2 * PAGE);
    assert!(core.mapping(PROGRAM - 1).is_none() && core.mapping(PROGRAM + 3 * PAGE).is_none());
}

#[test]
fn variables_of_the_environment() {
    let core = opened(&whole(b"/nowhere", b""));
    assert_eq!(core.environment(b"HOME"), Some(&b"/home"[..]));
    assert_eq!(core.environment(b"PMIX_HOSTNAME"), Some(&b"node\xff7"[..]));
    assert_eq!(core.environment(b"EMPTY"), Some(&b""[..]));
    assert_eq!((core.environment(b"HOM"), core.environment(b"-flag"), core.environment(b"")), (None, None, None));
    assert_eq!(opened(Elf::core().memory(STACK, b"HOME=/home\0", 6)).environment(b"HOME"), None);
}

#[test]
fn threads_have_their_registers() {
    let mut elf = Elf::core();
    let words: Vec<(usize, u64)> = (0..34).map(|word| (word, 0x1000 + word as u64)).collect();
    elf.memory(STACK, &[0; 8], 6).thread(7, &words).thread(8, &[(STACK_POINTER, STACK)]);
    let core = opened(&elf);
    let ids: Vec<u32> = core.threads().iter().map(|thread| thread.id).collect();
    assert_eq!((ids, core.threads()[0].signal), (vec![7, 8], 11));
    assert!(!core.holds_stacks(), "that of the first is not there");
    let registers = &core.thread(7).unwrap().registers;
    assert_eq!(registers.stack_pointer(), 0x1000 + STACK_POINTER as u64);
    assert!(registers.program_counter().is_some());
    assert!(registers.all().is_sorted());
    if cfg!(target_arch = "x86_64") {
        // rax, rbx, rbp, rsp, r15, the return address (rip), eflags, fs_base.
        let told: Vec<Option<u64>> = [0, 3, 6, 7, 15, 16, 49, 58].map(|number| registers.get(number)).to_vec();
        let words = [10, 5, 4, 19, 0, 16, 18, 21].map(|word| Some(0x1000 + word));
        assert_eq!(told, words);
        let call = registers.of_system_call().unwrap();
        assert_eq!(call, [("orig_rax", 0x100f), ("rax", 0x100a), ("rdi", 0x100e), ("rsi", 0x100d), ("r10", 0x1007)]);
        assert_eq!(registers.get(17), None);
    }
}

#[test]
fn notes_that_are_damaged_end_there() {
    // Too short for registers; the same thread twice; a vector and files that are too short.
    let mut elf = Elf::core();
    elf.note(PRSTATUS, &[0; 100]).thread(7, &[(STACK_POINTER, 1)]).thread(7, &[(STACK_POINTER, 2)]);
    elf.note(AUXV, &[3; 15]).note(FILES, &u64::MAX.to_le_bytes()).note(FILES, &[0xff; 64]).note(3, &[1; 27]);
    let core = opened(&elf);
    assert_eq!(core.threads().len(), 2);
    assert_eq!(core.thread(7).unwrap().registers.stack_pointer(), 2, "the last one counts");
    assert_eq!((core.pid(), core.program_headers(), core.executable()), (None, None, None));
    assert!(core.mappings().is_empty());
    // A length that leads out of the notes.
    let mut bytes = elf.bytes();
    let first = PAGE as usize;
    bytes[first + 4..first + 8].copy_from_slice(&u32::MAX.to_le_bytes());
    let directory = Directory::new();
    let core = CoreFile::open(&directory.file("core", &bytes)).unwrap();
    assert!(core.threads().is_empty());
}

#[test]
fn vectors_and_threads_without_end() {
    let mut elf = Elf::core();
    elf.note(AUXV, &vec![1; 1 << 20]);
    assert_eq!(opened(&elf).program_headers(), None);
    // More threads than any process has: not all stacks are looked at, so they are not known to be there.
    let mut elf = Elf::core();
    let mut status = vec![0; 400];
    status[112 + 8 * STACK_POINTER..][..8].copy_from_slice(&STACK.to_le_bytes());
    let note: Vec<u8> = [5u32.to_le_bytes(), 400u32.to_le_bytes(), PRSTATUS.to_le_bytes()]
        .concat()
        .into_iter()
        .chain(*b"CORE\0\0\0\0")
        .chain(status)
        .collect();
    // The content of the first note is padding for what stands behind it.
    let many: Vec<u8> = note.iter().copied().cycle().take(note.len() * ((1 << 16) + 1)).collect();
    elf.memory(STACK, &[0; 8], 6).note(0, &[]);
    let mut bytes = elf.bytes();
    let at = bytes.len() as u64;
    bytes.extend(&many);
    bytes[64 + 56 + 8..][..8].copy_from_slice(&at.to_le_bytes());
    bytes[64 + 56 + 32..][..8].copy_from_slice(&(many.len() as u64).to_le_bytes());
    let directory = Directory::new();
    let core = CoreFile::open(&directory.file("core", &bytes)).unwrap();
    assert_eq!(core.threads().len(), 1 << 16);
    assert!(!core.holds_stacks());
}
