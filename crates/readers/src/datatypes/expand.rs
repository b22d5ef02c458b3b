//! The type map that a call makes of the type maps of its arguments, by the standard's definition of each constructor
//! (MPI-4.1, 5.1.2 to 5.1.7).

use super::envelope::{Argument, Combiner, Envelope, Numbers};
use super::type_map::{TooLarge, TypeMap};

/// A datatype's map and its extent in bytes.
pub type Part = (TypeMap, i64);

/// The named arguments of a call.
struct Arguments<'e>(Vec<(&'static str, Argument<'e>)>, Numbers);

impl Arguments<'_> {
    fn number(&self, name: &str) -> i64 {
        match self.0.iter().find(|argument| argument.0 == name) {
            Some((_, Argument::Number(number))) => *number,
            _ => 0,
        }
    }

    /// A count; a negative one, which no call accepts, is none.
    fn count(&self, name: &str) -> u64 {
        u64::try_from(self.number(name)).unwrap_or_default()
    }

    fn numbers(&self, name: &str) -> &[i64] {
        match self.0.iter().find(|argument| argument.0 == name) {
            Some((_, Argument::Numbers(numbers))) => numbers,
            _ => &[],
        }
    }
}

/// The map of the datatype that `envelope` tells, made of `parts` in the order of its datatypes. Bounds are those of the
/// parts, without the padding of structures; those that a call sets are as it sets them.
///
/// # Errors
/// Where an offset needs more than 64 bits.
pub fn expand(envelope: &Envelope, parts: &[Part]) -> Result<TypeMap, TooLarge> {
    let named = envelope.arguments().into_iter().map(|(name, _, value)| (name, value)).collect();
    let arguments = Arguments(named, envelope.numbers);
    // Whatever comes here was made of something.
    let Some((old, extent)) = parts.first() else { return Ok(TypeMap::default()) };
    let extent = *extent;
    let times = |count: i64| count.checked_mul(extent).ok_or(TooLarge);
    match envelope.combiner() {
        Combiner::Dup => Ok(old.clone()),
        Combiner::Contiguous => old.repeated(arguments.count("count"), extent),
        Combiner::Vector => {
            let stride = times(arguments.number("stride"))?;
            old.repeated(arguments.count("blocklength"), extent)?.repeated(arguments.count("count"), stride)
        }
        Combiner::Hvector => old
            .repeated(arguments.count("blocklength"), extent)?
            .repeated(arguments.count("count"), arguments.number("stride")),
        Combiner::Indexed | Combiner::Hindexed | Combiner::Struct => blocks(envelope, &arguments, parts),
        Combiner::IndexedBlock | Combiner::HindexedBlock => {
            let block = old.repeated(arguments.count("blocklength"), extent)?;
            let mut map = TypeMap::default();
            let in_bytes = envelope.combiner() == Combiner::HindexedBlock;
            for displacement in arguments.numbers("array_of_displacements") {
                map.append(&block, if in_bytes { *displacement } else { times(*displacement)? })?;
            }
            Ok(map)
        }
        Combiner::Subarray => subarray(&arguments, old, extent),
        Combiner::Darray => darray(&arguments, old, extent),
        Combiner::Resized => {
            let lb = arguments.number("lb");
            old.moved(0, (lb, lb.checked_add(arguments.number("extent")).ok_or(TooLarge)?))
        }
        Combiner::ValueIndex => {
            // A structure of both, as C lays it out (MPI-4.1, 6.9.4).
            let mut map = old.clone();
            if let Some((index, width)) = parts.get(1).filter(|part| part.1 > 0) {
                let shift = extent.checked_add(width - 1).ok_or(TooLarge)? / width * width;
                map.append(index, shift)?;
            }
            Ok(map)
        }
        Combiner::Named | Combiner::F90Real | Combiner::F90Complex | Combiner::F90Integer => Ok(TypeMap::default()),
    }
}

fn blocks(envelope: &Envelope, arguments: &Arguments<'_>, parts: &[Part]) -> Result<TypeMap, TooLarge> {
    let lengths = arguments.numbers("array_of_blocklengths").iter();
    let displacements = arguments.numbers("array_of_displacements").iter();
    let mut map = TypeMap::default();
    for (index, (length, displacement)) in lengths.zip(displacements).enumerate() {
        // One datatype for all blocks, or one for each.
        let part = if envelope.combiner() == Combiner::Struct { parts.get(index) } else { parts.first() };
        let Some((old, extent)) = part else { break };
        let shift = match envelope.combiner() {
            Combiner::Indexed => displacement.checked_mul(*extent).ok_or(TooLarge)?,
            _ => *displacement,
        };
        map.append(&old.repeated(u64::try_from(*length).unwrap_or_default(), *extent)?, shift)?;
    }
    Ok(map)
}

/// The dimensions from the one whose elements are next to one another to the slowest.
fn fastest_first(arguments: &Arguments<'_>, dimensions: usize) -> Vec<usize> {
    if arguments.number("order") == arguments.1.order_c {
        (0..dimensions).rev().collect()
    } else {
        (0..dimensions).collect()
    }
}

