//! How a plug-in's helper process ended, in words.

use std::path::Path;
use std::time::Duration;

use super::conversation::End;
use super::error::PluginError;
use super::helper::Helper;
use super::library;
use super::shared::{LOADING, NOTE_EXIT, NOTE_LOST};

/// Why the conversation ended, unless it was finished. `name` names the function of a number.
pub fn why(
    end: End,
    helper: &Helper,
    path: &Path,
    timeout: Duration,
    name: impl Fn(u32) -> Option<&'static str>,
) -> Option<PluginError> {
    let path = path.to_owned();
    let place = match helper.shared.place() {
        LOADING => "its constructors, while it was loaded",
        number => name(number).unwrap_or("no function of its own"),
    };
    Some(match end {
        End::Finished => return None,
        End::Refused(error) => error,
        End::HungUp => match (helper.shared.signal(), helper.shared.note()) {
            (0, NOTE_EXIT) => PluginError::Ended { path, place, reason: "it called exit" },
            (0, NOTE_LOST) => PluginError::Ended { path, place, reason: "it closed the connection to the debugger" },
            (0, _) => PluginError::Ended { path, place, reason: "it was killed, or called _exit" },
            (signal, _) => PluginError::Crashed { path, place, signal: signal_name(signal) },
        },
        End::TimedOut => PluginError::TimedOut { path, place, seconds: library::seconds(timeout) },
        End::Interrupted => PluginError::Interrupted { path, place },
        End::Nonsense(reason) => PluginError::Protocol { path, reason: reason.into() },
    })
}

fn signal_name(signal: i32) -> String {
    match signal {
        libc::SIGSEGV => "SIGSEGV, an access to memory that does not exist".to_owned(),
        libc::SIGBUS => "SIGBUS, an access to memory that does not exist".to_owned(),
        libc::SIGABRT => "SIGABRT, it called abort".to_owned(),
        libc::SIGFPE => "SIGFPE, an arithmetic error such as a division by zero".to_owned(),
        libc::SIGILL => "SIGILL, an instruction that does not exist".to_owned(),
        libc::SIGXCPU => "SIGXCPU, its processor time was used up".to_owned(),
        other => format!("signal {other}"),
    }
}
