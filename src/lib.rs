//! The Python extension module `mpi_queues._native`: PyO3 only, no logic. Its contract is `_native.pyi`.

mod acquisition;
mod asked;
mod cores;
mod diagnosis;
mod digests;
mod drafts;
mod expressions;
mod facts;
mod failure;
mod files;
mod handles;
mod held;
mod layouts;
mod many;
mod native;
mod origin;
mod overview;
mod process;
mod queue;
mod record;
mod recording;
mod session;
mod snapshot;
mod stacks;
mod target;
mod text;
mod told;
mod unpacked;
mod view;
mod views;

use pyo3::prelude::*;

use ::target::heap::WithReserve;

/// Of the front of 1,000 nodes a fifth of the time, and a twelfth of the memory, was the C library's allocator.
#[global_allocator]
static ALLOCATOR: WithReserve<mimalloc::MiMalloc> = WithReserve(mimalloc::MiMalloc);

/// The Rust core of mpi-queues.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("AGENT_PROTOCOL", model::AGENT_PROTOCOL)?;
    module.add("POLLS", functions::polls().collect::<Vec<_>>())?;
    module.add("RAN", ::native::RAN.as_secs_f64())?;
    module.add("NativeError", module.py().get_type::<session::NativeError>())?;
    module.add_class::<session::Session>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<cores::CoreFile>()?;
    module.add_class::<digests::Digests>()?;
    module.add_class::<native::LiveProcesses>()?;
    module.add_class::<native::Recorded>()?;
    module.add_function(wrap_pyfunction!(native::core_session, module)?)?;
    module.add_function(wrap_pyfunction!(native::message_memory, module)?)?;
    module.add_class::<native::Watchdog>()?;
    module.add_class::<native::KeptHandler>()?;
    module.add_function(wrap_pyfunction!(native::take_back_interrupt, module)?)?;
    module.add_function(wrap_pyfunction!(native::begin_look, module)?)?;
    module.add_function(wrap_pyfunction!(native::interrupt, module)?)?;
    module.add_function(wrap_pyfunction!(native::release_everything, module)?)?;
    module.add_function(wrap_pyfunction!(native::watch, module)?)?;
    module.add_function(wrap_pyfunction!(native::starved, module)?)?;
    module.add_function(wrap_pyfunction!(native::wants_processor, module)?)?;
    module.add_function(wrap_pyfunction!(native::living, module)?)?;
    module.add_function(wrap_pyfunction!(native::waits_in, module)?)?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<digests::Digests>()?;
    module.add_class::<diagnosis::Diagnosis>()?;
    module.add_class::<diagnosis::Finding>()?;
    module.add_class::<stacks::StackTree>()?;
    module.add_class::<stacks::StackNode>()?;
    module.add_class::<process::Process>()?;
    module.add_class::<process::Communicator>()?;
    module.add_class::<queue::Queue>()?;
    module.add_class::<queue::Operation>()?;
    module.add_function(wrap_pyfunction!(overview::layered, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::layouts_list, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::layouts_show, module)?)?;
    module.add_function(wrap_pyfunction!(layouts::layouts_make, module)?)?;
    module.add_function(wrap_pyfunction!(drafts::mpi2dd, module)?)?;
    module.add("Unknown", module.py().get_type::<failure::Unknown>())?;
    module.add_function(wrap_pyfunction!(expressions::value_of_c, module)?)?;
    module.add_function(wrap_pyfunction!(files::irregular, module)?)?;
    module.add_function(wrap_pyfunction!(files::is_mpi_library, module)?)?;
    module.add_function(wrap_pyfunction!(files::open_regular, module)?)?;
    module.add_function(wrap_pyfunction!(files::about_file, module)?)?;
    module.add_function(wrap_pyfunction!(files::real_path, module)?)?;
    module.add_function(wrap_pyfunction!(files::answered_again, module)?)?;
    module.add_function(wrap_pyfunction!(files::unanswered, module)?)?;
    module.add_class::<files::RegularFile>()?;
    module.add_function(wrap_pyfunction!(handles::handle_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(acquisition::process_table, module)?)?;
    module.add_function(wrap_pyfunction!(acquisition::slurm_job, module)?)?;
    module.add_function(wrap_pyfunction!(text::printable, module)?)?;
    module.add_function(wrap_pyfunction!(text::printable_json, module)?)?;
    module.add_function(wrap_pyfunction!(text::c_name, module)?)?;
    module.add_function(wrap_pyfunction!(recording::recording_start, module)?)?;
    module.add_function(wrap_pyfunction!(recording::recording_end, module)?)?;
    Ok(())
}
