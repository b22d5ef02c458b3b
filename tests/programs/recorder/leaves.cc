// Calls that are left otherwise than by their return: an exception and a longjmp out of an error handler.
#include "common/told.h"

#include <mpi.h>

#include <csetjmp>
#include <execinfo.h>

static jmp_buf back;
static int way;
static int frames;

static void left(MPI_Comm *, int *, ...)
{
    void *stack[64];
    frames = backtrace(stack, 64);
    if (way == 0)
        throw 7;
    longjmp(back, 1);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, buffer, caught = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(left, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    try {
        MPI_Send(&buffer, 1, MPI_INT, 1000, 3, MPI_COMM_WORLD);
    } catch (int number) {
        caught = number;
    }
    way = 1;
    if (setjmp(back) == 0)
        MPI_Send(&buffer, 1, MPI_INT, 1001, 4, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_SELF);
    told_with(rank, ",\"caught\":%d,\"frames\":%d", caught, frames);
    told_hang();
}
