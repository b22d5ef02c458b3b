//! What the debugger can be asked: its tables of callbacks, each of which may lack some, or be shorter than ours where the debugger
//! does not speak MPI-2.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::ptr::NonNull;

use mqs_interface::mpidbg::Plain;
use mqs_interface::{BasicCallbacks, Image, ImageCallbacks, Job, OK, Process, ProcessCallbacks, TAddr};
use target::{ByteOrder, PointerWidth, TargetAbi};

/// Asks by a callback; `None` where the table has none.
macro_rules! ask {
    ($table:expr, $member:ident $(, $argument:expr)*) => {{
        // SAFETY: the interface has the debugger keep its tables as long as what they were given for; only this member is
        // read, since a table may end before others.
        let function = unsafe { (&raw const (*$table.as_ptr()).$member).read_unaligned() };
        // SAFETY: the interface fixes the function's prototype; pointers that are passed are valid for the call.
        #[allow(clippy::macro_metavars_in_unsafe)]
        function.map(|function| unsafe { function($($argument),*) })
    }};
}

/// Words in which a debugger may write the sizes of types: headers have five or seven.
const SIZES: usize = 32;
/// Which of them is that of a pointer.
const POINTER_SIZE: usize = 4;

/// More bytes are not asked for at once: debuggers hand memory on in messages.
pub const MOST_AT_ONCE: usize = 1 << 16;

/// The debugger itself.
#[derive(Debug, Clone, Copy)]
pub struct Debugger(NonNull<BasicCallbacks>);

impl Debugger {
    /// By its table.
    pub fn new(table: *const BasicCallbacks) -> Option<Self> {
        NonNull::new(table.cast_mut()).map(Self)
    }

    /// Memory of the debugger's; never read or written by us, only known by where it lies.
    pub fn allocate(self) -> Option<usize> {
        let at = ask!(self.0, malloc, size_of::<u64>())? as usize;
        (at != 0).then_some(at)
    }

    /// Puts a structure of C's into memory of the debugger's.
    pub fn keep<T: Plain>(self, value: T) -> Option<usize> {
        self.keep_list(&[value])
    }

    /// The same of a list; none is 0.
    pub fn keep_list<T: Plain>(self, list: &[T]) -> Option<usize> {
        if list.is_empty() {
            return Some(0);
        }
        let at = ask!(self.0, malloc, size_of_val(list))?;
        if at.is_null() {
            return None;
        }
        // SAFETY: the interface has the debugger give so many bytes; numbers may lie anywhere in them.
        unsafe { std::ptr::copy_nonoverlapping(list.as_ptr().cast::<u8>(), at.cast::<u8>(), size_of_val(list)) };
        Some(at as usize)
    }

    /// Gives such memory back.
    pub fn free(self, at: usize) {
        ask!(self.0, free, at as *mut c_void);
    }

    /// Hangs such memory on an image.
    pub fn put_image_info(self, image: *mut Image, at: usize) {
        ask!(self.0, put_image_info, image, at as *mut c_void);
    }

    /// What hangs on an image.
    pub fn image_info(self, image: *mut Image) -> Option<usize> {
        ask!(self.0, get_image_info, image).map(|at| at as usize)
    }

    /// Hangs such memory on a process.
    pub fn put_process_info(self, process: *mut Process, at: usize) {
        ask!(self.0, put_process_info, process, at as *mut c_void);
    }

    /// What hangs on a process.
    pub fn process_info(self, process: *mut Process) -> Option<usize> {
        ask!(self.0, get_process_info, process).map(|at| at as usize)
    }

    /// Hangs such memory on a job. Only of a debugger that speaks MPI-2: the tables of others end before.
    pub fn put_job_info(self, job: *mut Job, at: usize) {
        ask!(self.0, put_job_info, job, at as *mut c_void);
    }
}

/// The callbacks for an image.
#[derive(Debug, Clone, Copy)]
pub struct ImageTable(NonNull<ImageCallbacks>);

impl ImageTable {
    /// By its table.
    pub fn new(table: *const ImageCallbacks) -> Option<Self> {
        NonNull::new(table.cast_mut()).map(Self)
    }

