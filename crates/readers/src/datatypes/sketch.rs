//! A datatype as lines that look like a declaration in C: arrays, nested structures, gaps as comments.

use super::envelope::{Argument, Combiner, Envelope};
use super::tree::{Node, Tree};
use crate::ReaderError;
use target::address::TargetAddr;

/// A sketch has at most this many lines.
const MAX_LINES: usize = 200;

/// At most this many members of one structure are drawn.
const MAX_MEMBERS: usize = 40;

/// Structures are drawn at most this deep.
const MAX_DEPTH: usize = 12;

/// Datatypes are followed at most this deep, also where nothing is drawn of those in between.
const MAX_NESTED: usize = 64;

/// Predefined datatypes with their types in C (MPI-4.1, 3.2.2 and 6.9.4). Others stand under their own name.
const C_TYPES: &[(&str, &str)] = &[
    ("MPI_CHAR", "char"),
    ("MPI_SIGNED_CHAR", "signed char"),
    ("MPI_UNSIGNED_CHAR", "unsigned char"),
    ("MPI_SHORT", "short"),
    ("MPI_UNSIGNED_SHORT", "unsigned short"),
    ("MPI_INT", "int"),
    ("MPI_UNSIGNED", "unsigned"),
    ("MPI_LONG", "long"),
    ("MPI_UNSIGNED_LONG", "unsigned long"),
    ("MPI_LONG_LONG", "long long"),
    ("MPI_LONG_LONG_INT", "long long"),
    ("MPI_UNSIGNED_LONG_LONG", "unsigned long long"),
    ("MPI_FLOAT", "float"),
    ("MPI_DOUBLE", "double"),
    ("MPI_LONG_DOUBLE", "long double"),
    ("MPI_WCHAR", "wchar_t"),
    ("MPI_C_BOOL", "_Bool"),
    ("MPI_INT8_T", "int8_t"),
    ("MPI_INT16_T", "int16_t"),
    ("MPI_INT32_T", "int32_t"),
    ("MPI_INT64_T", "int64_t"),
    ("MPI_UINT8_T", "uint8_t"),
    ("MPI_UINT16_T", "uint16_t"),
    ("MPI_UINT32_T", "uint32_t"),
    ("MPI_UINT64_T", "uint64_t"),
    ("MPI_AINT", "MPI_Aint"),
    ("MPI_OFFSET", "MPI_Offset"),
    ("MPI_COUNT", "MPI_Count"),
    ("MPI_C_FLOAT_COMPLEX", "float _Complex"),
    ("MPI_C_COMPLEX", "float _Complex"),
    ("MPI_C_DOUBLE_COMPLEX", "double _Complex"),
    ("MPI_C_LONG_DOUBLE_COMPLEX", "long double _Complex"),
    ("MPI_FLOAT_INT", "struct { float value; int index; }"),
    ("MPI_DOUBLE_INT", "struct { double value; int index; }"),
    ("MPI_LONG_INT", "struct { long value; int index; }"),
    ("MPI_SHORT_INT", "struct { short value; int index; }"),
    ("MPI_LONG_DOUBLE_INT", "struct { long double value; int index; }"),
    ("MPI_2INT", "struct { int value; int index; }"),
];

/// The lines for a datatype.
///
/// # Errors
/// Where it or a datatype that it was made of cannot be read.
pub fn lines(tree: &Tree<'_>, node: &Node) -> Result<Vec<String>, ReaderError> {
    let mut sketch = Sketch { tree, lines: Vec::new(), left: MAX_LINES, nested: 0 };
    sketch.declare(node, "element", "", 0)?;
    Ok(sketch.lines)
}

struct Sketch<'t, 'r> {
    tree: &'t Tree<'r>,
    lines: Vec<String>,
    left: usize,
    nested: usize,
}

/// A part of a structure: where it begins in bytes, how many elements, of which datatype.
struct Member {
    at: i64,
    count: i64,
    of: TargetAddr,
}

impl Sketch<'_, '_> {
    fn line(&mut self, depth: usize, text: &str) {
        match self.left {
            0 => return,
            1 => self.lines.push("/* and so on */".to_owned()),
            _ => self.lines.push(format!("{}{text}", "    ".repeat(depth))),
        }
        self.left -= 1;
    }

    /// Adds a remark to the line that was added last.
    fn remark(&mut self, text: &str) {
        if let (Some(line), true) = (self.lines.last_mut(), self.left > 0) {
            line.push_str(&format!("  /* {text} */"));
        }
    }

