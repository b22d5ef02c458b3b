//! What a thread does in the kernel, by its registers and by what `/proc` says of it.

use calls::system_calls::{CallRegisters, arguments, of_proc, of_registers};
use model::SystemCall;
use target::registers::Machine;

/// ERESTARTSYS: a call that waits, as a tracer sees it.
const RESTART: i64 = -512;

fn told(number: i64, result: i64, operation: u64, limit: u64) -> SystemCall {
    let arguments = [3, operation, limit];
    of_registers(&CallRegisters { number: number as u64, result: result as u64, arguments })
}

fn call(name: &str, waits: bool, timed: bool, descriptor: Option<i64>) -> SystemCall {
    SystemCall { name: Some(name.to_owned()), waits, timed, descriptor, waits_for: None }
}

#[test]
fn a_futex_waits_by_its_operation() {
    // FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
    const PRIVATE: u64 = 128;
    const REALTIME: u64 = 256;
    for (operation, waits) in
        [(0, true), (9 | PRIVATE | REALTIME, true), (6 | PRIVATE, true), (13, true), (1 | PRIVATE, false), (3, false)]
    {
        for limit in [0, 0x7fff_0000] {
            assert_eq!(told(202, RESTART, operation, limit), call("futex", waits, limit != 0, None), "{operation}");
        }
    }
}

#[test]
fn a_call_that_was_interrupted_waits() {
    for result in [-4, RESTART, -513, -514, -516] {
        assert_eq!(told(232, result, 0, 0), call("epoll_wait", true, false, None));
    }
    assert_eq!(told(0, 17, 0, 0), call("read", false, false, Some(3)), "one that comes back");
    // What goes on after a stop has a time limit.
    assert_eq!(told(219, -516, 0, 0), call("restart_syscall", true, true, None));
    assert_eq!(told(999, RESTART, 0, 0), call("system call 999", true, false, None));
    assert_eq!(told(-1, 5, 0, 0), SystemCall::default());
}

#[test]
fn the_kernel_tells_it_in_words() {
    let read = "0 0x3 0x7ffc1000 0x1000 0x0 0x0 0x0 0x7ffc0ff8 0x7f1203f1\n";
    let [x86, arm] = [Machine::X86_64, Machine::Aarch64].map(Some);
    assert_eq!(of_proc(x86, read, None), Some(call("read", true, false, Some(3))));
    assert_eq!(of_proc(x86, read, Some(-512_i64 as u64)), of_proc(x86, read, None));
    // A thread that comes back has a result that is no interruption; AArch64 has it where the first argument was.
    assert_eq!(of_proc(x86, read, Some(12)), Some(call("read", false, false, Some(3))));
    assert_eq!(of_proc(arm, &read.replacen('0', "63", 1), Some(12)), of_proc(x86, read, None));
    assert_eq!(of_proc(None, read, None), Some(call("system call 0", true, false, None)));
    for outside in ["running\n", "-1 0x7ffc0ff8 0x7f1203f1\n"] {
        assert_eq!(of_proc(x86, outside, None), Some(SystemCall::default()));
    }
    assert_eq!(
        (of_proc(x86, "", None), of_proc(x86, "0 0x3\n", None), of_proc(x86, "é 0x3", None)),
        (None, None, None)
    );
    assert_eq!((arguments(read), arguments("running\n")), (Some([3, 0x7ffc_1000, 0x1000]), None));
}
