//! What MPICH's handles mean, in made-up memory of the shape of a shipped layout.

use layouts::{Layouts, Profile};
use made_up::rng::Rng;
use model::{Handle, HandleKind, HandleState};
use readers::mpich::MpichProcess;
use readers::mpich::handle_value::{HandleValue, ObjectKind, Place};
use readers::mpich::handles::HandleReader;
use readers::mpich::library::Library;
use readers::mpich::pool_layout::HeadLayout;
use readers::mpich::pools::Pools;
use readers::{Depth, HandleSource};
use serde_json::{Value, json};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, Image, PointerWidth, Range, TargetAbi};

const LAYOUT: &str = include_str!("../../../../layouts/mpich-4.0-ch4-ucx.json");

/// With what every object begins.
const HEADER: &str = "MPIR_Handle_common";
const ABI: TargetAbi = TargetAbi { byte_order: ByteOrder::Little, pointer_width: PointerWidth::Eight };

/// The library's file, its variables, and what it has allocated.
const IMAGE: u64 = 0x7000_0000;
const DATA: u64 = 0x7010_0000;
const HEAP: u64 = 0x5000_0000;
/// Objects of each kind in the library's variables.
const DIRECT: usize = 16;
/// So many of them are in use.
const USED: usize = 10;
/// The first datatype that is none of the predefined pairs.
const FIRST: usize = 5;

const KINDS: &[ObjectKind] = &[
    ObjectKind::Comm,
    ObjectKind::Group,
    ObjectKind::Datatype,
    ObjectKind::Errhandler,
    ObjectKind::Op,
    ObjectKind::Info,
    ObjectKind::Win,
    ObjectKind::Keyval,
    ObjectKind::Attr,
    ObjectKind::Request,
];

/// A process under construction. Every kind has a pool of objects, the first of which are in use.
struct Made {
    profile: Value,
    data: Vec<u8>,
    heap: Vec<u8>,
    heap_end: usize,
}

