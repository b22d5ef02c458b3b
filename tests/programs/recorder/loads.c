/*
 * Loads a library that uses MPI when it runs, for itself alone (RTLD_LOCAL), as Python does. Without -DLIBRARY the program,
 * which has nothing to do with MPI; with it the library.
 */
#ifdef LIBRARY
#include "common/noted.h"

int run(int argc, char **argv, int seen)
{
    int rank, buffer;
    MPI_Request one;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CALLED(MPI_Irecv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 1234, MPI_COMM_WORLD, &one));
    noted_begin(rank);
    noted_number("seen", seen);
    noted_number("low", (long long)(uintptr_t)noted_low);
    noted_number("high", (long long)(uintptr_t)noted_high);
    noted_number("request", (long long)HANDLE(one));
    noted_end(rank);
    MPI_Recv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
#else
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int MPI_Init(int *, char ***) __attribute__((weak));

int main(int argc, char **argv)
{
    int seen = (MPI_Init != NULL) + (dlsym(RTLD_DEFAULT, "MPI_Send") != NULL);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        puts(dlerror());
        return 2;
    }
    int (*run)(int, char **, int);
    *(void **)&run = dlsym(library, "run");
    return run(argc, argv, seen);
}
#endif
