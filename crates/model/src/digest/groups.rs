//! Groups in digests: runs of world ranks. Each rank of a job has the group of MPI_COMM_WORLD.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::parts;
use crate::{Group, built};

/// Members that follow one another: the first one's world rank, how far each is from the one before, and how many they are.
/// Without a rank: members whose world ranks are not known.
type Run = (Option<i64>, i64, usize);

/// No group has more members: a diagnosis has something for each.
const MAX_MEMBERS: usize = 1 << 20;

/// For `#[serde(with)]`: in JSON the list of the members, in a digest the number of a part.
pub fn serialize<S: Serializer>(group: &Option<Group>, serializer: S) -> Result<S::Ok, S::Error> {
    match group {
        Some(members) if super::is_written() => {
            let text = || serde_json::to_string(&runs(members)).map_err(serde::ser::Error::custom);
            serializer.serialize_some(&parts::put_group(members, text)?)
        }
        _ => group.serialize(serializer),
    }
}

/// The same way back.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Group>, D::Error> {
    if !super::is_read() {
        let left = built::left();
        let group = Option::<Group>::deserialize(deserializer)?;
        if group.as_ref().is_some_and(|group| group.len() > MAX_MEMBERS) {
            return Err(serde::de::Error::custom(format!("a group of more than {MAX_MEMBERS} members")));
        }
        return Ok(group.map(|group| built::once(group, left)));
    }
    let number = Option::<usize>::deserialize(deserializer)?;
    let make = |text: &str| parts::group(text).map(Arc::new).ok_or_else(|| serde::de::Error::custom("no group"));
    let group = |number| parts::take_by(number, parts::Naming::IsFree, make);
    Ok(number.map(group).transpose()?.map(|group: Arc<Group>| Group::clone(&group)))
}

fn runs(members: &[Option<i64>]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for member in members {
        if let Some((first, step, count)) = runs.last_mut() {
            let next = match (*first, *member) {
                (None, None) => Some(0),
                (Some(first), Some(rank)) if *count == 1 => rank.checked_sub(first),
                (Some(first), Some(rank)) => {
                    let distance = i64::try_from(*count).ok().and_then(|count| step.checked_mul(count));
                    (distance.and_then(|distance| first.checked_add(distance)) == Some(rank)).then_some(*step)
                }
                _ => None,
            };
            if let Some(next) = next {
                (*step, *count) = (next, *count + 1);
                continue;
            }
        }
        runs.push((*member, 0, 1));
    }
    runs
}

/// The groups of all senders, each once: all ranks of a job have that of MPI_COMM_WORLD.
#[derive(Debug, Default)]
pub struct Groups {
    by_text: HashMap<Box<str>, Group>,
}

impl Groups {
    /// The group of that text, where it is known.
    fn known(&self, text: &str) -> Option<Group> {
        self.by_text.get(text).map(Group::clone)
    }

    /// Takes a group, or gives the equal one that somebody else has taken meanwhile.
    fn take(&mut self, text: &str, group: Group) -> Group {
        if let Some(known) = self.known(text) {
            return known;
        }
        // That of a process alone is nobody else's.
        if group.len() > 1 {
            self.by_text.insert(text.into(), Group::clone(&group));
        }
        group
    }
}

/// The group of that text; `None` where it is none, or more than may be built. Others may look for theirs while one is made.
pub(super) fn of(groups: &Mutex<Groups>, text: &str) -> Option<Group> {
    let groups = || groups.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = groups().known(text) {
        return Some(known);
    }
    // Nobody waits while it is made.
    let group = members(text)?;
    Some(groups().take(text, group))
}

/// The members of a group; `None`: there are more than a group has, or than may be built, or a rank is beyond all numbers.
fn members(text: &str) -> Option<Group> {
    let runs: Vec<Run> = built::from_str(text).ok()?;
    let count = runs.iter().try_fold(0_usize, |sum, run| sum.checked_add(run.2)).filter(|all| *all <= MAX_MEMBERS)?;
    // As a list and as what is shared, and its text.
    let bytes = count.checked_mul(2 * size_of::<Option<i64>>())?.checked_add(text.len())?;
    built::pay::<serde::de::value::Error>(bytes).ok()?;
    let mut members = Vec::with_capacity(count);
    for (first, step, count) in runs {
        let mut rank = first;
        for left in (0..count).rev() {
            members.push(rank);
            rank = match rank {
                Some(rank) if left > 0 => Some(rank.checked_add(step)?),
                other => other,
            };
        }
    }
    Some(members.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_back_as_they_were() {
        let members = |text: &str| built::within(6400, || members(text)).result;
        for group in [
            vec![],
            vec![None, None, Some(3)],
            vec![Some(0), Some(1), Some(2), Some(3)],
            vec![Some(8), Some(4), Some(0), Some(1), None, Some(i64::MAX), Some(i64::MIN)],
            vec![Some(7), Some(7), Some(7)],
        ] {
            let text = serde_json::to_string(&runs(&group)).unwrap_or_default();
            assert_eq!(members(&text).as_deref(), Some(group.as_slice()), "{text}");
        }
        assert_eq!(runs(&(0..131_072).map(Some).collect::<Vec<_>>()), [(Some(0), 1, 131_072)]);
        for wrong in ["[[0,1,1000]]", "[[9223372036854775807,1,2]]", "[[0,1,18446744073709551615],[0,1,9]]", "3", ""] {
            assert_eq!(members(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn equal_groups_are_one_whoever_comes_first() {
        let groups = Mutex::new(Groups::default());
        let first = of(&groups, "[[0,1,5]]").unwrap_or_else(|| [].into());
        assert_eq!(first.len(), 5);
        // Another thread has made the same meanwhile.
        let same = members("[[0,1,5]]").and_then(|made| Some(groups.lock().ok()?.take("[[0,1,5]]", made)));
        assert!(same.is_some_and(|same| Group::ptr_eq(&same, &first)));
        // It is there for all, and nobody pays for it again.
        let again = built::within(0, || of(&groups, "[[0,1,5]]"));
        assert!(again.result.is_some_and(|same| Group::ptr_eq(&same, &first)));
        // That of a process alone is made each time.
        assert_eq!(of(&groups, "[[3,0,1]]").as_deref(), Some(&[Some(3)][..]));
        assert_eq!(groups.lock().map(|groups| groups.by_text.len()).ok(), Some(1));
        // One that is too much leaves room for those of others.
        assert_eq!(built::within(1 << 20, || of(&groups, "[[0,1,1048576]]")).result, None);
        assert_eq!(of(&groups, "[[0,1,1048577]]"), None);
        assert!(built::within(1 << 20, || of(&groups, "[[0,1,16]]")).result.is_some());
    }
}
