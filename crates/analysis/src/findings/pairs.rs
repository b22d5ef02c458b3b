//! What one member of a collective sends to another, and what that one receives from it, where each pair of members has counts
//! of its own: they must agree (MPI-5.0, 6.5 to 6.10).

use hashbrown::HashMap;

use super::Context;
use super::collectives::place;
use super::given::in_place;
use crate::advice::{self, Change};
use crate::datatypes;
use crate::job::ProcIndex;
use crate::waits::Collective;
use crate::words;
use functions::small;
use model::{Call, Finding, FindingKind};

/// A rank in the call.
pub(super) struct Member<'a> {
    pub(super) proc: ProcIndex,
    /// Its rank in the communicator.
    pub(super) rank: i64,
    pub(super) call: &'a Call,
    pub(super) is_root: Option<bool>,
}

/// So many elements of a datatype.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part<'a> {
    count: i64,
    pub(super) datatype: &'a str,
}

impl<'a> Part<'a> {
    fn new(call: &'a Call, count: Option<i64>, datatype: &str) -> Option<Self> {
        Some(Self { count: count?, datatype: call.argument(datatype)?.meaning.as_deref()? })
    }

    pub(super) fn of_all(call: &'a Call, count: &str, datatype: &str) -> Option<Self> {
        Self::new(call, call.argument(count)?.value, datatype)
    }

    fn of_rank(call: &'a Call, counts: &str, rank: i64, datatype: &str) -> Option<Self> {
        let values = call.argument(counts)?.values.as_ref()?;
        Self::new(call, values.get(usize::try_from(rank).ok()?).copied(), datatype)
    }

    pub(super) fn bytes(&self) -> Option<i64> {
        datatypes::bytes(self.datatype)?.checked_mul(self.count)
    }

    pub(super) fn words(&self) -> String {
        format!("{} {}", self.count, self.datatype)
    }
}

fn sent<'a>(from: &Member<'a>, to: &Member<'_>) -> Option<Part<'a>> {
    let call = from.call;
    let in_place = || in_place(call, "sendbuf");
    match small(&call.c_name()) {
        "MPI_Allgatherv" if in_place()? => Part::of_rank(call, "recvcounts", from.rank, "recvtype"),
        "MPI_Allgatherv" => Part::of_all(call, "sendcount", "sendtype"),
        "MPI_Gatherv" if to.is_root == Some(true) => Part::of_all(call, "sendcount", "sendtype"),
        "MPI_Scatterv" if from.is_root == Some(true) => Part::of_rank(call, "sendcounts", to.rank, "sendtype"),
        "MPI_Alltoallv" if in_place()? => Part::of_rank(call, "recvcounts", to.rank, "recvtype"),
        "MPI_Alltoallv" => Part::of_rank(call, "sendcounts", to.rank, "sendtype"),
        _ => None,
    }
}

fn received<'a>(by: &Member<'a>, from: &Member<'_>) -> Option<Part<'a>> {
    let call = by.call;
    match small(&call.c_name()) {
        "MPI_Allgatherv" | "MPI_Alltoallv" => Part::of_rank(call, "recvcounts", from.rank, "recvtype"),
        "MPI_Gatherv" if by.is_root == Some(true) => Part::of_rank(call, "recvcounts", from.rank, "recvtype"),
        "MPI_Scatterv" if from.is_root == Some(true) => Part::of_all(call, "recvcount", "recvtype"),
        _ => None,
    }
}

/// A pair that does not agree.
struct Unequal<'a> {
    from: ProcIndex,
    to: ProcIndex,
    sent: Part<'a>,
    received: Part<'a>,
}

/// The pairs that do not agree, in one finding: it names the member that most of them have in common.
pub(super) fn find(context: &Context<'_>, collective: &Collective, members: &[Member<'_>]) -> Option<Finding> {
    // Of an intercommunicator the others are in the other group.
    let shared = collective.communicator.and_then(|id| context.job.communicators.get(id.0));
    if shared.is_none_or(|shared| shared.is_inter()) {
        return None;
    }
    let pairs = members.iter().flat_map(|from| members.iter().map(move |to| (from, to)));
    let unequal = pairs.filter(|(from, to)| from.proc != to.proc).filter_map(|(from, to)| {
        let (sent, received) = (sent(from, to)?, received(to, from)?);
        (sent.bytes()? != received.bytes()?).then_some(Unequal { from: from.proc, to: to.proc, sent, received })
    });
    let unequal: Vec<Unequal<'_>> = unequal.collect();
    let (mut senders, mut receivers) = (HashMap::new(), HashMap::new());
    for pair in &unequal {
        *senders.entry(pair.from).or_insert(0_usize) += 1;
        *receivers.entry(pair.to).or_insert(0_usize) += 1;
    }
    let counts = |pair: &Unequal<'_>| (senders[&pair.from], receivers[&pair.to]);
    let most = unequal.iter().max_by_key(|pair| {
        let (as_sender, as_receiver) = counts(pair);
        (as_sender.max(as_receiver), std::cmp::Reverse((pair.from, pair.to)))
    })?;
    let (as_sender, as_receiver) = counts(most);
    let by_sender = as_sender >= as_receiver;
    let alike = |pair: &&Unequal<'_>| {
        let same = if by_sender { pair.from == most.from } else { pair.to == most.to };
        same && pair.sent == most.sent && pair.received == most.received
    };
    let shown: Vec<&Unequal<'_>> = unequal.iter().filter(alike).collect();
    let others: Vec<ProcIndex> = shown.iter().map(|pair| if by_sender { pair.to } else { pair.from }).collect();
    let job = context.job;
    let (sends, receives) = (most.sent.words(), most.received.words());
    let (who, several) = (words::procs(job, &others), others.len() > 1);
    let summary = if by_sender {
        let verb = if several { "receive" } else { "receives" };
        format!("{} sends {sends} to {who}, which {verb} {receives} from it", words::proc(job, most.from))
    } else {
        let verb = if several { "send" } else { "sends" };
        format!("{} receives {receives} from {who}, which {verb} it {sends}", words::proc(job, most.to))
    };
    let more = match unequal.len() - shown.len() {
        0 => String::new(),
        1 => " (and 1 pair like this)".to_owned(),
        more => format!(" (and {more} pairs like this)"),
    };
    let mut procs: Vec<ProcIndex> = unequal.iter().flat_map(|pair| [pair.from, pair.to]).collect();
    procs.sort_unstable();
    procs.dedup();
    let same_type = datatypes::element(Some(most.sent.datatype)) == datatypes::element(Some(most.received.datatype));
    let mut finding = Finding {
        kind: if same_type { FindingKind::CountMismatch } else { FindingKind::DatatypeMismatch },
        summary: format!("in {}{} {summary}{more}", collective.function, place(context, collective)),
        ranks: context.ranks(&procs),
        calls: context.calls(&procs),
        evidence: vec!["A rank must send to another as many elements as that one receives from it.".to_owned()],
        blamed: context.blamed(&procs),
        ..Finding::default()
    };
    advice::give(&mut finding, Change::Contents);
    Some(finding)
}
