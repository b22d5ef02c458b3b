//! Makes the wrappers from the table of MPI's functions: one for each name under which a library may export a function
//! that is recorded, and of each what its arguments are.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{env, fs, path::Path};

use functions::{Array, Chapter, Direction, Function, HandleKind, Parameter, Reach, Started, WaitKind, wait_kind};

/// Functions that never wait and are recorded all the same: they send, move data or complete something.
const LOCAL: &[&str] = &[
    "Bsend",
    "Put",
    "Get",
    "Accumulate",
    "Get_accumulate",
    "Fetch_and_op",
    "Compare_and_swap",
    "File_read",
    "File_read_at",
    "File_write",
    "File_write_at",
    "File_delete",
    "Pready",
    "Pready_list",
    "Pready_range",
    "Cancel",
    "Comm_get_parent",
    "Comm_set_name",
    "Grequest_complete",
    "Close_port",
    "Publish_name",
    "Unpublish_name",
];

fn main() {
    let mut functions: Vec<Function> = functions::all().filter(is_recorded).collect();
    functions.sort_by_key(|one| one.name);
    let mut symbols: BTreeMap<String, Shape> = BTreeMap::new();
    let mut names = String::new();
    for (number, function) in functions.iter().enumerate() {
        let is_collective = collective(function);
        writeln!(names, "    (\"{}\", {}, {is_collective}),", function.name, object(function).1).unwrap();
        let large_name = format!("{}_c", function.name);
        let large = functions::find(&large_name);
        symbols.insert(function.name.to_owned(), shape(number, function, Language::C, false));
        if let Some(early) = early_name(function, function.name) {
            symbols.insert(early, shape(number, function, Language::C, false));
        }
        if let Some(large) = &large {
            symbols.insert(large_name, shape(number, large, Language::C, true));
        }
        let Some(fortran) = function.fortran else { continue };
        let lower = fortran.to_lowercase();
        for name in
            [format!("{lower}_"), lower.clone(), format!("{lower}__"), fortran.to_owned(), format!("{lower}_fts_")]
        {
            if let Some(early) = early_name(function, &name) {
                symbols.insert(early, shape(number, function, Language::Fortran, false));
            }
            symbols.insert(name, shape(number, function, Language::Fortran, false));
        }
        for end in ["f08_", "f08ts_"] {
            let name = format!("{lower}_{end}");
            if let Some(early) = early_name(function, &name) {
                symbols.insert(early, shape(number, function, Language::Fortran2008, false));
            }
            symbols.insert(name, shape(number, function, Language::Fortran2008, false));
        }
        if let Some(large) = &large {
            // MPICH's (src/binding/fortran/use_mpi_f08, release 4.0).
            for end in ["f08_large_", "f08ts_large_"] {
                symbols.insert(format!("{lower}_{end}"), shape(number, large, Language::Fortran2008, true));
            }
            // Those of the standard (MPI-5.0, 19.1.5), which Intel MPI has.
            for end in ["c_f08_", "c_f08ts_", "f08_c_"] {
                symbols.insert(format!("{lower}_{end}"), shape(number, large, Language::Fortran2008, true));
            }
        }
    }
    write(&symbols, &names, functions.len());
    // Its constructor runs before those of others, which may ask whether there is an MPI.
    let mut options = vec!["nodelete", "now"];
    // zig's linker does not know it: tools/build-recorder marks the library afterwards.
    if std::env::var_os("MPI_QUEUES_WITHOUT_INITFIRST").is_none() {
        options.push("initfirst");
    }
    // gcc asks for it, others do not: by it stacks through the library are read from its file.
    println!("cargo:rustc-cdylib-link-arg=-Wl,--build-id=sha1");
    for option in options {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,{option}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MPI_QUEUES_WITHOUT_INITFIRST");
}

/// Persistent collectives were an extension before MPI 4: that of Open MPI 4.1 has the same arguments (ompi/mpiext/pcollreq, v4.1.4).
fn early_name(function: &Function, name: &str) -> Option<String> {
    let is_one = function.is_persistent() && function.starts() == Some(Started::Collective);
    let (prefix, rest) = name.split_once('_').filter(|_| is_one)?;
    Some(format!("{prefix}{}_{rest}", if prefix == "mpi" { 'x' } else { 'X' }))
}

/// What the table says of a wrapper, and by which way of `arch` it goes.
struct Shape {
    row: String,
    way: &'static str,
}

fn write(symbols: &BTreeMap<String, Shape>, names: &str, functions: usize) {
    let (mut stubs, mut rows, mut text) = (String::new(), String::new(), String::new());
    let mut at = 0;
    for (index, (symbol, Shape { row, way })) in symbols.iter().enumerate() {
        writeln!(
            stubs,
            "#[unsafe(no_mangle)]\n#[unsafe(naked)]\nunsafe extern \"C\" fn {symbol}() {{\n    stub!({index}, {way})\n}}"
        )
        .unwrap();
        writeln!(rows, "    Wrapper {{ symbol: {at}, {row} }},").unwrap();
        write!(text, "{symbol}\\0").unwrap();
        at += symbol.len() + 1;
    }
    let out = env::var("OUT_DIR").unwrap();
    fs::write(Path::new(&out).join("stubs.rs"), stubs).unwrap();
    let table = format!(
        "pub static WRAPPERS: [Wrapper; {}] = [\n{rows}];\npub static SYMBOLS: &[u8] = b\"{text}\";\n\
         pub static FUNCTIONS: [(&str, u8, bool); {functions}] = [\n{names}];\n",
        symbols.len()
    );
    fs::write(Path::new(&out).join("table.rs"), table).unwrap();
}

fn is_recorded(function: &Function) -> bool {
    let name = function.name;
    let waits = wait_kind(name);
    let converts =
        name.ends_with("_c2f") || name.ends_with("_f2c") || name.ends_with("toint") || name.ends_with("fromint");
    let small = name.strip_prefix("MPI_").unwrap();
    !name.starts_with("MPI_T_")
        && !converts
        && (!matches!(waits, WaitKind::Local | WaitKind::OneSided | WaitKind::Unknown)
            || function.starts().is_some()
            || function.takes_requests()
            || LOCAL.contains(&small))
}

/// What orders it after the other collectives of its communicator.
fn collective(function: &Function) -> bool {
    let of = |name: &str| match wait_kind(name) {
        WaitKind::Collective(Chapter::Communication | Chapter::Neighborhood | Chapter::Processes, _) => true,
        WaitKind::Collective(Chapter::Communicators, reach) => {
            // Some of these are of a group, whose members alone call them.
            reach == Reach::All || matches!(name, "MPI_Comm_free" | "MPI_Comm_set_info")
        }
        // On the communicator that they are made from.
        WaitKind::Collective(Chapter::Windows | Chapter::Files, _) => object(function).1 == 1,
        _ => false,
    };
    of(function.name) || function.starts() == Some(Started::Collective)
}

/// Which messages it sends or receives that are counted. Those in parts match apart from others, and what a matched probe has
/// found counts with that.
fn messages(function: &Function) -> &'static str {
    let has = |name: &str| function.parameter(name).is_some();
    let on_communicator = object(function).1 == 1 && (has("tag") || has("sendtag")) && !has("partitions");
    match (function.name, has("dest"), has("source")) {
        _ if !on_communicator => "None",
        ("MPI_Mprobe" | "MPI_Improbe", ..) => "Probe",
        ("MPI_Probe" | "MPI_Iprobe", ..) => "None",
        (_, true, true) => "Both",
        (_, true, false) => "Send",
        (_, false, true) => "Receive",
        _ => "None",
    }
}

