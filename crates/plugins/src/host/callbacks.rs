//! The callbacks: what a plug-in asks its debugger.
//!
//! They run in the helper process. Handles are compared, never dereferenced; NULL is tolerated wherever a plug-in may
//! pass it; every callback ends at the panic barrier.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::abi::{
    BasicCallbacks, FIRST_USER_CODE, INVALID_PROCESS, Image, ImageCallbacks, Job, JobCallbacks, OK, Process,
    ProcessCallbacks, TAddr, Type, TypeSizes,
};
use super::child::{Child, KnownType, bad_fetch};
use super::foreign;
use super::message::Told;
use super::wire::{Kind, MAX_FETCH, Put, Take};
use mqs_interface::barrier;

/// Our error codes; the plug-in gets their texts from the errorstring callback.
const NOT_FOUND: c_int = FIRST_USER_CODE;
const UNREADABLE: c_int = FIRST_USER_CODE + 1;
const BAD_ARGUMENT: c_int = FIRST_USER_CODE + 2;
const INTERNAL: c_int = FIRST_USER_CODE + 3;

/// Longest name that a plug-in may look up.
const MAX_NAME: usize = 1024;
/// Longest text that it may print.
const MAX_TEXT: usize = 4096;
/// More types than this are not looked up.
const MAX_TYPES: usize = 4096;

/// Indices of `Child::infos`, whose addresses are the handles that a plug-in sees.
const IMAGE: usize = 0;
const PROCESS: usize = 1;
const JOB: usize = 2;

static CHILD: AtomicPtr<Child<'static>> = AtomicPtr::new(std::ptr::null_mut());

/// Makes `child` the one that the callbacks serve, until the process ends.
pub fn install(child: &'static Child<'static>) {
    CHILD.store(std::ptr::from_ref(child).cast_mut(), Ordering::Release);
}

/// Runs a callback's body with the child; `otherwise` where there is none, or after a panic.
fn with_child<T: Copy>(otherwise: T, body: impl FnOnce(&'static Child<'static>) -> T) -> T {
    barrier(otherwise, || {
        // SAFETY: set once, by `install`, from a reference that lives as long as the process.
        let child = unsafe { CHILD.load(Ordering::Acquire).as_ref() };
        child.map_or(otherwise, body)
    })
}

fn handle<T>(child: &Child<'_>, which: usize) -> *mut T {
    std::ptr::from_ref(&child.infos[which]).cast_mut().cast()
}

/// The image's handle.
pub fn image_handle(child: &Child<'_>) -> *mut Image {
    handle(child, IMAGE)
}
/// The process's handle.
pub fn process_handle(child: &Child<'_>) -> *mut Process {
    handle(child, PROCESS)
}
/// The job's handle.
pub fn job_handle(child: &Child<'_>) -> *mut Job {
    handle(child, JOB)
}

/// What the plug-in has hung on the image, the process or the job; taken away from it.
pub fn take_info(cell: &Cell<*mut c_void>) -> Option<*mut c_void> {
    Some(cell.replace(std::ptr::null_mut())).filter(|info| !info.is_null())
}

fn put_info<T>(given: *mut T, which: usize, info: *mut c_void) {
    with_child((), |child| {
        if given == handle(child, which) {
            child.infos[which].set(info);
        }
    });
}

fn get_info<T>(given: *mut T, which: usize) -> *mut c_void {
    with_child(std::ptr::null_mut(), |child| {
        if given == handle(child, which) { child.infos[which].get() } else { std::ptr::null_mut() }
    })
}

fn name(text: *const c_char) -> Option<Vec<u8>> {
    foreign::text(text, MAX_NAME).filter(|name| !name.is_empty())
}

/// Stores through a pointer that the plug-in has passed, unless it is NULL.
fn store<T>(out: *mut T, value: T) {
    if !out.is_null() {
        // SAFETY: the interface has the plug-in pass a pointer to such a value or NULL; where it lies, the helper
        // process dies, which the host reports.
        unsafe { out.write_unaligned(value) };
    }
}

/// The basic callbacks.
pub static BASIC: BasicCallbacks = BasicCallbacks {
    malloc: Some(malloc),
    free: Some(free),
    dprints: Some(dprints),
    errorstring: Some(errorstring),
    put_image_info: Some(put_image_info),
    get_image_info: Some(get_image_info),
    put_process_info: Some(put_process_info),
    get_process_info: Some(get_process_info),
    put_job_info: Some(put_job_info),
    get_job_info: Some(get_job_info),
};
/// The callbacks for an image.
pub static IMAGE_CALLBACKS: ImageCallbacks = ImageCallbacks {
    get_type_sizes: Some(get_type_sizes),
    find_function: Some(find_function),
    find_symbol: Some(find_symbol),
    find_type: Some(find_type),
    field_offset: Some(field_offset),
    sizeof_type: Some(sizeof_type),
};
/// The callbacks for a process.
pub static PROCESS_CALLBACKS: ProcessCallbacks = ProcessCallbacks {
    get_global_rank: Some(get_global_rank),
    get_image: Some(get_image),
    fetch_data: Some(fetch_data),
    target_to_host: Some(target_to_host),
    get_process_job: Some(get_process_job),
    get_process_identity: Some(get_process_identity),
};
/// The callbacks for a job.
pub static JOB_CALLBACKS: JobCallbacks = JobCallbacks { get_process: Some(get_process) };

