//! A section of debug information, read piece by piece: programs have hundreds of megabytes of it, of which a few frames want
//! little, and a thousand nodes read the same file at the same moment.
//!
//! Pieces are read, not mapped: a file that becomes shorter meanwhile must not end us.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gimli::{Error, ReaderOffsetId, RunTimeEndian};
use target::file_budget::FileBudget;
use target::zeroed;

use super::source::Source;

/// The size of a piece is that of a page: what a file system reads at least.
const SHIFT: u32 = 12;

/// So that one piece has all.
const WHOLE: u32 = usize::BITS - 1;

/// The budget is asked once for so many steps.
const STEPS_BETWEEN: u32 = 1 << 12;

/// So many bytes that are copied or searched cost one step.
const BYTES_A_STEP: usize = 64;

type Piece = OnceLock<Option<Arc<[u8]>>>;

/// A part of a section, as readers of DWARF want it. It is shared: what was read once is there for all.
#[derive(Clone)]
pub struct DebugSection {
    all: Arc<Pieces>,
    at: usize,
    end: usize,
}

struct Pieces {
    kept: Box<[Piece]>,
    shift: u32,
    size: usize,
    endian: RunTimeEndian,
    /// The file, and where the section begins in it.
    file: Option<(Arc<Source>, u64)>,
    /// What no other section has: gimli tells offsets of several sections apart by it.
    first_id: u64,
    /// What reading it costs is paid from.
    paid: Option<Paid>,
    /// Steps since the budget was asked. Threads that count at the same moment may miss some of each other's.
    steps: AtomicU32,
}

/// The budget of the file, and what the section is called there.
pub(crate) struct Paid {
    pub(crate) budget: FileBudget,
    pub(crate) section: Box<str>,
}

impl DebugSection {
    /// That of bytes which are there, and cost nothing.
    pub fn new(bytes: Arc<[u8]>, endian: RunTimeEndian) -> Self {
        Self::whole(bytes, endian, None)
    }

    /// The same; reading them is paid from the budget of a file, in which the section has that name.
    pub fn within(bytes: Arc<[u8]>, endian: RunTimeEndian, budget: &FileBudget, section: &str) -> Self {
        Self::whole(bytes, endian, Some(Paid { budget: budget.clone(), section: section.into() }))
    }

    /// That of bytes which are there, and are claimed already.
    pub(crate) fn whole(bytes: Arc<[u8]>, endian: RunTimeEndian, paid: Option<Paid>) -> Self {
        let size = bytes.len();
        Self::of(Pieces::new(Box::new([OnceLock::from(Some(bytes))]), WHOLE, size, endian, None, paid))
    }

    /// That of bytes of a file, which are read when they are wanted. `None` where there are too many.
    pub(crate) fn in_file(
        source: &Arc<Source>,
        offset: u64,
        size: usize,
        endian: RunTimeEndian,
        paid: Option<Paid>,
    ) -> Option<Self> {
        let count = size.div_ceil(1 << SHIFT);
        if let Some(Paid { budget, section }) = &paid {
            budget.claim(section, (count * size_of::<Piece>()) as u64).ok()?;
        }
        let kept = std::iter::repeat_with(OnceLock::new).take(count).collect();
        Some(Self::of(Pieces::new(kept, SHIFT, size, endian, Some((Arc::clone(source), offset)), paid)))
    }

    fn of(all: Pieces) -> Self {
        let end = all.size;
        Self { all: Arc::new(all), at: 0, end }
    }

    /// The bytes as a whole, where they can be read.
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        gimli::Reader::to_slice(self).ok()
    }

    /// The bytes that lie in one piece with the first one.
    fn first(&self) -> gimli::Result<&[u8]> {
        let (piece, begin) = self.all.piece_with(self.at)?;
        let length = self.end.saturating_sub(self.at);
        let rest = piece.get(self.at - begin..).ok_or(Error::Io)?;
        Ok(rest.get(..length).unwrap_or(rest))
    }

    fn length(&self) -> usize {
        self.end - self.at
    }

    #[inline]
    fn checked(&self, length: usize) -> gimli::Result<usize> {
        self.all.pay(1)?;
        if length > self.length() {
            return Err(Error::UnexpectedEof(gimli::Reader::offset_id(self)));
        }
        Ok(self.at + length)
    }
}

