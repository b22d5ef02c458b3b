//! A datatype in one line.

use super::datatype::named_by_library;
use super::datatype_tree::{Node, Tree};
use super::envelope::{Argument, Envelope};
use crate::address::TargetAddr;

/// Summaries are not made longer than this, in characters, where there is a choice.
const WIDTH: usize = 90;

/// Of each sort of arguments so many are read for a summary; arrays that are longer are only counted.
const MAX_ARGUMENTS: usize = 16;

/// The line: `"my vector": MPI_Type_vector(3, 2, 5, MPI_INT), 24 bytes in 48`.
pub fn summary(tree: &Tree<'_>, node: &Node) -> String {
    let envelope = tree.short_envelope(node, MAX_ARGUMENTS);
    let (call, named) = match &envelope {
        Ok(Some(envelope)) if envelope.call().is_empty() => return node.name.clone(),
        Ok(Some(envelope)) => {
            let named = !node.name.is_empty() && !named_by_library(node, envelope.combiner());
            (call(tree, envelope), named)
        }
        Ok(None) => ("made by the library".to_owned(), !node.name.is_empty()),
        Err(error) => (format!("not known how it was made ({error})"), !node.name.is_empty()),
    };
    let name = if named { format!("\"{}\": ", node.name) } else { String::new() };
    let extent = node.extent();
    let whole = u64::try_from(extent) == Ok(node.size);
    let extent = if whole { String::new() } else { format!(" in {extent}") };
    let committed = if node.committed { "" } else { ", not committed" };
    format!("{name}{call}, {} bytes{extent}{committed}", node.size)
}

fn call(tree: &Tree<'_>, envelope: &Envelope) -> String {
    let most = [8, 4, 2, 0];
    let written = most.iter().map(|most| {
        let arguments: Vec<String> =
            envelope.arguments().iter().map(|(_, _, value)| argument(tree, value, *most, envelope)).collect();
        format!("{}({})", envelope.call(), arguments.join(", "))
    });
    // Arrays are shortened as far as needed.
    let mut last = String::new();
    for text in written {
        last = text;
        if last.chars().count() <= WIDTH - 30 {
            break;
        }
    }
    last
}

/// An argument; arrays of more than `most` elements are only counted.
fn argument(tree: &Tree<'_>, value: &Argument<'_>, most: usize, envelope: &Envelope) -> String {
    // Arrays are as long as the number before them says, whether all of it was read or not.
    let list = |words: Vec<String>, whole: bool| {
        if whole && words.len() <= most { format!("{{{}}}", words.join(", ")) } else { "{…}".to_owned() }
    };
    match value {
        Argument::Number(number) => number.to_string(),
        Argument::Numbers(numbers) => list(numbers.iter().map(ToString::to_string).collect(), envelope.is_whole()),
        Argument::Type(addr) => part(tree, *addr),
        Argument::Types(types) if types.len() > most => list(Vec::new(), false),
        Argument::Types(types) => list(types.iter().map(|addr| part(tree, *addr)).collect(), envelope.is_whole()),
    }
}

/// A datatype that another was made of: its name, or how it was made in turn.
fn part(tree: &Tree<'_>, addr: TargetAddr) -> String {
    let Ok(node) = tree.node(addr) else { return addr.to_string() };
    match tree.short_envelope(&node, 3) {
        Ok(Some(envelope)) if envelope.call().is_empty() => node.name.clone(),
        Ok(Some(envelope)) if node.name.is_empty() || named_by_library(&node, envelope.combiner()) => {
            format!("{}(…)", envelope.call())
        }
        _ if node.name.is_empty() => addr.to_string(),
        _ => format!("\"{}\"", node.name),
    }
}
