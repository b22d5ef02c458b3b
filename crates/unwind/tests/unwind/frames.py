"""What gdb says of the frames of a stopped process, written down for tests. Loaded inside gdb.

A stop is a block of lines:
    thread LWP
    registers NAME=HEX ...
    memory ADDRESS BYTES       (what is above the stack pointer)
    frame PC CFA NAME=HEX ...  (the innermost first)
"""

import re

import gdb

KEPT = ("rbx", "rbp", "rsp", "r12", "r13", "r14", "r15")
ALL = ("rax", "rdx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "rip", *KEPT)
# Frames that have none of their own on the stack.
VIRTUAL = (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME)
STACK = 1 << 14


def known(frame, names):
    for name in names:
        try:
            yield f"{name}={int(frame.read_register(name)) & (2**64 - 1):x}"
        except (gdb.error, ValueError):
            continue


def above(address):
    for size in (STACK, STACK // 4, 256, 64):
        try:
            return bytes(gdb.selected_inferior().read_memory(address, size))
        except gdb.error:
            continue
    return b""


def note(out):
    frame = gdb.newest_frame()
    sp = int(frame.read_register("rsp")) & (2**64 - 1)
    print("thread", gdb.selected_thread().ptid[1], file=out)
    print("registers", *known(frame, ALL), file=out)
    print("memory", f"{sp:x}", above(sp).hex(), file=out)
    while frame is not None:
        if frame.type() not in VIRTUAL:
            frame.select()
            text = gdb.execute("info frame", to_string=True)
            # gdb says 0 of the outermost.
            cfa = re.search(r"level \d+, frame at 0x([1-9a-f][0-9a-f]*)", text)
            print("frame", f"{frame.pc():x}", cfa.group(1) if cfa else "-", *known(frame, KEPT), file=out)
        try:
            frame = frame.older()
        except gdb.error:
            break
    gdb.newest_frame().select()


def record(path, core, steps=0):
    """All threads as they stand, or one after each of some instructions; and a core file of the process."""
    with open(path, "w", encoding="ascii") as out:
        if steps:
            for _ in range(steps):
                note(out)
                gdb.execute("stepi", to_string=True)
        else:
            # In the order they were started.
            for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
                thread.switch()
                note(out)
    gdb.execute("set use-coredump-filter off")
    gdb.execute("set dump-excluded-mappings on")
    gdb.execute(f"generate-core-file {core}", to_string=True)


def stop_in_thread_start():
    """Goes on until another thread stands before the call of its first function."""
    frame = gdb.newest_frame()
    while frame.older() is not None:
        frame = frame.older()
    gdb.execute(f"break *{frame.pc() - 2}", to_string=True)
    gdb.execute("continue", to_string=True)