    /// Draws elements of a datatype with a name; `array` has the brackets.
    fn declare(&mut self, node: &Node, name: &str, array: &str, depth: usize) -> Result<(), ReaderError> {
        if self.left == 0 {
            return Ok(());
        }
        if self.nested == MAX_NESTED {
            let what = format!("datatypes are made of one another more than {MAX_NESTED} deep");
            return Err(ReaderError::Damaged(what));
        }
        self.nested += 1;
        let drawn = self.draw(node, name, array, depth);
        self.nested -= 1;
        drawn
    }

    fn draw(&mut self, node: &Node, name: &str, array: &str, depth: usize) -> Result<(), ReaderError> {
        let envelope = self.tree.envelope(node)?;
        let Some(envelope) = envelope else {
            self.line(depth, &format!("char {name}{array}[{}];", node.size));
            self.remark("the library keeps no arguments of this datatype");
            return Ok(());
        };
        if depth > MAX_DEPTH {
            self.line(depth, &format!("struct {{ /* {} bytes */ }} {name}{array};", node.size));
            return Ok(());
        }
        let old = match envelope.datatypes.first() {
            Some(&addr) => self.tree.node(addr)?,
            None => {
                let basic = if envelope.combiner() == Combiner::Named { None } else { self.tree.basic(node).ok() };
                let of = basic.map_or_else(|| node.name.clone(), |basic| basic.name.clone());
                let c_type = C_TYPES.iter().find(|entry| entry.0 == of).map_or(of.as_str(), |entry| entry.1);
                // A structure without members is made of no datatype.
                let text = if envelope.combiner() == Combiner::Struct { "struct { }" } else { c_type };
                self.line(depth, &format!("{text} {name}{array};"));
                return Ok(());
            }
        };
        let arguments = envelope.arguments();
        let number = |wanted: &str| match arguments.iter().find(|argument| argument.0 == wanted) {
            Some((_, _, Argument::Number(number))) => *number,
            _ => 0,
        };
        match envelope.combiner() {
            Combiner::Dup => self.declare(&old, name, array, depth),
            Combiner::Contiguous => self.declare(&old, name, &format!("{array}[{}]", number("count")), depth),
            Combiner::Vector | Combiner::Hvector => {
                let by = if envelope.combiner() == Combiner::Vector { old.extent() } else { 1 };
                let stride = number("stride").saturating_mul(by);
                self.vector(&old, [number("count"), number("blocklength"), stride], name, array, depth)
            }
            Combiner::Subarray | Combiner::Darray => {
                self.part_of_array(&old, &envelope, name, array, depth)?;
                Ok(())
            }
            Combiner::ValueIndex => {
                let parts = envelope.datatypes.iter();
                let mut drawn: Vec<Member> = parts.map(|of| Member { at: 0, count: 1, of: *of }).collect();
                if let Some(last) = drawn.last_mut() {
                    last.at = node.true_ub.saturating_sub(self.tree.node(last.of)?.extent());
                }
                self.structure(node, &drawn, name, array, depth)
            }
            _ => self.structure(node, &members(&envelope, &old), name, array, depth),
        }
    }

    fn vector(
        &mut self,
        old: &Node,
        [count, length, stride]: [i64; 3],
        name: &str,
        array: &str,
        depth: usize,
    ) -> Result<(), ReaderError> {
        let block = length.saturating_mul(old.extent());
        if count <= 1 || length <= 0 || block == stride {
            let elements = count.max(0).saturating_mul(length.max(0));
            return self.declare(old, name, &format!("{array}[{elements}]"), depth);
        }
        self.line(depth, "struct {");
        let brackets = if length == 1 { String::new() } else { format!("[{length}]") };
        self.declare(old, "block", &brackets, depth + 1)?;
        let gap = stride.saturating_sub(block);
        if gap > 0 {
            self.line(depth + 1, &format!("/* gap of {gap} bytes */"));
        }
        self.line(depth, &format!("}} {name}{array}[{count}];"));
        self.remark(&if gap > 0 {
            "no gap after the last".to_owned()
        } else {
            format!("each begins {stride} bytes from the one before")
        });
        Ok(())
    }

