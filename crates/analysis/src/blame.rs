//! The calls that a finding is about: what a person looks at first, and has to change.

use hashbrown::HashMap;

use crate::waits::Thread;
use model::{Blamed, Call, Outside, RankStart, RequestState, StartedBy};

/// So many places a finding has at most.
const MOST: usize = 64;

/// Places that are to blame: ranks at one place share it.
#[derive(Debug, Default)]
pub struct Blame {
    places: Vec<Blamed>,
    known: HashMap<(String, Option<String>, Option<i64>, bool), usize>,
}

impl Blame {
    /// The call in which a rank stands; where it waits for requests, the calls that started these, as far as they are known.
    pub fn call(&mut self, rank: Option<i64>, call: &Call) {
        self.all(rank, started(call), call);
    }

    /// The call in which a rank waits for operations; where its requests do not say what started them, these may.
    pub fn waiting(&mut self, rank: Option<i64>, thread: &Thread<'_>) {
        let of_operations = thread.operations.iter().flat_map(|one| one.operation.started_by.iter());
        let known = started(thread.call).next().is_some();
        self.all(rank, started(thread.call).chain(of_operations.filter(|_| !known)), thread.call);
    }

    fn all<'a>(&mut self, rank: Option<i64>, starts: impl Iterator<Item = &'a StartedBy>, call: &Call) {
        let mut any = false;
        for started in starts {
            self.started(rank, started);
            any = true;
        }
        if !any {
            self.standing(rank, call);
        }
    }

    /// The call in which a rank stands.
    pub fn standing(&mut self, rank: Option<i64>, call: &Call) {
        let function = if call.function.is_empty() { String::new() } else { call.c_name().into_owned() };
        self.add(
            rank,
            (function, call.file.clone().map(|text| text.to_string()), call.line),
            call.caller.clone().map(|text| text.to_string()),
            true,
        );
    }

    /// A call that started something, or sent it.
    pub fn start(&mut self, start: &RankStart) {
        self.started(start.rank, &start.started);
    }

    /// A place outside MPI.
    pub fn outside(&mut self, rank: Option<i64>, thread: &Outside) {
        let caller = thread.caller.clone().or_else(|| thread.function.clone());
        self.add(rank, (String::new(), thread.file.clone(), thread.line), caller, true);
    }

    fn started(&mut self, rank: Option<i64>, started: &StartedBy) {
        let place = (started.function.clone(), started.file.clone(), started.line);
        self.add(rank, place, started.caller.clone(), started.certain);
    }

    fn add(
        &mut self,
        rank: Option<i64>,
        (function, file, line): (String, Option<String>, Option<i64>),
        caller: Option<String>,
        certain: bool,
    ) {
        if function.is_empty() && file.is_none() && caller.is_none() {
            return;
        }
        let next = self.places.len();
        let at = match self.known.get(&(function.clone(), file.clone(), line, certain)) {
            Some(at) => *at,
            None if next >= MOST => return,
            None => {
                self.known.insert((function.clone(), file.clone(), line, certain), next);
                self.places.push(Blamed { ranks: Vec::new(), function, file, line, caller, certain });
                next
            }
        };
        if let (Some(place), Some(rank)) = (self.places.get_mut(at), rank) {
            place.ranks.push(rank);
        }
    }

    /// All of them, in the order in which they came.
    pub fn places(mut self) -> Vec<Blamed> {
        for place in &mut self.places {
            place.ranks.sort_unstable();
            place.ranks.dedup();
        }
        self.places
    }
}

/// What started the requests for which a call waits.
pub fn started(call: &Call) -> impl Iterator<Item = &StartedBy> {
    let waits = |state| matches!(state, RequestState::Open | RequestState::Unknown);
    call.requests.iter().filter(move |request| waits(request.state)).flat_map(|request| &request.started_by)
}

/// What a place is called in a sentence: `MPI_Recv`, `exchange`. Its line stands in the table under the finding.
pub fn name(blamed: &Blamed) -> &str {
    match (blamed.function.as_str(), blamed.caller.as_deref()) {
        ("", Some(caller)) => caller,
        ("", None) => "the code",
        (function, _) => function,
    }
}

/// `MPI_Recv at halo.c:42`; `None` where nothing of it is known.
pub fn spot(blamed: &Blamed) -> Option<String> {
    let base = blamed.file.as_deref().and_then(|file| file.rsplit('/').next()).filter(|name| !name.is_empty());
    let mut text = name(blamed).to_owned();
    match base {
        Some(base) => {
            text.push_str(&format!(" at {base}"));
            text.extend(blamed.line.map(|line| format!(":{line}")));
        }
        None if blamed.function.is_empty() && blamed.caller.is_none() => return None,
        None => {}
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: &str, line: i64) -> Call {
        Call { function: function.into(), file: Some("/src/a.c".into()), line: Some(line), ..Call::default() }
    }

    fn described(blame: Blame) -> Vec<String> {
        let places = blame.places();
        places.iter().map(|one| format!("{} {:?} {}", spot(one).unwrap_or_default(), one.ranks, one.certain)).collect()
    }

    #[test]
    fn ranks_at_one_place_are_one() {
        let mut blame = Blame::default();
        for rank in [3, 1, 2, 2] {
            blame.call(Some(rank), &call("MPI_Barrier", 7));
        }
        blame.call(None, &call("MPI_Recv", 8));
        blame.call(Some(9), &Call::default());
        assert_eq!(described(blame), ["MPI_Barrier at a.c:7 [1, 2, 3] true", "MPI_Recv at a.c:8 [] true"]);
    }

    #[test]
    fn of_requests_the_calls_that_started_them() {
        let started = |line, certain| StartedBy {
            function: "MPI_Irecv".to_owned(),
            file: Some("a.c".to_owned()),
            line: Some(line),
            certain,
            ..StartedBy::default()
        };
        let request = |state, by| model::CallRequest { state, started_by: by, ..model::CallRequest::default() };
        let mut waits = call("MPI_Waitall", 9);
        waits.requests.push(request(RequestState::Complete, vec![started(1, true)].into()));
        waits.requests.push(request(RequestState::Open, vec![started(2, true)].into()));
        waits.requests.push(request(RequestState::Open, vec![started(3, false), started(4, false)].into()));
        let mut blame = Blame::default();
        blame.call(Some(0), &waits);
        let lines = ["MPI_Irecv at a.c:2 [0] true", "MPI_Irecv at a.c:3 [0] false", "MPI_Irecv at a.c:4 [0] false"];
        assert_eq!(described(blame), lines);
    }

    #[test]
    fn places_have_a_bound() {
        let mut blame = Blame::default();
        for line in 0..100 {
            blame.call(Some(0), &call("MPI_Recv", line));
        }
        assert_eq!(blame.places().len(), MOST);
    }
}
