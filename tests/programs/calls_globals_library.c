#include "calls_globals.h"

#include <stdio.h>

int label = -1;

void receive(int *value) {
    printf("call MPI_Recv %d\n", __LINE__ + 3);
    printf("ready\n");
    fflush(stdout);
    MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, label, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
