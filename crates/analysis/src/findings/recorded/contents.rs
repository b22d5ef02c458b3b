//! Members that have called the same collective with another operator, datatype or count.

use super::{Context, Members, finding_of, gave_other};
use crate::advice::{self, Change};
use crate::datatypes::element;
use model::{Finding, FindingKind, PastCollective};

/// What is wrong with a collective that all of them called with the same root; the worst of it.
pub(super) fn wrong_contents(context: &Context<'_>, number: u64, all: &Members<'_>) -> Option<Finding> {
    let (_, _, first) = all.first()?;
    let function = functions::find(&first.function)?;
    let of_kind = |kind: &str| function.parameters.iter().filter(|one| one.kind == kind).collect::<Vec<_>>();
    // Functions with one datatype have one for all members; where each rank has a count of its own, it is given as an array.
    let [_] = of_kind("DATATYPE").as_slice() else { return None };
    let counts = of_kind("POLYXFER_NUM_ELEM_NNI");
    let has_count = counts.len() == 1 && counts.iter().all(|one| one.array.is_none());
    if gave_other(all, |one| one.op_name.as_deref()) {
        let rule = "all members must give the same operator";
        let words = |one: &PastCollective| with(one, one.op_name.as_deref().unwrap_or("an operator of the program"));
        return Some(finding_of(context, (number, FindingKind::OperatorMismatch, rule), all, words));
    }
    if gave_other(all, |one| element(one.given.datatype_name.as_deref())) {
        let rule = "all members must give matching datatypes";
        let words = |one: &PastCollective| with(one, &items(one, has_count));
        return Some(as_advised(finding_of(context, (number, FindingKind::DatatypeMismatch, rule), all, words)));
    }
    // Of other datatypes an element may be any number of them.
    let is_known = |one: &PastCollective| element(one.given.datatype_name.as_deref()).is_some();
    if has_count && all.iter().all(|(_, _, one)| is_known(one)) && gave_other(all, |one| one.given.count) {
        let rule = "all members must give the same number of elements";
        let words = |one: &PastCollective| with(one, &items(one, true));
        return Some(as_advised(finding_of(context, (number, FindingKind::CountMismatch, rule), all, words)));
    }
    None
}

/// The usual advice is for a message.
fn as_advised(mut finding: Finding) -> Finding {
    advice::give(&mut finding, Change::Contents);
    finding
}

fn with(collective: &PastCollective, argument: &str) -> String {
    format!("{} with {argument}", collective.function)
}

fn items(collective: &PastCollective, has_count: bool) -> String {
    let datatype = collective.given.datatype_name.as_deref().unwrap_or("elements of the program's datatype");
    match collective.given.count.filter(|_| has_count) {
        Some(count) => format!("{count} {datatype}"),
        None => datatype.to_owned(),
    }
}
