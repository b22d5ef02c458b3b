//! Type maps against an expansion element by element, and datatypes that cannot be.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use made_up::share::words;
use model::{Handle, HandleKind};
use serde_json::Value;
use target::address::TargetAddr;

use super::rng::Rng;
use super::support::Objects;

const TYPE: &str = "ompi_datatype_t";
const ARGS: &str = "ompi_datatype_args_t";

/// A datatype and what it is by the standard's definition.
#[derive(Clone)]
struct Made {
    at: TargetAddr,
    /// The predefined datatypes with their offsets, in order.
    elements: Vec<(&'static str, i64)>,
    lb: i64,
    ub: i64,
}

impl Made {
    fn extent(&self) -> i64 {
        self.ub - self.lb
    }
}

/// A process with datatypes.
struct Datatypes {
    objects: Objects,
    leaves: HashMap<&'static str, i64>,
}

impl Datatypes {
    fn new(profile: &str) -> Self {
        let mut objects = Objects::with_room(profile, 1 << 20);
        objects.table("ompi_datatype_f_to_c_table", &[], TYPE, "d_f_to_c_index");
        Self { objects, leaves: HashMap::new() }
    }

    /// An object with these numbers; the caller sets the arguments.
    fn object(&mut self, size: i64, true_bounds: (i64, i64), bounds: (i64, i64), flags: &str) -> TargetAddr {
        let at = self.objects.object(TYPE);
        let numbers = [
            ("d_f_to_c_index", -1),
            ("super.size", size),
            ("super.true_lb", true_bounds.0),
            ("super.true_ub", true_bounds.1),
            ("super.lb", bounds.0),
            ("super.ub", bounds.1),
            ("super.align", 1),
            ("super.flags", self.objects.constant(flags) as i64),
        ];
        for (field, value) in numbers {
            self.objects.set(at, TYPE, field, value as u64);
        }
        at
    }

    fn leaf(&mut self, name: &'static str, size: i64) -> Made {
        let at = self.object(size, (0, size), (0, size), "OMPI_DATATYPE_FLAG_PREDEFINED");
        self.objects.set_text(at, TYPE, "name", name);
        self.leaves.insert(name, size);
        Made { at, elements: vec![(name, 0)], lb: 0, ub: size }
    }

    fn array(&mut self, values: &[i64], size: usize) -> u64 {
        if values.is_empty() {
            return 0;
        }
        let at = self.objects.alloc(values.len() * size);
        for (index, value) in values.iter().enumerate() {
            self.objects.put(at.wrapping_add((index * size) as u64), &value.to_le_bytes()[..size]);
        }
        at.get()
    }

    fn set_args(&mut self, at: TargetAddr, combiner: &str, integers: &[i64], addresses: &[i64], types: &[TargetAddr]) {
        let args = self.objects.structure(ARGS);
        let types: Vec<i64> = types.iter().map(|at| at.get() as i64).collect();
        let numbers = [
            ("create_type", self.objects.constant(combiner)),
            ("ci", integers.len() as u64),
            ("ca", addresses.len() as u64),
            ("cd", types.len() as u64),
            ("i", self.array(integers, 4)),
            ("a", self.array(addresses, 8)),
            ("d", self.array(&types, 8)),
        ];
        for (field, value) in numbers {
            self.objects.set(args, ARGS, field, value);
        }
        self.objects.set(at, TYPE, "args", args.get());
    }

    /// A datatype of `parts`: each is moved by its number of bytes.
    fn made(&mut self, parts: &[(&Made, i64)], bounds: Option<(i64, i64)>) -> Made {
        let mut elements = Vec::new();
        for (part, shift) in parts {
            elements.extend(part.elements.iter().map(|(name, offset)| (*name, offset + shift)));
        }
        let low = parts.iter().map(|(part, shift)| part.lb + shift).min().unwrap_or(0);
        let high = parts.iter().map(|(part, shift)| part.ub + shift).max().unwrap_or(0);
        let (lb, ub) = bounds.unwrap_or((low, high));
        let size = elements.iter().map(|(name, _)| self.leaves[name]).sum();
        let true_lb = elements.iter().map(|element| element.1).min().unwrap_or(0);
        let true_ub = elements.iter().map(|(name, at)| at + self.leaves[name]).max().unwrap_or(0);
        // Where the application set bounds, the library marks the datatype, and all that are made of it; the maker of
        // this test does so for all.
        let at = self.object(size, (true_lb, true_ub), (lb, ub), "OPAL_DATATYPE_FLAG_USER_UB");
        Made { at, elements, lb, ub }
    }

