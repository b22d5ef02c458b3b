/*
 * Messages that wait in front of a rank that does not come back to MPI. Arguments: a seed, how many messages each of the
 * others sends to rank 0, the largest message in bytes, and how many each has sent before (so that the library has made its
 * faster ways by then).
 *
 * Rank 0 leaves some of the earlier ones unreceived, has receives posted that none of the messages fits, and pauses; then the
 * others send, on two communicators, in synchronous mode too, and take part in a collective whose root is rank 0.
 */
#include "common/truth.h"

#include <stdlib.h>
#include <unistd.h>

enum { FIRST_TAG = 100, LEFT = 3, WARM_TAG = 7, LEFT_TAG = 8, UNSENT_TAG = 9 };

static uint64_t random_state;

/* SplitMix64, by its published definition: the same on every rank. */
static uint64_t draw(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int length(int largest)
{
    static const int usual[] = {0, 1, 8, 100, 500, 900, 1000, 1500, 4000, 5000, 20000, 100000};
    int bytes = usual[draw() % (sizeof usual / sizeof *usual)];
    return bytes <= largest ? bytes : (int)(draw() % (uint64_t)(largest + 1));
}

int main(int argc, char **argv)
{
    MPI_Comm comms[2];
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 5 || truth_size < 2)
        truth_fail("arguments: seed, messages, largest, earlier");
    random_state = strtoull(argv[1], NULL, 10);
    int messages = atoi(argv[2]), largest = atoi(argv[3]), earlier = atoi(argv[4]);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        truth_named_comm(comms[i], i ? "parcels" : "letters");
    }
    for (int sender = 1; sender < truth_size; sender++) {
        char byte = 0;
        for (int i = 0; i < earlier; i++)
            if (truth_rank == sender)
                MPI_Send(&byte, 1, MPI_BYTE, 0, WARM_TAG, comms[i % 2]);
            else if (truth_rank == 0)
                MPI_Recv(&byte, 1, MPI_BYTE, sender, WARM_TAG, comms[i % 2], MPI_STATUS_IGNORE);
        for (int i = 0; i < LEFT; i++)
            if (truth_rank == sender)
                truth_isend(TRUTH_STANDARD, 30 + i, MPI_BYTE, 0, LEFT_TAG, comms[0], TRUTH_SETTLED, NULL);
            else if (truth_rank == 0)
                truth_expect(comms[0], sender, LEFT_TAG, 30 + i);
    }
    truth_settle();
    if (truth_rank == 0)
        truth_irecv(10, MPI_INT, MPI_ANY_SOURCE, UNSENT_TAG, comms[0], TRUTH_PENDING, NULL);
    else
        truth_await_truth_of(0);
    for (int sender = 1; sender < truth_size; sender++)
        for (int i = 0; i < messages; i++) {
            int bytes = length(largest), tag = FIRST_TAG + (int)(draw() % 3), parcel = (int)(draw() % 2);
            enum truth_mode mode = draw() % 6 == 0 ? TRUTH_SYNCHRONOUS : TRUTH_STANDARD;
            if (truth_rank == sender)
                truth_isend(mode, bytes, MPI_BYTE, 0, tag, comms[parcel], TRUTH_SETTLED, NULL);
            else if (truth_rank == 0)
                truth_expect_in_transit(comms[parcel], sender, tag, bytes);
        }
    if (truth_rank == 0)
        truth_hang_stopped();
    MPI_Request request;
    int *gathered = truth_buffer(sizeof(int));
    MPI_Igather(gathered, 1, MPI_INT, NULL, 0, MPI_INT, 0, truth_control, &request);
    truth_hang_paused();
}
