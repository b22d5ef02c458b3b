//! Values in a dictionary of Python's, by their names.
//!
//! Sources: CPython's Objects/dict-common.h of 3.8 and 3.9, Include/internal/pycore_dict.h of 3.11.2, 3.13.5 and 3.14.0.

use target::address::TargetAddr;

use crate::error::{PythonError, unlike};
use crate::memory::Memory;

/// `PyDictObject.ma_keys`, in builds with the lock.
const KEYS: u64 = 32;
/// No dictionary of a module has more.
const MOST: u64 = 4096;
/// DICT_KEYS_GENERAL, DICT_KEYS_UNICODE: with hashes, and without.
const GENERAL: u64 = 0;
const UNICODE: u64 = 1;

/// The value of the first of these names that a dictionary has.
pub(crate) fn find(
    memory: &Memory<'_>,
    dictionary: TargetAddr,
    names: &[&str],
) -> Result<Option<TargetAddr>, PythonError> {
    if !memory.is_a(dictionary, "dict") {
        return Err(unlike("what should be a Python dictionary is not"));
    }
    let keys = memory.pointer(dictionary, KEYS)?;
    let number = |offset: u64, size: u64| memory.target.read_uint(keys.wrapping_add(offset), size);
    let (begin, count, hashed) = if memory.layout.minor <= 10 {
        // dk_size, dk_nentries, dk_indices.
        let size = number(8, 8)?;
        let width = [0xff, 0xffff, 0xffff_ffff].iter().position(|most| size <= *most).map_or(8, |power| 1 << power);
        (40 + size.saturating_mul(width), number(32, 8)?, true)
    } else {
        // dk_log2_index_bytes, dk_kind, dk_nentries, dk_indices.
        let (bytes, kind) = (number(9, 1)?, number(10, 1)?);
        if bytes > 20 || !matches!(kind, GENERAL | UNICODE) {
            return Err(unlike("a dictionary of Python's makes no sense"));
        }
        (32 + (1 << bytes), number(24, 8)?, kind == GENERAL)
    };
    if count > MOST || begin > 64 * MOST {
        return Err(unlike("a dictionary of Python's makes no sense"));
    }
    let (size, first) = if hashed { (24, 8) } else { (16, 0) };
    for name in names {
        for index in 0..count {
            let entry = keys.wrapping_add(begin + index * size);
            let key = memory.pointer(entry, first)?;
            if memory.is_named(key, name)? {
                return Ok(Some(memory.pointer(entry, first + 8)?));
            }
        }
    }
    Ok(None)
}
