"""Two threads of each rank wait in MPI, each on a communicator of its own; the main thread joins them."""

import threading

from hanging import MPI, comm, rank, ready

buffers = bytearray(8), bytearray(8)
comms = comm.Dup(), comm.Dup()


def first():
    comms[0].Recv([buffers[0], MPI.BYTE], source=1 - rank, tag=21)  # stuck: 0,1 MPI_Recv first


def second():
    comms[1].Recv([buffers[1], MPI.BYTE], source=1 - rank, tag=22)  # stuck: 0,1 MPI_Recv second


both = [threading.Thread(target=target) for target in (first, second)]
for thread in both:
    thread.start()
ready()
for thread in both:
    thread.join()
