/*
 * Handles as variables of a program in C where they are integers (MPICH) or pointers to structures without members (the ABI
 * of MPI 5). Two ranks. The output is as that of printers.c: what a variable must be shown as follows from the calls made here.
 */
#include "printers.h"

#include <mpi.h>

typedef MPI_Comm own_comm;

struct exchange {
    own_comm comm;
    MPI_Request pending[2];
    const MPI_Datatype type;
    MPI_Status last;
    volatile MPI_Op op;
};

static void __attribute__((noinline)) stop(int rank, own_comm comm, const MPI_Comm *where, const struct exchange *all)
{
    int plain = 0x44000000;
    printf("frame stop\n");
    say("comm", '=', "\"halo\", rank %d of 2", rank);
    say("*where", '=', "\"halo\", rank %d of 2", rank);
    say("where", '~', "-> \"halo\", rank %d of 2", rank);
    say("all->comm", '=', "\"halo\", rank %d of 2", rank);
    say("all->pending[0]", '=', "MPI_REQUEST_NULL");
    say("all->pending[1]", '~', "MPI_Recv_init");
    say("all->pending[1]", '~', "on \"halo\"");
    say("all->pending[1]", '~', ", inactive");
    say("all->type", '=', "MPI_DOUBLE");
    say("all->op", '=', "MPI_MAX");
    say("all->last", '=', "from %d, tag 12, 24 bytes", 1 - rank);
    say("plain", '=', "%d", plain);
    told_ready();
    /* They are looked at here. */
    while (comm == *where || all->comm == comm || plain)
        pause();
}

int main(int argc, char **argv)
{
    int rank, size, sent[6] = {0}, received[6];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm world = MPI_COMM_WORLD, none = MPI_COMM_NULL, halo, gone;
    MPI_Comm_dup(world, &halo);
    MPI_Comm_set_name(halo, "halo");
    MPI_Comm_dup(world, &gone);
    MPI_Comm garbage = gone;
    MPI_Comm_free(&gone);
    struct exchange all = {halo, {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, MPI_DOUBLE, {.MPI_TAG = 0}, MPI_MAX};
    MPI_Sendrecv(sent, 6, MPI_INT, 1 - rank, 12, received, 6, MPI_INT, MPI_ANY_SOURCE, 12, halo, &all.last);
    MPI_Recv_init(received, 6, MPI_INT, 1 - rank, 7, halo, &all.pending[1]);
    MPI_Datatype vector, pair;
    MPI_Type_vector(3, 2, 5, MPI_INT, &vector);
    MPI_Type_contiguous(2, vector, &pair);
    MPI_Type_set_name(pair, "two vectors");
    MPI_Type_commit(&pair);
    MPI_Group group, empty = MPI_GROUP_EMPTY;
    MPI_Comm_group(halo, &group);
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "2");
    MPI_Errhandler returns = MPI_ERRORS_RETURN;
    MPI_Win window = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Aint length = 4096;
    printf("frame main\n");
    say("world", '=', "MPI_COMM_WORLD, rank %d of 2", rank);
    say("none", '=', "MPI_COMM_NULL");
    say("garbage", '~', "freed MPI_Comm");
    say("vector", '=', "MPI_Type_vector(3, 2, 5, MPI_INT), 24 bytes in 48, not committed");
    say("pair", '=', "\"two vectors\": MPI_Type_contiguous(2, MPI_Type_vector(…)), 48 bytes in 96");
    say("group", '=', "group of 2, rank %d", rank);
    say("empty", '=', "MPI_GROUP_EMPTY");
    say("info", '=', "info with 2 keys");
    say("returns", '=', "MPI_ERRORS_RETURN");
    say("window", '=', "MPI_WIN_NULL");
    say("file", '=', "MPI_FILE_NULL");
    say("length", '=', "4096 (0x1000)");
    say("size", '=', "2");
    stop(rank, halo, &halo, &all);
    MPI_Finalize();
    return (int)length + (vector == pair) + (window == MPI_WIN_NULL) + (file == MPI_FILE_NULL) + (none == garbage) + (returns == MPI_ERRORS_RETURN) +
           (empty == group);
}
