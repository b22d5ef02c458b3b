//! Which network a process of MPICH uses: libraries may have two, of which MPI_Init starts one.

use super::communicators::Communicators;
use super::ofi::Ofi;
use super::pools::Pools;
use super::requests::{Kinds, RequestShape};
use super::transport::{NotRead, Transport};
use super::ucx::{Calibration, Ucx};
use crate::ReaderError;
use layouts::Layouts;
use target::Target;

/// The network of a process whose library was built for `device`, such as `ch4:ucx,ofi`.
///
/// # Errors
/// Where the process is gone.
pub fn network<'a>(
    target: &'a dyn Target,
    layouts: &'a Layouts,
    pools: &'a Pools,
    device: &str,
    requests: (&'a RequestShape, &'a Kinds),
    next_offset: u64,
    communicators: &'a Communicators,
) -> Result<Box<dyn Transport + 'a>, ReaderError> {
    let names: Vec<&str> = device.split([':', ',']).skip(1).collect();
    if device.starts_with("ch4") && names.contains(&"ucx") {
        let (shape, kinds) = requests;
        let calibration = Calibration { target, shape, kinds, pools, next_offset, communicators };
        let ucx = Ucx::new(layouts, calibration)?;
        if let Some(ucx) = ucx.filter(|ucx| ucx.is_running() || !names.contains(&"ofi")) {
            return Ok(Box::new(ucx));
        }
    }
    if names.contains(&"ofi")
        && let Some(ofi) = Ofi::new(target, layouts, &pools.ranges)
    {
        return Ok(Box::new(ofi));
    }
    let network = names.first().copied().unwrap_or("network").to_uppercase();
    Ok(Box::new(NotRead { network }))
}
