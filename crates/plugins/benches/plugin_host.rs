//! The vendor plug-in in our host (helper process, page cache) against a plain in-process host without a cache.
//!
//! `cargo bench --bench plugin_host` starts jobs of Debian's Open MPI, reads rank 0 with both hosts in turn and
//! prints the medians and their ratio. Both hosts get the same types, from the shipped profile.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../tests/plugins/mqs/job.rs"]
mod job;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use layouts::shipped_named;
use plugins::host::run::Run;
use plugins::mqs::{PluginRequest, discovery, read_with_plugin};
use target::{PageCache, Target};

/// Runs of each host on each job; the median counts.
const RUNS: usize = 5;

/// The symbols that Open MPI's plug-in looks up (open-mpi/ompi, ompi/debuggers/ompi_msgq_dll.c, 4.1.4).
const SYMBOLS: [&str; 5] = [
    "ompi_debugger_setup_dlls",
    "MPIR_debug_typedefs_sizeof",
    "ompi_mpi_communicators",
    "mca_pml_base_send_requests",
    "mca_pml_base_recv_requests",
];

fn plain_host() -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plain_host");
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-I"]).arg(root.join("tests/programs/plugins")).arg("-o").arg(&out);
    let status = cc.arg(root.join("tests/benches/plain_host.c")).status().expect("cc");
    assert!(status.success());
    out
}

/// The table of types and symbols for the plain host.
fn table(target: &dyn Target) -> PathBuf {
    let profile = shipped_named("openmpi-4.1").expect("the profile").profile().expect("a profile");
    let mut table = String::new();
    for name in SYMBOLS {
        let symbol = target.symbol(name).expect("symbols").expect(name);
        writeln!(table, "symbol {name} {}", symbol.addr.get()).expect("a string");
    }
    for (name, layout) in &profile.types {
        writeln!(table, "type {name} {}", layout.size).expect("a string");
        for (field, place) in &*layout.fields {
            writeln!(table, "field {name} {field} {}", place.offset).expect("a string");
        }
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plain_host.table");
    std::fs::write(&path, table).expect("a table");
    path
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    println!("receives  communicators  plain host (fetches)      our host   ratio");
    for (receives, communicators) in [(100_000, 0), (10_000, 40), (1000, 400)] {
        let job = job::Job::start(receives, communicators);
        let target = job.target();
        let layouts = job::layouts();
        let found = discovery::candidates(&target, &discovery::Search::default());
        let plugin = found.into_iter().find(discovery::Candidate::usable).expect("a plug-in").path;
        let (host, table) = (plain_host(), table(&target));
        let (mut plain, mut ours, mut fetches, mut listed_here) = (Vec::new(), Vec::new(), 0_u64, 0);
        for _ in 0..RUNS {
            let mut command = Command::new(&host);
            let output = command.arg(&plugin).arg(job.pid.to_string()).arg(&table).output().expect("the plain host");
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let words: Vec<&str> = text.split_whitespace().collect();
            let [listed, counted, fetched, seconds] = words[..] else { panic!("{output:?}") };
            plain.push(seconds.parse().expect("seconds"));
            fetches = fetched.parse().expect("a number");

            let start = Instant::now();
            let cached = PageCache::new(&target);
            let request =
                PluginRequest { run: Run::within(Duration::from_secs(60)), ..PluginRequest::new(plugin.clone()) };
            let outcome = read_with_plugin(&cached, &layouts, &target.mpi_image(), &request);
            ours.push(start.elapsed().as_secs_f64());
            assert_eq!(outcome.failure, None);
            let all = &outcome.report.communicators;
            listed_here = all.len();
            let operations = |comm: &model::Communicator| {
                comm.pending_sends.operations.len() + comm.pending_receives.operations.len()
            };
            let total = all.iter().map(operations).sum::<usize>();
            assert_eq!((all.len().to_string(), total.to_string()), (listed.to_owned(), counted.to_owned()));
        }
        let (plain, ours) = (median(plain), median(ours));
        println!("{receives:8}  {listed_here:13}  {plain:8.3} s ({fetches:8})  {ours:10.3} s  {:6.1}", plain / ours);
    }
}
