//! Processes, by their numbers; where several hosts are read, by these, too.

use std::collections::HashMap;

use crate::process::Process;

/// Some of the processes of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Which(HashMap<i64, Vec<Option<String>>>);

impl Which {
    /// Whether a process is one of them.
    pub fn has(&self, process: &Process) -> bool {
        let hosts = process.pid.and_then(|pid| self.0.get(&pid));
        hosts.is_some_and(|hosts| hosts.iter().any(|host| host.is_none() || *host == process.host))
    }
}

impl FromIterator<(Option<String>, i64)> for Which {
    /// Of hosts and process ids; without a host on any.
    fn from_iter<I: IntoIterator<Item = (Option<String>, i64)>>(named: I) -> Self {
        let mut which = Self::default();
        for (host, pid) in named {
            which.0.entry(pid).or_default().push(host);
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
        let process = |host: &str, pid| Process { host: Some(host.to_owned()), pid: Some(pid), ..Process::default() };
        let which: Which = [(Some("n1".to_owned()), 7), (None, 8)].into_iter().collect();
        assert!(which.has(&process("n1", 7)) && !which.has(&process("n2", 7)));
        assert!(which.has(&process("n2", 8)) && !which.has(&process("n1", 9)));
        assert!(!which.has(&Process::default()) && !Which::default().has(&process("n1", 7)));
        assert!([7].into_iter().collect::<Which>().has(&process("n2", 7)));
    }
}
