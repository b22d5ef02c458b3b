//! A datatype in one line.

use super::envelope::{Argument, Envelope, Kind};
use super::tree::{Node, Tree};
use target::address::TargetAddr;

/// Summaries are not made longer than this, in characters, where there is a choice.
const WIDTH: usize = 100;

/// Of each sort of arguments so many are read for a summary; arrays that are longer are only counted.
const MAX_ARGUMENTS: usize = 16;

/// The line: `"my vector": MPI_Type_vector(3, 2, 5, MPI_INT), 24 bytes in 48`.
pub fn summary(tree: &Tree<'_>, node: &Node) -> String {
    let extent = node.extent();
    let whole = u64::try_from(extent) == Ok(node.size);
    let extent = if whole { String::new() } else { format!(" in {extent}") };
    let committed = if node.committed { "" } else { ", not committed" };
    let end = format!(", {} bytes{extent}{committed}", node.size);
    let name = if node.name.is_empty() { String::new() } else { format!("\"{}\": ", node.name) };
    match tree.short_envelope(node, MAX_ARGUMENTS) {
        Ok(Some(envelope)) if envelope.call().is_empty() => node.name.clone(),
        Ok(Some(envelope)) => {
            let name = if tree.source().named_by_library(node, envelope.combiner()) { String::new() } else { name };
            let room = WIDTH.saturating_sub(name.chars().count() + end.chars().count());
            format!("{name}{}{end}", call(tree, &envelope, room))
        }
        Ok(None) => format!("{name}made by the library{end}"),
        Err(error) => format!("{name}not known how it was made ({error}){end}"),
    }
}

/// The call, in `room` characters if that can be: arrays are shortened as far as needed.
fn call(tree: &Tree<'_>, envelope: &Envelope, room: usize) -> String {
    let mut text = String::new();
    for most in [8, 4, 2, 0] {
        let arguments = envelope.arguments();
        let arguments: Vec<String> =
            arguments.iter().map(|(_, kind, value)| argument(tree, *kind, value, most, envelope)).collect();
        text = format!("{}({})", envelope.call(), arguments.join(", "));
        if text.chars().count() <= room {
            break;
        }
    }
    text
}

/// An argument; arrays of more than `most` elements are only counted.
fn argument(tree: &Tree<'_>, kind: Kind, value: &Argument<'_>, most: usize, envelope: &Envelope) -> String {
    let word = |number: &i64| tree.constant(kind, *number).map_or_else(|| number.to_string(), str::to_owned);
    // Arrays are as long as the number before them says, whether all of it was read or not.
    let list = |words: Vec<String>, whole: bool| {
        if whole && words.len() <= most { format!("{{{}}}", words.join(", ")) } else { "{…}".to_owned() }
    };
    match value {
        Argument::Number(number) => word(number),
        Argument::Numbers(numbers) => list(numbers.iter().map(word).collect(), envelope.is_whole()),
        Argument::Type(addr) => part(tree, *addr),
        Argument::Types(types) if types.len() > most => list(Vec::new(), false),
        Argument::Types(types) => list(types.iter().map(|addr| part(tree, *addr)).collect(), envelope.is_whole()),
    }
}

/// A datatype that another was made of: its name, or how it was made in turn.
fn part(tree: &Tree<'_>, addr: TargetAddr) -> String {
    let Ok(node) = tree.node(addr) else { return tree.source().handle(addr) };
    match tree.short_envelope(&node, 3) {
        Ok(Some(envelope)) if envelope.call().is_empty() => node.name.clone(),
        Ok(Some(envelope)) if node.name.is_empty() || tree.source().named_by_library(&node, envelope.combiner()) => {
            format!("{}(…)", envelope.call())
        }
        _ if node.name.is_empty() => tree.source().handle(addr),
        _ => format!("\"{}\"", node.name),
    }
}
