/* The value of a C handle, as it is written down: a pointer (Open MPI, the ABI of MPI 5) or an int (MPICH). */
#ifndef MPIQ_HANDLE_VALUE_H
#define MPIQ_HANDLE_VALUE_H

#include <stdint.h>

/* An int is not extended by its sign. */
#define HANDLE(handle)                                                                                                 \
    (sizeof(handle) == sizeof(int) ? (uintptr_t)(unsigned)(uintptr_t)(handle) : (uintptr_t)(handle))

#endif
