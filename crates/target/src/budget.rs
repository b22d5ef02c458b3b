//! What the reading of one process may cost, and the one place that sets memory aside for what a target says.
//!
//! Every length that stands in a target may be damaged, and this program may be the debugger that holds the only hung job:
//! nothing is set aside that is not bounded here, and where there is no memory that is an error, never an abort.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{CodePlace, Image, Reason, Symbol, Target, TargetAbi, TargetError};
use crate::address::TargetAddr;

/// The most bytes that are read at once (256 MiB): addresses of the members of a job of 32 Mi ranks.
pub const MAX_READ: usize = 256 << 20;

/// The environment variable by which all limits are multiplied.
pub const FACTOR: &str = "MPI_QUEUES_LIMITS";

/// Larger reads look at the clock; small ones do so every now and then.
const LARGE: usize = 1 << 14;
const SMALL_READS: u32 = 64;

/// Once a reading took too long, the next ones of a process that has not run get this part of the time.
const NEXT_TIME: u32 = 20;

/// Which limit was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// Bytes of one read.
    OneRead,
    /// Bytes of all reads.
    Bytes,
    /// Reads that failed.
    FailedReads,
    /// Members of all groups.
    Members,
    /// Time.
    Time,
    /// The memory of this program.
    OwnMemory,
}

/// A limit with how much of it there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverLimit {
    /// Which one.
    pub limit: Limit,
    /// How much is allowed: bytes, reads, members, milliseconds; of our own memory what was asked for.
    pub allowed: u64,
}

impl fmt::Display for OverLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, allowed } = self;
        match limit {
            Limit::OneRead => write!(f, "more than {allowed} bytes would be read at once")?,
            Limit::Bytes => write!(f, "more than {allowed} bytes of this process were read")?,
            Limit::FailedReads => write!(f, "more than {allowed} reads of this process failed")?,
            Limit::Members => write!(f, "the groups have more than {allowed} members in all")?,
            Limit::Time => write!(f, "reading took longer than {} s", *allowed as f64 / 1000.0)?,
            Limit::OwnMemory => return write!(f, "{allowed} bytes are more than the machine has"),
        }
        if *limit == Limit::OneRead {
            return f.write_str(": the length is damaged");
        }
        write!(f, "; if its memory is not damaged, read again with {FACTOR}=10 in the environment")
    }
}

/// How much the reading of one process may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all reads.
    pub bytes: u64,
    /// Reads that fail.
    pub failed_reads: u64,
    /// Members of the groups of all communicators, shared ones each time: 384 communicators of 65,536 ranks. They are all
    /// written into the JSON.
    pub members: u64,
    /// Time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 16 << 30, failed_reads: 50_000, members: 24 << 20, time: Duration::from_secs(12) }
    }
}

/// What the user says in the environment: 1 to 1000.
pub(crate) fn factor() -> u32 {
    std::env::var(FACTOR).ok().and_then(|text| text.parse().ok()).unwrap_or(1).clamp(1, 1000)
}

impl Limits {
    /// The usual ones, times what the user says in the environment.
    pub fn of_user() -> Self {
        Self::default().times(factor())
    }

    /// So many times as much, 1000 times at most.
    #[must_use]
    pub fn times(self, factor: u32) -> Self {
        let factor = factor.clamp(1, 1000);
        let times = |number: u64| number.saturating_mul(factor.into());
        Self {
            bytes: times(self.bytes),
            failed_reads: times(self.failed_reads),
            members: times(self.members),
            time: self.time.saturating_mul(factor),
        }
    }
}

/// What is left for the reading of one process.
#[derive(Debug)]
pub struct Budget {
    limits: Limits,
    bytes: Cell<u64>,
    failed_reads: Cell<u64>,
    members: Cell<u64>,
    started: Cell<Instant>,
    small_reads: Cell<u32>,
    /// What ended it; all that follows fails at once.
    over: Cell<Option<OverLimit>>,
    /// Requests within requests are one.
    depth: Cell<u32>,
    /// Whether a request has taken too long since the process last ran.
    was_slow: Cell<bool>,
}

