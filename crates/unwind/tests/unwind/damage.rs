//! Damaged tables and memory: every walk ends, with no more frames than asked for.

use made_up::rng::Rng;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::made::*;
use crate::recorded::{Directory, compiled, recorded};
use object::read::{Object, ObjectSection};
use unwind::{Code, Machine, Memory, Module, Registers, Sections};

/// Changes some bytes, to what often matters.
fn damage(random: &mut Rng, bytes: &mut [u8], most: usize) {
    for _ in 0..random.index(most + 1) {
        let at = random.index(bytes.len());
        bytes[at] = match random.index(6) {
            0 => 0,
            1 => 0xff,
            2 => 0x7f,
            3 => 0x80,
            4 => bytes[at] ^ (1 << random.index(8)),
            _ => random.next() as u8,
        };
    }
}

const MOST: usize = 64;

fn ends(code: &dyn Code, memory: &dyn Memory, registers: Registers, seed: u64) -> usize {
    let begin = Instant::now();
    let stack = unwind::unwind(registers.clone(), registers.machine(), code, memory, MOST);
    assert!(stack.frames.len() <= MOST, "seed {seed}");
    assert!(begin.elapsed() < Duration::from_secs(20), "seed {seed}");
    assert!(!stack.end.to_string().is_empty());
    stack.frames.len()
}

/// Its module and its stack are those of a program, but for the damage.
struct Damaged<'a> {
    whole: &'a crate::recorded::Recorded,
    module: Arc<Module>,
    stack: (u64, Vec<u8>),
}

impl Code for Damaged<'_> {
    fn module(&self, address: u64) -> Option<(Arc<Module>, u64)> {
        let (module, bias) = self.whole.module(address)?;
        let own = Arc::ptr_eq(&module, self.whole.program());
        Some((if own { Arc::clone(&self.module) } else { module }, bias))
    }

    fn is_code(&self, address: u64) -> bool {
        self.whole.is_code(address)
    }
}

impl Memory for Damaged<'_> {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        let own =
            address.checked_sub(self.stack.0).and_then(|from| self.stack.1.get(from as usize..)?.get(..into.len()));
        own.map(|own| into.copy_from_slice(own)).is_some() || self.whole.core.read(address, into).is_ok()
    }
}

#[test]
#[ignore = "needs gdb"]
fn a_program_with_damaged_tables_and_stacks() {
    let directory = Directory::new("damage");
    let program = compiled(&directory, "signal.c", &["-O2", "-static-pie"]);
    let whole = recorded(&directory, &program, "raise own", &[], 0);
    let bytes = std::fs::read(&program).unwrap();
    let file = object::File::parse(bytes.as_slice()).unwrap();
    let of = |name| {
        let section = file.section_by_name(name).unwrap();
        (section.address(), section.data().unwrap().to_vec())
    };
    let (eh_frame, header) = (of(".eh_frame"), of(".eh_frame_hdr"));
    let (mut longest, mut shortest) = (0, MOST);
    for seed in 1..=3000 {
        let mut random = Rng::new(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15));
        let (mut eh_frame, mut header, mut stack) = (eh_frame.clone(), header.clone(), whole.stops[0].stack().clone());
        // An index of all entries is made where the header is of no use.
        let kind = random.index(4);
        if kind != 0 {
            // One byte of twenty: the entries on the way are hit as well.
            let most = eh_frame.1.len() / 20;
            damage(&mut random, &mut eh_frame.1, most);
        }
        if kind == 1 {
            damage(&mut random, &mut header.1[..64], 3);
        } else {
            let most = header.1.len() / 20;
            damage(&mut random, &mut header.1[12..], most);
        }
        if kind == 0 || random.index(2) == 0 {
            damage(&mut random, &mut stack.1, 400);
        }
        let placed = |(address, bytes): (u64, Vec<u8>)| Some((address, unwind::section(&bytes)));
        let sections = Sections { eh_frame: placed(eh_frame), eh_frame_hdr: placed(header), ..Sections::default() };
        let module = Arc::new(Module::new(Machine::X86_64, sections));
        let damaged = Damaged { whole: &whole, module, stack };
        let frames = ends(&damaged, &damaged, whole.stops[0].known(), seed);
        longest = longest.max(frames);
        shortest = shortest.min(frames);
    }
    // Some are whole where it matters, and some are not.
    assert!(longest >= 9 && shortest < 3, "{shortest} to {longest}");
}

#[test]
fn random_instructions_and_expressions() {
    for seed in 1..=20_000 {
        let mut random = Rng::new(u64::wrapping_mul(seed, 0x9e37_79b9_7f4a_7c15));
        let machine = if random.index(2) == 0 { Machine::X86_64 } else { Machine::Aarch64 };
        let (return_address, sp) = if machine == Machine::X86_64 { (16, 7) } else { (30, 31) };
        let mut rules = vec![0; 1 + random.index(60)];
        let most = rules.len() * 2;
        damage(&mut random, &mut rules, most);
        // An expression of random bytes, as that of the frame's address or of a register.
        let expression = [&[rules.len() as u8][..], &rules].concat();
        let instructions = match random.index(3) {
            0 => rules.clone(),
            1 => [&[DEF_CFA_EXPRESSION][..], &expression].concat(),
            _ => [&[DEF_CFA, sp, 16, VAL_EXPRESSION, return_address][..], &expression].concat(),
        };
        let kind = if random.index(2) == 0 { Kind::EhFrame } else { Kind::DebugFrame };
        let augmentation = if kind == Kind::EhFrame { "zR" } else { "" };
        let mut bytes = table(kind, return_address, augmentation, &[], &[Entry(0x1000, 0x100, &instructions)]);
        if random.index(3) == 0 {
            damage(&mut random, &mut bytes, 4);
        }
        let mut made = Made::new(machine);
        let section = unwind::section(&bytes);
        let sections = match kind {
            Kind::EhFrame => Sections { eh_frame: Some((0x5000, section)), ..Sections::default() },
            Kind::DebugFrame => Sections { debug_frame: Some(section), ..Sections::default() },
        };
        made.add(sections);
        let mut stack = vec![0; 256];
        damage(&mut random, &mut stack, 300);
        made.bytes(0x7000, &stack);
        made.words(0x7000, &[BIAS + 0x1008, BIAS + 0x1010, 0x7020]);
        let mut registers = Registers::new(machine);
        for number in 0..33 {
            registers
                .set(number, if random.index(3) == 0 { random.next() } else { 0x7000 + 8 * random.index(8) as u64 });
        }
        registers.set(machine.program_counter(), BIAS + 0x1000 + random.index(64) as u64);
        ends(&made, &made, registers, seed);
    }
}