impl Pieces {
    fn new(
        kept: Box<[Piece]>,
        shift: u32,
        size: usize,
        endian: RunTimeEndian,
        file: Option<(Arc<Source>, u64)>,
        paid: Option<Paid>,
    ) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        let first_id = IDS.fetch_add(size as u64 + 1, Ordering::Relaxed);
        Self { kept, shift, size, endian, file, first_id, paid, steps: AtomicU32::new(0) }
    }

    /// Steps are made; an error where the file may take no more. All that gimli reads comes by here, so that it ends, too.
    #[inline]
    fn pay(&self, steps: u32) -> gimli::Result<()> {
        let steps = self.steps.load(Ordering::Relaxed).saturating_add(steps);
        self.steps.store(steps, Ordering::Relaxed);
        if steps < STEPS_BETWEEN { Ok(()) } else { self.settle(steps) }
    }

    #[cold]
    fn settle(&self, steps: u32) -> gimli::Result<()> {
        if let Some(Paid { budget, section }) = &self.paid
            && budget.steps(section, steps.into()).is_err()
        {
            // The next step asks again, and gets the same answer.
            return Err(Error::Io);
        }
        self.steps.store(0, Ordering::Relaxed);
        Ok(())
    }

    fn pay_for_bytes(&self, bytes: usize) -> gimli::Result<()> {
        self.pay(u32::try_from(bytes / BYTES_A_STEP).unwrap_or(u32::MAX))
    }

    /// The piece that has a place of the section, and where it begins.
    #[inline]
    fn piece_with(&self, at: usize) -> gimli::Result<(&[u8], usize)> {
        let number = at >> self.shift;
        let piece = self.kept.get(number).ok_or(Error::Io)?;
        let bytes = match piece.get() {
            Some(bytes) => bytes,
            None => piece.get_or_init(|| self.read(number)),
        };
        Ok((bytes.as_ref().ok_or(Error::Io)?, number << self.shift))
    }

    #[cold]
    fn read(&self, number: usize) -> Option<Arc<[u8]>> {
        let (source, offset) = self.file.as_ref()?;
        let Range { start, end } = number << self.shift..self.size.min((number + 1) << self.shift);
        let length = (end - start) as u64;
        if let Some(Paid { budget, section }) = &self.paid {
            budget.claim(section, length).ok()?;
        }
        source.read_shared(offset.checked_add(start as u64)?, length)
    }
}

impl fmt::Debug for DebugSection {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "DebugSection({:#x}..{:#x})", self.at, self.end)
    }
}

impl gimli::Reader for DebugSection {
    type Endian = RunTimeEndian;
    type Offset = usize;

    fn endian(&self) -> RunTimeEndian {
        self.all.endian
    }

    #[inline]
    fn len(&self) -> usize {
        self.length()
    }

    fn empty(&mut self) {
        self.end = self.at;
    }

    fn truncate(&mut self, length: usize) -> gimli::Result<()> {
        self.end = self.checked(length)?;
        Ok(())
    }

    fn offset_from(&self, base: &Self) -> usize {
        self.at.wrapping_sub(base.at)
    }

    fn offset_id(&self) -> ReaderOffsetId {
        ReaderOffsetId(self.all.first_id.wrapping_add(self.at as u64))
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        let at = usize::try_from(id.0.checked_sub(self.all.first_id)?).ok()?;
        (self.at..=self.end).contains(&at).then(|| at - self.at)
    }

    fn find(&self, byte: u8) -> gimli::Result<usize> {
        let mut rest = self.clone();
        while rest.at < rest.end {
            let first = rest.first()?;
            self.all.pay_for_bytes(first.len())?;
            match first.iter().position(|one| *one == byte) {
                Some(place) => return Ok(rest.at + place - self.at),
                None => rest.at += first.len(),
            }
        }
        Err(Error::UnexpectedEof(self.offset_id()))
    }

    #[inline]
    fn skip(&mut self, length: usize) -> gimli::Result<()> {
        self.at = self.checked(length)?;
        Ok(())
    }

    fn split(&mut self, length: usize) -> gimli::Result<Self> {
        let end = self.checked(length)?;
        let split = Self { all: Arc::clone(&self.all), at: self.at, end };
        self.at = end;
        Ok(split)
    }

