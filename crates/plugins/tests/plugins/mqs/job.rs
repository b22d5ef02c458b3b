//! A real job of Debian's Open MPI, and its first rank as a target that is read through `/proc/PID/mem`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use layouts::{Layouts, shipped_named};
use target::address::TargetAddr;
use target::{ElfSymbols, Image, Symbol, Target, TargetAbi, TargetError};

/// A running mpirun; ended and waited for when it is dropped.
pub struct Job {
    mpirun: Child,
    /// The process of rank 0, stopped.
    pub pid: i32,
}

fn signal(pid: i32, signal: &str) {
    let _ = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
}

impl Job {
    /// Starts tests/programs/plugins/job.c with two ranks, waits until both are ready, stops rank 0.
    pub fn start(receives: usize, communicators: usize) -> Self {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = dir.join(format!("mqs-job-{}-{receives}-{communicators}", std::process::id()));
        let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/programs/plugins/job.c");
        let compiled = Command::new("mpicc.openmpi").arg("-O1").arg(source).arg("-o").arg(&program).status();
        assert!(compiled.expect("mpicc.openmpi of package libopenmpi-dev").success());
        let mut command = Command::new("mpirun.openmpi");
        let shared_memory = if version_of_open_mpi().starts_with("4.") { "self,vader" } else { "self,sm" };
        command.args(["--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", shared_memory]);
        command.args(["-n", "2"]).arg(&program).arg(receives.to_string()).arg(communicators.to_string());
        // Its own group, so that a Ctrl-C of the tests does not stop it half-way.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
        let mut mpirun = command.spawn().expect("mpirun.openmpi of package openmpi-bin");
        let mut lines = BufReader::new(mpirun.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let mut pids = [0, 0];
        while pids.contains(&0) {
            let line = lines.next().expect("both ranks say that they are ready");
            if let ["ready", rank, pid] = line.split(' ').collect::<Vec<_>>()[..] {
                pids[rank.parse::<usize>().expect("a rank")] = pid.parse().expect("a process id");
            }
        }
        let job = Self { mpirun, pid: pids[0] };
        signal(job.pid, "-STOP");
        while !std::fs::read_to_string(format!("/proc/{}/stat", job.pid)).unwrap_or_default().contains(") T ") {
            std::thread::yield_now();
        }
        job
    }

    /// Rank 0 as a target.
    pub fn target(&self) -> LiveTarget {
        LiveTarget::new(self.pid)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        signal(self.pid, "-CONT");
        signal(i32::try_from(self.mpirun.id()).unwrap_or(0), "-TERM");
        let _ = self.mpirun.wait();
    }
}

/// A stopped process of this machine.
pub struct LiveTarget {
    memory: File,
    symbols: ElfSymbols,
}

impl LiveTarget {
    pub fn new(pid: i32) -> Self {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).expect("the process's maps");
        // Other files may lie below it: PMIx of Open MPI 5 maps its shared memory at a fixed address.
        let executable = std::fs::read_link(format!("/proc/{pid}/exe")).expect("the process's executable");
        let mut images: Vec<Image> = Vec::new();
        for line in maps.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [range, _, "00000000", _, _, path] = words[..] else { continue };
            let is_executable = Path::new(path) == executable;
            if is_executable || path.starts_with('/') && path.contains(".so") {
                let start = range.split('-').next().and_then(|start| u64::from_str_radix(start, 16).ok());
                let bias = TargetAddr::new(start.unwrap_or(0));
                images.push(Image { path: path.to_owned(), bias, build_id: None, is_executable });
            }
        }
        let memory = File::open(format!("/proc/{pid}/mem")).expect("permission to read the process");
        Self { memory, symbols: ElfSymbols::new(images, vec!["/".into()]) }
    }

    /// The MPI library.
    pub fn mpi_image(&self) -> Image {
        self.symbols.images().into_iter().find(|image| image.file_name().starts_with("libmpi.so")).expect("libmpi")
    }
}

impl Target for LiveTarget {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        let len = buf.len() as u64;
        let fault = |_| TargetError::Fault { addr, len };
        self.memory.read_exact_at(buf, addr.get()).map_err(fault)
    }
    fn abi(&self) -> TargetAbi {
        TargetAbi::LITTLE_64
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        Ok(self.symbols.lookup(name, self))
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(self.symbols.images())
    }
}

/// The version of the distribution's Open MPI: Debian 12 has 4.1.4, Debian 13 has 5.0.7.
pub fn version_of_open_mpi() -> String {
    let said = Command::new("mpicc.openmpi").arg("--showme:version").output();
    let said = said.expect("mpicc.openmpi of package libopenmpi-dev");
    let text = String::from_utf8_lossy(&[said.stdout, said.stderr].concat()).into_owned();
    let version = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    version.unwrap_or_else(|| panic!("no version in {text:?}")).to_owned()
}

/// The shipped profile of the distribution's Open MPI.
pub fn layouts() -> Layouts {
    let version = version_of_open_mpi();
    let series = version.rsplit_once('.').map_or(&*version, |(series, _)| series);
    let shipped = shipped_named(&format!("openmpi-{series}")).expect("the profile");
    Layouts::new(vec![Box::new(shipped.profile().expect("a profile"))])
}
