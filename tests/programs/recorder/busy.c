/* Calls MPI without end: what it gives to each call follows from how many there were. */
#include "common/noted.h"

int main(int argc, char **argv)
{
    int rank, in[64], out[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    told(rank);
    for (int number = 0;; number = (number + 1) % 1000) {
        MPI_Request two[2];
        MPI_Irecv(in, number % 64, MPI_INT, rank, number, MPI_COMM_WORLD, &two[0]);
        MPI_Isend(out, number % 64, MPI_INT, rank, number, MPI_COMM_WORLD, &two[1]);
        MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    }
}
