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

LARGE, LONG, REQUESTS = 1 << 20, 500, 16
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


def note(function, line):
    os.write(notes, f"{place} {function} {line}\n".encode())


def until(call):
    while not call():
        pass


def compute(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def out(count):
    return [memoryview(outbox)[:count], MPI.BYTE]


def into(slot=REQUESTS):
    return [inboxes[slot], MPI.BYTE]


# Buffers stay: Debian's mpi4py (3.1.4) has written into freed ones of non-blocking collectives.
ONE = [outbox, 1, MPI.INT]


def one(slot=REQUESTS):
    return [inboxes[slot], 1, MPI.INT]


# What steps call, each on the line that is noted. They are given the step's numbers, communicators and peers as mpi4py
# has them.
MESSAGES = {
    "send": ("MPI_Send", lambda comm, peer, tag, count: comm.Send(out(count), peer, tag)),
    "ssend": ("MPI_Ssend", lambda comm, peer, tag, count: comm.Ssend(out(count), peer, tag)),
    "bsend": ("MPI_Bsend", lambda comm, peer, tag, count: comm.Bsend(out(count), peer, tag)),
    "recv": ("MPI_Recv", lambda comm, peer, tag, _: comm.Recv(into(), peer, tag)),
    "probe": ("MPI_Probe", lambda comm, peer, tag, _: comm.Probe(peer, tag)),
    "mprobe": ("MPI_Mprobe", lambda comm, peer, tag, _: comm.Mprobe(peer, tag).Recv(into())),
    "until": ("MPI_Iprobe", lambda comm, peer, tag, _: until(lambda: comm.Iprobe(peer, tag))),
}
# Those that give a request, whose place comes last.
STARTED = {
    "isend": ("MPI_Isend", lambda comm, peer, tag, count, _: comm.Isend(out(count), peer, tag)),
    "issend": ("MPI_Issend", lambda comm, peer, tag, count, _: comm.Issend(out(count), peer, tag)),
    "psend": ("MPI_Send_init", lambda comm, peer, tag, count, _: comm.Send_init(out(count), peer, tag)),
    "irecv": ("MPI_Irecv", lambda comm, peer, tag, _, slot: comm.Irecv(into(slot), peer, tag)),
    "precv": ("MPI_Recv_init", lambda comm, peer, tag, _, slot: comm.Recv_init(into(slot), peer, tag)),
}
EXCHANGES = {
    "sendrecv": (
        "MPI_Sendrecv",
        lambda comm, to, tag, n, source, other: comm.Sendrecv(out(n), to, tag, into(), source, other),
    ),
    "replace": (
        "MPI_Sendrecv_replace",
        lambda comm, to, tag, n, source, other: comm.Sendrecv_replace(out(n), to, tag, source, other),
    ),
}
COLLECTIVES = {
    "barrier": ("MPI_Barrier", lambda comm: comm.Barrier()),
    "allreduce": ("MPI_Allreduce", lambda comm: comm.Allreduce(ONE, one())),
    "allgather": ("MPI_Allgather", lambda comm: comm.Allgather(ONE, one())),
    "alltoall": ("MPI_Alltoall", lambda comm: comm.Alltoall(ONE, one())),
    "dup": ("MPI_Comm_dup", lambda comm: comm.Dup()),
    "scan": ("MPI_Scan", lambda comm, _: comm.Scan(ONE, one())),
    "bcast": ("MPI_Bcast", lambda comm, root: comm.Bcast(one(), root)),
    "scatter": ("MPI_Scatter", lambda comm, root: comm.Scatter(ONE, one(), root)),
    "reduce": ("MPI_Reduce", lambda comm, root: comm.Reduce(ONE, one(), root=root)),
    "gather": ("MPI_Gather", lambda comm, root: comm.Gather(ONE, one(), root)),
}
# Those that give a request, whose place comes behind the communicator.
NON_BLOCKING = {
    "ibarrier": ("MPI_Ibarrier", lambda comm, _: comm.Ibarrier()),
    "iallreduce": ("MPI_Iallreduce", lambda comm, slot: comm.Iallreduce(ONE, one(slot))),
    "iallgather": ("MPI_Iallgather", lambda comm, slot: comm.Iallgather(ONE, one(slot))),
    "ialltoall": ("MPI_Ialltoall", lambda comm, slot: comm.Ialltoall(ONE, one(slot))),
    "ibcast": ("MPI_Ibcast", lambda comm, slot, root: comm.Ibcast(one(slot), root)),
    "iscatter": ("MPI_Iscatter", lambda comm, slot, root: comm.Iscatter(ONE, one(slot), root)),
    "ireduce": ("MPI_Ireduce", lambda comm, slot, root: comm.Ireduce(ONE, one(slot), root=root)),
    "igather": ("MPI_Igather", lambda comm, slot, root: comm.Igather(ONE, one(slot), root)),
}
WAITS = {
    "wait": ("MPI_Wait", lambda chosen: chosen[0].Wait()),
    "test": ("MPI_Test", lambda chosen: chosen[0].Test()),
    "poll": ("MPI_Test", lambda chosen: until(chosen[0].Test)),
    "waitall": ("MPI_Waitall", lambda chosen: MPI.Request.Waitall(chosen)),
    "waitany": ("MPI_Waitany", lambda chosen: MPI.Request.Waitany(chosen)),
    "waitsome": ("MPI_Waitsome", lambda chosen: MPI.Request.Waitsome(chosen)),
}
OUTSIDE = {
    "sleep": ("sleep", lambda seconds: time.sleep(seconds)),
    "compute": ("compute", lambda seconds: compute(seconds)),
}


def noted(steps, name, *arguments):
    """Calls what a step calls."""
    function, call = steps[name]
    note(function, call.__code__.co_firstlineno)
    return call(*arguments)


def peer(number):
    return {-1: MPI.ANY_SOURCE, -2: MPI.PROC_NULL}.get(number, number)


def tag(number):
    return MPI.ANY_TAG if number == -1 else number


def run(name, numbers):
    if name in OUTSIDE:
        noted(OUTSIDE, name, *numbers)
    elif name == "start":
        requests[numbers[0]].Start()
    elif name in WAITS:
        noted(WAITS, name, [requests[number] for number in numbers])
    else:
        comm, rest = comms[numbers[0]], numbers[1:]
        if name in COLLECTIVES:
            noted(COLLECTIVES, name, comm, *rest)
        elif name in NON_BLOCKING:
            requests[rest[0]] = noted(NON_BLOCKING, name, comm, *rest)
        elif name in EXCHANGES:
            noted(EXCHANGES, name, comm, *rest[:3], peer(rest[3]), rest[4])
        elif name in STARTED:
            requests[rest[3]] = noted(STARTED, name, comm, peer(rest[0]), tag(rest[1]), *rest[2:])
        else:
            noted(MESSAGES, name, comm, peer(rest[0]), tag(rest[1]), rest[2])


def stumble():
    try:
        raise ValueError("is over at once")
    except ValueError:
        pass


def fail():
    raise Planned  # raised: 0 Planned fail


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
    if how == UNHANDLED:
        fail()
    try:
        fail()
    except Planned:
        if how == SLEEPS:
            run("sleep", [LONG])
        if how == GOES_ON:
            script(rest)
        finalize()


def finalize():
    if not MPI.Is_finalized():
        note("MPI_Finalize", sys._getframe().f_lineno + 1)
        MPI.Finalize()


def main():
    global notes
    notes = os.open(os.path.join(sys.argv[1], str(rank)), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    atexit.register(finalize)
    print("ready", flush=True)
    steps = [text.split(",") for text in sys.argv[2 + rank].split()]
    script([(name, [int(number) for number in numbers]) for name, *numbers in steps])


main()
