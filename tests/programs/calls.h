/* What only the preprocessor of calls.c knows. */
#ifndef MPIQ_CALLS_H
#define MPIQ_CALLS_H

#define HALO_TAG (BASE_TAG + 2)
#define BASE_TAG 40
#define WORLD MPI_COMM_WORLD
#define CHECK(call)                                                                                                    \
    if ((call) != MPI_SUCCESS)                                                                                         \
    failed = 1

#endif
