#include "calls_globals.h"

int neighbour = -1;
MPI_Comm halo;
