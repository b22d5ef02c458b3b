//! Calls of Boost.MPI in a source, told as those of MPI that they make (boostorg/mpi, include/boost/mpi/communicator.hpp,
//! request.hpp and nonblocking.hpp).

use std::ops::Range;

use super::brackets::Brackets;
use super::{CallText, Mention, Source};
use crate::parameters;
use crate::words::{is_space, is_word};

/// Members of communicators that begin with whom the message is for or from, and its tag: their name, the function of MPI,
/// and the parameter that says whom.
const MESSAGES: [(&str, &str, &str); 4] = [
    ("isend", "MPI_Isend", "dest"),
    ("irecv", "MPI_Irecv", "source"),
    ("send", "MPI_Send", "dest"),
    ("recv", "MPI_Recv", "source"),
];

/// Members of a request.
const OF_ONE: [(&str, &str); 2] = [("wait", "MPI_Wait"), ("test", "MPI_Test")];

/// Functions that are given where requests begin and end.
const OF_SEVERAL: [(&str, &str); 6] = [
    ("wait_all", "MPI_Waitall"),
    ("wait_any", "MPI_Waitany"),
    ("wait_some", "MPI_Waitsome"),
    ("test_all", "MPI_Testall"),
    ("test_any", "MPI_Testany"),
    ("test_some", "MPI_Testsome"),
];

/// The class of requests.
const REQUEST: &str = "request";

/// Containers' members that a request is put into by.
const PUTS: [&str; 2] = ["push_back", "emplace_back"];

/// So much of what stands before a call (bytes) is looked at.
const LONGEST: usize = 2_000;

/// Whether a source has to do with Boost.MPI.
pub(super) fn is_used(source: &Source) -> bool {
    !source.fortran && (source.text.contains("boost/mpi") || source.code.contains("boost::mpi"))
}

/// The calls in a piece of a source that uses it.
pub(super) fn mentions<'s>(
    source: &'s Source,
    range: &Range<usize>,
    brackets: &'s Brackets<'s>,
) -> impl Iterator<Item = Mention> + use<'s> {
    let (begin, code) = (range.start, source.code.get(range.clone()).unwrap_or_default());
    code.match_indices('(').filter_map(move |(open, _)| mention(brackets, begin, (code, open)))
}

/// The call whose parenthesis opens at a place of a piece that begins at `begin`.
fn mention(brackets: &Brackets<'_>, begin: usize, (code, open): (&str, usize)) -> Option<Mention> {
    let named = code[..open].trim_end_matches(is_space);
    let start = named.rfind(|c| !is_word(c)).map_or(0, |at| at + named[at..].chars().next().map_or(1, char::len_utf8));
    let (name, before) = (&named[start..], &named[..start]);
    let owner = before.strip_suffix('.').or_else(|| before.strip_suffix("->"));
    let known = match owner {
        Some(_) => MESSAGES.iter().any(|one| one.0 == name) || OF_ONE.iter().any(|one| one.0 == name),
        None => OF_SEVERAL.iter().any(|one| one.0 == name),
    };
    if !known {
        return None;
    }
    let end = brackets.closing(begin + open)?;
    let given = brackets.arguments(begin + open, end);
    let (function, texts) = match owner {
        Some(owner) => of_member(name, owner, given)?,
        None => (find(&OF_SEVERAL, name)?, vec![("array_of_requests", first_of(given.first()?))]),
    };
    Some(Mention {
        function: function.to_owned(),
        at: begin + start,
        end,
        texts: call(function, texts)?,
        wrapped: true,
    })
}

/// What a member of a communicator or a request calls, with what it gives.
fn of_member(name: &str, owner: &str, given: Vec<String>) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    let (object, before) = split_object(tail(owner));
    if let Some(function) = find(&OF_ONE, name) {
        return (given.is_empty() && !object.is_empty()).then(|| (function, vec![("request", format!("&{object}"))]));
    }
    let (_, function, whom) = *MESSAGES.iter().find(|one| one.0 == name)?;
    let mut given = given.into_iter();
    let mut texts = vec![(whom, given.next()?), ("tag", given.next()?), ("comm", object.to_owned())];
    if name.starts_with('i') {
        // What nobody keeps nobody waits for.
        texts.push(("request", kept_in(before)?));
    }
    Some((function, texts))
}

fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|one| one.0 == name).map(|one| one.1)
}

/// The arguments of a function of MPI; what is not known is empty.
fn call(function: &str, texts: Vec<(&str, String)>) -> Option<CallText> {
    let mut known: Vec<(&str, String)> =
        parameters(function, false)?.iter().map(|one| (one.name, String::new())).collect();
    for (name, text) in texts {
        known.iter_mut().find(|one| one.0 == name)?.1 = text;
    }
    Some(known.into_iter().map(|(_, text)| text).collect())
}

/// Where the requests lie that an iterator begins at.
fn first_of(iterator: &str) -> String {
    let container = iterator.strip_suffix("()").and_then(|rest| {
        let (container, member) = rest.rsplit_once('.')?;
        ["begin", "data", "cbegin"].contains(&member.trim()).then_some(container)
    });
    container.map_or_else(|| iterator.to_owned(), |container| format!("&{container}[0]"))
}

/// The end of a text, which is looked at; no statement is longer.
fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(LONGEST);
    (from..=text.len()).find_map(|from| text.get(from..)).unwrap_or_default()
}

