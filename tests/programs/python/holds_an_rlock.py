"""A thread of rank 1 waits for a message of rank 0 and keeps a lock meanwhile. Its main thread needs that before it can
send what rank 0 waits for."""

import threading
import time

from hanging import MPI, comm, rank, ready

lock = threading.RLock()


def keep():
    with lock:
        comm.Recv([bytearray(2), MPI.BYTE], source=0, tag=6)  # stuck: 1 MPI_Recv keep


ready()
if rank == 1:
    threading.Thread(target=keep).start()
    time.sleep(0.2)
    with lock:
        comm.Send([b"go", MPI.BYTE], dest=0, tag=5)
else:
    comm.Recv([bytearray(2), MPI.BYTE], source=1, tag=5)  # stuck: 0 MPI_Recv <module>
    comm.Send([b"go", MPI.BYTE], dest=1, tag=6)
