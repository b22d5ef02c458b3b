#include "calls_globals.h"
#include "common/told.h"

int label = -1;

void receive(int *value) {
    printf("call MPI_Recv %d\n", __LINE__ + 2);
    told_ready();
    MPI_Recv(value, 1, MPI_INT, MPI_ANY_SOURCE, label, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