/// The expression that a text ends with, such as `halo.reqs[2]`, and what stands before it.
fn split_object(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let mut begin = text.len();
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' => depth += 1,
            '(' | '[' if depth == 0 => break,
            '(' | '[' => depth -= 1,
            '>' if text[..at].ends_with('-') => {}
            '-' if text[at..].starts_with("->") => {}
            '.' | ':' => {}
            _ if depth == 0 && !is_word(c) => break,
            _ => {}
        }
        begin = at;
    }
    (&text[begin..], &text[..begin])
}

/// Where the request is kept that a call returns, before which a text stands: the words of its address; empty where that is
/// not known. `None` where nobody keeps it.
fn kept_in(before: &str) -> Option<String> {
    let before = before.trim_end_matches(is_space);
    if before.is_empty() || before.ends_with([';', '{', '}']) && !is_list(before) {
        return None;
    }
    let assigned = before.strip_suffix('=').filter(|rest| !rest.ends_with(['=', '!', '<', '>']));
    if let Some(assigned) = assigned {
        return Some(address(split_object(assigned.trim_end_matches(is_space)).0));
    }
    let Some(called) = before.strip_suffix(['(', '{']) else { return Some(String::new()) };
    let (object, rest) = split_object(called.trim_end_matches(is_space));
    let put = object.rsplit_once('.').filter(|(_, member)| PUTS.contains(member));
    if let Some((container, _)) = put {
        return Some(format!("&{container}[{container}.size()]"));
    }
    // A variable that is made of it: `mpi::request last(world.isend(1, 0));`.
    let declared = rest.trim_end_matches(is_space).rsplit(|c| !is_word(c)).next() == Some(REQUEST);
    Some(if declared { address(object) } else { String::new() })
}

/// Whether a brace opens values: it follows the variable that they are for, or a word that says so.
fn is_list(before: &str) -> bool {
    let Some(rest) = before.strip_suffix('{') else { return false };
    rest.trim_end_matches(is_space).ends_with(|c: char| is_word(c) || c == '=' || c == ']' || c == '{' || c == ',')
}

fn address(object: &str) -> String {
    if object.is_empty() { String::new() } else { format!("&{object}") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::mentions;
    use super::*;

    /// Each call with the texts that are known.
    fn found(text: &str) -> Vec<String> {
        let source = Source::new(Path::new("x.cc"), format!("#include <boost/mpi.hpp>\n{text}"));
        let all = mentions(&source, &(0..source.code.len())).unwrap_or_default();
        let told = |one: &Mention| {
            let known: Vec<&str> = one.texts.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
            format!("{} {}", one.function, known.join(", "))
        };
        all.iter().map(told).collect()
    }

    #[test]
    fn messages_and_where_their_requests_are_kept() {
        assert_eq!(found("mpi::request r = world.isend(peer + 1, 5, out);"), ["MPI_Isend peer + 1, 5, world, &r"]);
        assert_eq!(found("halo.reqs[2] = world->irecv(f(a, b), 6);"), ["MPI_Irecv f(a, b), 6, world, &halo.reqs[2]"]);
        assert_eq!(found("reqs.push_back(world.irecv(1, 2, x));"), ["MPI_Irecv 1, 2, world, &reqs[reqs.size()]"]);
        assert_eq!(found("mpi::request r(this->comm().isend(1, 2));"), ["MPI_Isend 1, 2, this->comm(), &r"]);
        assert_eq!(found("mpi::request r{world.isend(1, 2)};"), ["MPI_Isend 1, 2, world, &r"]);
        assert_eq!(found("return world.irecv(1, 2);"), ["MPI_Irecv 1, 2, world"]);
        assert_eq!(found("keep(world.irecv(1, 2));"), ["MPI_Irecv 1, 2, world"]);
        assert_eq!(found("mpi::request r[2] = {world.irecv(1, 2), world.isend(1, 3)};").len(), 2);
        assert_eq!(found("; world.irecv(1, 2); { world.isend(1, 2); } world.isend(1)"), Vec::<String>::new());
        assert_eq!(found("world.send(1, 2, x); world.recv(mpi::any_source, 3, y);").len(), 2);
    }

    #[test]
    fn waits() {
        assert_eq!(found("r.wait();"), ["MPI_Wait &r"]);
        assert_eq!(found("if (auto s = reqs[1].test())"), ["MPI_Test &reqs[1]"]);
        assert_eq!(found("mpi::wait_all(reqs.begin(), reqs.end());"), ["MPI_Waitall &reqs[0]"]);
        assert_eq!(found("boost::mpi::wait_any(reqs, reqs + 2)"), ["MPI_Waitany reqs"]);
        // Of something else.
        assert_eq!(found("thread.wait(lock); my_wait_all(a, b); x.wait_all(a, b); wait()"), Vec::<String>::new());
    }

    #[test]
    fn beside_calls_of_mpi() {
        assert_eq!(
            found("MPI_Wait(&a, s); b.wait(); MPI_Wait(&c, s);"),
            ["MPI_Wait &a, s", "MPI_Wait &b", "MPI_Wait &c, s"]
        );
        let plain = Source::new(Path::new("x.cc"), "future.wait(); world.irecv(1, 2, x);".to_owned());
        assert_eq!(mentions(&plain, &(0..plain.code.len())), Some(Vec::new()));
    }

    #[test]
    fn texts_may_be_anything() {
        for text in
            ["(", ".wait(", "ü.wait()", "->irecv(1,2", ").wait()", "= world.irecv(,)", "[.isend(1,2)", "((.wait()))"]
        {
            found(text);
        }
    }
}
