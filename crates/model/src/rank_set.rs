//! Sets of ranks, in the notation of node sets: `0-126,128`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of ranks; also of other numbers that are not negative, such as process ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RankSet {
    /// First and last of each run: ascending, none touches the next.
    runs: Vec<(i64, i64)>,
}

/// A text that is no set of ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankSetError(String);

impl fmt::Display for RankSetError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "not a set of ranks such as 0-126,128: {:?}", self.0)
    }
}

impl std::error::Error for RankSetError {}

impl RankSet {
    /// The set of these; negative ones are no ranks, and left out.
    pub fn of(ranks: impl IntoIterator<Item = i64>) -> Self {
        let mut set = RankRuns::default();
        ranks.into_iter().for_each(|rank| set.add(rank));
        set.finished()
    }

    /// The ranks from `first` to `last`; none where `last` is less.
    pub fn range(first: i64, last: i64) -> Self {
        Self { runs: Vec::from_iter((0 <= first && first <= last).then_some((first, last))) }
    }

    fn of_runs(mut runs: Vec<(i64, i64)>) -> Self {
        let touches = |one: (i64, i64), next: (i64, i64)| one.1.checked_add(1).is_none_or(|after| next.0 <= after);
        if runs.windows(2).any(|pair| pair[1] < pair[0] || touches(pair[0], pair[1])) {
            runs.sort_unstable();
            let mut joined: Vec<(i64, i64)> = Vec::with_capacity(runs.len());
            for run in runs {
                match joined.last_mut() {
                    Some(last) if touches(*last, run) => last.1 = last.1.max(run.1),
                    _ => joined.push(run),
                }
            }
            runs = joined;
        }
        Self { runs }
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        let count = |(first, last): &(i64, i64)| last.abs_diff(*first).saturating_add(1);
        self.runs.iter().map(count).fold(0, u64::saturating_add)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether a rank is in it.
    pub fn contains(&self, rank: i64) -> bool {
        let at = self.runs.partition_point(|run| run.1 < rank);
        self.runs.get(at).is_some_and(|run| run.0 <= rank)
    }

    /// All of them, ascending: as many as [`RankSet::len`] says, which may be very many.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        self.runs.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// Those that are in this set or in `other`.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        Self::of_runs([self.runs.as_slice(), other.runs.as_slice()].concat())
    }

    /// Those of this set that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Self) -> Self {
        let mut runs = Vec::new();
        let mut at = 0;
        for (first, last) in &self.runs {
            while other.runs.get(at).is_some_and(|run| run.1 < *first) {
                at += 1;
            }
            let mut start = Some(*first);
            while let (Some(from), Some(run)) = (start, other.runs.get(at).filter(|run| run.0 <= *last)) {
                if from < run.0 {
                    runs.push((from, run.0 - 1));
                }
                start = run.1.checked_add(1).filter(|after| after <= last);
                // One that reaches further is looked at again for the next run.
                at += usize::from(start.is_some());
            }
            runs.extend(start.map(|from| (from, *last)));
        }
        Self { runs }
    }
}

/// A set that is being made; ranks that come in order cost no more than their runs.
#[derive(Debug, Clone, Default)]
pub struct RankRuns(Vec<(i64, i64)>);

impl RankRuns {
    /// Adds a rank; a negative one is none.
    pub fn add(&mut self, rank: i64) {
        if rank < 0 {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(rank) => last.1 = rank,
            Some(last) if last.0 <= rank && rank <= last.1 => {}
            _ => self.0.push((rank, rank)),
        }
    }

    /// The set.
    pub fn finished(self) -> RankSet {
        RankSet::of_runs(self.0)
    }
}

impl fmt::Display for RankSet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.runs.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match last == first {
                true => write!(out, "{comma}{first}")?,
                false => write!(out, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for RankSet {
    type Err = RankSetError;

    fn from_str(text: &str) -> Result<Self, RankSetError> {
        let refused = || RankSetError(text.chars().take(80).collect());
        if text.is_empty() {
            return Ok(Self::default());
        }
        let number = |digits: &str| -> Option<i64> {
            // A sign would be one of a range.
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
        };
        let run = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some((number(first)?, number(last)?)).filter(|(first, last)| first <= last)
        };
        let runs = text.split(',').map(run).collect::<Option<Vec<_>>>().ok_or_else(refused)?;
        Ok(Self::of_runs(runs))
    }
}

impl Serialize for RankSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RankSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for RankSet {
    fn schema_name() -> Cow<'static, str> {
        "RankSet".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A set of ranks in the notation of node sets: `0-126,128`; empty: none.",
            "type": "string",
            "pattern": "^([0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?$"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notation_of_node_sets() {
        for (ranks, text) in [
            (vec![], ""),
            (vec![3], "3"),
            (vec![1, 0], "0-1"),
            ((0..127).chain([128]).collect(), "0-126,128"),
            (vec![5, 5, -1, 7, i64::MAX, i64::MIN], "5,7,9223372036854775807"),
        ] {
            let set = RankSet::of(ranks);
            assert_eq!(set.to_string(), text);
            assert_eq!(text.parse(), Ok(set));
        }
        assert_eq!("7,0-3,2-4".parse(), Ok(RankSet::of([0, 1, 2, 3, 4, 7])));
        assert_eq!(RankSet::range(0, i64::MAX).len(), 1 << 63);
        for wrong in ["-1", "1-", "-", ",", "1,", "3-1", "0x3", "1 ", "+1", "99999999999999999999", "a"] {
            assert!(wrong.parse::<RankSet>().is_err(), "{wrong}");
            assert!(serde_json::from_value::<RankSet>(wrong.into()).is_err(), "{wrong}");
        }
        assert!(RankSet::range(3, 2).is_empty());
    }
}
