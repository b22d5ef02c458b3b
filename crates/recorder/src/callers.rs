//! Where the caller of a call returns to, by the unwinding tables of its code (`.eh_frame`): whoever starts requests through a
//! function of its own is told by that alone.
//!
//! The tables are looked at once for each place that calls MPI. What they say of it, where the frame there begins and where
//! in it the return address stands, is kept in one word, so that threads need no lock.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::arch::{FRAME_POINTER, RETURN_ADDRESS, STACK_POINTER};
use crate::frames::Frame;
use crate::real;

const SLOTS: usize = 1024;
static KEPT: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// A frame's rule: it begins at a register's value plus `frame`, and the return address stands at `address` from there.
#[derive(Clone, Copy)]
struct Rule {
    by: By,
    frame: i32,
    address: i16,
}

/// From which register the frame is reckoned.
#[derive(Clone, Copy, PartialEq)]
enum By {
    Stack,
    FramePointer,
    /// The tables do not say.
    Unknown,
}

/// Bits of a kept word: 22 of the place's hash, 2 for the register (0: an empty slot), 16 and 24 for the distances.
impl Rule {
    const UNKNOWN: Self = Self { by: By::Unknown, frame: 0, address: 0 };

    fn word(self, tag: u64) -> u64 {
        let by = match self.by {
            By::Stack => 1,
            By::FramePointer => 2,
            By::Unknown => 3,
        };
        tag << 42 | by << 40 | u64::from(self.address as u16) << 24 | u64::from(self.frame as u32 & 0xff_ffff)
    }

    #[inline(always)]
    fn of_word(word: u64) -> Self {
        let by = match word >> 40 & 3 {
            1 => By::Stack,
            2 => By::FramePointer,
            _ => By::Unknown,
        };
        Self { by, frame: ((word << 8) as u32).cast_signed() >> 8, address: (word >> 24) as u16 as i16 }
    }
}

/// Where the caller of a frame's call returns to; 0: not known.
#[inline(always)]
pub fn caller(frame: &Frame, site: u64, stack_high: u64) -> u64 {
    let hash = site.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (slot, tag) = ((hash >> 54) as usize, hash >> 32 & 0x3f_ffff);
    let word = KEPT[slot].load(Ordering::Relaxed);
    let rule = if word >> 42 == tag && word >> 40 & 3 != 0 { Rule::of_word(word) } else { look(site, slot, tag) };
    let stack = frame.stack_of_caller();
    let start = match rule.by {
        By::Stack => stack,
        By::FramePointer => frame.frame_pointer_of_caller(),
        By::Unknown => return 0,
    };
    let begins = start.wrapping_add(i64::from(rule.frame) as u64);
    let place = begins.wrapping_add(i64::from(rule.address) as u64);
    // Tables that lie must not lead away from this stack.
    if place < stack || place & 7 != 0 || place.saturating_add(8) > stack_high {
        return 0;
    }
    // SAFETY: it is between this frame and the end of the stack.
    unsafe { *(place as *const u64) }
}

#[cold]
fn look(site: u64, slot: usize, tag: u64) -> Rule {
    let rule = real::unwinding_table(site).and_then(|table| find(table, site)).unwrap_or(Rule::UNKNOWN);
    KEPT[slot].store(rule.word(tag), Ordering::Relaxed);
    rule
}

/// Reads what stands in a loaded table.
#[derive(Clone, Copy)]
struct Reader {
    at: u64,
    end: u64,
}

impl Reader {
    fn take<T: Copy>(&mut self) -> Option<T> {
        let next = self.at.checked_add(size_of::<T>() as u64)?;
        if next > self.end {
            return None;
        }
        // SAFETY: inside the table, which the linker has mapped.
        let value = unsafe { (self.at as *const T).read_unaligned() };
        self.at = next;
        Some(value)
    }

    fn unsigned(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = self.take::<u8>()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
    }

    fn signed(&mut self) -> Option<i64> {
        let (mut value, mut shift) = (0_i64, 0_u32);
        loop {
            let byte = self.take::<u8>()?;
            value |= i64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 == 0 {
                let negative = byte & 0x40 != 0 && shift < 64;
                return Some(if negative { value | (-1_i64 << shift) } else { value });
            }
        }
    }