    /// Some debuggers keep functions apart from variables.
    fn find_function(self, image: *mut Image, name: &str) -> Option<u64> {
        let name = CString::new(name).ok()?;
        let mut found: TAddr = 0;
        let code = ask!(self.0, find_function, image, name.as_ptr(), mqs_interface::LANG_C, &raw mut found);
        (code == Some(OK) && found != 0).then_some(found as u64)
    }

    fn find_symbol(self, image: *mut Image, name: &str) -> Option<u64> {
        let name = CString::new(name).ok()?;
        let mut found: TAddr = 0;
        let code = ask!(self.0, find_symbol, image, name.as_ptr(), &raw mut found);
        (code == Some(OK) && found != 0).then_some(found as u64)
    }

    /// What the debugger calls a type; 0 where it does not know it.
    pub fn find_type(self, image: *mut Image, name: &str) -> usize {
        let Ok(name) = CString::new(name) else { return 0 };
        ask!(self.0, find_type, image, name.as_ptr(), mqs_interface::LANG_C).map_or(0, |found| found as usize)
    }

    fn pointer_size(self, process: *mut Process) -> Option<u64> {
        let mut sizes: [c_int; SIZES] = [0; SIZES];
        ask!(self.0, get_type_sizes, process, sizes.as_mut_ptr().cast())?;
        u64::try_from(sizes[POINTER_SIZE]).ok()
    }
}

/// The callbacks for a process.
#[derive(Debug, Clone, Copy)]
pub struct ProcessTable(NonNull<ProcessCallbacks>);

impl ProcessTable {
    /// By its table.
    pub fn new(table: *const ProcessCallbacks) -> Option<Self> {
        NonNull::new(table.cast_mut()).map(Self)
    }

    /// The image that a process runs.
    pub fn image(self, process: *mut Process) -> Option<*mut Image> {
        ask!(self.0, get_image, process).filter(|image| !image.is_null())
    }
}

/// A process, with whom to ask about it.
#[derive(Debug)]
pub struct Debuggee {
    /// The debugger's handle, which may be another one with each call.
    pub process: Cell<*mut Process>,
    image: *mut Image,
    by_process: ProcessTable,
    by_image: ImageTable,
    /// As the process has it.
    pub abi: TargetAbi,
}

impl Debuggee {
    /// `None` where the debugger does not say what its words are like.
    pub fn new(
        process: *mut Process,
        image: *mut Image,
        by_process: ProcessTable,
        by_image: ImageTable,
    ) -> Option<Self> {
        let pointer_width = PointerWidth::try_from(by_image.pointer_size(process)?).ok()?;
        let abi = TargetAbi { byte_order: byte_order(by_process, process), pointer_width };
        Some(Self { process: Cell::new(process), image, by_process, by_image, abi })
    }

    /// Copies memory of the process; whether all of it could be read.
    pub fn fetch(&self, address: u64, bytes: &mut [u8]) -> bool {
        for (number, piece) in (0_u64..).zip(bytes.chunks_mut(MOST_AT_ONCE)) {
            let at = address.wrapping_add(number * MOST_AT_ONCE as u64);
            let (Ok(at), Ok(length)) = (TAddr::try_from(at), c_int::try_from(piece.len())) else { return false };
            let read = ask!(self.by_process.0, fetch_data, self.process.get(), at, length, piece.as_mut_ptr().cast());
            if read != Some(OK) {
                return false;
            }
        }
        true
    }

    /// Where the debugger says that something of that name lies.
    pub fn find_symbol(&self, name: &str) -> Option<u64> {
        self.by_image.find_symbol(self.image, name)
    }

    /// The same of a function.
    pub fn find_function(&self, name: &str) -> Option<u64> {
        self.by_image.find_function(self.image, name).or_else(|| self.find_symbol(name))
    }
}

/// The order in which the process has the bytes of its numbers: a debugger turns them round for us, where that is another one.
fn byte_order(table: ProcessTable, process: *mut Process) -> ByteOrder {
    let (ours, theirs) = if cfg!(target_endian = "big") {
        (ByteOrder::Big, ByteOrder::Little)
    } else {
        (ByteOrder::Little, ByteOrder::Big)
    };
    let from: [u8; 4] = [1, 2, 3, 4];
    let mut to = [0_u8; 4];
    let length = from.len() as c_int;
    ask!(table.0, target_to_host, process, from.as_ptr().cast(), to.as_mut_ptr().cast(), length);
    if to == [4, 3, 2, 1] { theirs } else { ours }
}
