//! A debugger: callbacks over a target, and the calls in the order of the document.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_queues_mqs as library;
use mqs_interface::{
    BasicCallbacks, Communicator, END_OF_LIST, Image, ImageCallbacks, NO_INFORMATION, OK, PendingOperation, Process,
    ProcessCallbacks, TAddr, Type, TypeSizes,
};
use target::address::TargetAddr;
use target::{PointerWidth, Target};

/// What a debugger does wrong.
#[derive(Default)]
pub struct Manners {
    /// Every so many reads fail.
    pub fails: Option<u64>,
    /// Every so many reads succeed, and what they give is wrong.
    pub lies: Option<u64>,
    /// Names are found at this address, whatever they are.
    pub anything_at: Option<u64>,
    /// What hangs on its objects is not given back.
    pub forgets: bool,
    /// It has no memory.
    pub is_full: bool,
    /// It calls the library within a callback.
    pub calls_back: bool,
    /// What it says of the width of pointers.
    pub pointer: Option<c_int>,
}

/// The debugger with one process.
pub struct Host<'a> {
    target: &'a dyn Target,
    manners: Manners,
    infos: [Cell<*mut c_void>; 2],
    allocated: RefCell<HashSet<usize>>,
    /// How often memory was fetched.
    pub fetches: Cell<u64>,
    /// What the library said when it was called within a callback.
    pub called_back: Cell<Option<c_int>>,
    _alone: MutexGuard<'static, ()>,
}

/// What the library gave of a queue.
#[derive(Debug)]
pub struct Queue {
    /// The code that ended it.
    pub end: c_int,
    /// In its order.
    pub operations: Vec<PendingOperation>,
}

/// What it gave of a communicator.
#[derive(Debug)]
pub struct Read {
    pub communicator: Communicator,
    pub group: Result<Vec<c_int>, c_int>,
    pub queues: Vec<Queue>,
}

thread_local! {
    static CURRENT: Cell<*const Host<'static>> = const { Cell::new(std::ptr::null()) };
}

/// The library is one for the whole process: a host at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// No host uses the library as long as this is held.
pub fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with<T>(body: impl FnOnce(&Host<'static>) -> T) -> T {
    // SAFETY: set by `Host::run` for as long as the library is called.
    CURRENT.with(|current| body(unsafe { &*current.get() }))
}

extern "C" fn malloc(size: usize) -> *mut c_void {
    with(|host| {
        if host.manners.is_full {
            return std::ptr::null_mut();
        }
        // SAFETY: has no preconditions.
        let at = unsafe { libc::calloc(1, size) };
        host.allocated.borrow_mut().insert(at as usize);
        at
    })
}

extern "C" fn free(at: *mut c_void) {
    with(|host| {
        assert!(host.allocated.borrow_mut().remove(&(at as usize)), "what the debugger did not give is given back");
        // SAFETY: `malloc` gave it.
        unsafe { libc::free(at) };
    });
}

extern "C" fn put_image(_image: *mut Image, info: *mut c_void) {
    with(|host| host.infos[0].set(info));
}
extern "C" fn image_info(_image: *mut Image) -> *mut c_void {
    with(|host| if host.manners.forgets { 0x55 as *mut c_void } else { host.infos[0].get() })
}
extern "C" fn put_process(_process: *mut Process, info: *mut c_void) {
    with(|host| host.infos[1].set(info));
}
extern "C" fn process_info(_process: *mut Process) -> *mut c_void {
    with(|host| if host.manners.forgets { 0x55 as *mut c_void } else { host.infos[1].get() })
}
extern "C" fn dprints(_text: *const c_char) {
    panic!("the library prints");
}

extern "C" fn type_sizes(_process: *mut Process, out: *mut TypeSizes) {
    with(|host| {
        let width = if host.target.abi().pointer_width == PointerWidth::Eight { 8 } else { 4 };
        let width = host.manners.pointer.unwrap_or(width);
        let sizes = TypeSizes { short_size: 2, int_size: 4, long_size: width, long_long_size: 8, pointer_size: width };
        // SAFETY: the library gives room for them.
        unsafe { *out = sizes };
    });
}

extern "C" fn find_symbol(_image: *mut Image, name: *const c_char, out: *mut TAddr) -> c_int {
    with(|host| {
        // SAFETY: the library gives a string, and room for an address.
        let (name, out) = unsafe { (CStr::from_ptr(name).to_str().unwrap(), &mut *out) };
        if let Some(at) = host.manners.anything_at {
            *out = at as TAddr;
            return OK;
        }
        let Ok(Some(found)) = host.target.symbol(name) else { return 100 };
        *out = found.addr.get() as TAddr;
        OK
    })
}

extern "C" fn find_type(_image: *mut Image, _name: *const c_char, _language: c_int) -> *mut Type {
    std::ptr::null_mut()
}

extern "C" fn fetch(process: *mut Process, at: TAddr, length: c_int, out: *mut c_void) -> c_int {
    with(|host| {
        assert!(length > 0 && !out.is_null());
        let number = host.fetches.get() + 1;
        host.fetches.set(number);
        if host.manners.calls_back {
            host.called_back.set(Some(library::mqs_update_communicator_list(process)));
        }
        if host.manners.fails.is_some_and(|every| number.is_multiple_of(every)) {
            return 100;
        }
        // SAFETY: the library gives room for so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(out.cast::<u8>(), length as usize) };
        let read = host.target.read(TargetAddr::new(at), bytes);
        if host.manners.lies.is_some_and(|every| number.is_multiple_of(every)) {
            let mut seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at;
            for byte in bytes {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                *byte ^= if seed >> 61 == 0 { (seed >> 33) as u8 } else { 0 };
            }
            return OK;
        }
        if read.is_ok() { OK } else { 100 }
    })
}

extern "C" fn to_host(_process: *mut Process, from: *const c_void, to: *mut c_void, length: c_int) {
    // SAFETY: the library gives two buffers of that length.
    unsafe { std::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), length as usize) };
}

