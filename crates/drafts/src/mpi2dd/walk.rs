//! From one process of a job to all directories of it, and so to all its ranks.
//!
//! Directories may name one another in circles, themselves, processes that have ended, or whatever has got their process
//! id since: each process is visited once, and counts only where it has `MPI2DD_info` itself.

use std::collections::{HashMap, VecDeque};

use super::info::{self, I_AM_DIR, I_AM_METADIR, Info, Refused};
use super::members::Members;
use super::processes::{NotOpened, Opened, Place, Processes};
use super::report::{Directory, Problems, Report, State};
use super::strings::{Strings, Text};
use super::tables::{self, Entry, MAX_ENTRIES};

/// Directories and metadirectories that are visited.
const MAX_VISITS: usize = 4096;

/// Why there is nothing to tell about a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// The process has ended.
    #[error("there is no such process")]
    Ended,
    /// The process cannot be read.
    #[error("{0}")]
    Failed(String),
    /// It has a variable `MPI2DD_info`, and that cannot be used.
    #[error(transparent)]
    Refused(#[from] Refused),
}

/// What a process is expected to be, by who names it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Directory,
    Metadirectory,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Directory => "a directory",
            Self::Metadirectory => "a metadirectory",
        }
    }
}

/// A process that is to be visited.
struct Wanted {
    place: Place,
    host: Option<String>,
    executable: Option<String>,
    role: Role,
    /// Who names it, such as `the directory_table of pid 12`.
    named_by: String,
}

/// All that the directories tell that can be reached from the process `pid` of this machine; `None` where it has no
/// `MPI2DD_info`.
///
/// # Errors
/// Where that process cannot be read, or its `MPI2DD_info` cannot be used. What is wrong further on is told in
/// [`Report::problems`].
pub fn walk(processes: &dyn Processes, pid: i32) -> Result<Option<Report>, StartError> {
    let opened = processes.open(pid, None).map_err(|error| match error {
        NotOpened::Ended => StartError::Ended,
        NotOpened::Failed(reason) => StartError::Failed(reason),
    })?;
    let strings = Strings::new(&*opened.target);
    let Some(info) = info::find(&strings)? else { return Ok(None) };
    let mut walk = Walk {
        processes,
        directories: Vec::new(),
        visited: HashMap::new(),
        queue: VecDeque::new(),
        members: Members::default(),
        left: MAX_ENTRIES,
        problems: Problems::default(),
    };
    let place = Place { elsewhere: None, pid };
    walk.visited.insert(place.clone(), 0);
    walk.read(&place, &info, &strings);
    walk.follow_own_pointer(&place, &info);
    let (executable, host) = (Some(opened.executable.clone()), None);
    walk.directories.push(Directory { pid, host, executable, state: State::Here, info: Some(info.clone()) });
    while let Some(wanted) = walk.queue.pop_front() {
        walk.visit(wanted);
    }
    let worlds = walk.members.finish(processes, &mut walk.problems);
    let is_plain_rank = info.mpi_flags & (I_AM_DIR | I_AM_METADIR | info::I_AM_STARTER) == 0;
    let is_listed = worlds
        .iter()
        .flat_map(|world| &world.members)
        .any(|member| member.pid == pid && Place::of(processes, member.host.as_deref(), pid).elsewhere.is_none());
    if is_plain_rank && !is_listed {
        walk.problems.add(format!("pid {pid} is in no proctable that was found"));
    }
    let problems = walk.problems.into_sentences();
    Ok(Some(Report { info, directories: walk.directories, worlds, problems }))
}

struct Walk<'p> {
    processes: &'p dyn Processes,
    directories: Vec<Directory>,
    /// The number of each in `directories`.
    visited: HashMap<Place, usize>,
    queue: VecDeque<Wanted>,
    members: Members,
    /// Entries of tables that may be read yet.
    left: usize,
    problems: Problems,
}