impl Made {
    fn new() -> Self {
        let profile: Value = serde_json::from_str(LAYOUT).unwrap();
        let mut made = Self { profile, data: vec![0; 0x60_000], heap: vec![0; 0x4000], heap_end: 0x100 };
        let layout = HeadLayout::all(ABI)[1];
        for (index, kind) in KINDS.iter().enumerate() {
            let (head, size) = (0x100 + index * 0x80, made.size(kind.type_name()));
            let direct = made.place(*kind, 0) - DATA;
            let mut word = |at: usize, size: usize, value: u64| {
                made.data[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            };
            word(head + layout.initialized, 4, 1);
            word(head + layout.kind, 4, *kind as u64);
            word(head + layout.size, 4, size as u64);
            word(head + layout.direct, 8, DATA + direct);
            word(head + layout.direct_size, 4, DIRECT as u64);
            word(head + layout.num_allocated.unwrap(), 4, DIRECT as u64);
            word(head + layout.num_avail.unwrap(), 4, (DIRECT - USED) as u64);
            word(head + layout.avail, 8, made_place(*kind, USED, size));
            for object in 0..DIRECT {
                let at = made.place(*kind, object);
                made.set(at, HEADER, "handle", u64::from(value(*kind, object).0));
                made.set(at, HEADER, "ref_count", u64::from(object < USED));
                if object >= USED {
                    let next = if object == DIRECT - 1 { 0 } else { made.place(*kind, object + 1) };
                    made.set(at, "MPIR_Handle_common", "next", next);
                }
            }
        }
        for index in 0..3 {
            let at = made.builtin(ObjectKind::Comm, index);
            made.set(at, HEADER, "handle", 0x4400_0000 + index as u64);
            made.set(at, HEADER, "ref_count", 1);
            made.set(at, "MPIR_Comm", "local_size", if index == 1 { 1 } else { 4 });
            made.set(at, "MPIR_Comm", "rank", if index == 1 { 0 } else { 2 });
            made.set(at, "MPIR_Comm", "recvcontext_id", index as u64 * 4);
            let name = ["MPI_COMM_WORLD", "MPI_COMM_SELF", "icomm"][index];
            made.text(at, "MPIR_Comm", "name", name);
        }
        for (index, (handle, name)) in
            [(0x4c00_0101, "MPI_CHAR"), (0x4c00_0102, "MPI_UNSIGNED_CHAR"), (0x4c00_0203, "MPI_SHORT")]
                .into_iter()
                .chain([(0x4c00_0204, "MPI_UNSIGNED_SHORT"), (0x4c00_0405, "MPI_INT"), (0x4c00_0406, "MPI_UNSIGNED")])
                .chain([(0x4c00_0807, "MPI_LONG"), (0x4c00_0808, "MPI_UNSIGNED_LONG")])
                .enumerate()
        {
            let at = made.builtin(ObjectKind::Datatype, index + 1);
            let size = u64::from((handle as u32) >> 8 & 0xff);
            made.set(at, HEADER, "handle", handle);
            made.text(at, "MPIR_Datatype", "name", name);
            for field in ["size", "ub", "true_ub"] {
                made.set(at, "MPIR_Datatype", field, size);
            }
        }
        made
    }

    fn size(&self, type_name: &str) -> usize {
        self.profile["types"][type_name]["size"].as_u64().unwrap() as usize
    }

    fn place(&self, kind: ObjectKind, index: usize) -> u64 {
        made_place(kind, index, self.size(kind.type_name()))
    }

    fn builtin(&self, kind: ObjectKind, index: usize) -> u64 {
        DATA + 0x50_000 + (kind as u64) * 0x1000 + (index * self.size(kind.type_name())) as u64
    }

    fn bytes(&mut self, at: u64) -> &mut [u8] {
        if at >= DATA { &mut self.data[(at - DATA) as usize..] } else { &mut self.heap[(at - HEAP) as usize..] }
    }

    fn set(&mut self, at: u64, type_name: &str, field: &str, value: u64) {
        let field = self.profile["types"][type_name]["fields"][field].clone();
        let (offset, size) = (field["offset"].as_u64().unwrap(), field["size"].as_u64().unwrap() as usize);
        self.bytes(at + offset)[..size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    fn text(&mut self, at: u64, type_name: &str, field: &str, text: &str) {
        let offset = self.profile["types"][type_name]["fields"][field]["offset"].as_u64().unwrap();
        self.bytes(at + offset)[..text.len()].copy_from_slice(text.as_bytes());
    }

    fn constant(&self, name: &str) -> i64 {
        self.profile["constants"][name].as_i64().unwrap()
    }

    /// Bytes on the heap.
    fn allocate(&mut self, bytes: &[u8]) -> u64 {
        let at = self.heap_end;
        self.heap[at..at + bytes.len()].copy_from_slice(bytes);
        self.heap_end = (at + bytes.len() + 16).next_multiple_of(16);
        HEAP + at as u64
    }

    /// What is kept of a call that made the datatype with this number, each array where alignment to 16 bytes puts it.
    fn contents(&mut self, index: usize, combiner: &str, types: &[u32], ints: &[i32], aints: &[i64]) -> u64 {
        let mut bytes = vec![0; 48];
        let mut put = |at: usize, value: i64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        put(0, self.constant(combiner));
        put(8, ints.len() as i64);
        put(16, aints.len() as i64);
        put(32, types.len() as i64);
        bytes.extend(types.iter().flat_map(|value| value.to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes.extend(ints.iter().flat_map(|value| value.to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(16), 0);
        bytes.extend(aints.iter().flat_map(|value| value.to_le_bytes()));
        let at = self.allocate(&bytes);
        let object = self.place(ObjectKind::Datatype, index);
        self.set(object, "MPIR_Datatype", "contents", at);
        at
    }

    fn bounds(&mut self, index: usize, size: u64, extent: u64) {
        let at = self.place(ObjectKind::Datatype, index);
        for (field, value) in [("size", size), ("ub", extent), ("true_ub", extent)] {
            self.set(at, "MPIR_Datatype", field, value);
        }
    }

    fn ask<R>(self, act: impl FnOnce(&HandleReader<'_>) -> R) -> R {
        let range = Range { start: TargetAddr::new(DATA), len: self.data.len() as u64 };
        let mut target = MockTarget::new(ABI);
        target.add_image(Image {
            path: "/lib/libmpi.so.12".to_owned(),
            bias: TargetAddr::new(IMAGE),
            build_id: None,
            is_executable: false,
        });
        target.add_segment(TargetAddr::new(DATA), self.data);
        target.add_segment(TargetAddr::new(HEAP), self.heap);
        let pools = Pools::find(&target, &[range]).unwrap();
        let library = Library {
            implementation: "MPICH".to_owned(),
            version: Some("4.0.2".to_owned()),
            device: Some("ch4:ucx".to_owned()),
            ..Library::default()
        };
        let process = MpichProcess { library, pools, abi: false };
        let layouts = Layouts::new(vec![Box::new(Profile::from_json(LAYOUT).unwrap())]);
        act(&HandleReader::new(&target, &layouts, &process).unwrap())
    }
}

fn made_place(kind: ObjectKind, index: usize, size: usize) -> u64 {
    DATA + 0x1000 + (kind as u64) * 0x4000 + (index * size) as u64
}

fn value(kind: ObjectKind, index: usize) -> HandleValue {
    HandleValue(HandleValue::first(Place::Direct, kind).0 | index as u32)
}

fn of(kind: HandleKind, object: ObjectKind, index: usize) -> impl Fn(&HandleReader<'_>) -> Handle {
    move |reader| reader.describe(kind, u64::from(value(object, index).0), Depth::Full)
}

#[test]
fn named_handles_have_their_names() {
    Made::new().ask(|reader| {
        let name = |kind, raw| reader.describe(kind, raw, Depth::Short);
        for (kind, raw, expected) in [
            (HandleKind::Comm, 0x0400_0000, "MPI_COMM_NULL"),
            (HandleKind::Group, 0x0800_0000, "MPI_GROUP_NULL"),
            (HandleKind::Message, 0x2c00_0000, "MPI_MESSAGE_NULL"),
            (HandleKind::Request, 0x2c00_0000, "MPI_REQUEST_NULL"),
            (HandleKind::File, 0, "MPI_FILE_NULL"),
            (HandleKind::Win, 0x2000_0000, "MPI_WIN_NULL"),
        ] {
            let handle = name(kind, raw);
            assert_eq!((handle.state, handle.summary.as_str()), (HandleState::Null, expected));
        }
        for (kind, raw, expected) in [
            (HandleKind::Op, 0x5800_0003, "MPI_SUM"),
            (HandleKind::Errhandler, 0x5400_0001, "MPI_ERRORS_RETURN"),
            (HandleKind::Errhandler, 0x5400_0003, "MPI_ERRORS_ABORT"),
            (HandleKind::Group, 0x4800_0000, "MPI_GROUP_EMPTY"),
            (HandleKind::Datatype, 0x4c00_0405, "MPI_INT"),
            // One of which this made-up library has no object.
            (HandleKind::Datatype, 0x4c00_080b, "MPI_DOUBLE"),
            (HandleKind::Comm, 0x4400_0001, "MPI_COMM_SELF, rank 0 of 1"),
        ] {
            let handle = name(kind, raw);
            assert_eq!((handle.state, handle.summary.as_str()), (HandleState::Live, expected));
            assert_eq!((handle.predefined, handle.fortran), (Some(true), Some(raw as i64)));
        }
        // Widened with its sign, as a debugger may have it.
        let handle = name(HandleKind::Comm, 0xffff_ffff_8400_0000);
        assert_eq!(handle.state, HandleState::Live, "{}", handle.summary);
        assert_eq!(handle.fortran, Some(i64::from(0x8400_0000_u32 as i32)));
    });
}

#[test]
fn what_is_no_handle_says_why() {
    Made::new().ask(|reader| {
        let told = |kind, raw: u64| {
            let handle = reader.describe(kind, raw, Depth::Full);
            (handle.state, handle.summary)
        };
        for (kind, raw, state, words) in [
            (HandleKind::Comm, 0x8c00_0001, HandleState::Invalid, "0x8c000001 is MPI_DOUBLE_INT"),
            (HandleKind::Comm, 0, HandleState::Invalid, "is not an MPICH handle"),
            (HandleKind::Comm, 0x8400_0010, HandleState::Invalid, "has no communicator with the handle"),
            (HandleKind::Comm, 0xc400_0000, HandleState::Invalid, "has no communicator with the handle"),
            (HandleKind::Comm, 0x7f00_1234_5678, HandleState::Invalid, "more than the 32 bits"),
            (HandleKind::Comm, 0x8400_000b, HandleState::Freed, "among the library's free objects"),
            (HandleKind::Session, 0xb800_0000, HandleState::Invalid, "has made no session yet"),
            (HandleKind::File, 0x10, HandleState::Invalid, "is not an address"),
            (HandleKind::File, HEAP, HandleState::Invalid, "no open file of ROMIO"),
        ] {
            let (found, summary) = told(kind, raw);
            assert_eq!(found, state, "{summary}");
            assert!(summary.contains(words), "{summary}");
        }
    });
}

#[test]
fn an_object_without_references_is_freed() {
    let mut made = Made::new();
    let at = made.place(ObjectKind::Op, 2);
    made.set(at, HEADER, "ref_count", 0);
    let handle = made.ask(of(HandleKind::Op, ObjectKind::Op, 2));
    assert_eq!((handle.state, handle.freed), (HandleState::Freed, Some(true)));
}

#[test]
fn communicators_with_a_damaged_size_are_unknown() {
    let mut made = Made::new();
    let at = made.place(ObjectKind::Comm, 1);
    made.set(at, "MPIR_Comm", "local_size", u64::MAX);
    let handle = made.ask(of(HandleKind::Comm, ObjectKind::Comm, 1));
    assert_eq!(handle.state, HandleState::Unknown);
    assert!(handle.detail.unwrap().contains("processes"));
}

#[test]
fn a_vector_is_told_with_its_call_and_map() {
    let mut made = Made::new();
    made.contents(FIRST, "MPI_COMBINER_VECTOR", &[0x4c00_0405], &[3, 2, 5], &[]);
    made.bounds(FIRST, 24, 48);
    let handle = made.ask(of(HandleKind::Datatype, ObjectKind::Datatype, FIRST));
    assert_eq!(handle.summary, "MPI_Type_vector(3, 2, 5, MPI_INT), 24 bytes in 48, not committed");
    assert_eq!(handle.facts["call"], "MPI_Type_vector");
    assert_eq!(handle.facts["integers"], json!([3, 2, 5]));
    assert_eq!(handle.facts["datatypes"][0]["handle"], "0x4c000405");
    assert_eq!(handle.facts["type_map"][2], json!({ "datatype": "MPI_INT", "offset": 40, "count": 2 }));
    assert_eq!(handle.facts["holes"], json!([{ "offset": 8, "length": 12 }, { "offset": 28, "length": 12 }]));
    assert!(handle.problems.is_empty(), "{:?}", handle.problems);
}

#[test]
fn structures_of_other_datatypes_are_followed() {
    let mut made = Made::new();
    made.contents(FIRST, "MPI_COMBINER_CONTIGUOUS", &[0x4c00_0807], &[2], &[]);
    made.bounds(FIRST, 16, 16);
    let inner = value(ObjectKind::Datatype, FIRST).0;
    made.contents(FIRST + 1, "MPI_COMBINER_STRUCT", &[0x4c00_0101, inner], &[2, 1, 3], &[0, 8]);
    made.bounds(FIRST + 1, 49, 56);
    let handle = made.ask(of(HandleKind::Datatype, ObjectKind::Datatype, FIRST + 1));
    assert_eq!(handle.facts["arguments"]["array_of_displacements"], json!([0, 8]), "{handle:?}");
    assert_eq!(handle.facts["type_map"][1], json!({ "datatype": "MPI_LONG", "offset": 8, "count": 6 }));
}

#[test]
fn arrays_have_mpichs_numbers_for_their_order() {
    let mut made = Made::new();
    // Two dimensions of 4 and 6, of which rows 1 and 2, columns 2 to 4; in C's order (56).
    made.contents(FIRST, "MPI_COMBINER_SUBARRAY", &[0x4c00_0405], &[2, 4, 6, 2, 3, 1, 2, 56], &[]);
    made.bounds(FIRST, 24, 96);
    let handle = made.ask(of(HandleKind::Datatype, ObjectKind::Datatype, FIRST));
    assert_eq!(handle.facts["arguments"]["order"], "MPI_ORDER_C");
    let runs = json!([
        { "datatype": "MPI_INT", "offset": 32, "count": 3 },
        { "datatype": "MPI_INT", "offset": 56, "count": 3 },
    ]);
    assert_eq!(handle.facts["type_map"], runs);
}

#[test]
fn damaged_arguments_are_not_guessed() {
    let mut made = Made::new();
    let own = value(ObjectKind::Datatype, FIRST).0;
    made.contents(FIRST, "MPI_COMBINER_CONTIGUOUS", &[own], &[2], &[]);
    made.contents(FIRST + 1, "MPI_COMBINER_VECTOR", &[0x4c00_0405], &[3, 2], &[]);
    made.contents(FIRST + 2, "MPI_COMBINER_DUP", &[0x8c00_000b], &[], &[]);
    let at = made.contents(FIRST + 3, "MPI_COMBINER_DUP", &[0x4c00_0405], &[], &[]);
    made.bytes(at + 8)[..8].copy_from_slice(&i64::MAX.to_le_bytes());
    made.ask(|reader| {
        for (index, words) in [(1, "do not fit"), (2, "name datatypes that do not exist"), (3, "lengths")] {
            let handle = of(HandleKind::Datatype, ObjectKind::Datatype, FIRST + index)(reader);
            let reason = handle.unknown["call"].as_str().unwrap();
            assert!(handle.facts["call"].is_null() && reason.contains(words), "{reason}");
        }
        let circle = of(HandleKind::Datatype, ObjectKind::Datatype, FIRST)(reader);
        assert!(circle.unknown["type_map"].as_str().unwrap().contains("made of itself"), "{circle:?}");
    });
}

#[test]
fn info_objects_of_lists_are_walked_to_their_end() {
    let mut made = Made::new();
    let places: Vec<u64> = (0..4).map(|index| made.place(ObjectKind::Info, index)).collect();
    for (index, text) in [(1, "one\0"), (2, "two\0")] {
        let at = made.allocate(text.as_bytes());
        made.set(places[index], "MPIR_Info", "key", at);
        made.set(places[index], "MPIR_Info", "value", at);
        made.set(places[index - 1], "MPIR_Info", "next", places[index]);
    }
    made.set(places[3], "MPIR_Info", "next", places[3]);
    made.ask(|reader| {
        let handle = of(HandleKind::Info, ObjectKind::Info, 0)(reader);
        assert_eq!(handle.summary, "info with 2 keys");
        assert_eq!(handle.facts["entries"][1], json!({ "key": "two", "value": "two" }));
        let circle = of(HandleKind::Info, ObjectKind::Info, 3)(reader);
        assert_eq!(circle.state, HandleState::Unknown);
        assert!(circle.detail.unwrap().contains("circle"));
    });
}

#[test]
fn operators_and_error_handlers_of_the_application() {
    let mut made = Made::new();
    let (op, handler) = (made.place(ObjectKind::Op, 0), made.place(ObjectKind::Errhandler, 0));
    let kind = made.constant("MPIR_OP_KIND__USER_NONCOMMUTE") as u64;
    made.set(op, "MPIR_Op", "kind", kind);
    made.set(op, "MPIR_Op", "function", 0x40_1000);
    made.set(handler, "MPIR_Errhandler", "kind", ObjectKind::Win as u64);
    made.set(handler, "MPIR_Errhandler", "errfn", 0x40_2000);
    let broken = made.place(ObjectKind::Errhandler, 1);
    made.set(broken, "MPIR_Errhandler", "kind", 77);
    let world = made.builtin(ObjectKind::Comm, 0);
    made.set(world, "MPIR_Comm", "errhandler", handler);
    made.ask(|reader| {
        let handle = of(HandleKind::Op, ObjectKind::Op, 0)(reader);
        assert_eq!(handle.summary, "operator 0x401000 in C, not commutative");
        let handle = of(HandleKind::Errhandler, ObjectKind::Errhandler, 0)(reader);
        assert_eq!((handle.facts["object"].as_str(), handle.facts["language"].as_str()), (Some("window"), Some("C")));
        assert_eq!(handle.facts["attached_to"][0]["summary"], "MPI_COMM_WORLD, rank 2 of 4");
        let handle = of(HandleKind::Errhandler, ObjectKind::Errhandler, 1)(reader);
        assert_eq!(handle.state, HandleState::Unknown);
        let world = reader.describe(HandleKind::Comm, 0x4400_0000, Depth::Full);
        assert_eq!(world.facts["errhandler"]["handle"], "0x94000000");
    });
}

#[test]
fn topologies_are_attributes_of_the_library() {
    let mut made = Made::new();
    let comm = made.place(ObjectKind::Comm, 0);
    made.set(comm, "MPIR_Comm", "local_size", 6);
    let numbers = |values: &[i32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let (dims, periods) = (made.allocate(&numbers(&[3, 2])), made.allocate(&numbers(&[1, 0])));
    let coords = made.allocate(&numbers(&[2, 1]));
    let topology = made.allocate(&[0; 64]);
    let cartesian = made.constant("MPI_CART") as u64;
    for (field, value) in [
        ("kind", cartesian),
        ("topo.cart.ndims", 2),
        ("topo.cart.dims", dims),
        ("topo.cart.periodic", periods),
        ("topo.cart.position", coords),
    ] {
        made.set(topology, "MPIR_Topology", field, value);
    }
    // The library's own keyval, and one of the application.
    for (index, (function, stored)) in [(IMAGE + 0x100, topology), (0x40_1000, 0xabcd)].into_iter().enumerate() {
        let (keyval, attribute) = (made.place(ObjectKind::Keyval, index), made.place(ObjectKind::Attr, index));
        made.set(keyval, "MPII_Keyval", "delfn.user_function", function);
        made.set(attribute, "MPIR_Attribute", "keyval", keyval);
        made.set(attribute, "MPIR_Attribute", "value", stored);
        let next = if index == 0 { made.place(ObjectKind::Attr, 1) } else { 0 };
        made.set(attribute, "MPIR_Attribute", "next", next);
    }
    let first = made.place(ObjectKind::Attr, 0);
    made.set(comm, "MPIR_Comm", "attributes", first);
    let handle = made.ask(of(HandleKind::Comm, ObjectKind::Comm, 0));
    let topology = &handle.facts["topology"];
    assert_eq!((&topology["dims"], &topology["coords"]), (&json!([3, 2]), &json!([2, 1])), "{handle:?}");
    assert_eq!(topology["periods"], json!([true, false]));
    let attributes = handle.facts["attributes"].as_array().unwrap();
    assert_eq!(attributes.len(), 1);
    assert_eq!(attributes[0]["value"], "0xabcd");
}

#[test]
fn statuses_have_mpichs_members() {
    let bytes = |numbers: [u32; 5]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    Made::new().ask(|reader| {
        let handle = reader.describe_status(&bytes([40, 2, 3, 17, 0]));
        assert_eq!(handle.summary, "from 3, tag 17, 4294967336 bytes");
        assert_eq!(reader.describe_status(&bytes([0, 1, 3, 17, 0])).facts["cancelled"], true);
        let truncated = reader.describe_status(&bytes([4, 0, 3, 17, 14]));
        assert_eq!(truncated.summary, "from 3, tag 17, 4 bytes, MPI_ERR_TRUNCATE");
        let garbage = reader.describe_status(&bytes([4, 0, -77_i32 as u32, 17, 0]));
        assert_eq!(garbage.state, HandleState::Invalid);
        assert_eq!(reader.describe_status(&[0; 19]).state, HandleState::Unknown);
        assert_eq!(reader.describe(HandleKind::Status, 1, Depth::Full).summary, "MPI_STATUS_IGNORE");
        assert_eq!(reader.describe(HandleKind::Status, 0x10, Depth::Full).state, HandleState::Unknown);
    });
}

#[test]
fn lists_have_what_is_in_use_and_what_is_predefined() {
    Made::new().ask(|reader| {
        let names = |kind| -> Vec<String> {
            let list = reader.list(kind);
            list.handles.into_iter().filter_map(|handle| handle.handle).collect()
        };
        // The library's own copy of MPI_COMM_WORLD is none of the application's.
        let comms = names(HandleKind::Comm);
        assert_eq!(comms.len(), 2 + USED, "{comms:?}");
        assert!(comms.contains(&"0x84000009".to_owned()) && !comms.contains(&"0x8400000a".to_owned()));
        assert!(names(HandleKind::Op).contains(&"0x58000003".to_owned()));
        assert!(reader.list(HandleKind::Comm).complete);
        let sessions = reader.list(HandleKind::Session);
        assert!(!sessions.complete && sessions.detail.unwrap().contains("pool of sessions was not found"));
        assert!(!reader.list(HandleKind::File).complete);
    });
}

#[test]
fn damage_anywhere_ends_in_words() {
    let mut rng = Rng::new(4_711);
    for _ in 0..60 {
        let mut made = Made::new();
        made.contents(FIRST, "MPI_COMBINER_VECTOR", &[0x4c00_0405], &[3, 2, 5], &[]);
        for _ in 0..400 {
            let (at, bits) = (rng.below(0x50_000) as usize, rng.below(256) as u8);
            // The heads of the pools and the handles that tell them stay: without them there is no MPICH.
            if at > 0x1000 && at % 8 >= 4 {
                made.data[at] ^= bits;
            }
        }
        made.ask(|reader| {
            for kind in HandleKind::all() {
                for handle in reader.list(kind).handles {
                    assert!(!handle.summary.is_empty(), "{handle:?}");
                    assert!(handle.state == HandleState::Live || handle.detail.is_some(), "{handle:?}");
                }
            }
        });
    }
}