extern "C" fn rank(_process: *mut Process) -> c_int {
    0
}
extern "C" fn get_image(process: *mut Process) -> *mut Image {
    process.cast::<u8>().wrapping_add(1).cast()
}

static BASIC: BasicCallbacks = BasicCallbacks {
    malloc: Some(malloc),
    free: Some(free),
    dprints: Some(dprints),
    errorstring: None,
    put_image_info: Some(put_image),
    get_image_info: Some(image_info),
    put_process_info: Some(put_process),
    get_process_info: Some(process_info),
    put_job_info: None,
    get_job_info: None,
};
static IMAGES: ImageCallbacks = ImageCallbacks {
    get_type_sizes: Some(type_sizes),
    find_function: None,
    find_symbol: Some(find_symbol),
    find_type: Some(find_type),
    field_offset: None,
    sizeof_type: None,
};
static PROCESSES: ProcessCallbacks = ProcessCallbacks {
    get_global_rank: Some(rank),
    get_image: Some(get_image),
    fetch_data: Some(fetch),
    target_to_host: Some(to_host),
    get_process_job: None,
    get_process_identity: None,
};

impl<'a> Host<'a> {
    /// A debugger that holds `target`.
    pub fn new(target: &'a dyn Target, manners: Manners) -> Self {
        Self {
            target,
            manners,
            infos: Default::default(),
            allocated: RefCell::default(),
            fetches: Cell::new(0),
            called_back: Cell::new(None),
            _alone: alone(),
        }
    }

