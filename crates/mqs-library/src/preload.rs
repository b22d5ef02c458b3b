//! For debuggers that take a library by `MPIR_dll_name` alone: loaded into the ranks before their MPI (`LD_PRELOAD`), the library
//! exports that variable before the MPI's own, with its own path in it.

use std::cell::UnsafeCell;
use std::ffi::c_void;

/// Room for a path; MPIs have 512 bytes or fewer, and may write into what they take for theirs.
const ROOM: usize = 4096;

/// A path for whoever looks into the process.
#[repr(transparent)]
pub struct Path(UnsafeCell<[u8; ROOM]>);

// SAFETY: it is written once, before the program begins, and read by other processes only.
unsafe impl Sync for Path {}

/// The variable of the MPIR interface.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static MPIR_dll_name: Path = Path(UnsafeCell::new([0; ROOM]));

/// The dynamic linker calls it when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = name_itself;

extern "C" fn name_itself() {
    // SAFETY: plain data, for which zeros are values.
    let mut about: libc::Dl_info = unsafe { std::mem::zeroed() };
    let own = name_itself as *const c_void;
    // SAFETY: an address of this library, and room for the answer.
    if unsafe { libc::dladdr(own, &raw mut about) } == 0 || about.dli_fname.is_null() {
        return;
    }
    // SAFETY: the dynamic linker's text for a file that stays loaded.
    let path = unsafe { std::ffi::CStr::from_ptr(about.dli_fname) }.to_bytes();
    // What is relative leads elsewhere from where a debugger is.
    if path.starts_with(b"/") && path.len() < ROOM {
        // SAFETY: there is room, and nobody else knows of the variable yet.
        unsafe { std::ptr::copy_nonoverlapping(path.as_ptr(), MPIR_dll_name.0.get().cast(), path.len()) };
    }
}
