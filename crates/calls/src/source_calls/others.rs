//! Calls in other functions of the same source that may have set a request: those that a function is given it for, and those
//! that name the same variable of the file or member.

use super::{object, returned, text_of};
use crate::expression::Object;
use crate::source::flow::Body;
use crate::source::{Mention, Source, mentions};
use crate::words::{is_space, is_word, leading_name};

use super::uses::is_declared_in;

/// A call in another function: what stands there, and the request as it is written there.
pub(super) struct Other {
    pub(super) mention: Mention,
    /// The function that it stands in.
    pub(super) caller: Option<String>,
    pub(super) request: String,
}

/// The calls in other functions that may have set an object which `body` names.
pub(super) fn others(source: &Source, body: &Body, waited: &Object, local: bool) -> Vec<Other> {
    let mut found = Vec::new();
    let given = given_to(source, body, waited);
    for unit in source.bodies().filter(|unit| unit.range != body.range) {
        let (name, parameters) = head(source, &unit);
        let own = given.iter().filter(|(function, _)| !name.is_empty() && same_name(source, function, &name));
        let given: Vec<&String> = own.filter_map(|(_, place)| parameters.get(*place)).collect();
        if local && given.is_empty() {
            continue;
        }
        for mention in mentions(source, &unit.range).unwrap_or_default() {
            let Some(text) =
                returned(&mention.function).and_then(|one| text_of(&mention, &mention.function, one.name, source))
            else {
                continue;
            };
            let Some(object) = object(&text, source) else { continue };
            let variable = object.variable().to_owned();
            let same = if given.iter().any(|one| same_name(source, one, &variable)) {
                members(&object.path) == members(&waited.path)
            } else if local {
                false
            } else {
                is_same(source, &unit, &object, waited, &parameters)
            };
            if same {
                let caller = Some(name.clone()).filter(|name| !name.is_empty());
                found.push(Other { mention, caller, request: text });
            }
        }
    }
    found
}

/// The calls of some functions of MPI that stand in the other functions of a source, with the names of these.
pub(super) fn in_others(
    source: &Source,
    body: &Body,
    wanted: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (Option<String>, Mention)> {
    source.bodies().filter(|unit| unit.range != body.range).flat_map(move |unit| {
        let mut all = mentions(source, &unit.range).unwrap_or_default();
        all.retain(|one| wanted(&one.function));
        let name = if all.is_empty() { String::new() } else { head(source, &unit).0 };
        let caller = Some(name).filter(|name| !name.is_empty());
        all.into_iter().map(move |mention| (caller.clone(), mention))
    })
}

/// Whether two functions name the same variable of the file, or the same member of something.
fn is_same(source: &Source, unit: &Body, object: &Object, waited: &Object, parameters: &[String]) -> bool {
    match (members(&object.path), members(&waited.path)) {
        (Some(own), Some(other)) => own == other,
        (None, None) => {
            let own = object.variable();
            same_name(source, own, waited.variable())
                && !parameters.iter().any(|one| same_name(source, one, own))
                && !is_declared_in(source, unit, own)
        }
        _ => false,
    }
}

/// What follows the variable in a path.
fn members(path: &str) -> Option<&str> {
    path.split_once(['.', '[']).map(|(_, rest)| rest)
}

fn same_name(source: &Source, one: &str, other: &str) -> bool {
    if source.fortran { one.eq_ignore_ascii_case(other) } else { one == other }
}

/// The name of a function and those of its parameters.
pub(super) fn head(source: &Source, unit: &Body) -> (String, Vec<String>) {
    let text = source.code.get(unit.head..unit.range.start).unwrap_or_default();
    let Some((before, rest)) = text.split_once('(') else { return (last_word(text).to_owned(), Vec::new()) };
    let inside = rest.rsplit_once(')').map_or(rest, |(inside, _)| inside);
    let parameters = inside.split(',').map(|one| {
        // Brackets of an array follow the name.
        let one = one.split(['[', '=']).next().unwrap_or_default();
        last_word(one).to_owned()
    });
    (last_word(before).to_owned(), parameters.collect())
}

fn last_word(text: &str) -> &str {
    text.trim_end_matches(|c| is_space(c) || c == '{').rsplit(|c: char| !is_word(c)).next().unwrap_or_default()
}

/// The functions that calls in `body` give an object to, each with the place of the argument.
fn given_to(source: &Source, body: &Body, waited: &Object) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (name, texts) in source.calls_in(&body.range) {
        for (place, text) in texts.iter().enumerate() {
            let variable = object(text, source).map(|object| object.variable().to_owned());
            let variable = variable.or_else(|| leading_name(text.trim_start_matches('&')).map(str::to_owned));
            if variable.is_some_and(|variable| same_name(source, &variable, waited.variable())) {
                found.push((name.clone(), place));
            }
        }
    }
    found
}
