// As calls_started.c, in C++: members of classes, containers, and functions of other classes.
#include "common/told.h"

#include <mpi.h>
#include <vector>

static int data;

static void started(int index, const char *function, int line) {
    printf("started %d %s %d\n", index, function, line);
}

class Halo {
    std::vector<MPI_Request> requests;

public:
    Halo() : requests(2, MPI_REQUEST_NULL) {}

    void start() {
        started(0, "MPI_Irecv", __LINE__), MPI_Irecv(&data, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &requests[0]);
        started(1, "MPI_Irecv", __LINE__), MPI_Irecv(&data, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &this->requests[1]);
    }

    void finish() {
        told_ready();
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
};

static void vector() {
    std::vector<MPI_Request> requests(3);
    for (int i = 0; i < 3; ++i)
        started(i, "MPI_Irecv", __LINE__), MPI_Irecv(&data, 1, MPI_INT, 0, 7 + i, MPI_COMM_WORLD, &requests[i]);
    told_ready();
    MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        told_ready();
        pause();
    } else if (rank == 1) {
        vector();
    } else {
        Halo halo;
        halo.start();
        halo.finish();
    }
    MPI_Finalize();
    return 0;
}