impl Budget {
    /// Nothing of it is used.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            bytes: Cell::new(0),
            failed_reads: Cell::new(0),
            members: Cell::new(0),
            started: Cell::new(Instant::now()),
            small_reads: Cell::new(0),
            over: Cell::new(None),
            depth: Cell::new(0),
            was_slow: Cell::new(false),
        }
    }

    /// The process ran: it may be read as long as at first.
    pub fn process_ran(&self) {
        self.was_slow.set(false);
    }

    /// A request begins, with a whole budget unless it is a part of another one; it ends with what is returned.
    pub fn request(&self) -> Request<'_> {
        if self.depth.get() == 0 {
            for used in [&self.bytes, &self.failed_reads, &self.members] {
                used.set(0);
            }
            self.started.set(Instant::now());
            self.over.set(None);
        }
        self.depth.set(self.depth.get() + 1);
        Request(self)
    }

    /// What ended the reading, if anything did.
    pub fn over(&self) -> Option<OverLimit> {
        self.over.get()
    }

    fn time(&self) -> Duration {
        if self.was_slow.get() { self.limits.time / NEXT_TIME } else { self.limits.time }
    }

    fn end(&self, limit: Limit, allowed: u64) -> TargetError {
        let over = OverLimit { limit, allowed };
        self.over.set(Some(over));
        TargetError::OverLimit(over)
    }

    /// Whether `len` more bytes may be read.
    fn before_read(&self, len: usize) -> Result<(), TargetError> {
        if let Some(over) = self.over.get() {
            return Err(TargetError::OverLimit(over));
        }
        if len > MAX_READ {
            // This read only: others may be right.
            return Err(TargetError::OverLimit(OverLimit { limit: Limit::OneRead, allowed: MAX_READ as u64 }));
        }
        self.bytes.set(self.bytes.get().saturating_add(len as u64));
        if self.bytes.get() > self.limits.bytes {
            return Err(self.end(Limit::Bytes, self.limits.bytes));
        }
        self.small_reads.set(self.small_reads.get().wrapping_add(1));
        if (len >= LARGE || self.small_reads.get().is_multiple_of(SMALL_READS))
            && self.started.get().elapsed() > self.time()
        {
            let allowed = u64::try_from(self.time().as_millis()).unwrap_or(u64::MAX);
            return Err(self.end(Limit::Time, allowed));
        }
        Ok(())
    }

    fn after_read<R>(&self, result: Result<R, TargetError>) -> Result<R, TargetError> {
        if result.is_err() {
            self.failed_reads.set(self.failed_reads.get() + 1);
            if self.failed_reads.get() > self.limits.failed_reads {
                return Err(self.end(Limit::FailedReads, self.limits.failed_reads));
            }
        }
        result
    }

    /// Whether a communicator may have `count` more members. One that may not does not end the reading: what follows is
    /// read without its members.
    ///
    /// # Errors
    /// Where it may not.
    pub fn claim_members(&self, count: u64) -> Result<(), TargetError> {
        let members = self.members.get().saturating_add(count);
        if members > self.limits.members {
            let allowed = self.limits.members;
            return Err(TargetError::OverLimit(OverLimit { limit: Limit::Members, allowed }));
        }
        self.members.set(members);
        Ok(())
    }
}

/// A request that is under way.
#[derive(Debug)]
pub struct Request<'a>(&'a Budget);

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get().saturating_sub(1));
        if self.0.over.get().is_some_and(|over| over.limit == Limit::Time) {
            self.0.was_slow.set(true);
        }
    }
}

/// A target whose reads are paid from a budget.
pub struct Metered<T: Target> {
    inner: T,
    budget: Budget,
}

impl<T: Target> Metered<T> {
    /// `inner` with a whole budget.
    pub fn new(inner: T, limits: Limits) -> Self {
        Self { inner, budget: Budget::new(limits) }
    }

    /// The target underneath, whose reads cost nothing.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// What is left.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl<T: Target> Target for Metered<T> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.budget.before_read(buf.len())?;
        self.budget.after_read(self.inner.read(addr, buf))
    }
    fn read_once(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.budget.before_read(buf.len())?;
        self.budget.after_read(self.inner.read_once(addr, buf))
    }
    fn read_c_string(&self, addr: TargetAddr, max: usize) -> Result<Vec<u8>, TargetError> {
        self.budget.before_read(max)?;
        self.budget.after_read(self.inner.read_c_string(addr, max))
    }
    fn is_held(&self, addr: TargetAddr, len: usize) -> bool {
        self.inner.is_held(addr, len)
    }
    fn claim_members(&self, count: u64) -> Result<(), TargetError> {
        self.budget.claim_members(count)
    }
    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        self.inner.stack_pointers()
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
    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        self.inner.function_at(addr)
    }
    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        self.inner.place_of(addr)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.inner.images()
    }
}

/// `len` zero bytes for what is read.
///
/// # Errors
/// Where these are more than any read may have, or than there is memory.
pub fn zeroed(len: usize) -> Result<Vec<u8>, TargetError> {
    let mut buffer = Vec::new();
    fit(&mut buffer, len)?;
    Ok(buffer)
}

/// Makes a buffer `len` bytes long; what is new in it is zero.
///
/// # Errors
/// As [`zeroed`].
pub fn fit(buffer: &mut Vec<u8>, len: usize) -> Result<(), TargetError> {
    if len > MAX_READ {
        return Err(TargetError::OverLimit(OverLimit { limit: Limit::OneRead, allowed: MAX_READ as u64 }));
    }
    set_aside(buffer, len.saturating_sub(buffer.len()))?;
    buffer.resize(len, 0);
    Ok(())
}