    fn part_of_array(
        &mut self,
        old: &Node,
        envelope: &Envelope,
        name: &str,
        array: &str,
        depth: usize,
    ) -> Result<(), ReaderError> {
        let arguments = envelope.arguments();
        let numbers = |wanted: &str| match arguments.iter().find(|argument| argument.0 == wanted) {
            Some((_, _, Argument::Numbers(numbers))) => numbers.to_vec(),
            Some((_, _, Argument::Number(number))) => vec![*number],
            _ => Vec::new(),
        };
        let fortran = numbers("order") != [envelope.numbers.order_c];
        // In C the last dimension is the one whose elements are next to one another.
        let in_order = |mut values: Vec<String>| {
            if fortran {
                values.reverse();
            }
            values
        };
        let brackets = |values: Vec<String>| in_order(values).iter().map(|one| format!("[{one}]")).collect::<String>();
        let words = |values: Vec<i64>| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (sizes, part) = if envelope.combiner() == Combiner::Subarray {
            let range = |(start, len): (&i64, &i64)| match len {
                1 => start.to_string(),
                _ => format!("{start}..{}", start.saturating_add(*len).saturating_sub(1)),
            };
            let ranges = numbers("array_of_starts").iter().zip(&numbers("array_of_subsizes")).map(range).collect();
            (numbers("array_of_sizes"), format!("of these only {}", brackets(ranges)))
        } else {
            let how = |(kind, detail): (&i64, &i64)| {
                let kind = match *kind {
                    kind if kind == envelope.numbers.block => "block",
                    kind if kind == envelope.numbers.cyclic => "cyclic",
                    _ => return "whole".to_owned(),
                };
                if *detail == envelope.numbers.default_argument { kind.to_owned() } else { format!("{kind}({detail})") }
            };
            let shares = numbers("array_of_distribs").iter().zip(&numbers("array_of_dargs")).map(how).collect();
            let process = numbers("rank").first().copied().unwrap_or_default();
            let of = numbers("size").first().copied().unwrap_or_default();
            (numbers("array_of_gsizes"), format!("the part of process {process} of {of}: {}", brackets(shares)))
        };
        let order = if fortran { "; Fortran's order, dimensions reversed" } else { "" };
        self.declare(old, name, &format!("{array}{}", brackets(words(sizes))), depth)?;
        self.remark(&format!("{part}{order}"));
        Ok(())
    }

    fn structure(
        &mut self,
        node: &Node,
        members: &[Member],
        name: &str,
        array: &str,
        depth: usize,
    ) -> Result<(), ReaderError> {
        self.line(depth, "struct {");
        let mut at = node.lb;
        for (index, member) in members.iter().take(MAX_MEMBERS).enumerate() {
            let of = self.tree.node(member.of)?;
            let start = member.at.saturating_add(of.lb);
            if start > at {
                self.line(depth + 1, &format!("/* gap of {} bytes */", start.saturating_sub(at)));
            } else if start < at {
                self.line(depth + 1, &format!("/* back to offset {start} */"));
            }
            let brackets = if member.count == 1 { String::new() } else { format!("[{}]", member.count) };
            self.declare(&of, &format!("m{index}"), &brackets, depth + 1)?;
            at = start.saturating_add(member.count.saturating_mul(of.extent()));
        }
        if members.len() > MAX_MEMBERS {
            self.line(depth + 1, &format!("/* and {} more members */", members.len() - MAX_MEMBERS));
        } else if node.ub > at {
            self.line(depth + 1, &format!("/* gap of {} bytes */", node.ub.saturating_sub(at)));
        }
        self.line(depth, &format!("}} {name}{array};"));
        if members.len() <= MAX_MEMBERS && node.ub < at {
            self.remark(&format!("the next begins {} bytes from here", node.extent()));
        }
        Ok(())
    }
}

/// The parts of a datatype that was made of blocks, empty ones left out.
fn members(envelope: &Envelope, old: &Node) -> Vec<Member> {
    let arguments = envelope.arguments();
    let numbers = |wanted: &str| match arguments.iter().find(|argument| argument.0 == wanted) {
        Some((_, _, Argument::Numbers(numbers))) => *numbers,
        _ => &[],
    };
    if envelope.combiner() == Combiner::Resized {
        return vec![Member { at: 0, count: 1, of: old.addr }];
    }
    let same = arguments.iter().find(|argument| argument.0 == "blocklength");
    let in_elements = matches!(envelope.combiner(), Combiner::Indexed | Combiner::IndexedBlock);
    let lengths = numbers("array_of_blocklengths");
    let blocks = numbers("array_of_displacements").iter().enumerate();
    let member = |(index, displacement): (usize, &i64)| Member {
        at: if in_elements { displacement.saturating_mul(old.extent()) } else { *displacement },
        count: match same {
            Some((_, _, Argument::Number(length))) => *length,
            _ => lengths.get(index).copied().unwrap_or_default(),
        },
        of: match envelope.combiner() {
            Combiner::Struct => envelope.datatypes.get(index).copied().unwrap_or(old.addr),
            _ => old.addr,
        },
    };
    blocks.map(member).filter(|member| member.count > 0).collect()
}
