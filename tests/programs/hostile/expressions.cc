// As expressions.c, in C++.
#include <mpi.h>

#include <cstdio>
#include <unistd.h>
#include <vector>

/* DEFINITIONS */

struct Grid {
    int n = 1;
    std::vector<int> victims{11, 22, 33, 44};
    bool touched = false;

    int touch() {
        touched = true;
        return 1;
    }
    operator int() {
        return touch();
    }

    void wait_for(int rank, int *out, int *in, MPI_Status *status) {
        MPI_Comm comm = MPI_COMM_WORLD;
        if (rank % 3 == 1) {
            MPI_Sendrecv(
                out, n, MPI_INT, 0, 7, in, n, MPI_INT, 0, 5, comm, status /* 1 */
            );
        } else if (rank % 3 == 2) {
            MPI_Sendrecv(
                out, n, MPI_INT, 0, 7, in, n, MPI_INT, 0, 5, comm, status /* 2 */
            );
        } else {
            MPI_Sendrecv(
                out, n, MPI_INT, 0, 7, in, n, MPI_INT, 0, 5, comm, status /* 3 */
            );
        }
    }
};

static Grid grid;

int main(int argc, char **argv) {
    int rank, ranks, out = 8, in = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::printf("ready\n");
    std::fflush(stdout);
    if (rank == 0) {
        while (access(argv[1], F_OK) != 0)
            usleep(10000);
        for (int other = 1; other < ranks; other++)
            MPI_Sendrecv(&other, 1, MPI_INT, other, 5, &in, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &status);
    } else {
        grid.wait_for(rank, &out, &in, &status);
        bool kept = grid.victims == std::vector<int>{11, 22, 33, 44} && !grid.touched && grid.n == 1 && in == rank &&
                    out == 8 && status.MPI_TAG == 5;
        std::printf(kept ? "kept\n" : "changed\n");
        std::fflush(stdout);
    }
    MPI_Finalize();
}
