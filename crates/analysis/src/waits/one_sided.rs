//! What the epochs of windows wait for.

use super::point_to_point::NOT_COUNTED;
use super::{Context, Need, Wait};
use crate::job::{CommunicatorId, ProcIndex};
use functions::{WaitKind, wait_kind};
use model::{Call, Window};

/// An epoch that a rank opens to others.
#[derive(Clone, Copy)]
enum Epoch {
    /// By MPI_Win_start.
    Started,
    /// By MPI_Win_post.
    Posted,
}

/// Whether a function is on a target, and waits for no epoch of others.
fn is_of_targets(call: &Call) -> bool {
    is_of_accesses(call) || wait_kind(&call.c_name()) != WaitKind::Epoch || call.c_name().starts_with("MPI_Win_lock")
}

/// Of so many that a call may wait for each is named.
const MAX_TARGETS: usize = 16;

/// Whether a function waits until accesses to a window are done.
fn is_of_accesses(call: &Call) -> bool {
    let name = call.c_name();
    name.starts_with("MPI_Win_flush") || name.starts_with("MPI_Win_unlock")
}

impl<'a> Context<'a, '_> {
    /// MPI_Win_wait and its siblings: those must act to whom the epoch is open, where the window keeps that, else somebody of
    /// its communicator. Memory that others write to counts no messages.
    pub(super) fn epoch(&self, call: &'a Call) -> Wait<'a> {
        if let Some(need) = self.partners(call) {
            return Wait { need, in_flight: Some(NOT_COUNTED), operations: Vec::new() };
        }
        let uncounted = |need| Wait { need, in_flight: Some(NOT_COUNTED), operations: Vec::new() };
        let (holders, progress) = (self.holders(call), self.progress(call));
        if let Some(holders) = holders {
            return uncounted(holders);
        }
        if is_of_accesses(call) {
            return uncounted(progress.map_or(Need::Nothing, |target| Need::Unclear(vec![Need::Nothing, target])));
        }
        let needs: Vec<Need> = super::posted::communicators(self.process, call)
            .iter()
            .filter_map(|(place, _)| {
                let shared = self.job.communicator(self.proc.0, *place)?;
                Some(Need::AnyOf(shared, self.other_side(shared)))
            })
            .collect();
        if needs.is_empty() {
            return Wait::only(Need::Unknown("the members of the window are not known"));
        }
        let others = Need::Any(needs);
        let need = match progress {
            Some(target) => Need::Unclear(vec![target, others]),
            None => others,
        };
        Wait { need, in_flight: Some(NOT_COUNTED), operations: Vec::new() }
    }

    /// An access to the window of a target. Many end by themselves; for some the target must call MPI.
    pub(super) fn access(&self, call: &'a Call) -> Wait<'a> {
        let need = self.progress(call).map_or(Need::Nothing, |target| Need::Unclear(vec![Need::Nothing, target]));
        Wait { need, in_flight: Some(NOT_COUNTED), operations: Vec::new() }
    }

    /// The window of a call: the one whose handle it was given, or the only one of the process.
    fn window(&self, call: &Call) -> Option<&'a Window> {
        let windows = &self.process.windows;
        match &call.window {
            Some(_) => windows.iter().find(|known| known.handle == call.window),
            None => windows.iter().next().filter(|_| windows.len() == 1),
        }
    }

    /// The target of a call, a rank in the window: as its arguments say, or the only one that is locked.
    fn target(call: &Call, window: Option<&Window>) -> Option<i64> {
        let named = ["target_rank", "rank"].into_iter().find_map(|name| call.argument(name)?.value);
        let locked = || match window?.locks.as_deref()? {
            [only] => Some(*only),
            _ => None,
        };
        // An epoch of MPI_Win_lock_all or MPI_Win_start has other targets.
        let alone = window.is_some_and(|window| window.lock_all != Some(true) && window.started.is_none());
        named.or_else(|| locked().filter(|_| alone && call.c_name() != "MPI_Win_lock_all"))
    }

    /// The target of a call, where it is outside MPI: it makes no progress for others there. Any member that is, where the
    /// target is not known.
    fn progress(&self, call: &Call) -> Option<Need> {
        let window = self.window(call);
        let own = window.and_then(|window| self.job.by_unique_id(self.proc.0, window.communicator?));
        let place = || super::posted::communicators(self.process, call).first().map(|(place, _)| *place);
        let shared = own.map(|(shared, _)| shared).or_else(|| self.job.communicator(self.proc.0, place()?))?;
        let communicator = self.job.communicators.get(shared.0)?;
        let side = self.other_side(shared);
        let outside = |proc: ProcIndex| match self.moving(Some(proc)) {
            Need::Nothing => None,
            need => (proc != self.proc).then_some(need),
        };
        if let Some(target) = Self::target(call, window) {
            return outside(communicator.member(side, target)?);
        }
        if !is_of_targets(call) {
            return None;
        }
        let members = communicator.groups.iter().flatten().flatten();
        let mut all: Vec<Need> = members.filter_map(|member| outside((*member)?)).take(MAX_TARGETS + 1).collect();
        match all.len() {
            1 => all.pop(),
            2..=MAX_TARGETS => Some(Need::Any(all)),
            _ => None,
        }
    }

    /// Those that hold the lock for which MPI_Win_lock waits, as far as their windows show.
    fn holders(&self, call: &Call) -> Option<Need> {
        let window = self.window(call)?;
        let target = Self::target(call, Some(window));
        let is_lock = match &*call.c_name() {
            "MPI_Win_lock" | "MPI_Win_lock_all" => true,
            // Some libraries ask for the lock with the first access only.
            _ => is_of_accesses(call) && target.is_some(),
        };
        let (shared, _) = self.job.by_unique_id(self.proc.0, window.communicator?).filter(|_| is_lock)?;
        let holds = |proc: &ProcIndex| {
            let process = self.job.procs.get(proc.0)?.process.filter(|_| *proc != self.proc)?;
            // Who waits in such a call itself has none yet.
            let waits = process.calls.iter().any(|call| call.c_name().starts_with("MPI_Win_lock"));
            let is_shared = |window: &&Window| {
                let known = window.communicator.and_then(|id| self.job.by_unique_id(proc.0, id));
                known.is_some_and(|(id, _)| id == shared)
            };
            let window = process.windows.iter().find(is_shared).filter(|_| !waits)?;
            let locks = window.locks.as_deref().unwrap_or_default();
            let has = target.map_or(!locks.is_empty(), |target| locks.contains(&target));
            // Those of MPI_Win_lock_all are shared, and most others, too.
            let shares = window.lock_all == Some(true) && !is_of_accesses(call);
            (has || shares).then_some(Need::Proc(*proc))
        };
        let mut holders: Vec<Need> = (0..self.job.procs.len()).map(ProcIndex).filter_map(|proc| holds(&proc)).collect();
        match holders.len() {
            0 => None,
            1 if is_of_accesses(call) => Some(Need::Unclear([Need::Nothing].into_iter().chain(holders).collect())),
            // It may as well be the lock of one that makes no progress.
            1 if target.is_none() && call.c_name() == "MPI_Win_lock" => {
                holders.extend(self.progress(call));
                if holders.len() == 1 { holders.pop() } else { Some(Need::Unclear(holders)) }
            }
            1 => holders.pop(),
            // Locks may be shared: then not all of them are waited for.
            _ => Some(Need::Unclear(holders)),
        }
    }

    /// Those for whom MPI_Win_wait waits until they complete their accesses, MPI_Win_start and MPI_Win_complete until they
    /// post (MPI-4.1, 12.5.2).
    fn partners(&self, call: &Call) -> Option<Need> {
        let window = self.window(call)?;
        let exposed = match &*call.c_name() {
            "MPI_Win_wait" | "MPI_Win_test" => true,
            "MPI_Win_start" | "MPI_Win_complete" => false,
            _ => return None,
        };
        let ranks = if exposed { &window.posted } else { &window.started };
        // With several worlds a rank names several processes.
        let own = self.process.rank.filter(|_| self.job.snapshot.worlds.is_empty())?;
        let procs: Option<Vec<ProcIndex>> = ranks.as_ref()?.iter().map(|rank| self.job.proc((*rank)?)).collect();
        let (shared, _) = self.job.by_unique_id(self.proc.0, window.communicator?)?;
        let (mut needed, mut perhaps) = (Vec::new(), Vec::new());
        for proc in procs?.into_iter().filter(|proc| *proc != self.proc) {
            let open = self.open_to(proc, shared, own, if exposed { Epoch::Started } else { Epoch::Posted });
            match (exposed, open) {
                // It has started and not completed; it has not posted.
                (true, Some(true)) | (false, Some(false)) => needed.push(Need::Proc(proc)),
                // It has posted: nothing more is for it to do.
                (false, Some(true)) => {}
                // It has not started, or has completed already; or what its window keeps is not known.
                _ => perhaps.push(Need::Proc(proc)),
            }
        }
        Some(match (needed.is_empty(), perhaps.is_empty()) {
            (false, _) => Need::All(needed),
            // At least one of them is still missing.
            (true, false) => Need::Unclear(perhaps),
            (true, true) => Need::Nothing,
        })
    }

    /// Whether a process has an epoch open to the world rank `own` on the window of a communicator;
    /// `None` where it is not known.
    fn open_to(&self, proc: ProcIndex, shared: CommunicatorId, own: i64, epoch: Epoch) -> Option<bool> {
        let process = self.job.procs.get(proc.0)?.process?;
        let is_shared = |window: &&Window| {
            let known = window.communicator.and_then(|id| self.job.by_unique_id(proc.0, id));
            known.is_some_and(|(id, _)| id == shared)
        };
        let window = process.windows.iter().find(is_shared)?;
        let (fact, open) = match epoch {
            Epoch::Started => ("started", &window.started),
            Epoch::Posted => ("posted", &window.posted),
        };
        match open {
            Some(open) if open.contains(&Some(own)) => Some(true),
            Some(open) => open.iter().all(Option::is_some).then_some(false),
            // None is open, unless it is not known.
            None => (!window.unknown.contains_key(fact)).then_some(false),
        }
    }
}
