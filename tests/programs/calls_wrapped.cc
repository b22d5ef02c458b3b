// Ranks that call MPI through what wraps it: Boost.MPI (0), a class (1) and a function (2) of the program's own, and one that
// has called it itself (3). Each waits for a message of the next rank that nobody sends, and prints the lines of its calls: that of
// the application, and that of what wraps MPI.
#include "common/told.h"

#include <boost/mpi.hpp>
#include <mpi.h>

#include <cstdio>

static void ready(const char *function, int line) {
    std::printf("called %s %d\n", function, line);
    told_ready();
}

static int inner(int line) {
    std::printf("inner %d\n", line);
    std::fflush(stdout);
    return 0;
}

namespace halo {
template <int Dimensions> class Exchange {
    int faces[2 * Dimensions] = {};

public:
    void finish(int from) {
        inner(__LINE__), MPI_Recv(faces, 2 * Dimensions, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
};
} // namespace halo

extern "C" int comm_wait(int from) {
    int data;
    return inner(__LINE__), MPI_Recv(&data, 1, MPI_INT, from, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void by_boost(boost::mpi::communicator &world, int from) {
    int data;
    ready("by_boost", __LINE__), world.recv(from, 9, data);
}

static void by_class(int from) {
    halo::Exchange<3> exchange;
    ready("by_class", __LINE__), exchange.finish(from);
}

static void by_function(int from) { ready("by_function", __LINE__), comm_wait(from); }

static void itself(int from) {
    int data;
    ready("itself", __LINE__), inner(__LINE__), MPI_Recv(&data, 1, MPI_INT, from, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    boost::mpi::environment environment(argc, argv);
    boost::mpi::communicator world;
    int from = (world.rank() + 1) % world.size();
    if (world.rank() == 0)
        by_boost(world, from);
    else if (world.rank() == 1)
        by_class(from);
    else if (world.rank() == 2)
        by_function(from);
    else
        itself(from);
    return 0;
}
