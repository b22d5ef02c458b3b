//! Type maps: the predefined datatypes that a datatype consists of, with their offsets, in the order of the standard.
//!
//! A map is a list of runs of consecutive elements. Copies are merged without being counted one by one, so that large
//! contiguous datatypes cost nothing; a map that has too many runs is cut, and says so.

/// A map has at most this many runs.
pub const MAX_RUNS: usize = 10_000;

/// Consecutive elements of one predefined datatype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Which predefined datatype.
    pub leaf: usize,
    /// The extent of one element, in bytes.
    pub extent: i64,
    /// Where the first element stands, in bytes.
    pub offset: i64,
    /// How many there are.
    pub count: u64,
}

/// Offsets or counts that do not fit into 64 bits: damage, or a datatype that no memory can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLarge;

/// The type map of a datatype.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeMap {
    /// The runs, or the first of them.
    pub runs: Vec<Run>,
    /// Whether there are more runs.
    pub cut: bool,
    /// Lower and upper bound, in bytes, of all parts together; `None` where there are no parts.
    pub bounds: Option<(i64, i64)>,
}

impl Run {
    /// Where the element after the last would stand.
    fn end(&self) -> Option<i64> {
        i64::try_from(self.count).ok()?.checked_mul(self.extent)?.checked_add(self.offset)
    }
}

impl TypeMap {
    /// One element of a predefined datatype.
    pub fn of_leaf(leaf: usize, bounds: (i64, i64)) -> Result<Self, TooLarge> {
        let extent = bounds.1.checked_sub(bounds.0).ok_or(TooLarge)?;
        Ok(Self { runs: vec![Run { leaf, extent, offset: 0, count: 1 }], cut: false, bounds: Some(bounds) })
    }

    /// `count` copies, each `stride` bytes after the one before.
    pub fn repeated(&self, count: u64, stride: i64) -> Result<Self, TooLarge> {
        let mut map = Self { bounds: self.bounds_of_copies(count, stride)?, ..Self::default() };
        if count == 0 || self.runs.is_empty() {
            return Ok(map);
        }
        if let ([run], false) = (self.runs.as_slice(), self.cut)
            && (count == 1 || run.end().ok_or(TooLarge)?.checked_sub(run.offset) == Some(stride))
        {
            map.runs.push(Run { count: run.count.checked_mul(count).ok_or(TooLarge)?, ..*run });
            map.runs[0].end().ok_or(TooLarge)?;
            return Ok(map);
        }
        // Each copy adds a run at least, so this ends soon.
        for index in 0..count {
            let shift = i64::try_from(index).ok().and_then(|index| index.checked_mul(stride)).ok_or(TooLarge)?;
            map.append_runs(self, shift)?;
            if map.cut {
                break;
            }
        }
        Ok(map)
    }

    /// Adds another map, moved by `shift` bytes, behind what there is.
    pub fn append(&mut self, other: &Self, shift: i64) -> Result<(), TooLarge> {
        if let Some((low, high)) = other.bounds {
            let moved = |bound: i64| bound.checked_add(shift).ok_or(TooLarge);
            let (low, high) = (moved(low)?, moved(high)?);
            self.bounds = Some(self.bounds.map_or((low, high), |(lb, ub)| (lb.min(low), ub.max(high))));
        }
        self.append_runs(other, shift)
    }

    /// The same runs, moved by `shift` bytes, with other bounds.
    pub fn moved(&self, shift: i64, bounds: (i64, i64)) -> Result<Self, TooLarge> {
        let mut map = Self { bounds: Some(bounds), ..Self::default() };
        map.append_runs(self, shift)?;
        Ok(map)
    }

    fn bounds_of_copies(&self, count: u64, stride: i64) -> Result<Option<(i64, i64)>, TooLarge> {
        let (Some((low, high)), Some(last)) = (self.bounds, count.checked_sub(1)) else { return Ok(None) };
        let shift = i64::try_from(last).ok().and_then(|last| last.checked_mul(stride)).ok_or(TooLarge)?;
        let low = low.checked_add(shift.min(0)).ok_or(TooLarge)?;
        let high = high.checked_add(shift.max(0)).ok_or(TooLarge)?;
        Ok(Some((low, high)))
    }

    fn append_runs(&mut self, other: &Self, shift: i64) -> Result<(), TooLarge> {
        if self.cut {
            return Ok(());
        }
        for run in &other.runs {
            let offset = run.offset.checked_add(shift).ok_or(TooLarge)?;
            if let Some(last) = self.runs.last_mut()
                && last.leaf == run.leaf
                && last.end() == Some(offset)
            {
                last.count = last.count.checked_add(run.count).ok_or(TooLarge)?;
                continue;
            }
            if self.runs.len() == MAX_RUNS {
                self.cut = true;
                return Ok(());
            }
            self.runs.push(Run { offset, ..*run });
        }
        self.cut = other.cut;
        Ok(())
    }
}

/// The parts of `bounds` that none of the `pieces` (start and end) covers: offset and length. All in bytes.
pub fn gaps(mut pieces: Vec<(i64, i64)>, bounds: (i64, i64)) -> Vec<(i64, i64)> {
    pieces.sort_unstable();
    let (mut at, end) = bounds;
    let mut gaps = Vec::new();
    for (start, stop) in pieces {
        let start = start.min(end);
        if start > at {
            gaps.push((at, start - at));
        }
        at = at.max(stop);
    }
    if at < end {
        gaps.push((at, end - at));
    }
    gaps
}
