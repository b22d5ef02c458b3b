//! Every program with a known bug, and every correct one, as it was recorded: what is found is what was reviewed.
//!
//! `tests/recordings/corpus.py` says what a pack is. After a change that is meant, `INSTA_UPDATE=always cargo test` writes
//! the snapshots anew (`tests/recordings/corpus/`), and `git diff` shows what is said otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::{fs, thread};

use serde_json::Value;

use crate::aside;
use crate::pack::{place, recordings};
use crate::support::{agent, json, said};

/// The MPIs in the order in which a snapshot has them.
const MPIS: [&str; 2] = ["openmpi", "mpich"];

/// What the agent finds in each recording of an MPI, by the names of the programs; and what is told otherwise of a job that is the
/// same but for what stands aside.
fn diagnoses(mpi: &str) -> (BTreeMap<String, String>, Vec<String>) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("corpus-{mpi}-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let left = Mutex::new(recordings(mpi).into_iter());
    let found = Mutex::new(BTreeMap::new());
    let differences = Mutex::new(Vec::new());
    let work = || {
        loop {
            let Some((name, bytes)) = left.lock().unwrap().next() else { break };
            let file = directory.join(format!("{}.mpirec", name.replace('/', "-")));
            fs::write(&file, bytes).unwrap();
            let output = agent(&["diagnose", "--recording", file.to_str().unwrap()]);
            fs::remove_file(&file).unwrap();
            let told = json(&output);
            let said = said(&output).replace(directory.to_str().unwrap(), "");
            differences.lock().unwrap().extend(doubts(&told).map(|wrong| format!("{mpi} {name}: {wrong}")));
            differences.lock().unwrap().extend(aside::differences(&format!("{mpi} {name}"), &told));
            found.lock().unwrap().insert(name, told_of(&told, &said));
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(work);
        }
    });
    fs::remove_dir(&directory).unwrap();
    (found.into_inner().unwrap(), differences.into_inner().unwrap())
}

/// The findings of a deadlock and its like that are certain and give a doubt, or are not and give none.
fn doubts(told: &Value) -> impl Iterator<Item = &str> {
    // What is not certain of these is in their words, or follows from what is told first.
    let others = ["never started", "stuck outside MPI", "truncation", "unmatched receive", "unmatched send"];
    list(&told["diagnosis"]).iter().filter_map(move |finding| {
        let doubted = list(&finding["evidence"]).iter().any(|one| word(one).to_lowercase().contains("not certain"));
        let certain = finding["certain"] == true;
        let silent = !certain && !doubted && !others.contains(&word(&finding["kind"]));
        (certain && doubted || silent).then(|| word(&finding["summary"]))
    })
}

/// A diagnosis in a few lines, without addresses.
fn told_of(told: &Value, said: &str) -> String {
    let mut text = format!("{}: {}\n", word(&told["verdict"]["state"]), word(&told["verdict"]["headline"]));
    let cause = told["verdict"]["finding"].as_u64();
    for (number, finding) in list(&told["diagnosis"]).iter().enumerate() {
        let marks = [
            ("certain", finding["certain"] == true),
            ("consequence", finding["consequence"] == true),
            ("headline", cause == Some(number as u64)),
        ];
        let marks: String = marks.iter().filter(|(_, is)| *is).map(|(mark, _)| format!(", {mark}")).collect();
        let ranks = [("ranks", &finding["ranks"]), ("waiting", &finding["waiting"])];
        let ranks: String = ranks
            .iter()
            .filter(|(_, ranks)| !list(ranks).is_empty())
            .map(|(who, ranks)| format!("; {who} {ranks}"))
            .collect();
        writeln!(text, "- {}{marks}{ranks}: {}", word(&finding["kind"]), word(&finding["summary"])).unwrap();
        let calls: Vec<String> = list(&finding["calls"]).iter().map(call).collect();
        if !calls.is_empty() {
            writeln!(text, "  {}", calls.join("; ")).unwrap();
        }
        let blamed: Vec<String> = list(&finding["blamed"])
            .iter()
            .map(|one| {
                let sure = if one["certain"] == true { "" } else { "?" };
                format!("{}{sure} {} {}", one["ranks"], word(&one["function"]), one["line"])
            })
            .collect();
        if !blamed.is_empty() {
            writeln!(text, "  to change: {}", blamed.join("; ")).unwrap();
        }
        if finding["advice"].is_string() {
            writeln!(text, "  {}", word(&finding["advice"])).unwrap();
        }
    }
    for limit in list(&told["verdict"]["limits"]) {
        writeln!(text, "limit: {}", word(limit)).unwrap();
    }
    said.lines().for_each(|line| writeln!(text, "said: {line}").unwrap());
    text
}

/// `0 MPI_Recv 17 -> rank 1 to send`, with the lines that started what it waits for.
fn call(one: &Value) -> String {
    let mut text = format!("{} {} {}", one["rank"], word(&one["function"]), one["line"]);
    for request in list(&one["requests"]) {
        for start in list(&request["started_by"]) {
            write!(text, " [{} {}]", word(&start["function"]), start["line"]).unwrap();
        }
    }
    if one["waits_for"].is_string() {
        write!(text, " -> {}", word(&one["waits_for"])).unwrap();
    }
    text
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

/// What is found on each MPI; of the second the lines that differ from the first.
fn in_a_file(found: [Option<&str>; 2]) -> String {
    let lines = |text: &str, mark: &str, others: &str| -> String {
        let other = |line: &&str| !others.lines().any(|one| one == *line);
        text.lines().filter(other).map(|line| format!("{mark}{line}\n")).collect()
    };
    let [one, two] = MPIS;
    match found {
        [Some(first), Some(second)] if first == second => format!("{one}, {two}: {first}"),
        [Some(first), Some(second)] => {
            format!("{one}: {first}{two}:\n{}{}", lines(first, "-", second), lines(second, "+", first))
        }
        [Some(only), None] => format!("{one}: {only}"),
        [None, Some(only)] => format!("{two}: {only}"),
        [None, None] => String::new(),
    }
}

#[test]
fn what_is_found_in_every_program_is_what_was_reviewed() {
    let [(one, one_differs), (two, two_differs)] = MPIS.map(diagnoses);
    let found = [one, two];
    let names: BTreeSet<&String> = found.iter().flat_map(BTreeMap::keys).collect();
    assert!(names.len() > 130, "{}", names.len());
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut differ = Vec::new();
    for name in names {
        let (folder, program) = name.split_once('/').unwrap();
        settings.set_snapshot_path(place().join(folder));
        let text = in_a_file(found.each_ref().map(|found| found.get(name).map(String::as_str)));
        // All are compared, so that one run tells what a change does.
        let same = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            settings.bind(|| insta::assert_snapshot!(program, text));
        }));
        if same.is_err() {
            differ.push(name);
        }
    }
    assert!(differ.is_empty(), "{differ:?}");
    let differences: Vec<String> = one_differs.into_iter().chain(two_differs).collect();
    assert!(differences.is_empty(), "{}:\n{}", differences.len(), differences.join("\n"));
}