/// Zeroed, because Open MPI's plug-in leaves parts of what it allocates unset (open-mpi/ompi,
/// ompi/debuggers/ompi_msgq_dll.c, `find_or_create_group`, 4.1.4).
extern "C" fn malloc(size: usize) -> *mut c_void {
    with_child(std::ptr::null_mut(), |child| {
        // SAFETY: calloc has no preconditions; a plug-in that asks for too much gets NULL.
        let at = unsafe { libc::calloc(1, size.max(1)) };
        if !at.is_null()
            && let Ok(mut allocations) = child.allocations.lock()
        {
            allocations.insert(at as usize, size);
        }
        at
    })
}

extern "C" fn free(at: *mut c_void) {
    with_child((), |child| {
        // What `malloc` did not give, or what is freed already, is left alone.
        let known = child.allocations.lock().ok().and_then(|mut allocations| allocations.remove(&(at as usize)));
        if known.is_some() {
            // SAFETY: `malloc` gave it, and it has not been freed since.
            unsafe { libc::free(at) };
        }
    });
}

extern "C" fn dprints(text: *const c_char) {
    with_child((), |child| {
        if let Some(text) = foreign::text(text, MAX_TEXT) {
            child.link.borrow_mut().tell(&Told::Print { text: &text });
        }
    });
}

extern "C" fn errorstring(code: c_int) -> *mut c_char {
    let text = match code {
        OK => c"no error",
        NOT_FOUND => c"the debugger has no such name",
        UNREADABLE => c"target memory cannot be read there",
        BAD_ARGUMENT => c"the debugger was asked for something impossible",
        INTERNAL => c"the debugger's own error",
        _ => c"an error code that the debugger does not have",
    };
    text.as_ptr().cast_mut()
}

extern "C" fn put_image_info(image: *mut Image, info: *mut c_void) {
    put_info(image, IMAGE, info);
}
extern "C" fn get_image_info(image: *mut Image) -> *mut c_void {
    get_info(image, IMAGE)
}
extern "C" fn put_process_info(process: *mut Process, info: *mut c_void) {
    put_info(process, PROCESS, info);
}
extern "C" fn get_process_info(process: *mut Process) -> *mut c_void {
    get_info(process, PROCESS)
}
extern "C" fn put_job_info(job: *mut Job, info: *mut c_void) {
    put_info(job, JOB, info);
}
extern "C" fn get_job_info(job: *mut Job) -> *mut c_void {
    get_info(job, JOB)
}

extern "C" fn get_type_sizes(_process: *mut Process, out: *mut TypeSizes) {
    with_child((), |child| {
        let pointer = child.facts.pointer_size;
        // LP64 and ILP32: a long is as wide as a pointer on every system that this runs on.
        let sizes =
            TypeSizes { short_size: 2, int_size: 4, long_size: pointer, long_long_size: 8, pointer_size: pointer };
        store(out, sizes);
    });
}

extern "C" fn find_function(image: *mut Image, text: *const c_char, _language: c_int, out: *mut TAddr) -> c_int {
    find_symbol(image, text, out)
}

extern "C" fn find_symbol(_image: *mut Image, text: *const c_char, out: *mut TAddr) -> c_int {
    with_child(INTERNAL, |child| {
        let Some(name) = name(text) else { return BAD_ARGUMENT };
        let mut link = child.link.borrow_mut();
        let mut reply = Take(link.request(Kind::SYMBOL, |request| request.text(&name)));
        if reply.u8() != Some(1) {
            return NOT_FOUND;
        }
        let Some(addr) = reply.u64() else { return INTERNAL };
        store(out, addr as TAddr);
        OK
    })
}

extern "C" fn find_type(_image: *mut Image, text: *const c_char, _language: c_int) -> *mut Type {
    with_child(std::ptr::null_mut(), |child| {
        let Some(name) = name(text) else { return std::ptr::null_mut() };
        let mut types = child.types.borrow_mut();
        if let Some(known) = types.iter().find(|known| known.name == name) {
            return type_handle(known);
        }
        let mut link = child.link.borrow_mut();
        let mut reply = Take(link.request(Kind::TYPE, |request| request.text(&name)));
        let (Some(1), Some(size)) = (reply.u8(), reply.u64()) else {
            child.misses.set(child.misses.get().saturating_add(1));
            return std::ptr::null_mut();
        };
        if types.len() >= MAX_TYPES {
            return std::ptr::null_mut();
        }
        types.push(Box::new(KnownType { name, size }));
        types.last().map_or(std::ptr::null_mut(), |known| type_handle(known))
    })
}

