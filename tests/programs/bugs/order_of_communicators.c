/* Rows and columns of a grid: rank 0 sums over its row first, its neighbours over their columns.
 * Rank 0 waits for rank 1 (its row), rank 1 for rank 3 (its column), which waits for rank 2 (row), which waits for rank 0.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2,3 lines=0:ROW,1:COLUMN,2:COLUMN,3:ROW
 * expect: collective mismatch ranks=0,1,2,3 lines=0:ROW,1:COLUMN,2:COLUMN,3:ROW certain words="row","column"
 * expect-not: missing in collective
 * cause: collective mismatch lines=0:ROW,1:COLUMN,2:COLUMN,3:ROW
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, in = 1, out;
    MPI_Comm row, column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
    MPI_Comm_set_name(row, "row");
    MPI_Comm_set_name(column, "column");
    diagnosed_ready();
    if (rank == 0 || rank == 3) {
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, row); /* @ROW */
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, column);
    } else {
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, column); /* @COLUMN */
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, row);
    }
    MPI_Comm_free(&row);
    MPI_Comm_free(&column);
    MPI_Finalize();
    return 0;
}