    /// Its process.
    fn process(&self) -> *mut Process {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    /// All calls, from the first to the last; the code and the text of the first that failed.
    pub fn run(&self) -> Result<Vec<Read>, (c_int, String)> {
        CURRENT.with(|current| current.set(std::ptr::from_ref(self).cast()));
        let process = self.process();
        let image = get_image(process);
        library::mqs_setup_basic_callbacks(&raw const BASIC);
        let result = check(library::mqs_setup_image(image, &raw const IMAGES)).and_then(|()| {
            let result = self.of_image(process, image);
            library::mqs_destroy_image_info(self.infos[0].get());
            result
        });
        assert!(self.allocated.borrow().is_empty(), "the library keeps memory of the debugger");
        result
    }

    fn of_image(&self, process: *mut Process, image: *mut Image) -> Result<Vec<Read>, (c_int, String)> {
        let mut message = std::ptr::null_mut();
        // SAFETY: there is room for a pointer.
        check(unsafe { library::mqs_image_has_queues(image, &raw mut message) })?;
        assert!(message.is_null());
        check(library::mqs_setup_process(process, &raw const PROCESSES))?;
        let result = self.of_process(process);
        library::mqs_destroy_process_info(self.infos[1].get());
        result
    }

    fn of_process(&self, process: *mut Process) -> Result<Vec<Read>, (c_int, String)> {
        let mut message = std::ptr::null_mut();
        // SAFETY: there is room for a pointer.
        let code = unsafe { library::mqs_process_has_queues(process, &raw mut message) };
        assert_eq!(message.is_null(), code == OK);
        if code != OK {
            // SAFETY: the library gives a string.
            let format = unsafe { CStr::from_ptr(message) }.to_str().expect("UTF-8").to_owned();
            assert!(!format.replace("%%", "").contains('%'), "{format}");
            return Err((code, format.replace("%%", "%")));
        }
        check(library::mqs_update_communicator_list(process))?;
        let mut all = Vec::new();
        let mut more = library::mqs_setup_communicator_iterator(process);
        while more == OK {
            all.push(communicator(process));
            more = library::mqs_next_communicator(process);
        }
        assert!(more == END_OF_LIST, "{}", text(more));
        Ok(all)
    }
}

fn communicator(process: *mut Process) -> Read {
    let mut communicator = Communicator { unique_id: 0, local_rank: 0, size: 0, name: [0xff; 64] };
    // SAFETY: there is room.
    assert_eq!(unsafe { library::mqs_get_communicator(process, &raw mut communicator) }, OK);
    let room = usize::try_from(communicator.size).unwrap_or(0);
    let mut ranks = vec![c_int::MIN; room + 8];
    // SAFETY: there is room for as many as the communicator has members.
    let code = unsafe { library::mqs_get_comm_group(process, ranks.as_mut_ptr()) };
    assert!(ranks.split_off(room).iter().all(|beyond| *beyond == c_int::MIN), "more ranks than there is room for");
    let group = if code == OK { Ok(ranks) } else { Err(code) };
    Read { communicator, group, queues: (0..3).map(|class| queue(process, class)).collect() }
}

fn queue(process: *mut Process, class: c_int) -> Queue {
    let mut end = library::mqs_setup_operation_iterator(process, class);
    let mut operations = Vec::new();
    while end == OK {
        // SAFETY: plain data.
        let mut operation: PendingOperation = unsafe { std::mem::zeroed() };
        operation.extra_text = [[0xff; 64]; 5];
        // SAFETY: there is room.
        end = unsafe { library::mqs_next_operation(process, &raw mut operation) };
        if end == OK {
            operations.push(operation);
        }
    }
    assert!([END_OF_LIST, NO_INFORMATION].contains(&end) || !text(end).is_empty());
    Queue { end, operations }
}

fn check(code: c_int) -> Result<(), (c_int, String)> {
    if code == OK { Ok(()) } else { Err((code, text(code))) }
}

/// What a code means.
pub fn text(code: c_int) -> String {
    // SAFETY: the library gives a string.
    unsafe { CStr::from_ptr(library::mqs_dll_error_string(code)) }.to_str().expect("UTF-8").to_owned()
}

/// The lines of an operation, each of which ends within its room.
pub fn lines(operation: &PendingOperation) -> Vec<String> {
    let ended = |line: &[u8; 64]| {
        let end = line.iter().position(|byte| *byte == 0).expect("a NUL");
        String::from_utf8(line[..end].to_vec()).expect("UTF-8")
    };
    operation.extra_text.iter().map(ended).take_while(|line| !line.is_empty()).collect()
}
