#ifndef MPIQ_CALLS_GLOBALS_H
#define MPIQ_CALLS_GLOBALS_H

#include <mpi.h>

/* calls_globals_unit.c */
extern int neighbour;
extern MPI_Comm halo;

/* calls_globals_library.c */
extern int label;
void receive(int *value);

#endif
