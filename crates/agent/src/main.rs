//! `mpi-queues` without Python and without a debugger, as one static program. So far it reads recordings.

mod answer;
mod arguments;

use std::process::ExitCode;

fn main() -> ExitCode {
    match arguments::parse(std::env::args_os().skip(1)) {
        Ok(Some(request)) => answer::give(&request),
        Ok(None) => {
            print!("{}", arguments::HELP);
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("mpi-queues-agent: {reason}\ntype: mpi-queues-agent --help");
            ExitCode::from(answer::BAD_USAGE)
        }
    }
}
