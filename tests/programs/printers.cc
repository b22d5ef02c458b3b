/*
 * Handles as the objects of MPI's bindings for C++, which Open MPI has until 4.1. Two ranks. The output is that of printers.c.
 */
#include <mpi.h>

#include <cstdio>
#include <iostream>
#include <unistd.h>
#include <vector>

namespace grid {
using own_comm = MPI::Intracomm;
struct exchange {
    own_comm comm;
    MPI::Request pending[2];
    const MPI::Comm *where;
};
} // namespace grid

static void ready()
{
    std::cout << "ready" << std::endl;
    for (;;)
        pause();
}

static void stop(MPI::Comm &comm, const MPI::Datatype &type, grid::exchange *all, MPI_Comm *plain)
{
    std::cout << "frame stop\n";
    std::cout << "all->pending[0] ~ MPI_Irecv from " << 1 - comm.Get_rank() << ", tag 4 on \"halo\", 40 bytes, pending\n";
    std::cout << "*plain = \"halo\", rank " << comm.Get_rank() << " of 2\n";
    std::cout << "plain ~ -> \"halo\", rank " << comm.Get_rank() << " of 2\n";
    ready();
    std::printf("%p %p %p\n", static_cast<void *>(plain), static_cast<void *>(all), static_cast<const void *>(&type));
}

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    int values[10], sent = 3, rank = MPI::COMM_WORLD.Get_rank();
    MPI::Intracomm world = MPI::COMM_WORLD, halo = world.Dup();
    halo.Set_name("halo");
    int dims[] = {2};
    bool periods[] = {true};
    MPI::Cartcomm ring = halo.Create_cart(1, dims, periods, false);
    ring.Set_name("ring");
    MPI::Request none;
    MPI::Prequest persistent = halo.Recv_init(values, 2, MPI::INT, 1 - rank, 9);
    MPI::Datatype integer = MPI::INT;
    MPI::Op sum = MPI::SUM;
    MPI::Group group = halo.Get_group();
    MPI::Info info = MPI::Info::Create();
    MPI::Errhandler throws = MPI::ERRORS_THROW_EXCEPTIONS;
    MPI::File file;
    MPI::Win window;
    MPI::Aint place = 4096;
    MPI::Offset offset = 7;
    MPI::Status status;
    halo.Sendrecv(&sent, 1, MPI::INT, 1 - rank, 5, values, 1, MPI::INT, 1 - rank, 5, status);
    grid::exchange all = {halo, {}, &ring};
    all.pending[0] = halo.Irecv(values, 10, MPI::INT, 1 - rank, 4);
    MPI_Comm plain = halo;
    std::vector<MPI_Comm> several = {halo, MPI_COMM_NULL};

    std::cout << "frame main\n";
    std::cout << "world = MPI_COMM_WORLD, rank " << rank << " of 2\n";
    std::cout << "halo = \"halo\", rank " << rank << " of 2\n";
    std::cout << "ring ~ \"ring\", rank " << ring.Get_rank() << " of 2\n";
    std::cout << "*all.where ~ \"ring\"\n";
    std::cout << "all.where ~ -> \"ring\"\n";
    std::cout << "none = MPI_REQUEST_NULL\n";
    std::cout << "persistent ~ MPI_Recv_init\n";
    std::cout << "integer ~ MPI_INT\n";
    std::cout << "sum ~ MPI_SUM\n";
    std::cout << "group ~ 2\n";
    std::cout << "info ~ 0 keys\n";
    std::cout << "throws ~ MPI_ERRORS_THROW_EXCEPTIONS\n";
    std::cout << "file = MPI_FILE_NULL\n";
    std::cout << "window = MPI_WIN_NULL\n";
    std::cout << "place = 4096 (0x1000)\n";
    std::cout << "offset = 7\n";
    std::cout << "status ~ from " << 1 - rank << ", tag 5\n";
    std::cout << "all.pending[1] = MPI_REQUEST_NULL\n";
    stop(halo, integer, &all, &plain);
    return several.size() == 2 && place && offset && file.Get_amode() ? 0 : 1;
}
