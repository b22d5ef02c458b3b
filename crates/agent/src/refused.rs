//! Live processes that cannot be stopped and read: what stands in the way, and what to type.

use std::fs::{self, File};
use std::io;

use native::{Status, StopError, status};
use target::files::is_root;
use target::{printable, processes};

use super::failure::Failure;
use super::users;

/// What the kernel lets users trace (Linux, Documentation/admin-guide/LSM/Yama.rst).
const YAMA: &str = "/proc/sys/kernel/yama/ptrace_scope";

/// Sees to it that a process can be stopped and read.
///
/// # Errors
/// What stands in the way.
pub fn check(pid: u32) -> Result<(), Failure> {
    let Some(found) = status(pid) else {
        let help = "to find the ranks of a job, type: pgrep -af PROGRAM";
        return Err(Failure::new(&format!("pid {pid}: no such process"), help));
    };
    if pid == std::process::id() {
        return Err(Failure::plain(&format!("pid {pid}: this is mpi-queues-agent itself")));
    }
    if found.process != pid {
        let text = format!("pid {pid}: a thread of the process {}", found.process);
        return Err(Failure::new(&text, format!("type: --pid {}", found.process)));
    }
    if processes::has_ended(pid) {
        let text = format!("pid {pid}: a zombie: the process has ended and its parent has not waited for it");
        return Err(Failure::plain(&text));
    }
    if found.tracer != 0 {
        return Err(traced(pid, found.tracer));
    }
    // The kernel asks the same questions here as for stopping it (ptrace(2), PTRACE_MODE_ATTACH).
    match File::open(processes::place(pid).join("mem")) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(denied(pid, &found)),
        Err(error) => Err(Failure::plain(&format!("pid {pid}: cannot be read: {error}"))),
    }
}

/// Why a process does not stand.
pub fn not_stopped(pid: u32, error: &StopError) -> Failure {
    let text = format!("pid {pid}: {error}");
    match error {
        StopError::Gone => gone(pid),
        StopError::Traced(tracer) => traced(pid, *tracer),
        StopError::Denied => match check(pid) {
            Err(reason) => reason,
            Ok(()) => Failure::new(&text, more_rights()),
        },
        StopError::NotInTime { .. } | StopError::Uninterruptible { .. } => {
            let help = format!("to see what the kernel waits for, type: cat /proc/{pid}/task/*/stack (as root)");
            Failure::new(&text, help)
        }
        StopError::Late { .. } => Failure::new(&text, "allow more time with --timeout SECONDS".to_owned()),
        StopError::OtherMachine => {
            let help = format!("where gdb and mpi-queues are, gdb may read it: gdb -p {pid}, then: mpi diagnose");
            Failure::new(&text, help)
        }
        StopError::Other(_) => Failure::plain(&text),
    }
}

/// It has ended meanwhile.
pub fn gone(pid: u32) -> Failure {
    let help = "to see the processes that are left, type: pgrep -af PROGRAM";
    Failure::new(&format!("pid {pid}: the process ended while it was read"), help)
}

fn traced(pid: u32, tracer: u32) -> Failure {
    let name = fs::read(format!("/proc/{tracer}/comm")).map(|name| printable(name.trim_ascii()));
    let name = name.unwrap_or_else(|_| "not known".to_owned());
    let help = "detach that debugger first, or type in it: mpi queues";
    Failure::new(&format!("pid {pid}: already traced by pid {tracer} ({name})"), help)
}

fn denied(pid: u32, found: &Status) -> Failure {
    let me = status(std::process::id()).map_or(0, |own| own.user);
    if found.user != me && !is_root() {
        let text = format!("pid {pid}: belongs to {}, and you are {}", users::named(found.user), users::named(me));
        return Failure::new(&text, format!("type: sudo -u {} mpi-queues-agent …", users::for_sudo(found.user)));
    }
    let scope = fs::read_to_string(YAMA).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    match scope {
        3 => Failure::plain(&format!("pid {pid}: attaching is switched off until the next boot: {YAMA} is 3")),
        1 | 2 if !is_root() => Failure::new(
            &format!(
                "pid {pid}: the kernel lets only root attach to a process that is not its child: {YAMA} is {scope}"
            ),
            format!("type: sudo sysctl kernel.yama.ptrace_scope=0 (until the next boot), or {}", more_rights()),
        ),
        _ => Failure::new(
            &format!(
                "pid {pid}: the kernel refuses to let you attach (a set-user-id program, or a container without \
                 SYS_PTRACE)"
            ),
            if is_root() {
                more_rights().to_owned()
            } else {
                format!("{}, or start the container with: --cap-add=SYS_PTRACE", more_rights())
            },
        ),
    }
}

fn more_rights() -> &'static str {
    if is_root() { "in a container, start it with: --cap-add=SYS_PTRACE" } else { "run mpi-queues-agent with sudo" }
}

/// What the kernel says of a process, in a word (Linux, fs/proc/array.c).
pub fn state_word(pid: u32) -> &'static str {
    match status(pid).map(|found| found.state) {
        None | Some('X' | 'x') => "ended",
        Some('R') => "running",
        Some('S' | 'I') => "sleeping",
        Some('D') => "waiting",
        Some('T') => "stopped",
        Some('t') => "traced",
        Some('Z') => "zombie",
        Some(_) => "unknown",
    }
}
