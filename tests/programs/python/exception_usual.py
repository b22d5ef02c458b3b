"""All ranks run in the handler of an exception, which is why none of them waits: each receives before it sends."""

from hanging import MPI, comm, rank, ready

buffer = bytearray(8)


def solve():
    ready()
    comm.Recv([buffer, MPI.BYTE], source=1 - rank, tag=5)  # stuck: 0,1 MPI_Recv solve


try:
    import no_such_accelerator  # raised: 0,1 ModuleNotFoundError <module>
except ImportError:
    solve()
else:
    no_such_accelerator.run()
