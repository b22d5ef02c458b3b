/*
 * Rank 1 gives the same collectives other operators, datatypes and counts than the others. All go on, and wait later for what
 * nobody sends.
 */
#include "common/noted.h"

static void add(void *in, void *inout, int *length, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int place = 0; place < *length; place++)
        ((int *)inout)[place] += ((int *)in)[place];
}

static MPI_Comm named(const char *name)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, name);
    return comm;
}

int main(int argc, char **argv)
{
    int rank, values[8] = {0}, sums[8];
    MPI_Op own;
    MPI_Datatype pair;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm operators = named("operators"), datatypes = named("datatypes"), counts = named("counts"), alike = named("alike");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add, 1, &own);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    told(rank);
    MPI_Allreduce(values, sums, 1, MPI_INT, MPI_SUM, operators);
    if (rank == 1)
        MPI_Allreduce(values, sums, 1, MPI_INT, MPI_MIN, operators); /* operator of rank 1 */
    else
        MPI_Allreduce(values, sums, 1, MPI_INT, MPI_MAX, operators); /* operator of others */
    if (rank == 1)
        MPI_Bcast(values, 4, MPI_FLOAT, 0, datatypes); /* datatype of rank 1 */
    else
        MPI_Bcast(values, 4, MPI_INT, 0, datatypes); /* datatype of others */
    if (rank == 1)
        MPI_Ibcast(values, 8, MPI_INT, 0, counts, &request); /* count of rank 1 */
    else
        MPI_Ibcast(values, 4, MPI_INT, 0, counts, &request); /* count of others */
    /* These differ rightly, or nobody knows. */
    if (rank == 1)
        MPI_Bcast(values, 2, pair, 0, alike);
    else
        MPI_Bcast(values, 4, MPI_INT, 0, alike);
    MPI_Gather(values, 2, MPI_INT, sums, rank == 0 ? 2 : 5, MPI_INT, 0, alike);
    MPI_Allreduce(values, sums, 1, rank == 1 ? MPI_INT32_T : MPI_INT, rank == 1 ? own : MPI_SUM, alike);
    MPI_Recv(values, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
