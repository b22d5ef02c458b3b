"""Runs a script for each rank, as tests/programs/scripted.c does, whose steps and notes these are.

    scripted.py DIRECTORY SCRIPT-OF-RANK-0 SCRIPT-OF-RANK-1 ...

Besides it raises exceptions. `raise,HOW,STEPS` raises one and leaves these steps out: nobody handles it (0), or its
handler calls MPI_Finalize (1), sleeps (2), or runs the rest of the script (3). `stumble` raises one that is handled and
over. Neither has a place of its own, nor have steps that are left out.
"""

import atexit
import os
import sys
import time

from mpi4py import MPI

LARGE, PAUSE, LONG, REQUESTS = 1 << 20, 0.002, 500, 16
UNHANDLED, FINALIZES, SLEEPS, GOES_ON = range(4)

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
comms = [world, world.Dup(), world.Split(rank % 2, rank), world.Split(0, size - rank)]
for comm, name in zip(comms[1:], ("copy", "half", "reversed")):
    comm.Set_name(name)
requests = [MPI.REQUEST_NULL] * REQUESTS
outbox, inboxes = bytearray(LARGE), [bytearray(LARGE) for _ in range(REQUESTS + 1)]
MPI.Attach_buffer(bytearray(64 * (64 + MPI.BSEND_OVERHEAD)))
place = 0
notes = None


class Planned(Exception):
    """What a script raises."""


def at(function):
    """Notes the call that stands on the next line."""
    note(function, sys._getframe(1).f_lineno + 1)


def note(function, line):
    os.write(notes, f"{place} {function} {line}\n".encode())


def message(name, comm, peer, tag, count, *rest):
    out = [memoryview(outbox)[:count], MPI.BYTE]
    slot = rest[0] if rest else REQUESTS
    into = [inboxes[slot if slot < REQUESTS else REQUESTS], MPI.BYTE]
    if name == "send":
        at("MPI_Send")
        comm.Send(out, peer, tag)
    elif name == "ssend":
        at("MPI_Ssend")
        comm.Ssend(out, peer, tag)
    elif name == "bsend":
        at("MPI_Bsend")
        comm.Bsend(out, peer, tag)
    elif name == "isend":
        at("MPI_Isend")
        requests[slot] = comm.Isend(out, peer, tag)
    elif name == "issend":
        at("MPI_Issend")
        requests[slot] = comm.Issend(out, peer, tag)
    elif name == "psend":
        at("MPI_Send_init")
        requests[slot] = comm.Send_init(out, peer, tag)
    elif name == "recv":
        at("MPI_Recv")
        comm.Recv(into, peer, tag)
    elif name == "irecv":
        at("MPI_Irecv")
        requests[slot] = comm.Irecv(into, peer, tag)
    elif name == "precv":
        at("MPI_Recv_init")
        requests[slot] = comm.Recv_init(into, peer, tag)
    elif name == "probe":
        at("MPI_Probe")
        comm.Probe(peer, tag)
    elif name == "mprobe":
        at("MPI_Mprobe")
        found = comm.Mprobe(peer, tag)
        found.Recv(into)
    elif name == "until":
        flag = False
        at("MPI_Iprobe")
        while not flag: flag = comm.Iprobe(peer, tag)  # fmt: skip # noqa: E701
    else:
        return False
    return True


def exchange(name, comm, peer, tag, count, source, wanted):
    source = MPI.ANY_SOURCE if source == -1 else source
    if name == "sendrecv":
        at("MPI_Sendrecv")
        comm.Sendrecv([outbox, count, MPI.BYTE], peer, tag, [inboxes[REQUESTS], MPI.BYTE], source, wanted)
    else:
        at("MPI_Sendrecv_replace")
        comm.Sendrecv_replace([memoryview(outbox)[:count], MPI.BYTE], peer, tag, source, wanted)


def collective(name, comm, root):
    one, all_of = [bytearray(4), 1, MPI.INT], [bytearray(256), 1, MPI.INT]
    if name == "barrier":
        at("MPI_Barrier")
        comm.Barrier()
    elif name == "allreduce":
        at("MPI_Allreduce")
        comm.Allreduce(one, [bytearray(4), 1, MPI.INT])
    elif name == "allgather":
        at("MPI_Allgather")
        comm.Allgather(one, all_of)
    elif name == "alltoall":
        at("MPI_Alltoall")
        comm.Alltoall([bytearray(256), 1, MPI.INT], all_of)
    elif name == "dup":
        at("MPI_Comm_dup")
        comm.Dup()
    elif name == "scan":
        at("MPI_Scan")
        comm.Scan(one, [bytearray(4), 1, MPI.INT])
    elif name == "bcast":
        at("MPI_Bcast")
        comm.Bcast(one, root)
    elif name == "scatter":
        at("MPI_Scatter")
        comm.Scatter([bytearray(256), 1, MPI.INT], one, root)
    elif name == "reduce":
        at("MPI_Reduce")
        comm.Reduce(one, [bytearray(4), 1, MPI.INT], root=root)
    elif name == "gather":
        at("MPI_Gather")
        comm.Gather(one, all_of, root)
    else:
        return False
    return True


