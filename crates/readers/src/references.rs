//! Cross-references: which objects point to a given one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;

use super::add_problem;
use model::handle::{Reference, References};
use model::{Handle, HandleKind, HandleState, Known, Typed};
use target::Reason;
use target::address::TargetAddr;

/// At most this many references are listed in one fact.
const MAX_REFERENCES: usize = 1000;

/// A member of the objects of a kind that points to other objects.
pub type Member = (HandleKind, &'static str);

/// The objects of a kind by where a member of theirs points to.
#[derive(Debug)]
pub struct Pointing<O> {
    /// In the order in which they were found.
    pub by_target: HashMap<TargetAddr, Vec<O>>,
    /// Why these are not all.
    pub reason: Option<String>,
}

impl<O> Default for Pointing<O> {
    fn default() -> Self {
        Self { by_target: HashMap::new(), reason: None }
    }
}

/// Which objects point to which, each member looked at once.
#[derive(Debug)]
pub struct Referrers<O>(RefCell<HashMap<Member, Rc<Pointing<O>>>>);

impl<O> Default for Referrers<O> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

/// A reader of objects that point to each other.
pub trait Refers {
    /// How it names an object.
    type Object: Copy + Eq + Hash;

    /// What it has looked at.
    fn looked_at(&self) -> &Referrers<Self::Object>;

    /// Looks at a member of all objects of its kind.
    fn find_pointing(&self, member: Member) -> Pointing<Self::Object>;

    /// A reference to an object.
    fn refer(&self, kind: HandleKind, object: Self::Object) -> Reference;

    /// The objects of a kind by where `member` of theirs points to, found once.
    fn pointing(&self, member: Member) -> Rc<Pointing<Self::Object>> {
        if let Some(known) = self.looked_at().0.borrow().get(&member) {
            return Rc::clone(known);
        }
        let known = Rc::new(self.find_pointing(member));
        self.looked_at().0.borrow_mut().insert(member, Rc::clone(&known));
        known
    }

    /// References to these objects, of many to the first.
    fn references(&self, found: &[(HandleKind, Self::Object)]) -> References {
        let shown = found.iter().take(MAX_REFERENCES).map(|(kind, object)| self.refer(*kind, *object)).collect();
        References { shown, total: (found.len() > MAX_REFERENCES).then_some(found.len()) }
    }

    /// References to the objects of which one of `members` points to one of `wanted`; `what` they are called where some may
    /// be missing. A release that lacks a member has no such objects.
    fn referrers(
        &self,
        what: &str,
        members: &[Member],
        wanted: &[TargetAddr],
        problems: &mut Vec<String>,
    ) -> Known<References> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut reasons: Vec<String> = Vec::new();
        for &member in members {
            let known = self.pointing(member);
            let objects = wanted.iter().filter_map(|at| known.by_target.get(at)).flatten();
            found.extend(objects.map(|object| (member.0, *object)).filter(|one| seen.insert(*one)));
            reasons.extend(known.reason.clone().filter(|reason| !reasons.contains(reason)));
        }
        // What is not known is no empty list.
        if found.is_empty() && !reasons.is_empty() {
            return Err(Reason::new(reasons.join("; ")));
        }
        for reason in reasons {
            add_problem(problems, format!("there may be more {what}: {reason}"));
        }
        Ok(self.references(&found))
    }

    /// A reference to an object of which a member points to `wanted`; none where none is known.
    fn first_referrer(&self, members: &[Member], wanted: TargetAddr) -> Option<Reference> {
        let first = |member: &Member| Some((member.0, *self.pointing(*member).by_target.get(&wanted)?.first()?));
        members.iter().find_map(first).map(|(kind, object)| self.refer(kind, object))
    }
}

/// A communicator as the lines of what is on it name it: `on "halo"`, `on MPI_COMM_WORLD`; by `value` where it is none.
pub fn on(communicator: &Handle, value: impl std::fmt::Display) -> String {
    match (&communicator.typed, communicator.state) {
        (Typed::Communicator(known), HandleState::Live) => {
            let name = communicator.name.as_deref().unwrap_or_default();
            format!("on {}", known.label(name, communicator.predefined == Some(true)))
        }
        (_, HandleState::Null) => format!("on {}", communicator.summary),
        // What is wrong with it has a line of its own.
        _ => format!("on an unknown communicator ({value})"),
    }
}
