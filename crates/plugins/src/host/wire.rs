//! What host and helper process say to each other.
//!
//! A frame is a length (4 bytes, of the payload), a kind (1 byte) and the payload. Numbers are in the machine's order:
//! both sides are the same program. Each side checks every length: the helper runs foreign code.

use target::Reason;

/// Longest payload, in both directions.
pub const MAX_PAYLOAD: usize = (1 << 20) + 64;
/// Length of the head of a frame.
pub const HEAD: usize = 5;

/// Memory is asked for in runs of this many bytes, aligned.
pub const RUN: usize = 1 << 16;
/// The unit in which a run can be readable or not.
pub const PAGE: usize = 4096;
/// Pages in a run.
pub const RUN_PAGES: usize = RUN / PAGE;
/// Longest single fetch that is served.
pub const MAX_FETCH: usize = 1 << 20;

/// What a frame is. Those named here are the same for every plug-in, as are the numbers of [`Told`]; the others belong to
/// the interface of the plug-in.
///
/// [`Told`]: super::message::Told
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind(pub u8);

impl Kind {
    /// Host to helper: the answer to the last request.
    pub const REPLY: Self = Self(0);
    /// Request: one run of memory.
    pub const RUN: Self = Self(1);
    /// Request: exactly these bytes.
    pub const READ: Self = Self(2);
    /// Request: where is a symbol?
    pub const SYMBOL: Self = Self(3);
    /// Request: how large is a type?
    pub const TYPE: Self = Self(4);
    /// Request: where is a field?
    pub const FIELD: Self = Self(5);

    /// None has this number or a higher one.
    const END: u8 = 64;
}

/// Why the helper stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Failure {
    /// The dynamic linker refused the plug-in.
    Load = 0,
    /// Functions are missing.
    Missing = 1,
    /// Another version of the interface.
    Version = 2,
    /// Another width of target addresses.
    Width = 3,
    /// Types or fields are missing; the host knows which.
    Layouts = 4,
    /// Nothing for the plug-in in this image.
    Image = 5,
    /// Nothing for the plug-in in this process.
    Process = 6,
    /// A function failed.
    Call = 7,
    /// A limit was passed.
    TooMany = 8,
}

impl Failure {
    /// All failures, in the order of their numbers.
    pub const ALL: [Self; 9] = {
        use Failure::*;
        [Load, Missing, Version, Width, Layouts, Image, Process, Call, TooMany]
    };
}

/// Writes numbers and texts one after the other.
pub trait Put {
    /// Appends bytes as they are.
    fn bytes(&mut self, bytes: &[u8]);

    /// Appends one byte.
    fn u8(&mut self, value: u8) {
        self.bytes(&[value]);
    }
    /// Appends a number.
    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_ne_bytes());
    }
    /// Appends a number.
    fn i32(&mut self, value: i32) {
        self.bytes(&value.to_ne_bytes());
    }
    /// Appends a number.
    fn u64(&mut self, value: u64) {
        self.bytes(&value.to_ne_bytes());
    }
    /// Appends a number.
    fn i64(&mut self, value: i64) {
        self.bytes(&value.to_ne_bytes());
    }
    /// Appends a text with its length; what is longer than 32 KiB is cut.
    fn text(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(1 << 15)];
        self.u32(text.len() as u32);
        self.bytes(text);
    }
}

impl Put for Vec<u8> {
    fn bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Reads what [`Put`] wrote; every method returns `None` where the payload is too short.
pub struct Take<'a>(pub &'a [u8]);

impl<'a> Take<'a> {
    /// The next `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(len)?;
        self.0 = tail;
        Some(head)
    }
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }
    /// One byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }
    /// A number.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_ne_bytes)
    }
    /// A number.
    pub fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_ne_bytes)
    }
    /// A number.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_ne_bytes)
    }
    /// A number.
    pub fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_ne_bytes)
    }
    /// A text.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.bytes(usize::try_from(len).ok()?)
    }
}

/// A frame's kind, its payload and its whole length.
pub type Frame<'a> = (Kind, &'a [u8], usize);

/// Takes the first whole frame from `bytes`. `Ok(None)`: not all of it is there yet.
///
/// # Errors
/// What makes no sense about it.
pub fn first_frame(bytes: &[u8]) -> Result<Option<Frame<'_>>, Reason> {
    let mut take = Take(bytes);
    let (Some(len), Some(kind)) = (take.u32(), take.u8()) else { return Ok(None) };
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    if len > MAX_PAYLOAD {
        return Err(Reason::new(format!("a message of {len} bytes")));
    }
    if kind >= Kind::END {
        return Err(Reason::new(format!("a message of kind {kind}")));
    }
    Ok(take.bytes(len).map(|payload| (Kind(kind), payload, HEAD + len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_can_be_taken() {
        let mut frame = Vec::new();
        frame.u8(7);
        frame.i32(-3);
        frame.u64(u64::MAX);
        frame.text(b"name");
        let mut take = Take(&frame);
        assert_eq!(
            (take.u8(), take.i32(), take.u64(), take.text()),
            (Some(7), Some(-3), Some(u64::MAX), Some(&b"name"[..]))
        );
        assert_eq!(take.u8(), None);
    }

    #[test]
    fn a_text_longer_than_its_frame_is_refused() {
        let mut frame = Vec::new();
        frame.u32(u32::MAX);
        frame.bytes(b"abc");
        assert_eq!(Take(&frame).text(), None);
    }

    #[test]
    fn frames_are_checked() {
        assert_eq!(first_frame(&[1, 0, 0]), Ok(None));
        assert!(first_frame(&[0xff, 0xff, 0xff, 0xff, 2]).is_err());
        assert!(first_frame(&[0, 0, 0, 0, 200]).is_err());
        assert_eq!(first_frame(&[1, 0, 0, 0, 28, 9, 8]), Ok(Some((Kind(28), &[9][..], 6))));
        assert_eq!(first_frame(&[2, 0, 0, 0, 28, 9]), Ok(None));
    }

    #[test]
    fn failures_stand_at_their_numbers() {
        assert!((0..).zip(Failure::ALL).all(|(number, failure)| failure as u8 == number));
    }
}