    /// A pointer as `.eh_frame` encodes it (Linux Standard Base Core 5.0, 10.5).
    fn pointer(&mut self, encoding: u8, data: u64) -> Option<u64> {
        let base = match encoding & 0x70 {
            0x00 => 0,
            0x10 => self.at,
            0x30 => data,
            _ => return None,
        };
        let value = match encoding & 0x0f {
            0x00 | 0x04 | 0x0c => self.take::<u64>()?,
            0x01 => self.unsigned()?,
            0x02 => u64::from(self.take::<u16>()?),
            0x03 => u64::from(self.take::<u32>()?),
            0x09 => self.signed()? as u64,
            0x0a => i64::from(self.take::<i16>()?) as u64,
            0x0b => i64::from(self.take::<i32>()?) as u64,
            _ => return None,
        };
        Some(base.wrapping_add(value))
    }
}

/// The rule at the call that returns to `site`. The table is `.eh_frame_hdr`, and the second number the end of its segment.
fn find(table: (u64, u64), site: u64) -> Option<Rule> {
    const SORTED: u8 = 0x3b;
    let (header, end) = table;
    let mut reader = Reader { at: header, end };
    let [version, of_frames, of_count, of_table] = reader.take::<[u8; 4]>()?;
    reader.pointer(of_frames, header)?;
    let count = reader.pointer(of_count, header)?;
    if version != 1 || of_table != SORTED || count == 0 {
        return None;
    }
    // The call, not what follows it: that may be another function.
    let code = site - 1;
    let row = |place: u64| {
        let mut row = Reader { at: reader.at.checked_add(place.checked_mul(8)?)?, end };
        Some((
            header.wrapping_add(i64::from(row.take::<i32>()?) as u64),
            header.wrapping_add(i64::from(row.take::<i32>()?) as u64),
        ))
    };
    let (mut low, mut high) = (0, count);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if row(middle)?.0 <= code {
            low = middle;
        } else {
            high = middle;
        }
    }
    of_function(row(low)?.1, end, code)
}

/// By the entry of a function, and the common entry that it names.
fn of_function(entry: u64, end: u64, code: u64) -> Option<Rule> {
    let mut function = Reader { at: entry, end };
    let length = function.take::<u32>()?;
    function.end = function.at.checked_add(u64::from(length))?.min(end);
    let place = function.at;
    let back = function.take::<u32>()?;
    let mut common = Reader { at: place.checked_sub(u64::from(back))?, end };
    let length = common.take::<u32>()?;
    common.end = common.at.checked_add(u64::from(length))?.min(end);
    let (_, version) = (common.take::<u32>()?, common.take::<u8>()?);
    if version != 1 && version != 3 {
        return None;
    }
    let mut letters = [0_u8; 8];
    let mut count = 0;
    loop {
        let letter = common.take::<u8>()?;
        if letter == 0 {
            break;
        }
        *letters.get_mut(count)? = letter;
        count += 1;
    }
    let code_factor = common.unsigned()?;
    let data_factor = common.signed()?;
    let _return_register = if version == 1 { u64::from(common.take::<u8>()?) } else { common.unsigned()? };
    let mut encoding = 0;
    let mut begins = common.at;
    if letters[0] == b'z' {
        let length = common.unsigned()?;
        begins = common.at.checked_add(length)?;
        for letter in letters[1..count].iter() {
            match letter {
                b'R' => encoding = common.take::<u8>()?,
                b'L' => {
                    common.take::<u8>()?;
                }
                b'P' => {
                    let of = common.take::<u8>()?;
                    common.pointer(of & 0x7f, 0)?;
                }
                b'S' | b'B' => {}
                _ => return None,
            }
        }
    } else if count != 0 {
        return None;
    }
    common.at = begins;
    let start = function.pointer(encoding & 0x7f, 0)?;
    let length = function.pointer(encoding & 0x0f, 0)?;
    if code < start || code - start >= length {
        return None;
    }
    if letters[0] == b'z' {
        let length = function.unsigned()?;
        function.at = function.at.checked_add(length)?;
    }
    let mut machine = Machine { register: 0, offset: 0, address: None, code_factor, data_factor };
    machine.run(common, None, &Machine { ..machine })?;
    let initial = machine;
    machine.run(function, Some(code - start), &initial)?;
    machine.rule()
}