fn at(values: &[i64], dimension: usize) -> i64 {
    values.get(dimension).copied().unwrap_or_default()
}

fn subarray(arguments: &Arguments<'_>, old: &TypeMap, extent: i64) -> Result<TypeMap, TooLarge> {
    let sizes = arguments.numbers("array_of_sizes");
    let (subsizes, starts) = (arguments.numbers("array_of_subsizes"), arguments.numbers("array_of_starts"));
    let (mut map, mut stride, mut shift) = (old.clone(), extent, 0_i64);
    for dimension in fastest_first(arguments, sizes.len()) {
        map = map.repeated(u64::try_from(at(subsizes, dimension)).unwrap_or_default(), stride)?;
        let start = at(starts, dimension).checked_mul(stride).ok_or(TooLarge)?;
        shift = shift.checked_add(start).ok_or(TooLarge)?;
        stride = stride.checked_mul(at(sizes, dimension)).ok_or(TooLarge)?;
    }
    if sizes.is_empty() { Ok(TypeMap::default()) } else { map.moved(shift, (0, stride)) }
}

fn darray(arguments: &Arguments<'_>, old: &TypeMap, extent: i64) -> Result<TypeMap, TooLarge> {
    let sizes = arguments.numbers("array_of_gsizes");
    let (kinds, details) = (arguments.numbers("array_of_distribs"), arguments.numbers("array_of_dargs"));
    let processes = arguments.numbers("array_of_psizes");
    // Processes are numbered in row-major order, whatever the order of the array (MPI-4.1, 5.1.4).
    let (mut rest, mut left) = (arguments.number("rank"), arguments.number("size"));
    let mut coordinates = Vec::new();
    for count in processes {
        left = left.checked_div(*count).ok_or(TooLarge)?;
        coordinates.push(rest.checked_div(left).ok_or(TooLarge)?);
        rest = rest.checked_rem(left).ok_or(TooLarge)?;
    }
    let (mut map, mut stride, mut shift) = (old.clone(), extent, 0_i64);
    for dimension in fastest_first(arguments, sizes.len()) {
        let share = Share {
            size: at(sizes, dimension).max(0),
            processes: at(processes, dimension).max(1),
            coordinate: at(&coordinates, dimension).max(0),
            detail: Some(at(details, dimension)).filter(|detail| *detail != arguments.1.default_argument),
        };
        let (first, made) = match at(kinds, dimension) {
            kind if kind == arguments.1.block => share.block(&map, stride)?,
            kind if kind == arguments.1.cyclic => share.cyclic(&map, stride)?,
            _ => (0, map.repeated(share.size as u64, stride)?),
        };
        map = made;
        shift = shift.checked_add(first.checked_mul(stride).ok_or(TooLarge)?).ok_or(TooLarge)?;
        stride = stride.checked_mul(at(sizes, dimension)).ok_or(TooLarge)?;
    }
    if sizes.is_empty() { Ok(TypeMap::default()) } else { map.moved(shift, (0, stride)) }
}

/// One process's share of one dimension.
struct Share {
    size: i64,
    processes: i64,
    coordinate: i64,
    /// How many elements together; `None`: as the kind of the distribution has it.
    detail: Option<i64>,
}

impl Share {
    /// One block: the index of its first element, and the map.
    fn block(&self, map: &TypeMap, stride: i64) -> Result<(i64, TypeMap), TooLarge> {
        let whole = (self.size / self.processes) + i64::from(self.size % self.processes != 0);
        let length = self.detail.map_or(whole, |detail| detail.max(0));
        let first = length.checked_mul(self.coordinate).ok_or(TooLarge)?;
        let length = length.min(self.size - first).max(0);
        Ok((if length == 0 { 0 } else { first }, map.repeated(length as u64, stride)?))
    }

    /// Every n-th block, the last of which may be shorter.
    fn cyclic(&self, map: &TypeMap, stride: i64) -> Result<(i64, TypeMap), TooLarge> {
        let length = self.detail.map_or(1, |detail| detail.max(1));
        let first = length.checked_mul(self.coordinate).ok_or(TooLarge)?;
        let cycle = length.checked_mul(self.processes).ok_or(TooLarge)?;
        let rest = self.size - first;
        if rest <= 0 {
            return Ok((0, TypeMap::default()));
        }
        let (full, last) = (rest / cycle, (rest % cycle).min(length));
        let (full, last) = if last == length { (full + 1, 0) } else { (full, last) };
        let step = cycle.checked_mul(stride).ok_or(TooLarge)?;
        let mut made = map.repeated(length as u64, stride)?.repeated(full as u64, step)?;
        if last > 0 {
            made.append(&map.repeated(last as u64, stride)?, step.checked_mul(full).ok_or(TooLarge)?)?;
        }
        Ok((first, made))
    }
}
