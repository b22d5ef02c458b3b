"""A library in C calls back into Python, which waits."""

import ctypes

from hanging import comm, rank, ready

compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))


@compare_type
def compare(one, other):
    ready()
    comm.Probe(source=1 - rank, tag=51)  # stuck: 0,1 MPI_Probe compare
    return one[0] - other[0]


def sort(values):
    numbers = (ctypes.c_int * len(values))(*values)
    ctypes.CDLL(None).qsort(numbers, len(values), ctypes.sizeof(ctypes.c_int), compare)


sort([3, 1, 2])
