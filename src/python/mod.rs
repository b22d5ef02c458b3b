//! The Python extension module `mpi_queues._native`: PyO3 only, no logic. Its contract is `_native.pyi`.

mod acquisition;
mod diagnosis;
mod facts;
mod frames;
mod handles;
mod layouts;
mod mpi2dd;
mod origin;
mod process;
mod queue;
mod record;
mod recording;
mod session;
mod snapshot;
mod target;

use pyo3::prelude::*;

/// The Rust core of mpi-queues.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("NativeError", module.py().get_type::<session::NativeError>())?;
    module.add_class::<session::Session>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<diagnosis::Diagnosis>()?;
    module.add_class::<diagnosis::Finding>()?;
    module.add_class::<process::Process>()?;
    module.add_class::<process::Communicator>()?;
    module.add_class::<queue::Queue>()?;
    module.add_class::<queue::Operation>()?;
    module.add_function(wrap_pyfunction!(layouts::layouts_list, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::layouts_show, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::layouts_make, module)?)?;
    module.add_function(wrap_pyfunction!(mpi2dd::mpi2dd, module)?)?;
    module.add_class::<frames::CallSite>()?;
    module.add_function(wrap_pyfunction!(frames::call_site, module)?)?;
    module.add_function(wrap_pyfunction!(frames::call_values, module)?)?;
    module.add_function(wrap_pyfunction!(frames::is_outermost, module)?)?;
    module.add_function(wrap_pyfunction!(frames::mpi_frame, module)?)?;
    module.add_function(wrap_pyfunction!(frames::own_variables, module)?)?;
    module.add_function(wrap_pyfunction!(frames::scoped_names, module)?)?;
    module.add_function(wrap_pyfunction!(frames::source_names, module)?)?;
    module.add_function(wrap_pyfunction!(frames::symbol_names, module)?)?;
    module.add_function(wrap_pyfunction!(acquisition::process_table, module)?)?;
    module.add_function(wrap_pyfunction!(recording::recording_start, module)?)?;
    module.add_function(wrap_pyfunction!(recording::recording_end, module)?)?;
    Ok(())
}
