//! What a full recording has besides what was read.

use std::path::Path;

use super::ranges::Range;
use target::libraries::is_mpi_file;
use target::{Mapping, printable_path};

/// The most bytes of memory that a full recording adds for one process (1 GiB).
const MAX_FULL: u64 = 1 << 30;

/// A mapping of the process's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its addresses.
    pub range: Range,
    /// Whether it can be read and written.
    pub writable: bool,
    /// Whether other processes share it.
    pub shared: bool,
    /// The mapped file, `[heap]`, `[stack]`, or empty.
    pub name: String,
}

impl From<&Mapping> for Region {
    fn from(one: &Mapping) -> Self {
        let (start, end) = (one.start.get(), one.end.get());
        Self {
            range: Range::new(start, end.saturating_sub(start)),
            writable: one.readable && one.writable,
            shared: one.shared,
            name: printable_path(Path::new(&one.name)),
        }
    }
}

/// The ranges that a full recording has: writable data of the MPI's images with the zeroed part behind it, the heap, and other
/// anonymous memory from the smallest mapping on. The second value says what did not fit.
pub fn full_ranges(regions: &[Region]) -> (Vec<Range>, Vec<String>) {
    let mut classes: [Vec<&Region>; 3] = Default::default();
    let mut data_end = None;
    for region in regions {
        let is_data = region.name.starts_with('/') && is_mpi_file(&region.name);
        // The zeroed part of a library's data (.bss) is a mapping without a name right behind it.
        let is_zeroed = region.name.is_empty() && data_end == Some(region.range.start);
        data_end = (is_data || is_zeroed).then_some(region.range.end);
        if !region.writable || region.shared {
            continue;
        }
        if is_data || is_zeroed {
            classes[0].push(region);
        } else if region.name == "[heap]" {
            classes[1].push(region);
        } else if region.name.is_empty() {
            classes[2].push(region);
        }
    }
    classes[2].sort_by_key(|region| region.range.bytes());
    let (mut room, mut ranges, mut left_out, mut count) = (MAX_FULL, Vec::new(), 0, 0);
    for region in classes.into_iter().flatten() {
        match room.checked_sub(region.range.bytes()) {
            Some(rest) => {
                room = rest;
                ranges.push(region.range);
            }
            None => {
                left_out += region.range.bytes();
                count += 1;
            }
        }
    }
    let sentence = format!(
        "{left_out} bytes in {count} mappings are left out: a full recording has at most {MAX_FULL} bytes of memory"
    );
    (ranges, if count > 0 { vec![sentence] } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, len: u64, writable: bool, name: &str) -> Region {
        Region { range: Range::new(start, len), writable, shared: name.contains("shm"), name: name.to_owned() }
    }

    #[test]
    fn data_of_the_mpi_and_the_heap() {
        let regions = [
            region(0x1000, 0x1000, true, "/home/u/a.out"),
            region(0x4000, 0x1000, true, "[heap]"),
            region(0x8000, 0x1000, false, "/usr/lib/libmpi.so.40"),
            region(0x9000, 0x1000, true, "/usr/lib/libmpi.so.40"),
            region(0xa000, 0x1000, true, ""),
            region(0xc000, 0x1000, true, ""),
            region(0xd000, 2 << 30, true, ""),
            region(0xf000_0000, 0x1000, true, "/dev/shm/x"),
            region(0xf100_0000, 0x1000, true, "[stack]"),
        ];
        let (ranges, left_out) = full_ranges(&regions);
        let starts: Vec<u64> = ranges.iter().map(|range| range.start).collect();
        assert_eq!(starts, [0x9000, 0xa000, 0x4000, 0xc000]);
        assert_eq!(left_out.len(), 1);
    }
}
