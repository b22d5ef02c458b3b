/*
 * One job whose ranks reach one another in several ways: rank 2 is on its own device, as if on another node. The argument
 * names the variable that it sets before MPI_Init, and its value, as in OMPI_MCA_btl=tcp,self. Ranks 0 and 1 choose for
 * themselves. Each has sends of every mode to both others, of a few bytes and of many, receives from each and from any, and
 * messages from both that no receive takes. Three ranks.
 */
#include "common/truth.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 40, LARGE = 2000000, RECEIVED = 10, UNEXPECTED = 100, PENDING = 500 };

/* The rank, as launchers tell it before MPI_Init. */
static int rank_of_launcher(void)
{
    static const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            return atoi(getenv(names[i]));
    return -1;
}

int main(int argc, char **argv)
{
    char *value = argc == 2 ? strchr(argv[1], '=') : NULL;
    if (value != NULL && rank_of_launcher() == 2) {
        *value = '\0';
        setenv(argv[1], value + 1, 1);
    }
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (value == NULL || truth_size != 3)
        truth_fail("needs three ranks, and NAME=VALUE");
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    truth_named_comm(comm, "ways");
    for (int peer = 0; peer < 3; peer++) {
        if (peer == truth_rank)
            continue;
        truth_irecv(7, MPI_INT, peer, RECEIVED, comm, TRUTH_PENDING, NULL);
        truth_irecv(9, MPI_DOUBLE, MPI_ANY_SOURCE, RECEIVED + 1 + peer, comm, TRUTH_PENDING, NULL);
    }
    /* Each sends to the next and to the one after: all sends of a rank, in one order. */
    for (int step = 1; step < 3; step++) {
        int to = (truth_rank + step) % 3;
        truth_isend(TRUTH_STANDARD, SMALL, MPI_BYTE, to, UNEXPECTED, comm, TRUTH_EAGER, NULL);
        truth_isend(TRUTH_SYNCHRONOUS, SMALL + 1, MPI_BYTE, to, UNEXPECTED + 1, comm, TRUTH_PENDING, NULL);
        truth_isend(TRUTH_STANDARD, LARGE, MPI_BYTE, to, UNEXPECTED + 2, comm, TRUTH_PENDING, NULL);
        truth_isend(TRUTH_SYNCHRONOUS, LARGE + 4, MPI_BYTE, to, UNEXPECTED + 3, comm, TRUTH_PENDING, NULL);
    }
    for (int step = 1; step < 3; step++) {
        int from = (truth_rank + 3 - step) % 3;
        truth_expect_earlier(comm, from, UNEXPECTED, SMALL);
        truth_expect_earlier(comm, from, UNEXPECTED + 1, SMALL + 1);
        truth_expect_earlier(comm, from, UNEXPECTED + 2, LARGE);
        truth_expect(comm, from, UNEXPECTED + 3, LARGE + 4);
    }
    truth_settle();
    int from = (truth_rank + 2) % 3;
    char buffer[8];
    truth_will_recv(8, MPI_BYTE, from, PENDING, comm, "MPI_Recv");
    truth_hang_in("MPI_Recv");
    MPI_Recv(buffer, 8, MPI_BYTE, from, PENDING, comm, MPI_STATUS_IGNORE);
    return 0;
}
