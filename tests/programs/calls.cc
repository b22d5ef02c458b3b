// As calls.c, in C++: members, containers, constants in scopes, and a function object.
#include "common/told.h"

#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int halo_tag = 21;
namespace settings {
const int root = 0;
enum class Side { left = 4, right = 5 };
} // namespace settings

template <class T> long long number(T handle) {
    return (long long)(intptr_t)handle;
}

static void at(const char *function, int line) {
    std::printf("call %s %d\n", function, line);
    told_ready();
}

template <class T> struct Field {
    std::vector<T> cells;
    MPI_Comm comm;
    int peer;

    Field(MPI_Comm comm, int peer) : cells(10), comm(comm), peer(peer) {}

    void receive(int count) {
        std::printf("given buf %lld\ngiven count %d\ngiven source %d\ngiven tag %d\ngiven comm %lld\n",
                    number(cells.data()), count, peer, halo_tag, number(comm));
        at("MPI_Recv", __LINE__ + 1);
        MPI_Recv(cells.data(), count, MPI_DOUBLE, peer, halo_tag, comm, MPI_STATUS_IGNORE);
    }

    void send() {
        std::printf("given buf %lld\ngiven count %d\ngiven dest %d\ngiven tag 5\n", number(&cells[1]),
                    (int)cells.size() - 1, peer);
        at("MPI_Ssend", __LINE__ + 1);
        MPI_Ssend(&cells[1], static_cast<int>(cells.size()) - 1, MPI_DOUBLE, peer,
                  static_cast<int>(settings::Side::right), this->comm);
    }
};

int main(int argc, char **argv) {
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int &self = rank;
    Field<double> field(MPI_COMM_WORLD, (rank + 1) % size);
    if (rank == 0) {
        field.receive(7);
    } else if (rank == 1) {
        field.send();
    } else if (rank == 2) {
        auto broadcast = [&](int root) {
            int x = 0;
            std::printf("given root %d\ngiven buffer %lld\ngiven comm %lld\n", root + settings::root, number(&x),
                        number(field.comm));
            at("MPI_Bcast", __LINE__ + 1);
            MPI_Bcast(&x, 1, MPI_INT, root + settings::root, field.comm);
        };
        broadcast(self - 2);
    } else {
        std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
        double x;
        MPI_Irecv(&x, 1, MPI_DOUBLE, 0, 1, field.comm, &requests[0]);
        std::printf("given count 2\ngiven array_of_requests %lld %lld\n", number(requests[0]), number(requests[1]));
        at("MPI_Waitall", __LINE__ + 1);
        MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
}
