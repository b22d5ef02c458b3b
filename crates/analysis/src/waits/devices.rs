//! Threads outside MPI in calls that wait for a GPU, or for other ranks through a library of GPUs. They are known by the names
//! that those libraries export, since their frames have no others.

use model::Outside;

/// What such a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceCall {
    /// It waits until a device has done its work.
    Waits,
    /// It asks whether a device has: called again and again.
    Asks,
    /// It waits for other processes (NCCL, RCCL).
    Meets,
}

/// Names by what they do: CUDA's runtime and driver, HIP, Level Zero (their reference manuals; blocking copies wait as well).
const CALLS: &[(DeviceCall, &[&str])] = &[
    (
        DeviceCall::Waits,
        &[
            "cudaDeviceSynchronize",
            "cudaThreadSynchronize",
            "cudaStreamSynchronize",
            "cudaEventSynchronize",
            "cudaMemcpy",
            "cudaMemcpy2D",
            "cudaMemcpyToSymbol",
            "cudaMemcpyFromSymbol",
            "cudaFree",
            "cuCtxSynchronize",
            "cuStreamSynchronize",
            "cuEventSynchronize",
            "cuMemcpy",
            "cuMemcpyDtoH",
            "cuMemcpyHtoD",
            "hipDeviceSynchronize",
            "hipStreamSynchronize",
            "hipEventSynchronize",
            "hipMemcpy",
            "hipMemcpy2D",
            "hipFree",
            "zeCommandQueueSynchronize",
            "zeCommandListHostSynchronize",
            "zeEventHostSynchronize",
            "zeFenceHostSynchronize",
        ],
    ),
    (
        DeviceCall::Asks,
        &[
            "cudaStreamQuery",
            "cudaEventQuery",
            "cuStreamQuery",
            "cuEventQuery",
            "hipStreamQuery",
            "hipEventQuery",
            "zeEventQueryStatus",
            "zeFenceQueryStatus",
        ],
    ),
    (
        DeviceCall::Meets,
        &[
            "ncclCommInitRank",
            "ncclCommInitRankConfig",
            "ncclCommInitRankScalable",
            "ncclCommInitAll",
            "ncclCommSplit",
            "ncclCommFinalize",
            "ncclCommDestroy",
            "ncclCommAbort",
            "ncclGroupEnd",
        ],
    ),
];

/// What is behind the name in a release or a way of linking: per-thread streams and later versions of the driver's functions.
const SUFFIXES: [&str; 4] = ["_ptsz", "_ptds", "_v2", "_v3"];

/// The outermost call of a GPU's library in which a thread stands, and what it does.
pub fn device_call(thread: &Outside) -> Option<(DeviceCall, &str)> {
    let innermost = thread.function.as_deref().filter(|_| thread.through.is_empty());
    let all = innermost.into_iter().chain(thread.through.iter().map(String::as_str));
    all.rev().find_map(|function| {
        let name = function.split(['@', '(']).next()?;
        let name = SUFFIXES.iter().fold(name, |name, suffix| name.strip_suffix(suffix).unwrap_or(name));
        let (kind, _) = CALLS.iter().find(|(_, names)| names.contains(&name))?;
        Some((*kind, name))
    })
}