    fn to_slice(&self) -> gimli::Result<Cow<'_, [u8]>> {
        if self.at == self.end {
            return Ok(Cow::Borrowed(&[]));
        }
        let first = self.first()?;
        if first.len() == self.length() {
            return Ok(Cow::Borrowed(first));
        }
        self.all.pay_for_bytes(self.length())?;
        let mut bytes = zeroed(self.length()).map_err(|_| Error::Io)?;
        self.clone().read_slice(&mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    fn to_string(&self) -> gimli::Result<Cow<'_, str>> {
        match self.to_slice()? {
            Cow::Borrowed(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| Error::BadUtf8),
            Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|_| Error::BadUtf8),
        }
    }

    fn to_string_lossy(&self) -> gimli::Result<Cow<'_, str>> {
        Ok(match self.to_slice()? {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        })
    }

    #[inline]
    fn read_slice(&mut self, to: &mut [u8]) -> gimli::Result<()> {
        let end = self.checked(to.len())?;
        self.all.pay_for_bytes(to.len())?;
        let mut to = to;
        while !to.is_empty() {
            let first = self.first()?;
            let length = first.len().min(to.len());
            if length == 0 {
                return Err(Error::Io);
            }
            let (now, later) = to.split_at_mut(length);
            now.copy_from_slice(&first[..length]);
            self.at += length;
            to = later;
        }
        self.at = end;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use gimli::Reader;
    use target::file_budget::FileLimits;

    use super::*;

    const ENDIAN: RunTimeEndian = RunTimeEndian::Little;

    fn numbers(count: usize) -> Vec<u8> {
        (0..count).map(|at| (at % 251) as u8).collect()
    }

    fn source(bytes: &[u8]) -> Arc<Source> {
        let mut file = tempfile();
        file.write_all(bytes).unwrap();
        Arc::new(Source::File(file.into()))
    }

    fn tempfile() -> std::fs::File {
        let name = format!("mpi-queues-{}-{:?}", std::process::id(), std::thread::current().id());
        let path = std::env::temp_dir().join(name);
        let options = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
        std::fs::remove_file(path).unwrap();
        options.unwrap()
    }

    #[test]
    fn pieces_read_as_the_whole_does() {
        let bytes = numbers(3 * (1 << SHIFT) + 17);
        let source = source(&bytes);
        let whole = DebugSection::new(Arc::from(&bytes[5..]), ENDIAN);
        let pieces = DebugSection::in_file(&source, 5, bytes.len() - 5, ENDIAN, None).unwrap();
        assert_eq!(whole.to_slice().unwrap(), pieces.to_slice().unwrap());
        for start in [0, 1, (1 << SHIFT) - 3, (1 << SHIFT) - 1, 1 << SHIFT, 2 * (1 << SHIFT) + 100] {
            let (mut one, mut other) = (whole.clone(), pieces.clone());
            one.skip(start).unwrap();
            other.skip(start).unwrap();
            assert_eq!(one.find(250).unwrap(), other.find(250).unwrap());
            assert_eq!(one.read_u64().unwrap(), other.read_u64().unwrap());
            assert_eq!(one.read_uleb128().unwrap(), other.read_uleb128().unwrap());
            let (one, other) = (one.split(600).unwrap(), other.split(600).unwrap());
            assert_eq!(one.to_slice().unwrap(), other.to_slice().unwrap());
            assert_eq!(one.offset_from(&whole), other.offset_from(&pieces));
            assert_eq!(pieces.lookup_offset_id(other.offset_id()), Some(other.offset_from(&pieces)));
            assert_eq!(whole.lookup_offset_id(other.offset_id()), None);
        }
    }

    #[test]
    fn only_what_is_wanted_is_read() {
        let bytes = numbers(8 * (1 << SHIFT));
        let source = source(&bytes);
        let mut section = DebugSection::in_file(&source, 0, bytes.len(), ENDIAN, None).unwrap();
        section.skip(5 << SHIFT).unwrap();
        section.read_u32().unwrap();
        let read = section.all.kept.iter().filter(|piece| piece.get().is_some()).count();
        assert_eq!(read, 1);
    }

    #[test]
    fn a_file_that_became_shorter_is_an_error() {
        let bytes = numbers(4 * (1 << SHIFT));
        let mut file = tempfile();
        file.write_all(&bytes).unwrap();
        let source = Arc::new(Source::File(file.try_clone().unwrap().into()));
        let mut section = DebugSection::in_file(&source, 0, bytes.len(), ENDIAN, None).unwrap();
        assert!(section.read_u32().is_ok());
        file.set_len(1 << SHIFT).unwrap();
        assert!(section.read_u32().is_ok());
        section.skip(2 << SHIFT).unwrap();
        assert_eq!(section.read_u32(), Err(Error::Io));
        assert_eq!(section.find(1), Err(Error::Io));
        assert!(section.to_slice().is_err());
    }

    #[test]
    fn steps_and_pages_are_paid_for() {
        let bytes = numbers(64 << SHIFT);
        let source = source(&bytes);
        let limits = |file_bytes, file_steps| FileLimits { file_bytes, file_steps, ..FileLimits::default() };
        let section = |limits| {
            let budget = FileBudget::with(Path::new("/made-up/section"), limits);
            let paid = Paid { budget, section: ".debug_info".into() };
            DebugSection::in_file(&source, 0, bytes.len(), ENDIAN, Some(paid))
        };
        let read = |section: &mut DebugSection| std::iter::from_fn(|| section.read_u8().ok()).count();
        assert_eq!(read(&mut section(limits(1 << 20, 1 << 20)).unwrap()), bytes.len());
        // The beginnings of pages are claimed at once, each page when it is read.
        assert!(section(limits(100, 1 << 20)).is_none());
        assert_eq!(read(&mut section(limits(10 << SHIFT, 1 << 20)).unwrap()), 9 << SHIFT);
        let mut slow = section(limits(1 << 20, 20_000)).unwrap();
        let count = read(&mut slow);
        assert!((10_000..=30_000).contains(&count), "{count}");
        assert!(slow.find(1).is_err() && slow.read_u8().is_err() && slow.skip(1).is_err());
    }

    #[test]
    fn ends_are_errors() {
        let mut section = DebugSection::new(Arc::from(numbers(4)), ENDIAN);
        assert!(matches!(section.read_u64(), Err(Error::UnexpectedEof(_))));
        assert!(section.truncate(5).is_err() && section.skip(5).is_err() && section.split(5).is_err());
        assert!(section.find(200).is_err());
        section.skip(4).unwrap();
        assert!(section.to_slice().unwrap().is_empty() && section.read_u8().is_err());
    }
}
