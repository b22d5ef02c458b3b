// Ranks that wait for requests of Boost.MPI which nobody completes: one request (0), one element of a vector that others were
// put into before (1), an element of an array (2), a member (3). Each prints the line that started what it waits for, and
// has started another request before whose message comes. Where several are waited for and one is over, Boost.MPI tests
// again and again, and is found outside MPI as well.
#include "common/told.h"

#include <boost/mpi.hpp>

#include <cstdio>
#include <vector>

namespace mpi = boost::mpi;

static int out = 1, in[2];

static void ready(int wait) {
    std::printf("waits %d\n", wait);
    told_ready();
}

static void starts(int line) { std::printf("starts %d\n", line); }

struct Halo {
    mpi::request faces[2];

    void start(mpi::communicator &world, int from) {
        faces[0] = world.irecv(from, 1, in[0]);
        starts(__LINE__), faces[1] = world.irecv(from, 8, in[1]);
    }

    void finish() {
        faces[0].wait();
        ready(__LINE__), faces[1].wait();
    }
};

static void one(mpi::communicator &world, int from) {
    mpi::request first = world.irecv(from, 1, in[0]);
    starts(__LINE__ + 1);
    mpi::request second = world.irecv(from, 5, in[1]);
    first.wait();
    ready(__LINE__), second.wait();
}

static void vector(mpi::communicator &world, int from) {
    std::vector<mpi::request> all;
    all.push_back(world.irecv(from, 1, in[0]));
    starts(__LINE__), all.push_back(world.irecv(from, 6, in[1]));
    all[0].wait();
    ready(__LINE__), mpi::wait_all(all.begin(), all.end());
}

static void array(mpi::communicator &world, int from) {
    mpi::request all[2];
    all[0] = world.irecv(from, 1, in[0]);
    starts(__LINE__), all[1] = world.irecv(from, 7, in[1]);
    all[0].wait();
    ready(__LINE__), mpi::wait_all(all, all + 2);
}

int main(int argc, char **argv) {
    mpi::environment environment(argc, argv);
    mpi::communicator world;
    int rank = world.rank(), size = world.size();
    mpi::request sent = world.isend((rank + size - 1) % size, 1, out);
    int from = (rank + 1) % size;
    Halo halo;
    if (rank == 0)
        one(world, from);
    else if (rank == 1)
        vector(world, from);
    else if (rank == 2)
        array(world, from);
    else {
        halo.start(world, from);
        halo.finish();
    }
    sent.wait();
    return 0;
}