/// Collects one item for each of `count` that a target speaks of; they may be fewer.
///
/// # Errors
/// Where their bytes are more than any read may have, or than there is memory.
pub fn collect<T>(count: u64, items: impl Iterator<Item = T>) -> Result<Vec<T>, TargetError> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let bytes = count.saturating_mul(size_of::<T>());
    // Twice: what is collected is wider than what was read (an address and whether it is known).
    if bytes > 2 * MAX_READ {
        return Err(TargetError::OverLimit(OverLimit { limit: Limit::OneRead, allowed: MAX_READ as u64 }));
    }
    let mut found = Vec::new();
    set_aside(&mut found, count)?;
    found.extend(items.take(count));
    Ok(found)
}

/// `len` zero bytes that can be shared.
///
/// # Errors
/// As [`zeroed`].
pub fn zeroed_shared(len: usize) -> Result<Arc<[u8]>, TargetError> {
    // Whether there is so much: the shared bytes themselves cannot be asked for so that it may fail.
    set_aside(&mut Vec::<u8>::new(), len)?;
    Ok(std::iter::repeat_n(0, len).collect())
}

fn set_aside<T>(buffer: &mut Vec<T>, more: usize) -> Result<(), TargetError> {
    buffer.try_reserve_exact(more).map_err(|_| {
        let allowed = more.saturating_mul(size_of::<T>()) as u64;
        TargetError::OverLimit(OverLimit { limit: Limit::OwnMemory, allowed })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::MockTarget;

    fn metered(limits: Limits) -> Metered<MockTarget> {
        let mut target = MockTarget::new(TargetAbi::LITTLE_64);
        target.add_segment(TargetAddr::new(0x1000), vec![7; 0x1000]);
        Metered::new(target, limits)
    }

    fn limit(result: Result<impl Sized, TargetError>) -> Option<Limit> {
        match result {
            Err(TargetError::OverLimit(over)) => Some(over.limit),
            _ => None,
        }
    }

    #[test]
    fn a_length_that_is_damaged_reserves_nothing() {
        let target = metered(Limits::default());
        let _request = target.budget().request();
        for len in [MAX_READ + 1, 1 << 40, usize::MAX] {
            assert_eq!(limit(target.read_bytes(TargetAddr::new(0x1000), len)), Some(Limit::OneRead));
            assert_eq!(limit(zeroed(len)), Some(Limit::OneRead));
            assert_eq!(limit(collect(len as u64, std::iter::repeat(0_u64))), Some(Limit::OneRead));
        }
        // It was that read only.
        assert!(target.read_bytes(TargetAddr::new(0x1000), 16).is_ok());
    }

    #[test]
    fn bytes_and_failed_reads_end_the_request_and_the_next_begins_anew() {
        let target = metered(Limits { bytes: 100, failed_reads: 3, ..Limits::default() });
        {
            let _request = target.budget().request();
            assert!(target.read_bytes(TargetAddr::new(0x1000), 100).is_ok());
            assert_eq!(limit(target.read_bytes(TargetAddr::new(0x1000), 1)), Some(Limit::Bytes));
            assert_eq!(limit(target.read_bytes(TargetAddr::new(0x1000), 0)), Some(Limit::Bytes));
            // A request within a request is a part of it.
            let _within = target.budget().request();
            assert_eq!(limit(target.read_uint(TargetAddr::new(0x1000), 4)), Some(Limit::Bytes));
        }
        let _request = target.budget().request();
        for _ in 0..3 {
            assert!(matches!(target.read_uint(TargetAddr::new(0), 4), Err(TargetError::Fault { .. })));
        }
        assert_eq!(limit(target.read_uint(TargetAddr::new(0), 4)), Some(Limit::FailedReads));
        assert_eq!(limit(target.read_uint(TargetAddr::new(0x1000), 4)), Some(Limit::FailedReads));
    }

    #[test]
    fn time_is_looked_at_and_a_slow_process_gets_less_until_it_has_run() {
        let target = metered(Limits { time: Duration::ZERO, ..Limits::default() });
        let read_much = || {
            let _request = target.budget().request();
            (0..100).find_map(|_| limit(target.read_uint(TargetAddr::new(0x1000), 4)))
        };
        assert_eq!(read_much(), Some(Limit::Time));
        assert!(target.budget().was_slow.get());
        target.budget().process_ran();
        assert!(!target.budget().was_slow.get());
    }

    #[test]
    fn members_of_a_large_job_fit_and_those_of_damage_do_not() {
        let target = metered(Limits::default());
        let _request = target.budget().request();
        for _ in 0..300 {
            assert_eq!(target.claim_members(65_536), Ok(()));
        }
        assert_eq!(limit(target.claim_members(0x7fff_ffff)), Some(Limit::Members));
        assert_eq!(target.claim_members(65_536), Ok(()));
        assert!(target.read_uint(TargetAddr::new(0x1000), 4).is_ok());
    }

    #[test]
    fn sentences_name_the_limit_and_what_to_do() {
        for limit in [Limit::Bytes, Limit::FailedReads, Limit::Members, Limit::Time] {
            let text = OverLimit { limit, allowed: 10_000 }.to_string();
            assert!(text.contains("10") && text.contains(FACTOR), "{text}");
        }
    }
}
