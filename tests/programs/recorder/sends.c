/* Sends that wait, sends in which others are made, and sends that are left: sends.c WAY. */
#include "common/noted.h"

#include <setjmp.h>

enum { LARGE = 1 << 20 };

static int buffer[LARGE], other[64];
static jmp_buf back;
static const char *way;

/* To this process itself, which has asked for it. */
static void to_self(MPI_Comm comm, int rank, int tag)
{
    MPI_Request request;
    MPI_Irecv(other, 1, MPI_INT, rank, tag, comm, &request);
    MPI_Send(buffer, 1, MPI_INT, rank, tag, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void in_error(MPI_Comm *comm, int *code, ...)
{
    int rank;
    (void)code;
    MPI_Comm_rank(*comm, &rank);
    if (strcmp(way, "left") == 0)
        longjmp(back, 1);
    to_self(*comm, rank, 5);
    if (strcmp(way, "inside") == 0) {
        told(rank);
        MPI_Recv(other, 1, MPI_INT, rank, 31999, *comm, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Request request;
    MPI_Errhandler handler;
    way = argc > 1 ? argv[1] : "waits";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_create_errhandler(in_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    to_self(MPI_COMM_WORLD, rank, 3);
    /* Nobody has this rank. */
    if (strcmp(way, "waits") != 0 && setjmp(back) == 0)
        MPI_Send(buffer, 2, MPI_INT, 1000, 4, MPI_COMM_WORLD);
    CALLED(MPI_Issend(buffer, 3, MPI_INT, rank, 6, MPI_COMM_WORLD, &request));
    noted_begin(rank);
    noted_number("request", HANDLE(request));
    noted_number("low", (uintptr_t)noted_low);
    noted_number("high", (uintptr_t)noted_high);
    noted_number("comm", HANDLE(MPI_COMM_WORLD));
    noted_number("datatype", HANDLE(MPI_INT));
    noted_end(rank);
    if (rank == 0)
        MPI_Ssend(buffer, 7, MPI_INT, size > 1, 8, MPI_COMM_WORLD); /* waits */
    else
        MPI_Ssend(buffer, LARGE, MPI_INT, 0, 9, MPI_COMM_WORLD); /* waits */
    return 0;
}
