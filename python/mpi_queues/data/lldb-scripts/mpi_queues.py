"""Would load mpi-queues into lldb: this version reads processes through gdb only, and says so."""


def __lldb_init_module(debugger, internal_dict):
    print("mpi-queues: this version reads processes through gdb only; in a shell, type: mpi-queues init gdb")
