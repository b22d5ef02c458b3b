//! Programs that are compiled for one test, and the stacks of what runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use calls::KeptFiles;
use native::{Live, Stopped, stacks};
use target::PageCache;

const LIMIT: Duration = Duration::from_secs(20);

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A directory that goes with its test.
pub struct Directory(pub PathBuf);

impl Directory {
    pub fn new() -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("mpi-queues-native-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    /// Compiles in the directory; `words` are separated by spaces, and those that end with `.c` or `.cpp` are programs of these
    /// tests.
    pub fn compile(&self, words: &str) {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/native/programs");
        let is_source = |word: &str| word.ends_with(".c") || word.ends_with(".cpp");
        let word = |word: &str| if is_source(word) { sources.join(word) } else { PathBuf::from(word) };
        let words: Vec<PathBuf> = words.split_whitespace().map(word).collect();
        let done = Command::new(&words[0]).args(&words[1..]).current_dir(&self.0).output();
        let done = done.unwrap_or_else(|error| panic!("{} is needed by this test: {error}", words[0].display()));
        assert!(done.status.success(), "{words:?}\n{}", String::from_utf8_lossy(&done.stderr));
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that ends with its test.
pub struct Running(Child);

impl Running {
    /// Runs `program` of the directory until all of its threads wait.
    pub fn new(directory: &Directory, program: &str, argument: &str, threads: usize) -> Self {
        let child = Command::new(directory.0.join(program)).arg(argument).spawn().unwrap();
        let running = Self(child);
        let end = Instant::now() + LIMIT;
        while !running.waits(threads) {
            assert!(Instant::now() < end, "{program} {argument} does not wait");
            std::thread::sleep(Duration::from_millis(5));
        }
        running
    }

    fn waits(&self, threads: usize) -> bool {
        let tasks: Vec<_> = fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap().flatten().collect();
        // Where nothing of a kernel's names is shown, it says 0; a thread that runs has "running" as its system call.
        let call = |path: PathBuf| fs::read_to_string(path.join("syscall")).unwrap_or_default();
        let waits = |number: &str| ["34", "202", "230"].contains(&number);
        tasks.len() == threads
            && tasks.iter().all(|task| waits(call(task.path()).split(' ').next().unwrap_or_default()))
    }

    /// Function, file and line of all frames of each thread, the main thread first; and whether all is known.
    pub fn told_here(&self, program: &Path) -> Vec<Vec<String>> {
        let pid = self.0.id();
        let (stopped, failures) = Stopped::all(&[pid], LIMIT);
        assert!(failures.is_empty(), "{failures:?}");
        let threads = stopped.get(pid).unwrap().threads.clone();
        let live = Live::new(pid, &threads, Box::new(|| None)).unwrap();
        let found = stacks(
            &Rc::new(PageCache::new(live)),
            program.to_str().unwrap(),
            &KeptFiles::default(),
            &Rc::default(),
            &Rc::default(),
        );
        assert!(found.all && found.stacks.iter().all(|stack| stack.complete), "{found:?}");
        let frame = |frame: &model::Frame| line(frame.function.as_deref(), frame.file.as_deref(), frame.line);
        found.stacks.iter().map(|stack| stack.frames.iter().map(frame).collect()).collect()
    }

    /// The same by gdb.
    pub fn told_by_gdb(&self) -> Vec<Vec<String>> {
        const ASK: &str = "
for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
    thread.switch()
    frame = gdb.newest_frame()
    print('THREAD')
    while frame is not None:
        where = frame.find_sal()
        known = where.symtab is not None and where.line > 0
        name = (frame.name() or '-').split('(')[0]
        print('FRAME', name, where.symtab.filename if known else '-', where.line if known else '-')
        frame = frame.older()
";
        let script = std::env::temp_dir().join(format!("mpi-queues-native-{}-{}.py", std::process::id(), self.0.id()));
        fs::write(&script, ASK).unwrap();
        let mut gdb = Command::new("gdb");
        gdb.args(["-batch", "-nx", "-ex", "set debuginfod enabled off", "-p", &self.0.id().to_string()]);
        let done = gdb.arg("-x").arg(&script).output().expect("gdb is needed by this test");
        let _ = fs::remove_file(&script);
        let mut found: Vec<Vec<String>> = Vec::new();
        for told in String::from_utf8_lossy(&done.stdout).lines() {
            match (told.strip_prefix("FRAME "), found.last_mut()) {
                (Some(frame), Some(frames)) => frames.push(frame.to_owned()),
                _ if told == "THREAD" => found.push(Vec::new()),
                _ => {}
            }
        }
        assert!(!found.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
        found
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn line(function: Option<&str>, file: Option<&str>, line: Option<i64>) -> String {
    let number = line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    format!("{} {} {number}", function.unwrap_or("-"), file.unwrap_or("-"))
}
