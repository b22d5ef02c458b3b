//! The way of every wrapper: save the arguments, write the call down, call the function, write down what it returned.
//!
//! The frame is an ordinary one, with unwinding tables: debuggers, exceptions and longjmp go through it as through any
//! other. What the function needs on the stack is copied below it.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{
    ARGUMENTS, FRAME_POINTER, RETURN_ADDRESS, STACK_POINTER, bind, call, local, prefetch, send, stub, stub_index,
};

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{
    ARGUMENTS, FRAME_POINTER, RETURN_ADDRESS, STACK_POINTER, bind, call, local, prefetch, send, stub, stub_index,
};

/// The function that the dynamic linker asks where to bind a name (`STT_GNU_IFUNC`) stands so far behind its wrapper (bytes).
pub const RESOLVER: usize = 16;

// What each thread has of its own (`threads::Local`); `local` of a machine finds it.
std::arch::global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".balign 8",
    ".globl mpi_queues_local",
    ".hidden mpi_queues_local",
    ".type mpi_queues_local, @object",
    ".size mpi_queues_local, {bytes}",
    "mpi_queues_local:",
    ".zero {bytes}",
    ".popsection",
    bytes = const size_of::<crate::threads::Local>(),
);
