/* Rows and columns of a grid: ranks 0 and 3 sum over their rows first, the others over their columns, without blocking: each waits
 * for the next around the grid.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: collective mismatch ranks=0,1,2,3 lines=0:ROW,1:COLUMN,2:COLUMN,3:ROW words="have not started it"
 * expect-not: missing in collective
 * cause: collective mismatch lines=0:SUM,1:SUM,2:SUM,3:SUM
 */
#include "common/diagnosed.h"

static void sum_over(MPI_Comm comm, MPI_Request *request)
{
    static double in[2], out[2];
    MPI_Iallreduce(in, out, 2, MPI_DOUBLE, MPI_MAX, comm, request); /* @SUM */
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm row, column;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    MPI_Comm_set_name(row, "row");
    MPI_Comm_set_name(column, "column");
    diagnosed_ready();
    if (rank == 0 || rank == 3) {
        sum_over(row, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* @ROW */
        sum_over(column, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        sum_over(column, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* @COLUMN */
        sum_over(row, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}