/// What the instructions of a table have made so far of the frame.
#[derive(Clone, Copy)]
struct Machine {
    register: u64,
    offset: i64,
    address: Option<i64>,
    code_factor: u64,
    data_factor: i64,
}

impl Machine {
    fn rule(&self) -> Option<Rule> {
        let by = match self.register {
            STACK_POINTER => By::Stack,
            FRAME_POINTER => By::FramePointer,
            _ => return None,
        };
        let frame = i32::try_from(self.offset).ok().filter(|offset| offset.unsigned_abs() < 1 << 23)?;
        Some(Rule { by, frame, address: i16::try_from(self.address?).ok()? })
    }

    /// Runs instructions up to the code at a distance from the function's start (DWARF 5, 6.4.2).
    fn run(&mut self, mut from: Reader, until: Option<u64>, initial: &Self) -> Option<()> {
        let mut kept = [*self; 8];
        let (mut depth, mut location) = (0_usize, 0_u64);
        while from.at < from.end {
            let instruction = from.take::<u8>()?;
            let low = u64::from(instruction & 0x3f);
            let advance = match instruction >> 6 {
                1 => Some(low),
                2 => {
                    let offset = from.unsigned()? as i64;
                    self.saved(low, offset);
                    None
                }
                3 => {
                    self.restored(low, initial);
                    None
                }
                _ => match instruction {
                    0x00 => None,
                    0x02 => Some(u64::from(from.take::<u8>()?)),
                    0x03 => Some(u64::from(from.take::<u16>()?)),
                    0x04 => Some(u64::from(from.take::<u32>()?)),
                    0x05 => {
                        let (register, offset) = (from.unsigned()?, from.unsigned()? as i64);
                        self.saved(register, offset);
                        None
                    }
                    0x06 => {
                        let register = from.unsigned()?;
                        self.restored(register, initial);
                        None
                    }
                    0x07 | 0x08 => {
                        // Undefined: the outermost frame. The same value: it is in no memory.
                        if from.unsigned()? == RETURN_ADDRESS {
                            self.address = None;
                        }
                        None
                    }
                    0x09 => {
                        if from.unsigned()? == RETURN_ADDRESS {
                            self.address = None;
                        }
                        from.unsigned()?;
                        None
                    }
                    0x0a => {
                        *kept.get_mut(depth)? = *self;
                        depth += 1;
                        None
                    }
                    0x0b => {
                        depth = depth.checked_sub(1)?;
                        *self = kept[depth];
                        None
                    }
                    0x0c => {
                        (self.register, self.offset) = (from.unsigned()?, from.unsigned()? as i64);
                        None
                    }
                    0x0d => {
                        self.register = from.unsigned()?;
                        None
                    }
                    0x0e => {
                        self.offset = from.unsigned()? as i64;
                        None
                    }
                    0x11 => {
                        let (register, offset) = (from.unsigned()?, from.signed()?);
                        self.saved(register, offset);
                        None
                    }
                    0x12 => {
                        self.register = from.unsigned()?;
                        self.offset = from.signed()?.checked_mul(self.data_factor)?;
                        None
                    }
                    0x13 => {
                        self.offset = from.signed()?.checked_mul(self.data_factor)?;
                        None
                    }
                    // GNU's size of arguments, and AArch64's signed return addresses, which the reader has to strip.
                    0x2e => {
                        from.unsigned()?;
                        None
                    }
                    0x2d => None,
                    0x10 | 0x16 => {
                        if from.unsigned()? == RETURN_ADDRESS {
                            self.address = None;
                        }
                        let length = from.unsigned()?;
                        from.at = from.at.checked_add(length)?;
                        None
                    }
                    // An expression for the frame, and what is not known.
                    _ => return None,
                },
            };
            if let Some(steps) = advance {
                location = location.checked_add(steps.checked_mul(self.code_factor)?)?;
                if until.is_some_and(|until| location > until) {
                    break;
                }
            }
        }
        Some(())
    }

    fn saved(&mut self, register: u64, offset: i64) {
        if register == RETURN_ADDRESS {
            self.address = offset.checked_mul(self.data_factor);
        }
    }

    fn restored(&mut self, register: u64, initial: &Self) {
        if register == RETURN_ADDRESS {
            self.address = initial.address;
        }
    }
}
