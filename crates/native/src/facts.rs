//! What is known of a process besides its memory and its stacks.

use model::Facts;
use target::{printable, printable_path};

use crate::core::Core;
use crate::live::Live;
use crate::system::{Environment, host};

/// Who reads, for recordings.
const TOOL: &str = concat!("mpi-queues ", env!("CARGO_PKG_VERSION"));

/// Where launchers tell a process the name of its host (PMIx: src/include/pmix_common.h; Open MPI's mpirun sets it).
const HOST_VARIABLE: &str = "PMIX_HOSTNAME";

impl Live {
    /// What the system tells; `variables` are those of the environment.
    pub(crate) fn told(&self, variables: &[&str]) -> Facts {
        let process = self.process();
        let pid = process.pid();
        let environment = Environment::of(pid);
        let variable = |name: &&str| Some(((*name).to_owned(), environment.as_ref()?.value(name)?));
        Facts {
            pid: Some(i64::from(pid)),
            host: host(),
            executable: Some(process.executable().to_owned()),
            via: "native".to_owned(),
            debugger: TOOL.to_owned(),
            environment: variables.iter().filter_map(variable).collect(),
            ..Facts::default()
        }
    }
}

impl Core {
    /// What the core file tells; `variables` are those of the environment.
    pub(crate) fn told(&self, variables: &[&str]) -> Facts {
        let core = self.process().core();
        let variable = |name: &str| core.environment(name.as_bytes()).map(printable);
        let named = |name: &&str| Some(((*name).to_owned(), variable(name)?));
        Facts {
            pid: core.pid().map(i64::from),
            host: variable(HOST_VARIABLE),
            executable: Some(printable_path(self.process().executable())),
            via: "core".to_owned(),
            debugger: TOOL.to_owned(),
            environment: variables.iter().filter_map(named).collect(),
            ..Facts::default()
        }
    }
}