def non_blocking(name, comm, slot, root=0):
    # Buffers that stay: Debian's mpi4py (3.1.4) has written into freed ones when nobody else kept them.
    out, into = [outbox, 1, MPI.INT], [inboxes[slot], 1, MPI.INT]
    if name == "ibarrier":
        at("MPI_Ibarrier")
        requests[slot] = comm.Ibarrier()
    elif name == "iallreduce":
        at("MPI_Iallreduce")
        requests[slot] = comm.Iallreduce(out, into)
    elif name == "iallgather":
        at("MPI_Iallgather")
        requests[slot] = comm.Iallgather(out, into)
    elif name == "ialltoall":
        at("MPI_Ialltoall")
        requests[slot] = comm.Ialltoall(out, into)
    elif name == "ibcast":
        at("MPI_Ibcast")
        requests[slot] = comm.Ibcast(into, root)
    elif name == "iscatter":
        at("MPI_Iscatter")
        requests[slot] = comm.Iscatter(out, into, root)
    elif name == "ireduce":
        at("MPI_Ireduce")
        requests[slot] = comm.Ireduce(out, into, root=root)
    elif name == "igather":
        at("MPI_Igather")
        requests[slot] = comm.Igather(out, into, root)
    else:
        return False
    return True


def wait(name, numbers):
    chosen = [requests[number] for number in numbers]
    if name == "start":
        chosen[0].Start()
    elif name == "wait":
        at("MPI_Wait")
        chosen[0].Wait()
    elif name == "test":
        at("MPI_Test")
        chosen[0].Test()
    elif name == "poll":
        flag = False
        at("MPI_Test")
        while not flag: flag = chosen[0].Test()  # fmt: skip # noqa: E701
    elif name == "waitall":
        at("MPI_Waitall")
        MPI.Request.Waitall(chosen)
    elif name == "waitany":
        at("MPI_Waitany")
        MPI.Request.Waitany(chosen)
    elif name == "waitsome":
        at("MPI_Waitsome")
        MPI.Request.Waitsome(chosen)
    else:
        return False
    return True


def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def outside(name, seconds):
    if name == "sleep":
        at("sleep")
        time.sleep(seconds)
    else:
        at("compute")
        compute(seconds)


def run(name, numbers):
    if name in ("sleep", "compute"):
        outside(name, numbers[0])
    elif name not in ("start", "wait", "test", "poll", "waitall", "waitany", "waitsome"):
        comm = comms[numbers[0]]
        if name in ("sendrecv", "replace"):
            exchange(name, comm, *numbers[1:])
        elif len(numbers) >= 4:
            names = {-1: MPI.ANY_SOURCE, -2: MPI.PROC_NULL}
            tag = MPI.ANY_TAG if numbers[2] == -1 else numbers[2]
            assert message(name, comm, names.get(numbers[1], numbers[1]), tag, *numbers[3:]), name
        elif not collective(name, comm, numbers[1] if len(numbers) > 1 else 0):
            assert non_blocking(name, comm, *numbers[1:]), name
    else:
        assert wait(name, numbers), name


def stumble():
    try:
        raise ValueError("is over at once")
    except ValueError:
        pass


def fail():
    raise Planned


def script(steps):
    global place
    for number, (name, numbers) in enumerate(steps):
        if name == "stumble":
            stumble()
        elif name == "raise":
            how, left_out = numbers
            broken(how, steps[number + 1 + left_out :])
            return
        else:
            run(name, numbers)
            place += 1


def broken(how, rest):
    global place
    if how == UNHANDLED:
        fail()
    try:
        fail()
    except Planned:
        if how == SLEEPS:
            outside("sleep", LONG)
        if how == GOES_ON:
            script(rest)
        finalize()


def finalize():
    if not MPI.Is_finalized():
        at("MPI_Finalize")
        MPI.Finalize()


def main():
    global notes
    notes = os.open(os.path.join(sys.argv[1], str(rank)), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    atexit.register(finalize)
    print("ready", flush=True)
    steps = [text.split(",") for text in sys.argv[2 + rank].split()]
    script([(name, [int(number) for number in numbers]) for name, *numbers in steps])


main()