fn object(function: &Function) -> (Option<&Parameter>, u8) {
    for (kind, number) in [(HandleKind::Win, 2), (HandleKind::File, 3), (HandleKind::Comm, 1), (HandleKind::Session, 4)]
    {
        if let Some(found) = function.parameters.iter().find(|one| one.gives(kind) && one.array.is_none()) {
            return (Some(found), number);
        }
    }
    (None, 0)
}

/// Where an argument stands in the frame of a wrapper (words): those of registers at its start, those on the stack above it
/// and the saved frame pointer and return address (`frames.rs`).
fn word_of(place: usize) -> usize {
    let registers = in_registers();
    if place < registers { place } else { place + 14 + 2 }
}

fn in_registers() -> usize {
    match env::var("CARGO_CFG_TARGET_ARCH").unwrap().as_str() {
        "x86_64" => 6,
        "aarch64" => 8,
        other => panic!("no wrappers for {other}"),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Language {
    C,
    Fortran,
    Fortran2008,
}

fn shape(number: usize, function: &Function, language: Language, large: bool) -> Shape {
    let fortran = language != Language::C;
    let parameters: Vec<&Parameter> = function.parameters.iter().filter(|one| !fortran || one.in_fortran).collect();
    let place = |wanted: &dyn Fn(&Parameter) -> bool| {
        parameters.iter().position(|one| wanted(one)).map_or("NO".to_owned(), |at| word_of(at).to_string())
    };
    let named = |names: &[&str]| {
        names
            .iter()
            .map(|name| place(&|one| one.name == *name && one.array.is_none() && one.direction != Direction::Out))
            .find(|found| found != "NO")
            .unwrap_or_else(|| "NO".to_owned())
    };
    let name = function.name;
    // What the root alone gives says nothing of the others.
    let scatters = name.to_lowercase().contains("scatter") && function.parameter("recvcount").is_some();
    let (counts, types): (&[&str], &[&str]) = if scatters {
        (&["recvcount"], &["recvtype"])
    } else {
        (
            &["count", "sendcount", "incount", "origin_count", "recvcount"],
            &["datatype", "sendtype", "origin_datatype", "recvtype"],
        )
    };
    let object = object(function);
    let count = named(counts);
    let counted = counts.iter().find_map(|name| parameters.iter().find(|one| one.name == *name && one.array.is_none()));
    let wide = counted.and_then(|one| one.bytes) == Some(8);
    let object_at = object.0.map_or("NO".to_owned(), |object| place(&|one| one.name == object.name));
    let by_address = object.0.is_some_and(|one| one.address);
    let returns = |kind: HandleKind| {
        place(&|one| one.object() == Some(kind) && one.direction == Direction::Out && one.array.is_none())
    };
    let given = place(&|one| one.gives(HandleKind::Request));
    let requests_count = parameters
        .iter()
        .find(|one| one.gives(HandleKind::Request))
        .and_then(|one| match one.array {
            Some(Array::Counted(count)) => Some(named(&[count])),
            _ => None,
        })
        .unwrap_or("NO".to_owned());
    let out = |name: &str| place(&|one| one.name == name && one.direction == Direction::Out);
    let is_array = |name: &str| function.parameter(name).is_some_and(|one| one.array.is_some());
    let peer = named(&["dest", "source", "root", "target_rank", "rank", "remote_leader"]);
    let both = function.parameter("dest").is_some() && function.parameter("source").is_some();
    let second = if both { named(&["source"]) } else { "NO".to_owned() };
    let second_tag = if both { named(&["recvtag"]) } else { "NO".to_owned() };
    let (second_count, second_type) = if both {
        (named(&["recvcount", "count"]), named(&["recvtype", "datatype"]))
    } else {
        ("NO".to_owned(), "NO".to_owned())
    };
    let reference = parameters.len()
        + if fortran { 1 + parameters.iter().filter(|one| one.kind.starts_with("STRING")).count() } else { 0 };
    let completion = match name {
        "MPI_Wait" => "Wait",
        "MPI_Waitall" => "All",
        "MPI_Waitany" | "MPI_Testany" => "Any",
        "MPI_Waitsome" | "MPI_Testsome" => "Some",
        "MPI_Test" => "Test",
        "MPI_Testall" => "TestAll",
        "MPI_Request_free" => "Free",
        "MPI_Start" => "Start",
        "MPI_Startall" => "StartAll",
        "MPI_Cancel" => "Cancel",
        _ => "None",
    };
    let creation = match name {
        "MPI_Comm_dup"
        | "MPI_Comm_dup_with_info"
        | "MPI_Comm_idup"
        | "MPI_Comm_idup_with_info"
        | "MPI_Cart_create"
        | "MPI_Graph_create"
        | "MPI_Dist_graph_create"
        | "MPI_Dist_graph_create_adjacent" => "Whole",
        "MPI_Comm_split" | "MPI_Comm_split_type" | "MPI_Comm_create" | "MPI_Cart_sub" => "Part",
        "MPI_Comm_create_group" => "Group",
        "MPI_Comm_create_from_group" => "FromGroup",
        "MPI_Intercomm_create" => "Inter",
        "MPI_Intercomm_merge" => "Whole",
        _ if returns(HandleKind::Comm) != "NO" => "Elsewhere",
        _ => "None",
    };
    let stage = match name {
        "MPI_Init" => "Init",
        "MPI_Init_thread" => "Init",
        "MPI_Session_init" => "SessionInit",
        "MPI_Finalize" => "Finalize",
        _ => "None",
    };
    let frees = matches!(name, "MPI_Comm_free" | "MPI_Comm_disconnect");
    let mut marks = format!("numbered({number})");
    for (mark, set) in [
        ("LARGE_COUNT", large),
        ("FORTRAN", language == Language::Fortran),
        ("FORTRAN_2008", language == Language::Fortran2008),
    ] {
        if set {
            write!(marks, " | {mark}").unwrap();
        }
    }
    let flag = if name == "MPI_Init_thread" { out("provided") } else { out("flag") };
    let (index, indices, outcount) = (out("index"), out("array_of_indices"), out("outcount"));
    let persistent = function.is_persistent();
    let op = named(&["op"]);
    let color = if name == "MPI_Comm_split" { named(&["color"]) } else { "NO".to_owned() };
    let tag = named(&["tag", "sendtag"]);
    let messages = messages(function);
    let status = place(&|one| one.kind == "STATUS" && one.direction == Direction::Out);
    let string_tag = named(&["stringtag"]);
    // Fortran gives the lengths of texts behind all other arguments.
    let name_given = named(&["comm_name"]);
    let name_length =
        if fortran && name_given != "NO" { word_of(parameters.len() + 1).to_string() } else { "NO".to_owned() };
    let is_array = is_array("array_of_requests");
    let collective = collective(function);
    let made = returns(HandleKind::Comm);
    let request = returns(HandleKind::Request);
    let datatype = named(types);
    let has_result = request != "NO" || frees || [completion, creation, stage].iter().any(|one| *one != "None");
    // A blocking receive has results where it may be from anybody, which its arguments say.
    let has_result = has_result || messages == "Probe" || name == "MPI_Comm_set_name";
    let has_more = has_result || collective || second != "NO";
    let is_poll = wait_kind(name) == WaitKind::Poll;
    let copied = reference.saturating_sub(in_registers());
    // What there is not is read as well: as a constant that stands in the frame.
    let handle = |word: &str| if word == "NO" { "NO_HANDLE".to_owned() } else { word.to_owned() };
    let integer = |word: &str| if word == "NO" { "NO_INTEGER".to_owned() } else { word.to_owned() };
    let (object_at, datatype, count) = (handle(&object_at), handle(&datatype), handle(&count));
    let (peer, tag) = (integer(&peer), integer(&tag));
    let usual = [&count, &datatype, &peer, &tag, &object_at].iter().zip(1..).all(|(word, at)| **word == at.to_string());
    let is_message = language == Language::C && !large && usual && !by_address;
    let is_send = is_message && messages == "Send" && !persistent;
    let row = format!(
        "function: {marks}, is_message: {is_message}, is_send: {is_send}, copied: {copied}, fortran: {fortran}, wide: {wide}, object: {object_at}, \
         by_address: {by_address}, datatype: {datatype}, count: {count}, peer: {peer}, tag: {tag}, op: {op}, \
         second: Second {{ peer: {second}, tag: {second_tag}, count: {second_count}, datatype: {second_type} }}, \
         messages: Messages::{messages}, status: {status}, request: {request}, persistent: {persistent}, given: {given}, given_count: {requests_count}, \
         is_array: {is_array}, flag: {flag}, index: {index}, outcount: {outcount}, indices: {indices}, made: {made}, \
         color: {color}, name: {name_given}, name_length: {name_length}, string_tag: {string_tag}, collective: {collective}, frees: {frees}, \
         completion: Completion::{completion}, creation: Creation::{creation}, stage: Stage::{stage}, \
         has_result: {has_result}, has_more: {has_more}, is_poll: {is_poll}"
    );
    Shape { row, way: if is_send && request == "NO" && copied == 0 { "send" } else { "call" } }
}
