"""What gdb says of a stopped program: its frames with their registers, its memory, and the values of expressions.

    gdb -batch -nx -x dump.py --args PROGRAM

The environment names the expressions (EXPRESSIONS) and where to write (FACTS, MEMORY).
"""

import contextlib
import os
import struct

import gdb

REGISTERS = {
    "rax": 0,
    "rdx": 1,
    "rcx": 2,
    "rbx": 3,
    "rsi": 4,
    "rdi": 5,
    "rbp": 6,
    "rsp": 7,
    **{f"r{number}": number for number in range(8, 16)},
    "rip": 16,
}
KEPT = ("rbx", "rbp", "rsp", "r12", "r13", "r14", "r15", "rip")
MASK = (1 << 64) - 1
NUMBERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_RANGE)
REFERENCES = (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF)


def answer(text):
    """The value as `given_in_c` has it, or why there is none."""
    try:
        value = gdb.parse_and_eval(text)
        if value.type.strip_typedefs().code in REFERENCES:
            value = value.referenced_value()
        if value.is_optimized_out:
            return "gone"
        real = value.type.strip_typedefs()
        place = "-" if value.address is None else str(int(value.address) & MASK)
        if real.code == gdb.TYPE_CODE_ARRAY:
            return f"array {place} {place} {real.sizeof}"
        if real.code == gdb.TYPE_CODE_PTR:
            return f"pointer {int(value) & MASK} {place} {real.sizeof}"
        if real.code in NUMBERS:
            return f"number {int(value)} {place} {real.sizeof}"
        return f"other - {place} {real.sizeof}"
    except (gdb.error, ValueError, OverflowError) as error:
        return "gone" if "optimized out" in str(error) else f"error {' '.join(str(error).split())}"
    except KeyboardInterrupt:
        # An assertion of its own does not hold: of gdb 16 with dynamic arrays of Fortran.
        return "error gdb failed"


def held(frame, names):
    found = []
    for name in names:
        with contextlib.suppress(gdb.error, ValueError):
            found.append(f"{REGISTERS[name]}:{int(frame.read_register(name)) & MASK}")
    return " ".join(found)


def cfa(frame):
    frame.select()
    told = gdb.execute("info frame", to_string=True)
    return int(told.split("frame at ")[1].split(":")[0], 16)


def keep_memory(pid, path):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory, open(path, "wb") as out:
        for line in maps:
            fields = line.split()
            begin, end = (int(word, 16) for word in fields[0].split("-"))
            name = fields[5] if len(fields) > 5 else ""
            if "r" not in fields[1] or name in ("[vvar]", "[vsyscall]", "[vvar_vclock]") or "locale" in name:
                continue
            memory.seek(begin)
            content = memory.read(end - begin)
            out.write(struct.pack("<QQ", begin, len(content)) + content)


def wanted():
    found = {}
    with open(os.environ["EXPRESSIONS"]) as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                function, rest = line.rstrip("\n").split(": ", 1)
                found.setdefault(function, []).append(rest.split(" = ")[0])
    return found


def main():
    gdb.execute("set confirm off")
    for what in ("quit no", "corefile no"):
        gdb.execute(f"maintenance set internal-error {what}")
    gdb.execute("set width 0")
    gdb.execute("set breakpoint pending on")
    gdb.execute("set debuginfod enabled off")
    gdb.execute("break stop_here")
    gdb.execute("run", to_string=True)
    pid = gdb.selected_inferior().pid
    keep_memory(pid, os.environ["MEMORY"])
    expressions = wanted()
    with open(os.environ["FACTS"], "w") as out:
        with open(f"/proc/{pid}/maps") as maps:
            loaded = {}
            for line in maps:
                fields = line.split()
                if len(fields) > 5 and fields[5].startswith("/"):
                    begin, end = (int(word, 16) for word in fields[0].split("-"))
                    first, _ = loaded.get(fields[5], (begin, end))
                    loaded[fields[5]] = (first, end)
            for path, (begin, end) in loaded.items():
                print("file", begin, end, path, file=out)
        frame, inlined, number = gdb.newest_frame(), 0, 0
        while frame is not None:
            if frame.type() == gdb.NORMAL_FRAME:
                names = REGISTERS if number == 0 else KEPT
                pc = frame.pc() - (0 if number == 0 else 1)
                print("frame", pc, cfa(frame), held(frame, names), file=out)
                number += 1
            elif frame.type() != gdb.INLINE_FRAME:
                print("other", file=out)
            frame = frame.older()
        frame, inlined, number = gdb.newest_frame(), 0, 0
        while frame is not None:
            normal = frame.type() == gdb.NORMAL_FRAME
            if normal or frame.type() == gdb.INLINE_FRAME:
                name = frame.name() or "?"
                name = name.split("(")[0]
                frame.select()
                for text in expressions.get(name, ()):
                    print("value", number, inlined, name, "|", text, "|", answer(text), file=out)
                inlined = 0 if normal else inlined + 1
                number += 1 if normal else 0
            frame = frame.older()


main()
