/*
 * Standard sends to ranks that take no part in MPI any more. Arguments: how many to each, of how many bytes the longest, and
 * "blocking" where rank 0 is to hang in one more of these (else it hangs in MPI_Recv).
 *
 * The others have answered rank 0 once, so that connections stand, and pause. What the network and the library take in is
 * complete; rank 0 asks for long enough that nothing moves any more.
 */
#include "common/truth.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_TAG = 7, FIRST_TAG = 100, LAST_TAG = 90, ROUNDS = 300, PAUSE_MICROSECONDS = 3000 };

int main(int argc, char **argv)
{
    MPI_Comm comms[2];
    char byte = 0;
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc < 3 || truth_size < 2)
        truth_fail("arguments: sends, bytes [blocking]");
    int each = atoi(argv[1]), longest = atoi(argv[2]), sends = each * (truth_size - 1);
    int blocking = argc > 3 && strcmp(argv[3], "blocking") == 0;
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        truth_named_comm(comms[i], i ? "parcels" : "letters");
    }
    for (int other = 1; other < truth_size; other++)
        if (truth_rank == 0) {
            MPI_Send(&byte, 1, MPI_BYTE, other, WARM_TAG, comms[0]);
            MPI_Recv(&byte, 1, MPI_BYTE, other, WARM_TAG, comms[0], MPI_STATUS_IGNORE);
        } else if (truth_rank == other) {
            MPI_Recv(&byte, 1, MPI_BYTE, 0, WARM_TAG, comms[0], MPI_STATUS_IGNORE);
            MPI_Send(&byte, 1, MPI_BYTE, 0, WARM_TAG, comms[0]);
        }
    truth_settle();
    if (truth_rank != 0)
        truth_hang_paused();
    /* Whoever has written its truth calls MPI no more, and takes nothing in. */
    for (int other = 1; other < truth_size; other++)
        truth_await_truth_of(other);
    struct truth_op **posted = calloc((size_t)sends, sizeof *posted);
    for (int i = 0; i < sends; i++) {
        int to = 1 + i % (truth_size - 1), bytes = longest - i;
        posted[i] = truth_isend(TRUTH_STANDARD, bytes, MPI_BYTE, to, FIRST_TAG + i, comms[i % 2], TRUTH_SETTLED, NULL);
    }
    for (int round = 0; round < ROUNDS; round++) {
        int complete;
        for (int i = 0; i < sends; i++)
            MPI_Request_get_status(truth_request(posted[i]), &complete, MPI_STATUS_IGNORE);
        usleep(PAUSE_MICROSECONDS);
    }
    if (blocking) {
        truth_will_send(TRUTH_STANDARD, longest, MPI_BYTE, 1, LAST_TAG, comms[0], "MPI_Send");
        truth_hang_in("MPI_Send");
        MPI_Send(truth_buffer((size_t)longest), longest, MPI_BYTE, 1, LAST_TAG, comms[0]);
    } else {
        truth_will_recv(1, MPI_BYTE, 1, LAST_TAG, comms[0], "MPI_Recv");
        truth_hang_in("MPI_Recv");
        MPI_Recv(&byte, 1, MPI_BYTE, 1, LAST_TAG, comms[0], MPI_STATUS_IGNORE);
    }
    truth_fail("came back from the call that it was to hang in");
}
