//! Tables for unwinding that the input writes, and stacks of theirs.

#[path = "../../../unwind/tests/unwind/made.rs"]
#[allow(dead_code)]
mod made;

use unwind::{Machine, Registers, Sections};

use self::made::{BIAS, DEF_CFA, DEF_CFA_EXPRESSION, Entry, Kind, Made, VAL_EXPRESSION, table};

const MOST: usize = 64;

pub fn run(data: &[u8]) {
    let [first, second, rest @ ..] = data else { return };
    let machine = if first % 2 == 0 { Machine::X86_64 } else { Machine::Aarch64 };
    let (return_address, sp) = if machine == Machine::X86_64 { (16, 7) } else { (30, 31) };
    let (rules, stack) = rest.split_at(rest.len().min(usize::from(*second)));
    let expression = [&[rules.len().min(127) as u8][..], &rules[..rules.len().min(127)]].concat();
    let instructions = match first / 2 % 4 {
        0 => rules.to_vec(),
        1 => [&[DEF_CFA_EXPRESSION][..], &expression].concat(),
        2 => [&[DEF_CFA, sp, 16, VAL_EXPRESSION, return_address][..], &expression].concat(),
        _ => Vec::new(),
    };
    let kind = if first & 8 == 0 { Kind::EhFrame } else { Kind::DebugFrame };
    let augmentation = if kind == Kind::EhFrame { "zR" } else { "" };
    // The last form is the section itself.
    let bytes = match first / 2 % 4 {
        3 => rules.to_vec(),
        _ => table(kind, return_address, augmentation, &[], &[Entry(0x1000, 0x100, &instructions)]),
    };
    let mut made = Made::new(machine);
    let section = unwind::section(&bytes);
    made.add(match kind {
        Kind::EhFrame => Sections { eh_frame: Some((0x5000, section)), ..Sections::default() },
        Kind::DebugFrame => Sections { debug_frame: Some(section), ..Sections::default() },
    });
    made.bytes(0x7000, stack);
    made.words(0x7000, &[BIAS + 0x1008, BIAS + 0x1010, 0x7020]);
    let mut registers = Registers::new(machine);
    (0..33).for_each(|number| registers.set(number, 0x7000 + 8 * u64::from(number % 9)));
    registers.set(machine.program_counter(), BIAS + 0x1000 + u64::from(first / 16));
    let found = unwind::unwind(registers.clone(), registers.machine(), &made, &made, MOST);
    assert!(found.frames.len() <= MOST && !found.end.to_string().is_empty());
}

pub fn seeds() -> Vec<Vec<u8>> {
    let one = |seed: u64| {
        let mut rng = made_up::rng::Rng::new(seed);
        let rules = 1 + rng.index(60);
        let mut data = vec![seed as u8, rules as u8];
        data.extend((0..rules + rng.index(64)).map(|_| rng.next() as u8));
        data
    };
    (0..48).map(one).collect()
}
