//! The memory of a live process: many pieces by one system call.
#![allow(unsafe_code)]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

use target::address::TargetAddr;
use target::{TargetError, processes};

/// A piece of memory that is wanted.
#[derive(Debug)]
pub struct Piece<'b> {
    /// Where it begins.
    pub address: u64,
    /// Where it goes.
    pub into: &'b mut [u8],
    /// Whether it was read.
    pub read: bool,
}

impl<'b> Piece<'b> {
    /// One that is not read yet.
    pub fn new(address: u64, into: &'b mut [u8]) -> Self {
        Self { address, into, read: false }
    }
}

/// So many pieces go into one call (`UIO_MAXIOV`, include/uapi/linux/uio.h).
const MOST: usize = 1024;

/// The memory of a process.
#[derive(Debug)]
pub struct Memory {
    pid: u32,
    /// By which the kernel's call knows it.
    thread: u32,
    /// The same memory as a file, which also has pages that the process itself may not read.
    file: File,
    /// Whether `process_vm_readv` is refused: by a container, or an old kernel.
    without_calls: AtomicBool,
}

impl Memory {
    /// That of a process.
    ///
    /// # Errors
    /// Where the kernel refuses.
    pub fn open(pid: u32) -> std::io::Result<Self> {
        let file = File::open(processes::place(pid).join("mem"))?;
        Ok(Self { pid, thread: processes::thread(pid), file, without_calls: AtomicBool::new(false) })
    }

    /// Reads all pieces that can be read.
    pub fn read(&self, pieces: &mut [Piece<'_>]) {
        let mut begin = 0;
        while begin < pieces.len() && !self.without_calls.load(Ordering::Relaxed) {
            let end = pieces.len().min(begin + MOST);
            let Some(read) = self.call(&mut pieces[begin..end]) else { break };
            begin += read;
            if begin < end {
                // The first that could not be read as a whole ends the call.
                self.read_file(&mut pieces[begin]);
                begin += 1;
            }
        }
        for piece in pieces.iter_mut().skip(begin) {
            self.read_file(piece);
        }
    }

    /// How many pieces one call has read; `None` where it is refused.
    fn call(&self, pieces: &mut [Piece<'_>]) -> Option<usize> {
        let ours: Vec<libc::iovec> = pieces
            .iter_mut()
            .map(|piece| libc::iovec { iov_base: piece.into.as_mut_ptr().cast(), iov_len: piece.into.len() })
            .collect();
        let theirs: Vec<libc::iovec> = pieces
            .iter()
            .map(|piece| libc::iovec {
                iov_base: std::ptr::without_provenance_mut(usize::try_from(piece.address).unwrap_or(0)),
                iov_len: piece.into.len(),
            })
            .collect();
        let pid = libc::pid_t::try_from(self.thread).ok()?;
        let count = pieces.len() as libc::c_ulong;
        // SAFETY: each of our vectors is a slice that is borrowed for writing as long as this call lasts; the other addresses
        // are of the other process, and the kernel checks them.
        let read = unsafe { libc::process_vm_readv(pid, ours.as_ptr(), count, theirs.as_ptr(), count, 0) };
        if read < 0 {
            let refused = matches!(
                std::io::Error::last_os_error().raw_os_error(),
                Some(libc::ENOSYS | libc::EPERM | libc::EACCES)
            );
            self.without_calls.fetch_or(refused, Ordering::Relaxed);
            return if refused { None } else { Some(0) };
        }
        let mut left = usize::try_from(read).unwrap_or(0);
        let mut whole = 0;
        for piece in pieces {
            if left < piece.into.len() {
                break;
            }
            left -= piece.into.len();
            piece.read = true;
            whole += 1;
        }
        Some(whole)
    }

    fn read_file(&self, piece: &mut Piece<'_>) {
        piece.read = self.file.read_exact_at(piece.into, piece.address).is_ok();
    }

    /// Reads one piece.
    ///
    /// # Errors
    /// [`TargetError::Fault`] where some of it cannot be read, [`TargetError::Gone`] where the process has ended.
    pub fn read_one(&self, address: u64, into: &mut [u8]) -> Result<(), TargetError> {
        let len = into.len() as u64;
        let mut pieces = [Piece::new(address, into)];
        self.read(&mut pieces);
        if pieces[0].read {
            return Ok(());
        }
        if processes::has_ended(self.pid) {
            return Err(TargetError::Gone);
        }
        Err(TargetError::Fault { addr: TargetAddr::new(address), len })
    }
}
