/*
 * Rank 1 is taken off its way, while the others wait for it in a collective.
 *
 * Argument: unwinding (an exception calls a destructor that waits for the others), caught (it waits in a handler), terminate (in
 * what std::terminate calls), heap (a signal came in malloc, and its handler asks for memory), exit (in what exit calls).
 */
#include "common/told.h"

#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mpi.h>
#include <stdexcept>
#include <string>

static int rank;

static void wait_alone() {
    MPI_Comm_dup(MPI_COMM_WORLD, new MPI_Comm);
}

struct Team {
    ~Team() {
        if (rank == 1)
            wait_alone();
    }
};

static void raise_it() {
    throw std::out_of_range("not told");
}

static void unwind() {
    Team team;
    raise_it();
}

static void handle(int) {
    volatile std::string text(5000, 'x');
}

/*
 * What is free is a list, whose link is written over; a large piece is looked for in what the lists have. A link is kept
 * mixed with its own address (glibc, malloc/malloc.c, PROTECT_PTR, from 2.32): it has to read as no address of a piece
 * wherever the heap lies, for glibc to call abort().
 */
static void damage_the_heap() {
    volatile char *pieces[30];
    for (volatile char *&piece : pieces)
        piece = static_cast<volatile char *>(std::malloc(40));
    uintptr_t last = reinterpret_cast<uintptr_t>(pieces[29]);
    for (volatile char *piece : pieces)
        std::free(const_cast<char *>(piece));
    *reinterpret_cast<volatile uintptr_t *>(last) = (last >> 12) ^ 0x4141414141414148;
    std::free(std::malloc(5000));
}

static void be_taken_off(const char *how) {
    if (!std::strcmp(how, "unwinding")) {
        unwind();
    } else if (!std::strcmp(how, "caught")) {
        try {
            raise_it();
        } catch (const std::exception &) {
            wait_alone();
        }
    } else if (!std::strcmp(how, "terminate")) {
        std::set_terminate([] {
            wait_alone();
            std::_Exit(1);
        });
        /* Nobody catches that. */
        throw 17;
    } else if (!std::strcmp(how, "heap")) {
        std::signal(SIGABRT, handle);
        damage_the_heap();
    } else {
        std::atexit(wait_alone);
        std::exit(1);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    told(rank);
    try {
        if (rank == 1)
            be_taken_off(argv[1]);
    } catch (const std::exception &) {
    }
    int one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return argc;
}
