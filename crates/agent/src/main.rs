//! `mpi-queues` without Python and without a debugger, as one static program: it reads the ranks of its node.

mod answer;
mod arguments;
mod failure;
mod live;
mod node;
mod output;
mod process;
mod reading;
mod refused;
mod users;

use std::io::Write as _;
use std::process::ExitCode;

use arguments::Asked;
use target::heap::WithReserve;

#[global_allocator]
static ALLOCATOR: WithReserve<std::alloc::System> = WithReserve(std::alloc::System);

fn main() -> ExitCode {
    if std::env::args_os().skip(1).eq(["node"]) {
        return node::serve();
    }
    ExitCode::from(match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Asked::Reading(request)) => answer::give(&request),
        Ok(Asked::Help) => print(arguments::HELP),
        Ok(Asked::Version) => print(concat!("mpi-queues-agent ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(reason) => {
            failure::say(&format!("{reason}\ntype: mpi-queues-agent --help"));
            answer::BAD_USAGE
        }
    })
}

fn print(text: &str) -> u8 {
    // A pager that was closed has seen enough.
    u8::from(std::io::stdout().write_all(text.as_bytes()).is_err())
}