    fn describe(&self, at: TargetAddr) -> Handle {
        let start = Instant::now();
        let handle = self.objects.describe(HandleKind::Datatype, at);
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        handle
    }
}

/// A call that makes a datatype, and of what it consists by the standard's definition.
struct Call {
    combiner: &'static str,
    integers: Vec<i64>,
    addresses: Vec<i64>,
    types: Vec<Made>,
    /// Each moved by so many bytes.
    parts: Vec<(Made, i64)>,
    bounds: Option<(i64, i64)>,
}

/// A random call on the datatypes that there are.
fn random(known: &[Made], rng: &mut Rng) -> Call {
    let pick = |rng: &mut Rng| known[rng.below(known.len() as u64) as usize].clone();
    let (old, n) = (pick(rng), 1 + rng.below(4) as i64);
    let extent = old.extent();
    let lengths: Vec<i64> = (0..n).map(|_| rng.below(4) as i64).collect();
    let places: Vec<i64> = (0..n).map(|_| rng.below(12) as i64 - 4).collect();
    let bytes: Vec<i64> = (0..n).map(|_| rng.below(90) as i64 - 30).collect();
    let length = lengths[0];
    // Elements one after the other from each start.
    let blocks = |starts: &[i64], length: &dyn Fn(usize) -> i64| -> Vec<(Made, i64)> {
        let block = |(i, at): (usize, &i64)| (0..length(i)).map(|k| (old.clone(), at + k * extent)).collect::<Vec<_>>();
        starts.iter().enumerate().flat_map(block).collect()
    };
    let in_bytes: Vec<i64> = places.iter().map(|place| place * extent).collect();
    let steps = |step: i64| (0..n).map(|i| i * step).collect::<Vec<_>>();
    let types = vec![old.clone()];
    let call = |combiner, integers: Vec<i64>, addresses: &[i64], parts| Call {
        combiner,
        integers,
        addresses: addresses.to_vec(),
        types: types.clone(),
        parts,
        bounds: None,
    };
    match rng.below(12) {
        0 => Call { bounds: Some((old.lb, old.ub)), ..call("DUP", vec![], &[], blocks(&[0], &|_| 1)) },
        1 => call("CONTIGUOUS", vec![n], &[], blocks(&[0], &|_| n)),
        2 => call("VECTOR", vec![n, length, places[0]], &[], blocks(&steps(places[0] * extent), &|_| length)),
        3 => call("HVECTOR", vec![n, length], &bytes[..1], blocks(&steps(bytes[0]), &|_| length)),
        4 => call("INDEXED", [&[n][..], &lengths, &places].concat(), &[], blocks(&in_bytes, &|i| lengths[i])),
        5 => call("HINDEXED", [&[n][..], &lengths].concat(), &bytes, blocks(&bytes, &|i| lengths[i])),
        6 => call("INDEXED_BLOCK", [&[n, length][..], &places].concat(), &[], blocks(&in_bytes, &|_| length)),
        7 => call("HINDEXED_BLOCK", vec![n, length], &bytes, blocks(&bytes, &|_| length)),
        8 => {
            let types: Vec<Made> = (0..n).map(|_| pick(rng)).collect();
            let mut parts = Vec::new();
            for ((length, at), part) in lengths.iter().zip(&bytes).zip(&types) {
                parts.extend((0..*length).map(|k| (part.clone(), at + k * part.extent())));
            }
            Call { types, ..call("STRUCT", [&[n][..], &lengths].concat(), &bytes, parts) }
        }
        9 => {
            let (lb, extent) = (bytes[0], rng.below(200) as i64 - 20);
            Call { bounds: Some((lb, lb + extent)), ..call("RESIZED", vec![], &[lb, extent], blocks(&[0], &|_| 1)) }
        }
        kind => array(kind == 10, old, rng),
    }
}

/// A part of an array: each element is asked whether it belongs to it.
fn array(sub: bool, old: Made, rng: &mut Rng) -> Call {
    let dimensions = 1 + rng.below(3) as usize;
    let fortran = rng.chance(50);
    let sizes: Vec<i64> = (0..dimensions).map(|_| 1 + rng.below(6) as i64).collect();
    let total: i64 = sizes.iter().product();
    let order = i64::from(fortran);
    let mut integers;
    // Of each dimension, which indices belong to the part.
    let mut ours: Vec<Vec<bool>> = Vec::new();
    if sub {
        let parts: Vec<i64> = sizes.iter().map(|size| 1 + rng.below(*size as u64) as i64).collect();
        let starts: Vec<i64> =
            sizes.iter().zip(&parts).map(|(size, part)| rng.below((size - part + 1) as u64) as i64).collect();
        for (size, (part, start)) in sizes.iter().zip(parts.iter().zip(&starts)) {
            ours.push((0..*size).map(|at| at >= *start && at < start + part).collect());
        }
        integers = [&[dimensions as i64][..], &sizes, &parts, &starts, &[order]].concat();
    } else {
        let mut kinds: Vec<i64> = (0..dimensions).map(|_| rng.below(3) as i64).collect();
        // A dimension that is not distributed belongs to one process.
        let grid: Vec<i64> = kinds.iter().map(|kind| if *kind == 2 { 1 } else { 1 + rng.below(3) as i64 }).collect();
        let count: i64 = grid.iter().product();
        let rank = rng.below(count as u64) as i64;
        let (mut details, mut left, mut rest) = (Vec::new(), count, rank);
        for (dimension, (size, processes)) in sizes.iter().zip(&grid).enumerate() {
            left /= processes;
            let (own, least) = (rest / left, (size + processes - 1) / processes);
            rest %= left;
            let given = rng.chance(50);
            let detail = match (kinds[dimension], given) {
                (0, true) => least + rng.below(2) as i64,
                (1, true) => 1 + rng.below(3) as i64,
                _ => -1,
            };
            let block = match (kinds[dimension], detail) {
                (0, -1) => least,
                (1, -1) => 1,
                (2, _) => *size,
                _ => detail,
            };
            ours.push((0..*size).map(|at| at / block % processes == own).collect());
            details.push(detail);
        }
        integers = vec![count, rank, dimensions as i64];
        for numbers in [&sizes, &mut kinds, &mut details, &mut grid.clone()] {
            integers.extend(numbers.iter());
        }
        integers.push(order);
    }
    let mut parts = Vec::new();
    for position in 0..total {
        let (mut rest, mut inside) = (position, true);
        let fastest_first: Vec<usize> =
            if fortran { (0..dimensions).collect() } else { (0..dimensions).rev().collect() };
        for dimension in fastest_first {
            inside &= ours[dimension][(rest % sizes[dimension]) as usize];
            rest /= sizes[dimension];
        }
        if inside {
            parts.push((old.clone(), position * old.extent()));
        }
    }
    let bounds = Some((0, total * old.extent()));
    let combiner = if sub { "SUBARRAY" } else { "DARRAY" };
    Call { combiner, integers, addresses: Vec::new(), types: vec![old], parts, bounds }
}

/// The elements of a type map that was told.
fn told(types: &Datatypes, handle: &Handle) -> Vec<(String, i64)> {
    let mut elements = Vec::new();
    for run in handle.facts["type_map"].as_array().unwrap() {
        let name = run["datatype"].as_str().unwrap();
        for index in 0..run["count"].as_i64().unwrap() {
            elements.push((name.to_owned(), run["offset"].as_i64().unwrap() + index * types.leaves[name]));
        }
    }
    elements
}

#[test]
fn type_maps_are_those_of_an_expansion_element_by_element() {
    for (seed, profile) in (0..40).zip(["openmpi-4.1", "openmpi-5.0"].into_iter().cycle()) {
        let mut rng = Rng::new(seed);
        let mut types = Datatypes::new(profile);
        let mut known = vec![types.leaf("MPI_SHORT", 2), types.leaf("MPI_DOUBLE", 8), types.leaf("MPI_CHAR", 1)];
        while known.len() < 25 {
            let call = random(&known, &mut rng);
            if call.parts.iter().map(|(part, _)| part.elements.len()).sum::<usize>() > 300 {
                continue;
            }
            let parts: Vec<(&Made, i64)> = call.parts.iter().map(|(part, shift)| (part, *shift)).collect();
            let made = types.made(&parts, call.bounds);
            let olds: Vec<TargetAddr> = call.types.iter().map(|old| old.at).collect();
            types.set_args(made.at, &format!("MPI_COMBINER_{}", call.combiner), &call.integers, &call.addresses, &olds);
            let handle = types.describe(made.at);
            assert_eq!(handle.problems, Vec::<String>::new(), "{} {:?}", call.combiner, call.integers);
            let wanted: Vec<(String, i64)> = made.elements.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect();
            assert_eq!(told(&types, &handle), wanted, "seed {seed}: {} {:?}", call.combiner, call.integers);
            assert_holes(&types, &made, &handle);
            known.push(made);
        }
    }
}

/// Every byte inside the extent is data or a hole.
fn assert_holes(types: &Datatypes, made: &Made, handle: &Handle) {
    let mut bytes: HashMap<i64, bool> = (made.lb..made.ub).map(|at| (at, false)).collect();
    for (name, at) in &made.elements {
        for byte in *at..at + types.leaves[name] {
            bytes.entry(byte).and_modify(|data| *data = true);
        }
    }
    let mut holes = 0;
    for hole in handle.facts["holes"].as_array().unwrap() {
        let (at, length) = (hole["offset"].as_i64().unwrap(), hole["length"].as_i64().unwrap());
        holes += length;
        assert!((at..at + length).all(|byte| !bytes[&byte]), "{hole}");
    }
    assert_eq!(holes, bytes.values().filter(|data| !**data).count() as i64);
}

#[test]
fn what_a_datatype_cannot_be_is_told() {
    let mut types = Datatypes::new("openmpi-4.1");
    let int = types.leaf("MPI_INT", 4);
    let made = |types: &mut Datatypes, combiner: &str, integers: &[i64], addresses: &[i64], of: &[TargetAddr]| {
        let at = types.made(&[(&int, 0)], None).at;
        types.set_args(at, combiner, integers, addresses, of);
        at
    };
    // A datatype that is made of itself.
    let at = made(&mut types, "MPI_COMBINER_CONTIGUOUS", &[2], &[], &[int.at]);
    types.set_args(at, "MPI_COMBINER_CONTIGUOUS", &[2], &[], &[at]);
    let handle = types.describe(at);
    assert_eq!(handle.facts["type_map"], Value::Null);
    assert!(handle.unknown["type_map"].as_str().unwrap().contains("made of itself"), "{handle:?}");

    // Numbers that no memory can hold: one within the other, each the largest.
    let mut at = int.at;
    for _ in 0..5 {
        at = made(&mut types, "MPI_COMBINER_VECTOR", &[i32::MAX.into(), 1, i32::MAX.into()], &[], &[at]);
        types.objects.set(at, TYPE, "super.ub", 1 << 61);
    }
    let handle = types.describe(at);
    assert!(handle.unknown["type_map"].as_str().unwrap().contains("64 bits"), "{handle:?}");

    // Twice the same, deep: as many elements as stars, and none of them has data.
    let mut at = made(&mut types, "MPI_COMBINER_CONTIGUOUS", &[0], &[], &[int.at]);
    for _ in 0..60 {
        at = made(&mut types, "MPI_COMBINER_STRUCT", &[2, 1, 1], &[0, 0], &[at, at]);
    }
    assert_eq!(types.describe(at).facts["type_map"], Value::Array(Vec::new()));
    // Deeper than anybody nests them.
    for _ in 0..10 {
        at = made(&mut types, "MPI_COMBINER_DUP", &[], &[], &[at]);
    }
    assert!(types.describe(at).unknown["type_map"].as_str().unwrap().contains("more than 64 deep"));

    // Arguments that no call has.
    for (combiner, integers) in [("MPI_COMBINER_VECTOR", &[1, 2][..]), ("MPI_COMBINER_INDEXED", &[-3, 1, 1][..])] {
        let at = made(&mut types, combiner, integers, &[], &[int.at]);
        let handle = types.describe(at);
        assert!(handle.unknown["call"].as_str().unwrap().contains("do not fit"), "{handle:?}");
        assert!(handle.summary.contains("not known how it was made"), "{}", handle.summary);
    }
    // A part that is none.
    let table = types.objects.at_symbol("ompi_datatype_f_to_c_table");
    let at = made(&mut types, "MPI_COMBINER_DUP", &[], &[], &[table]);
    assert!(types.describe(at).unknown["type_map"].as_str().unwrap().contains("no datatype is at"));
}

#[test]
fn arrays_are_shown_where_a_line_has_room_for_them() {
    let mut types = Datatypes::new("openmpi-4.1");
    let int = types.leaf("MPI_INT", 4);
    let mut indexed = |blocks: i64, first: i64| {
        let lengths = (0..blocks).map(|_| 1);
        let integers: Vec<i64> =
            [blocks].into_iter().chain(lengths).chain((0..blocks).map(|at| first + 2 * at)).collect();
        let at = types.made(&[(&int, 0)], None).at;
        types.set_args(at, "MPI_COMBINER_INDEXED", &integers, &[], &[int.at]);
        types.describe(at).summary
    };
    let short = indexed(3, 0);
    assert!(short.contains("MPI_Type_indexed(3, {1, 1, 1}, {0, 2, 4}, MPI_INT)"), "{short}");
    // Four elements of an array are more than the line has room for.
    let long = indexed(4, 1_000_000_000);
    assert!(long.contains("MPI_Type_indexed(4, {…}, {…}, MPI_INT)"), "{long}");
}

#[test]
fn a_type_map_is_cut_and_a_wrong_one_doubted() {
    let mut types = Datatypes::new("openmpi-5.0");
    let int = types.leaf("MPI_INT", 4);
    let parts: Vec<(&Made, i64)> = (0..20_000).map(|index| (&int, 8 * index)).collect();
    let made = types.made(&parts, None);
    types.set_args(made.at, "MPI_COMBINER_VECTOR", &[20_000, 1, 2], &[], &[int.at]);
    let handle = types.describe(made.at);
    assert_eq!(handle.facts["type_map"].as_array().unwrap().len(), 10_000);
    assert!(handle.problems[0].contains("more than 10000 entries"), "{:?}", handle.problems);
    assert_eq!(handle.facts["holes"], Value::Null);
    assert!(handle.unknown.contains_key("holes"));

    let made = types.made(&[(&int, 0), (&int, 8)], None);
    types.set_args(made.at, "MPI_COMBINER_VECTOR", &[2, 1, 2], &[], &[int.at]);
    assert_eq!(types.describe(made.at).problems, Vec::<String>::new());
    for (field, what) in
        [("super.size", "size"), ("super.true_lb", "true lower bound"), ("super.true_ub", "true upper")]
    {
        let before = types.objects.get(types.objects.place(made.at, TYPE, field));
        types.objects.set(made.at, TYPE, field, 7);
        let problems = types.describe(made.at).problems;
        assert!(problems.len() == 1 && problems[0].contains(what), "{problems:?}");
        let place = types.objects.place(made.at, TYPE, field);
        types.objects.put(place, &before);
    }
}

#[test]
#[ignore = "takes long"]
fn garbage_in_any_word_of_datatypes_is_survived() {
    for profile in ["openmpi-4.1", "openmpi-5.0"] {
        let mut types = Datatypes::new(profile);
        let (int, double) = (types.leaf("MPI_INT", 4), types.leaf("MPI_DOUBLE", 8));
        let row = types.made(&[(&int, 0), (&int, 8), (&int, 16)], None);
        types.set_args(row.at, "MPI_COMBINER_VECTOR", &[3, 1, 2], &[], &[int.at]);
        let whole = types.made(&[(&row, 0), (&row, 20), (&double, 64)], None);
        types.set_args(whole.at, "MPI_COMBINER_STRUCT", &[2, 2, 1], &[0, 64], &[row.at, double.at]);
        for (number, (block, size)) in types.objects.blocks.clone().into_iter().enumerate() {
            for word in words(number, size as u64 / 4, 5) {
                let at = block.wrapping_add(4 * word);
                let before = types.objects.get(at);
                for value in [0, 1, u64::MAX, 0x7fff_ffff, 0x5a5a_5a5a_5a5a_5a5a, block.get(), whole.at.get(), 1 << 40]
                {
                    types.objects.put(at, &value.to_le_bytes());
                    let handle = types.describe(whole.at);
                    let text = serde_json::to_string(&handle).unwrap();
                    assert!(text.len() < 4_000_000 && handle.problems.len() <= 101, "{} bytes", text.len());
                    assert!(!handle.summary.is_empty() && !handle.summary.chars().any(char::is_control));
                    types.objects.put(at, &before);
                }
            }
        }
    }
}