fn type_handle(known: &KnownType) -> *mut Type {
    std::ptr::from_ref(known).cast_mut().cast()
}

extern "C" fn field_offset(given: *mut Type, text: *const c_char) -> c_int {
    with_child(-1, |child| {
        let types = child.types.borrow();
        let (Some(known), Some(field)) = (types.iter().find(|known| type_handle(known) == given), name(text)) else {
            child.blind_offsets.set(child.blind_offsets.get().saturating_add(1));
            return -1;
        };
        let mut link = child.link.borrow_mut();
        let mut reply = Take(link.request(Kind::FIELD, |request| {
            request.text(&known.name);
            request.text(&field);
        }));
        let offset = match (reply.u8(), reply.u64()) {
            (Some(1), Some(offset)) => c_int::try_from(offset).ok(),
            _ => None,
        };
        offset.unwrap_or_else(|| {
            child.misses.set(child.misses.get().saturating_add(1));
            child.blind_offsets.set(child.blind_offsets.get().saturating_add(1));
            -1
        })
    })
}

extern "C" fn sizeof_type(given: *mut Type) -> c_int {
    with_child(0, |child| {
        let types = child.types.borrow();
        let known = types.iter().find(|known| type_handle(known) == given);
        known.and_then(|known| c_int::try_from(known.size).ok()).unwrap_or(0)
    })
}

extern "C" fn get_global_rank(process: *mut Process) -> c_int {
    with_child(INVALID_PROCESS, |child| {
        if process == process_handle(child) { child.facts.global_rank } else { INVALID_PROCESS }
    })
}

extern "C" fn get_image(process: *mut Process) -> *mut Image {
    with_child(std::ptr::null_mut(), |child| {
        if process == process_handle(child) { image_handle(child) } else { std::ptr::null_mut() }
    })
}

extern "C" fn fetch_data(process: *mut Process, addr: TAddr, len: c_int, out: *mut c_void) -> c_int {
    with_child(INTERNAL, |child| {
        let wanted = usize::try_from(len).unwrap_or(usize::MAX);
        if wanted == 0 {
            return OK;
        }
        if out.is_null() || wanted > MAX_FETCH || process != process_handle(child) {
            bad_fetch(&mut child.link.borrow_mut(), addr as u64, u64::try_from(len).unwrap_or(0));
            return BAD_ARGUMENT;
        }
        // SAFETY: the interface has the plug-in pass a buffer of `len` bytes; where it lies, the helper process dies,
        // which the host reports. The memory is C's and is only written to.
        let buf = unsafe { std::slice::from_raw_parts_mut(out.cast::<u8>(), wanted) };
        if child.memory.borrow_mut().fetch(&mut child.link.borrow_mut(), addr as u64, buf) {
            return OK;
        }
        // Plug-ins ignore failures here and use what stands in the buffer (Open MPI's for names).
        buf.fill(0);
        UNREADABLE
    })
}

extern "C" fn target_to_host(_process: *mut Process, from: *const c_void, to: *mut c_void, len: c_int) {
    with_child((), |child| {
        let len = usize::try_from(len).unwrap_or(0);
        if from.is_null() || to.is_null() || len == 0 || len > MAX_FETCH {
            return;
        }
        // SAFETY: the interface has the plug-in pass two buffers of `len` bytes, which may be the same one; `copy`
        // allows that, and the slice is made after it.
        let buf = unsafe {
            std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len);
            std::slice::from_raw_parts_mut(to.cast::<u8>(), len)
        };
        if child.facts.swapped {
            buf.reverse();
        }
    });
}

extern "C" fn get_process_job(given: *mut Process) -> *mut Job {
    with_child(std::ptr::null_mut(), |child| {
        // The document gives the argument as a job.
        let job = job_handle(child);
        if given == process_handle(child) || given.cast() == job { job } else { std::ptr::null_mut() }
    })
}

extern "C" fn get_process_identity(given: *mut c_void) -> c_int {
    with_child(INVALID_PROCESS, |child| {
        let ours = given == process_handle(child).cast() || given == job_handle(child).cast();
        if ours { child.facts.identity } else { INVALID_PROCESS }
    })
}

extern "C" fn get_process(job: *mut Job, identity: c_int) -> *mut Process {
    with_child(std::ptr::null_mut(), |child| {
        if job == job_handle(child) && identity == child.facts.identity && identity >= 0 {
            process_handle(child)
        } else {
            std::ptr::null_mut()
        }
    })
}
