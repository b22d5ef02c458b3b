//! What is in a plug-in's memory, read without trusting its pointers.

use std::ffi::c_char;
use target::zeroed;

/// Pieces in which text is read; a piece never crosses a page.
const PIECE: usize = 256;

/// The text at `at`, without its NUL, at most `max` bytes. `None` for NULL and where no byte can be read.
pub fn text(at: *const c_char, max: usize) -> Option<Vec<u8>> {
    if at.is_null() {
        return None;
    }
    let mut out = Vec::new();
    let mut addr = at as usize;
    while out.len() < max {
        let len = (PIECE - addr % PIECE).min(max - out.len());
        let mut piece = [0_u8; PIECE];
        if !copy(addr, &mut piece[..len]) {
            return (!out.is_empty()).then_some(out);
        }
        match piece[..len].iter().position(|&byte| byte == 0) {
            Some(end) => {
                out.extend_from_slice(&piece[..end]);
                return Some(out);
            }
            None => out.extend_from_slice(&piece[..len]),
        }
        addr = addr.wrapping_add(len);
    }
    Some(out)
}

/// The `len` bytes at `addr`; `None` where not all of them can be read.
pub fn bytes(addr: usize, len: usize) -> Option<Vec<u8>> {
    let mut out = zeroed(len).ok()?;
    (addr != 0 && copy(addr, &mut out)).then_some(out)
}

/// What stands before the first NUL, or everything.
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    &bytes[..end]
}

/// Copies memory of this process; `false` where it is not mapped, instead of a signal.
fn copy(addr: usize, buf: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
    let remote = libc::iovec { iov_base: addr as *mut libc::c_void, iov_len: buf.len() };
    // SAFETY: the kernel checks the source; the destination is ours and of that length.
    let got = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    if usize::try_from(got) == Ok(buf.len()) {
        return true;
    }
    let error = std::io::Error::last_os_error().raw_os_error();
    if got < 0 && matches!(error, Some(libc::EPERM | libc::ENOSYS)) {
        // A container that forbids the call. A wild pointer then costs the helper process, which the host reports.
        // SAFETY: the plug-in says that text is there; a text's pieces do not cross pages.
        unsafe { std::ptr::copy_nonoverlapping(addr as *const u8, buf.as_mut_ptr(), buf.len()) };
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_bounded_and_wild_pointers_are_nothing() {
        let long = std::ffi::CString::new(vec![b'x'; 5000]).unwrap_or_default();
        assert_eq!(text(long.as_ptr(), 4096).map(|text| text.len()), Some(4096));
        assert_eq!(text(c"short".as_ptr(), 4096).as_deref(), Some(&b"short"[..]));
        assert_eq!(text(std::ptr::null(), 10), None);
        assert_eq!(text(0x10 as *const c_char, 10), None);
    }
}
