//! The ring that a peer has for what it sends to this process (btl_vader_fbox.h, v4.1.4; btl_sm_fbox.h, v5.0.7).

use super::Reader;
use super::endpoints::Endpoints;
use crate::ReaderError;
use target::address::TargetAddr;

/// Entries begin at multiples of this, and the first follows the word that tells the sender how far it was read.
pub const ALIGNMENT: u64 = 32;

/// An entry begins with its size (32 bits), its tag (16) and its number (16).
const HEADER: u64 = 8;

/// The tags of entries that are no messages themselves: a fragment's relative pointer; the rest of the ring is skipped.
const FRAGMENT: u64 = 0xfe;
const SKIP: u64 = 0xff;

/// The high bit of a start counts the laps.
const OFFSET_MASK: u64 = 0x7fff_ffff;

/// The library takes so many entries at most before it notes how far it has come: while it is at that, so many may lie there
/// that were taken (`MCA_BTL_VADER_POLL_COUNT`).
const TAKEN_AT_ONCE: u16 = 32;

/// A fast box.
pub struct FastBox {
    /// Whose it is.
    pub number: u64,
    pub at: TargetAddr,
    /// Its length in bytes.
    pub size: u64,
    /// Where the next entry is that was not taken.
    pub start: u64,
    /// The number that this entry has.
    pub sequence: u16,
}

impl Reader<'_> {
    /// Reads the entries of a box that were not taken.
    pub(super) fn fast_box(&mut self, one: &FastBox, endpoints: &mut Endpoints<'_>) -> Result<(), ReaderError> {
        let abi = self.target.abi();
        let damaged = |at: u64| ReaderError::Damaged(format!("the fast box of endpoint {} at offset {at}", one.number));
        let mut at = one.start & OFFSET_MASK;
        let mut expected = one.sequence;
        // No ring has more entries than it has room for.
        for _ in 0..one.size / ALIGNMENT {
            if at < ALIGNMENT || !at.is_multiple_of(ALIGNMENT) || at >= one.size {
                return Err(damaged(at));
            }
            // What follows it is the application's: only headers are read.
            let header = self.target.read_bytes(one.at.wrapping_add(at), HEADER as usize)?;
            let field = |from: usize, to: usize| abi.uint(header.get(from..to).unwrap_or_default());
            let (size, tag, number) = (field(0, 4), field(4, 6), field(6, 8) as u16);
            let behind = expected.wrapping_sub(number);
            if tag == 0 || behind > TAKEN_AT_ONCE {
                // Nothing more was written.
                break;
            }
            let room = one.size - at - HEADER;
            if size > room {
                return Err(damaged(at));
            }
            if behind == 0 {
                let payload = one.at.wrapping_add(at + HEADER);
                match tag {
                    SKIP => {}
                    FRAGMENT => {
                        let value = self.target.read_pointer(payload)?.get();
                        if endpoints.number(value) != one.number {
                            return Err(damaged(at));
                        }
                        self.fragment(value, endpoints)?;
                    }
                    _ => self.message(payload, size, tag, size, true)?,
                }
                expected = expected.wrapping_add(1);
            }
            at = (at + HEADER + size).next_multiple_of(ALIGNMENT);
            if at == one.size {
                at = ALIGNMENT;
            }
        }
        Ok(())
    }
}
