//! Where the system keeps core files (core(5), systemd-coredump(8)), and how to have one of them.

use std::fs;

/// Where the kernel says what it does with them.
const PATTERN: &str = "/proc/sys/kernel/core_pattern";
/// Where systemd-coredump keeps them (coredump.conf(5)).
const STORAGE: &str = "/var/lib/systemd/coredump/";

/// What to type where there is no core file at a path, or it cannot be read.
pub(super) fn help(path: &str) -> String {
    help_by(path, &fs::read_to_string(PATTERN).unwrap_or_default())
}

fn help_by(path: &str, pattern: &str) -> String {
    if let Some(name) = path.strip_prefix(STORAGE) {
        let pid = pid(name).unwrap_or("PID");
        return format!("to have it as a file of your own, type: coredumpctl dump {pid} -o core");
    }
    let program = pattern.trim().strip_prefix('|').and_then(|command| command.split_whitespace().next());
    match program {
        Some(program) if program.ends_with("systemd-coredump") => {
            "systemd-coredump keeps them here: type: coredumpctl list, then: coredumpctl dump PID -o core".to_owned()
        }
        Some(program) => {
            format!("the kernel gives them to {}, which may know where they are", crate::printable(program.as_bytes()))
        }
        None => format!("to see where the system puts them, type: cat {PATTERN}"),
    }
}

/// The process, by the name of its file: `core.NAME.USER.BOOT.PID.TIME`, and how it is compressed.
fn pid(name: &str) -> Option<&str> {
    let plain = [".zst", ".lz4", ".xz"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let pid = plain.strip_prefix("core.")?.rsplit('.').nth(1)?;
    (!pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit())).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::help_by;

    #[test]
    fn of_each_kind() {
        let name = "core.solver.1000.7c9e6679f5a64f6e9d2b.4711.1700000000000000.zst";
        let kept = format!("/var/lib/systemd/coredump/{name}");
        assert!(help_by(&kept, "core").ends_with("type: coredumpctl dump 4711 -o core"));
        assert!(help_by("/var/lib/systemd/coredump/x", "").ends_with("type: coredumpctl dump PID -o core"));
        let of_systemd = help_by("core", "|/lib/systemd/systemd-coredump %P %u %g %s %t 9223372036854775808 %h\n");
        assert!(of_systemd.contains("type: coredumpctl list, then: coredumpctl dump PID -o core"), "{of_systemd}");
        assert!(help_by("core", "|/usr/share/apport/apport -p%p\n").contains("gives them to /usr/share/apport/apport"));
        assert!(help_by("core", "core.%p\n").ends_with("type: cat /proc/sys/kernel/core_pattern"));
    }
}
