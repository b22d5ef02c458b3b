"""A thread of rank 1 keeps the interpreter's lock in MPI_Comm_dup, as a library does that does not release it. So its
main thread cannot send what rank 0 waits for before it comes there."""

import ctypes
import threading
import time

from hanging import MPI, comm, rank, ready

library = ctypes.PyDLL(MPI.__file__)
library.MPI_Comm_dup.argtypes = [ctypes.c_size_t if MPI._sizeof(MPI.Comm) == 8 else ctypes.c_int, ctypes.c_void_p]


def dup():
    library.MPI_Comm_dup(MPI._handleof(comm), room_address)  # stuck: 1 MPI_Comm_dup dup


room = ctypes.create_string_buffer(16)
room_address = ctypes.addressof(room)
ready()
if rank == 1:
    threading.Thread(target=dup).start()
    time.sleep(0.2)
    comm.Send([b"go", MPI.BYTE], dest=0, tag=5)
else:
    comm.Recv([bytearray(2), MPI.BYTE], source=1, tag=5)  # stuck: 0 MPI_Recv <module>
    dup()
