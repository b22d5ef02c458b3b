/*
 * Compiled only for its debug information: pulls in the structures of MPICH's MPI-IO (ROMIO), which is compiled with flags and
 * with an mpi.h of its own (layouts/make-mpich.sh).
 */
#include "adio.h"

/* The constants that the headers have as macros; the script writes one line for each. */
#ifdef MQ_CONSTANTS
#define MQ(X) enum { MQ_##X = (long)(X) };
#include MQ_CONSTANTS
#endif
