//! Processes, by their numbers; where several hosts are read, by these, too.

use std::collections::{HashMap, HashSet};

use crate::process::Process;

/// Some of the processes of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Which {
    anywhere: HashSet<i64>,
    by_host: HashMap<String, HashSet<i64>>,
}

impl Which {
    /// These, too: of a host, or on any.
    pub fn extend(&mut self, host: Option<String>, pids: impl IntoIterator<Item = i64>) {
        match host {
            Some(host) => self.by_host.entry(host).or_default().extend(pids),
            None => self.anywhere.extend(pids),
        }
    }

    /// Whether a process is one of them.
    pub fn has(&self, process: &Process) -> bool {
        let Some(pid) = process.pid else { return false };
        let there = process.host.as_deref().and_then(|host| self.by_host.get(host));
        self.anywhere.contains(&pid) || there.is_some_and(|pids| pids.contains(&pid))
    }
}

impl FromIterator<(Option<String>, i64)> for Which {
    /// Of hosts and process ids; without a host on any.
    fn from_iter<I: IntoIterator<Item = (Option<String>, i64)>>(named: I) -> Self {
        let mut which = Self::default();
        for (host, pid) in named {
            which.extend(host, [pid]);
        }
        which
    }
}

impl FromIterator<i64> for Which {
    /// Of process ids, on any host.
    fn from_iter<I: IntoIterator<Item = i64>>(pids: I) -> Self {
        pids.into_iter().map(|pid| (None, pid)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_number_on_another_host_is_another_process() {
        let process = |host: &str, pid| Process { host: Some(host.into()), pid: Some(pid), ..Process::default() };
        let which: Which = [(Some("n1".to_owned()), 7), (None, 8)].into_iter().collect();
        assert!(which.has(&process("n1", 7)) && !which.has(&process("n2", 7)));
        assert!(which.has(&process("n2", 8)) && !which.has(&process("n1", 9)));
        assert!(!which.has(&Process::default()) && !Which::default().has(&process("n1", 7)));
        assert!([7].into_iter().collect::<Which>().has(&process("n2", 7)));
    }
}
