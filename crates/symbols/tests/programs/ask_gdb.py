"""What gdb says of addresses of a file: one JSON line for each. ADDRESSES and OUT are set before it is read."""

import json

import gdb


def place(symtab, line):
    return [symtab.filename, symtab.fullname(), line] if symtab is not None and line > 0 else None


def frames(address):
    where = gdb.find_pc_line(address)
    at = place(where.symtab, where.line)
    found = []
    block = gdb.block_for_pc(address)
    while block is not None and not block.is_global and not block.is_static:
        function = block.function
        # A function that stands in another one is not inlined in it: its code lies elsewhere.
        if function is not None and found and not block.start <= address < block.end:
            break
        if function is not None:
            found.append([function.print_name, at])
            at = place(function.symtab, function.line)
        block = block.superblock
    return found, at


def symbol(address):
    """The symbol's name; where no compiler of C++ or Rust made it, not what gdb 13 takes it for (a name of Ada)."""
    gdb.execute("set print demangle off")
    plain = symbol_as_printed(address)
    gdb.execute("set print demangle on")
    return plain if plain is None or not plain[0].startswith("_") else symbol_as_printed(address)


def symbol_as_printed(address):
    told = gdb.execute(f"info symbol {address}", to_string=True).strip()
    if told.startswith("No symbol"):
        return None
    name, _, _ = told.partition(" in section ")
    head, plus, offset = name.rpartition(" + ")
    return [head, int(offset)] if plus and offset.isdigit() else [name, 0]


# Who runs this in gdb has set both.
with open(globals()["OUT"], "w") as out:
    for begin, end, step in globals()["ADDRESSES"]:
        for address in range(begin, end, step):
            chain, at = frames(address)
            print(json.dumps({"pc": address, "frames": chain, "at": at, "symbol": symbol(address)}), file=out)