impl Walk<'_> {
    /// The metadirectory that a process itself points to: only where the walk begins. From there on tables lead on.
    fn follow_own_pointer(&mut self, place: &Place, info: &Info) {
        if info.is(I_AM_METADIR) {
            return;
        }
        if info.meta_pid <= 0 {
            // A directory may stand for itself: nothing else may be needed.
            if !info.is(I_AM_DIR) && info.proctable.size == 0 {
                let told = format!("its meta_pid is {}, so no metadirectory of its job is known", info.meta_pid);
                self.problems.add(format!("{}: {told}", place.name()));
            }
            return;
        }
        self.want(Wanted {
            place: Place::of(self.processes, info.meta_host_name.as_deref(), info.meta_pid),
            host: info.meta_host_name.clone(),
            executable: info.meta_executable_name.clone(),
            role: Role::Metadirectory,
            named_by: format!("the meta_pid of {}", place.name()),
        });
    }

    fn want(&mut self, wanted: Wanted) {
        if let Some(&index) = self.visited.get(&wanted.place) {
            // The same process may be in several tables, as one of either kind.
            if let Some(info) = self.directories.get(index).and_then(|directory| directory.info.clone()) {
                self.check_role(&wanted, &info);
            }
        } else if self.visited.len() >= MAX_VISITS {
            self.problems.add(format!("no more than {MAX_VISITS} directories are visited"));
        } else {
            // Its number is that of its turn: the queue keeps the order, and each that is in it becomes a directory.
            self.visited.insert(wanted.place.clone(), self.visited.len());
            self.queue.push_back(wanted);
        }
    }

    fn visit(&mut self, wanted: Wanted) {
        let mut found = Directory {
            pid: wanted.place.pid,
            host: wanted.host.clone(),
            executable: wanted.executable.clone(),
            state: State::Elsewhere,
            info: None,
        };
        if wanted.place.elsewhere.is_none() {
            match self.processes.open(wanted.place.pid, wanted.executable.as_deref()) {
                Ok(opened) => self.visit_opened(&wanted, &opened, &mut found),
                Err(NotOpened::Ended) => {
                    found.state = State::Ended;
                    self.tell(&wanted, "there is no such process, so the ranks of its tables are missing");
                }
                Err(NotOpened::Failed(reason)) => {
                    found.state = State::Unknown;
                    self.tell(&wanted, &format!("it cannot be read: {reason}"));
                }
            }
        } else {
            self.tell(&wanted, "it is out of reach from this machine, so the ranks of its tables are missing");
        }
        self.directories.push(found);
    }

    fn visit_opened(&mut self, wanted: &Wanted, opened: &Opened, found: &mut Directory) {
        let strings = Strings::new(&*opened.target);
        match info::find(&strings) {
            Ok(Some(info)) => {
                found.state = State::Here;
                if !opened.agrees {
                    let named = wanted.executable.as_deref().unwrap_or_default();
                    self.tell(wanted, &format!("it runs {}, not {named}; it was read all the same", opened.executable));
                }
                if self.check_role(wanted, &info) {
                    self.read(&wanted.place, &info, &strings);
                } else {
                    // Another process of some job has got the process id: whatever it has is not of this one.
                    found.state = State::Another;
                }
                found.info = Some(info);
            }
            Ok(None) => {
                found.state = State::Another;
                self.tell(wanted, &format!("it runs {}, and has no MPI2DD_info", opened.executable));
            }
            Err(refused) => {
                found.state = State::Unknown;
                self.tell(wanted, &refused.to_string());
            }
        }
        found.executable = Some(opened.executable.clone());
    }

    /// Whether a process is what it is named as: by its flags, or because it has what only such a process has.
    fn check_role(&mut self, wanted: &Wanted, info: &Info) -> bool {
        let (flag, flag_name, has_table) = match wanted.role {
            // "Any process with a entries in its proctable is, by definition, a directory process."
            Role::Directory => (I_AM_DIR, "I_AM_DIR", info.proctable.size > 0),
            Role::Metadirectory => {
                (I_AM_METADIR, "I_AM_METADIR", info.directory.size > 0 || info.metadirectory.size > 0)
            }
        };
        if !info.is(flag) {
            let but = if has_table { "its tables were read all the same" } else { "it has no such tables" };
            self.tell(wanted, &format!("its mpi_flags lack MPI2DD_MPIFLAG_{flag_name}; {but}"));
        }
        info.is(flag) || has_table
    }

    fn read(&mut self, place: &Place, info: &Info, strings: &Strings<'_>) {
        let name = place.name();
        for problem in &info.problems {
            self.problems.add(format!("{name}: {problem}"));
        }
        let table = tables::processes(strings, info.proctable, &mut self.left);
        let told = table.problems.into_iter();
        told.for_each(|problem| self.problems.add(format!("{name}: {problem}")));
        for (index, process) in table.entries {
            self.members.add(self.processes, place, index, process, &mut self.problems);
        }
        for (at, table_name, role) in [
            (info.metadirectory, "metadirectory_table", Role::Metadirectory),
            (info.directory, "directory_table", Role::Directory),
        ] {
            let table = tables::directory(strings, at, table_name, &mut self.left);
            let told = table.problems.into_iter();
            told.for_each(|problem| self.problems.add(format!("{name}: {problem}")));
            for (index, entry) in table.entries {
                self.want_entry(place, table_name, role, index, entry);
            }
        }
    }

    fn want_entry(&mut self, place: &Place, table_name: &str, role: Role, index: usize, entry: Entry) {
        let name = place.name();
        for (field, text) in [("host_name", &entry.host), ("executable_name", &entry.executable)] {
            if let Some(reason) = text.problem() {
                self.problems.add(format!("{name}: the {field} of entry {index} of its {table_name}: {reason}"));
            }
        }
        if let Text::Not(_) = entry.host {
            // On which host it is is not known: a process of this machine with that id may be any.
            return;
        }
        let host = entry.host.known().filter(|host| !host.is_empty()).map(ToOwned::to_owned);
        let wanted = Wanted {
            place: Place::of(self.processes, host.as_deref(), entry.pid),
            host,
            executable: entry.executable.known().filter(|path| !path.is_empty()).map(ToOwned::to_owned),
            role,
            named_by: format!("the {table_name} of {name}"),
        };
        if wanted.place == *place {
            self.problems
                .add(format!("{name}: it is in its own {table_name}, where the MPI2DD draft does not allow it"));
            return;
        }
        self.want(wanted);
    }

    fn tell(&mut self, wanted: &Wanted, what: &str) {
        let (name, role, named_by) = (wanted.place.name(), wanted.role.name(), &wanted.named_by);
        self.problems.add(format!("{name} is named as {role} by {named_by}: {what}"));
    }
}
