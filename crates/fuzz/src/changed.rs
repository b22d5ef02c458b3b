//! A target with other words in its memory, where a reader looks at it: of the words of a process it looks at few, and of what
//! stands elsewhere it learns nothing.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::rc::Rc;

use target::address::TargetAddr;
use target::{ByteOrder, CodePlace, Image, Reason, Symbol, Target, TargetAbi, TargetError};

/// The length of one change in an input: a kind, a read of two bytes, a word of it of two, a value of four.
const PIECE: usize = 9;
/// Changes of one input.
const MOST: usize = 48;

/// What stands there.
enum Word {
    Is([u8; 8], usize),
    Unreadable,
}

/// What a reader has read: address and length in bytes.
type Read = (u64, usize);

/// Another's memory with changes; it keeps what is read of it.
pub struct Changed<P> {
    inner: P,
    words: Vec<(u64, Word)>,
    count: Cell<u64>,
    seen: Option<Rc<RefCell<BTreeSet<Read>>>>,
}

impl<P: Deref<Target: Target + Sized>> Changed<P> {
    /// With the changes that an input says to what `looked_at` has.
    pub fn new(inner: P, looked_at: &[Read], data: &[u8]) -> Self {
        let mut all = Self { inner, words: Vec::new(), count: Cell::new(0), seen: None };
        for piece in data.chunks_exact(PIECE).take(MOST) {
            all.change(looked_at, piece);
        }
        all
    }

    fn change(&mut self, looked_at: &[Read], piece: &[u8]) {
        let abi = self.inner.abi();
        let width = abi.pointer_width.bytes();
        let half = |at: usize| usize::from(piece[at]) | usize::from(piece[at + 1]) << 8;
        // A word of the read with that number.
        let place = |read: usize, word: usize| {
            let (start, len) = *looked_at.get(read % looked_at.len().max(1))?;
            Some(start + width * (word as u64 % (len as u64).div_ceil(width).max(1)))
        };
        let Some(at) = place(half(1), half(3)) else { return };
        let value = u64::from(u32::from_le_bytes([piece[5], piece[6], piece[7], piece[8]]));
        let there = || self.read_uint(TargetAddr::new(at), width).unwrap_or(0);
        let other = place(half(5), half(7)).unwrap_or(0);
        let word = match piece[0] % 12 {
            0 => value,
            1 => i64::from((value as u32).cast_signed()) as u64,
            2 => 1 << (value % 64),
            3 => u64::MAX - value,
            // Somewhere else, itself, what stands somewhere else.
            4 | 5 => other,
            6 => at,
            7 | 8 => self.read_uint(TargetAddr::new(other), width).unwrap_or(0),
            // A little more or less than it is.
            9 => there().wrapping_add(i64::from(piece[5].cast_signed()) as u64),
            10 => there() ^ 1 << (value % 64),
            _ => return self.words.push((at, Word::Unreadable)),
        };
        let size = [width as usize, 4, width as usize, 1][usize::from(piece[0] >> 6)].min(width as usize);
        let bytes = match abi.byte_order {
            ByteOrder::Little => word.to_le_bytes(),
            ByteOrder::Big => (word << (64 - 8 * size)).to_be_bytes(),
        };
        self.words.push((at, Word::Is(bytes, size)));
    }

    /// How many reads there have been.
    pub fn reads(&self) -> u64 {
        self.count.get()
    }
}

/// What is read of a target where nothing is changed.
pub fn looked_at<P: Deref<Target: Target + Sized>>(inner: P, read: impl FnOnce(Changed<P>)) -> Vec<Read> {
    let seen = Rc::new(RefCell::default());
    read(Changed { inner, words: Vec::new(), count: Cell::new(0), seen: Some(Rc::clone(&seen)) });
    let seen: BTreeSet<Read> = seen.take();
    seen.into_iter().collect()
}

impl<P: Deref<Target: Target + Sized>> Target for Changed<P> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.count.set(self.count.get() + 1);
        if let Some(seen) = &self.seen {
            seen.borrow_mut().insert((addr.get(), buf.len()));
        }
        self.inner.read(addr, buf)?;
        for (at, word) in &self.words {
            let size = if let Word::Is(_, size) = word { *size } else { 1 };
            for (index, address) in (*at..).take(size).enumerate() {
                let offset = address.checked_sub(addr.get()).and_then(|offset| usize::try_from(offset).ok());
                let Some(byte) = offset.and_then(|offset| buf.get_mut(offset)) else { continue };
                match word {
                    Word::Is(bytes, _) => *byte = bytes[index],
                    Word::Unreadable => return Err(TargetError::Fault { addr, len: buf.len() as u64 }),
                }
            }
        }
        Ok(())
    }
    fn abi(&self) -> TargetAbi {
        self.inner.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.inner.symbol(name)
    }
    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        self.inner.symbols()
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.inner.images()
    }
    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        self.inner.function_at(addr)
    }
    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        self.inner.place_of(addr)
    }
    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        self.inner.stack_pointers()
    }
    fn is_held(&self, addr: TargetAddr, len: usize) -> bool {
        self.inner.is_held(addr, len)
    }
}

impl<P> Changed<P> {
    /// What is changed.
    pub fn inner(&self) -> &P {
        &self.inner
    }
}

/// What is made once for each key: most of an input's time would go into it.
pub struct Kept<K, V>(RefCell<BTreeMap<K, Rc<V>>>);

impl<K: Ord, V> Kept<K, V> {
    /// Of nothing yet.
    pub const fn new() -> Self {
        Self(RefCell::new(BTreeMap::new()))
    }

    /// That of a key.
    pub fn of(&self, key: K, make: impl FnOnce() -> V) -> Rc<V> {
        Rc::clone(self.0.borrow_mut().entry(key).or_insert_with(|| Rc::new(make())))
    }
}

/// Inputs of changes by chance, each with one of the heads before it; and each head alone, which changes nothing.
pub fn seeds(heads: impl IntoIterator<Item = Vec<u8>>) -> Vec<Vec<u8>> {
    let with_changes = |(seed, head): (u64, Vec<u8>)| {
        let mut rng = made_up::rng::Rng::new(seed);
        let length = PIECE * (1 + rng.index(6));
        let changes: Vec<u8> = (0..length).map(|_| rng.next() as u8).collect();
        [head.clone(), [head, changes].concat()]
    };
    (0..).zip(heads).flat_map(with_changes).collect()
}
