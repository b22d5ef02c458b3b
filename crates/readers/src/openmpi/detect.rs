//! Is this Open MPI, in which version and state, and what moves its messages?

use super::pml::{Pml, Wrapper};
use crate::record::{Record, shapes};
use crate::{Lifetime, ReaderError};
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Symbol, Target, TargetError, printable};

/// The symbol that every Open MPI library defines and no other MPI does.
pub const MARK: &str = "ompi_mpi_comm_world";

shapes! {
    /// The description of a component (opal/mca/mca.h).
    Component = ["mca_base_component_t"] {
        project: "mca_project_name",
        name: "mca_component_name",
        major: "mca_component_major_version",
        minor: "mca_component_minor_version",
        release: "mca_component_release_version",
    };
}

/// Reads how far MPI is (`ompi_mpi_state`, ompi/runtime/mpiruntime.h, since 4.0).
///
/// # Errors
/// Where the symbol is missing or cannot be read.
pub fn lifetime(target: &dyn Target) -> Result<Lifetime, ReaderError> {
    const STATE: &str = "ompi_mpi_state";
    // Numbers of the enumeration since 4.0.0: 0 not initialised, 1 in MPI_Init, 2 initialised, 3 in MPI_Finalize,
    // 4 past the attribute callbacks of MPI_COMM_SELF, 5 finalised.
    let symbol = required(target, STATE)?;
    Ok(match target.read_uint(symbol.addr, 4)? {
        0 => {
            // Open MPI 5 has sessions: MPI may be in use without MPI_Init (ompi/instance/instance.c, v5.0.7).
            let instances = target.symbol("ompi_instance_count")?;
            let count = instances.map_or(Ok(0), |symbol| target.read_uint(symbol.addr, 4))?;
            if count > 0 { Lifetime::Active } else { Lifetime::NotInitialized }
        }
        1 => Lifetime::NotInitialized,
        2 => Lifetime::Active,
        // State 4 comes before the barrier of MPI_Finalize (ompi/runtime/ompi_mpi_finalize.c, v4.1.4).
        3 | 4 => Lifetime::Finalizing,
        5 => Lifetime::Finalized,
        other => return Err(ReaderError::Damaged(format!("{STATE} is {other}"))),
    })
}

/// The selected pml, and the version of the Open MPI that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedPml {
    /// Which it is. A wrapper's own name, where what is behind it could not be found.
    pub pml: Pml,
    /// The wrappers that it stands behind, the outermost first.
    pub wrappers: Vec<Wrapper>,
    /// Major, minor and release number.
    pub version: (u64, u64, u64),
}

impl SelectedPml {
    /// How it is called, with the wrappers before it: `ob1 behind monitoring`; `None` where none is selected.
    pub fn transport(&self) -> Option<String> {
        let name = self.pml.name()?.to_owned();
        let wrappers: Vec<&str> = self.wrappers.iter().map(|wrapper| wrapper.name()).collect();
        Some(if wrappers.is_empty() { name } else { format!("{name} behind {}", wrappers.join(", ")) })
    }
}

/// Where the wrapper monitoring keeps the description of the pml that it replaced (`pml_selected_component`,
/// ompi/mca/pml/monitoring/pml_monitoring_component.c, v4.1.4 and v5.0.10).
const BEHIND_MONITORING: &str = "pml_selected_component";

/// Reads the component description of the selected pml with the layout of `mca_base_component_t` in `layouts`, and those
/// of the pmls behind it.
///
/// # Errors
/// Where it cannot be read, or does not describe a component of Open MPI (then the layout does not fit).
pub fn selected_pml(target: &dyn Target, layouts: &Layouts) -> Result<SelectedPml, ReaderError> {
    let shape = Component::resolve(layouts)?;
    let outermost = component(target, &shape, required(target, "mca_pml_base_selected_component")?.addr)?;
    let (mut name, mut wrappers) = (outermost.name, Vec::new());
    // Either wrapper may be the outer one: each is found at most once.
    while let Some((wrapper, behind)) = Wrapper::in_name(&name).filter(|(wrapper, _)| !wrappers.contains(wrapper)) {
        let behind = behind.map(str::to_owned).or_else(|| {
            let symbol = target.symbol(BEHIND_MONITORING).ok().flatten()?;
            Some(component(target, &shape, symbol.addr).ok()?.name)
        });
        let Some(behind) = behind.filter(|behind| !behind.is_empty()) else { break };
        wrappers.push(wrapper);
        name = behind;
    }
    Ok(SelectedPml { pml: Pml::named(&name), wrappers, version: outermost.version })
}

/// What a description of a component says.
struct Described {
    name: String,
    version: (u64, u64, u64),
}

fn component(target: &dyn Target, shape: &Component, at: TargetAddr) -> Result<Described, ReaderError> {
    let record = Record::owned(target, at, shape.size)?;
    let text = |slot| record.text(slot, 64, target).map(|text| printable(&text));
    let (project, name) = (text(shape.project)?, text(shape.name)?);
    if project != "ompi" && !(project.is_empty() && name.is_empty()) {
        return Err(ReaderError::Damaged(format!("the selected pml belongs to the project {project:?}, not to ompi")));
    }
    let version = (record.uint(shape.major), record.uint(shape.minor), record.uint(shape.release));
    Ok(Described { name, version })
}

/// A symbol that every Open MPI has.
///
/// # Errors
/// Where it is missing.
pub fn required(target: &dyn Target, name: &'static str) -> Result<Symbol, ReaderError> {
    target.symbol(name).map_err(ReaderError::from)?.ok_or(ReaderError::NoSymbol(name))
}

/// Whether the process has an Open MPI library.
///
/// # Errors
/// Where symbols cannot be looked up.
pub fn is_open_mpi(target: &dyn Target) -> Result<bool, TargetError> {
    Ok(target.symbol(MARK)?.is_some())
}
