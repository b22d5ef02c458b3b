/*
 * Every send mode and every kind of receive. Ranks 0 and 1 post the same to each other; rank 0 then hangs in MPI_Ssend,
 * rank 1 in MPI_Recv, further ranks in pause().
 */
#include "common/truth.h"

#include <stdlib.h>

/* Bytes around the inline limit of 256 and the eager limit of 4096, less the headers of both releases. */
static const int eager_sizes[] = {0, 1, 100, 241, 242, 243, 255, 256, 257, 1000, 2048, 4000};
static const int limit_sizes[] = {4010, 4016, 4017, 4038, 4040, 4041, 4081, 4082, 4083, 4096, 4097, 4110};
static const int rendezvous_sizes[] = {20000, 100000, 1000003};
#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))
enum { BUFFER = 8 << 20 };

static MPI_Comm receives, wildcard, sends;
static MPI_Datatype pair;
static int peer;

/* Receives that will be matched: posted before the peer sends. */
static struct truth_op *matched[8];

static void post_matched_receives(void)
{
    matched[0] = truth_irecv(15, MPI_INT, peer, 60, receives, TRUTH_COMPLETE, NULL);
    matched[1] = truth_irecv(100, MPI_INT, peer, 61, receives, TRUTH_COMPLETE, NULL);
    matched[2] = truth_irecv(100000, MPI_BYTE, peer, 62, receives, TRUTH_COMPLETE, NULL);
    matched[3] = truth_irecv(8, MPI_DOUBLE, MPI_ANY_SOURCE, 63, receives, TRUTH_COMPLETE, NULL);
    matched[4] = truth_irecv(30000, MPI_BYTE, peer, 64, receives, TRUTH_COMPLETE, NULL);
    matched[5] = truth_irecv(50, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, wildcard, TRUTH_COMPLETE, NULL);
    matched[6] = truth_irecv(1, MPI_INT, peer, 65, receives, TRUTH_COMPLETE, NULL);
}

static void send_to_matched_receives(void)
{
    truth_isend(TRUTH_READY, 15, MPI_INT, peer, 60, receives, TRUTH_EAGER, NULL);
    truth_isend(TRUTH_STANDARD, 5, MPI_INT, peer, 61, receives, TRUTH_EAGER, NULL);
    truth_isend(TRUTH_STANDARD, 100000, MPI_BYTE, peer, 62, receives, TRUTH_COMPLETE, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 8, MPI_DOUBLE, peer, 63, receives, TRUTH_COMPLETE, NULL);
    truth_isend(TRUTH_READY, 20000, MPI_BYTE, peer, 64, receives, TRUTH_COMPLETE, NULL);
    truth_isend(TRUTH_STANDARD, 10, pair, peer, 5, wildcard, TRUTH_EAGER, NULL);
    truth_wait(truth_isend(TRUTH_SYNCHRONOUS, 1, MPI_INT, peer, 65, receives, TRUTH_GONE, NULL));
    truth_wait(matched[6]);
    matched[6] = NULL;
    for (int i = 0; i < 6; i++)
        truth_await(matched[i]);
}

static void post_pending_receives(void)
{
    struct truth_op *op;
    truth_irecv(10, MPI_INT, peer, 70, receives, TRUTH_PENDING, NULL);
    truth_irecv(11, MPI_INT, MPI_ANY_SOURCE, 71, receives, TRUTH_PENDING, NULL);
    truth_irecv(12, MPI_DOUBLE, peer, MPI_ANY_TAG, receives, TRUTH_PENDING, NULL);
    truth_irecv(13, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, receives, TRUTH_PENDING, NULL);
    truth_irecv(0, MPI_BYTE, peer, 73, receives, TRUTH_PENDING, NULL);
    truth_irecv(3, pair, peer, 74, receives, TRUTH_PENDING, NULL);
    truth_irecv(1, MPI_LONG_LONG, truth_rank, 75, receives, TRUTH_PENDING, NULL);
    op = truth_irecv(16, MPI_INT, peer, 76, receives, TRUTH_PENDING, NULL);
    truth_cancel(op);
    op = truth_irecv(17, MPI_INT, peer, 77, receives, TRUTH_PENDING, NULL);
    truth_cancel(op);
    truth_wait(op);
    op = truth_irecv(18, MPI_INT, peer, 78, receives, TRUTH_PENDING, NULL);
    truth_free_request(op);
    op = truth_irecv(19, MPI_INT, MPI_ANY_SOURCE, 79, receives, TRUTH_PENDING, NULL);
    truth_free_request(op);
    truth_irecv(20, MPI_INT, MPI_PROC_NULL, 80, receives, TRUTH_GONE, NULL);
    truth_irecv(1 << 20, MPI_DOUBLE, peer, 32767, receives, TRUTH_PENDING, NULL);
    truth_irecv(21, MPI_INT, peer, 70, receives, TRUTH_PENDING, NULL);
}

static void send_unexpected(void)
{
    struct truth_op *op;
    for (int i = 0; i < LENGTH(eager_sizes); i++)
        truth_isend(TRUTH_STANDARD, eager_sizes[i], MPI_BYTE, peer, 100 + i, sends, TRUTH_EAGER, NULL);
    for (int i = 0; i < LENGTH(limit_sizes); i++)
        truth_isend(TRUTH_STANDARD, limit_sizes[i], MPI_BYTE, peer, 200 + i, sends, TRUTH_SETTLED, NULL);
    for (int i = 0; i < LENGTH(rendezvous_sizes); i++)
        truth_isend(TRUTH_STANDARD, rendezvous_sizes[i], MPI_CHAR, peer, 300 + i, sends, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 0, MPI_INT, peer, 400, sends, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 2, MPI_INT, peer, 401, sends, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 25000, MPI_DOUBLE, peer, 402, sends, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_BUFFERED, 10, MPI_INT, peer, 410, sends, TRUTH_EAGER, NULL);
    truth_isend(TRUTH_BUFFERED, 1000, MPI_BYTE, peer, 411, sends, TRUTH_EAGER, NULL);
    op = truth_isend(TRUTH_BUFFERED, 25000, MPI_INT, peer, 412, sends, TRUTH_PENDING, NULL);
    truth_buffered_pending(op);
    truth_will_send(TRUTH_BUFFERED, 50000, MPI_CHAR, peer, 413, sends, "MPI_Bsend");
    MPI_Bsend(truth_buffer(50000), 50000, MPI_CHAR, peer, 413, sends);
    /* Over ob1 it leaves no trace: eager. */
    if (!truth_limits_are_known())
        truth_will_send(TRUTH_BUFFERED, 3, MPI_INT, peer, 414, sends, "MPI_Bsend");
    MPI_Bsend(truth_buffer(12), 3, MPI_INT, peer, 414, sends);
    op = truth_isend(TRUTH_STANDARD, 30000, MPI_BYTE, peer, 420, sends, TRUTH_PENDING, NULL);
    truth_free_request(op);
    op = truth_isend(TRUTH_STANDARD, 2000, MPI_BYTE, peer, 421, sends, TRUTH_EAGER, NULL);
    truth_wait(op);
    truth_isend(TRUTH_STANDARD, 7, pair, peer, 422, sends, TRUTH_EAGER, NULL);
    truth_isend(TRUTH_STANDARD, 9000, pair, peer, 422, sends, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_STANDARD, 100, MPI_INT, MPI_PROC_NULL, 423, sends, TRUTH_GONE, NULL);
    truth_isend(TRUTH_STANDARD, 1, MPI_INT, peer, 499, sends, TRUTH_EAGER, NULL);
}

static void expect_unexpected(void)
{
    /* The last one first: the library takes in what one source sends on one communicator in the order of sending. */
    int arrived = 0;
    while (!arrived)
        MPI_Iprobe(peer, 499, sends, &arrived, MPI_STATUS_IGNORE);
    for (int i = 0; i < LENGTH(eager_sizes); i++)
        truth_expect(sends, peer, 100 + i, eager_sizes[i]);
    for (int i = 0; i < LENGTH(limit_sizes); i++)
        truth_expect(sends, peer, 200 + i, limit_sizes[i]);
    for (int i = 0; i < LENGTH(rendezvous_sizes); i++)
        truth_expect(sends, peer, 300 + i, rendezvous_sizes[i]);
    truth_expect(sends, peer, 400, 0);
    truth_expect(sends, peer, 401, 8);
    truth_expect(sends, peer, 402, 200000);
    truth_expect(sends, peer, 410, 40);
    truth_expect(sends, peer, 411, 1000);
    truth_expect(sends, peer, 412, 100000);
    truth_expect(sends, peer, 413, 50000);
    truth_expect(sends, peer, 414, 12);
    truth_expect(sends, peer, 420, 30000);
    truth_expect(sends, peer, 421, 2000);
    truth_expect(sends, peer, 422, 56);
    truth_expect(sends, peer, 422, 72000);
    truth_expect(sends, peer, 499, 4);
}

static void talk_to_self(void)
{
    truth_isend(TRUTH_STANDARD, 2, MPI_INT, 0, 1, MPI_COMM_SELF, TRUTH_EAGER, NULL);
    truth_isend(TRUTH_STANDARD, 1000000, MPI_BYTE, 0, 2, MPI_COMM_SELF, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 1, MPI_DOUBLE, 0, 3, MPI_COMM_SELF, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_STANDARD, 0, MPI_INT, 0, 4, MPI_COMM_SELF, TRUTH_EAGER, NULL);
    truth_expect(MPI_COMM_SELF, 0, 1, 8);
    truth_expect(MPI_COMM_SELF, 0, 2, 1000000);
    truth_expect(MPI_COMM_SELF, 0, 3, 8);
    truth_expect(MPI_COMM_SELF, 0, 4, 0);
    truth_irecv(5, MPI_INT, 0, 5, MPI_COMM_SELF, TRUTH_PENDING, NULL);
    truth_irecv(5, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_SELF, TRUTH_PENDING, NULL);
}

int main(int argc, char **argv)
{
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (truth_size < 2)
        truth_fail("needs two ranks");
    MPI_Buffer_attach(malloc(BUFFER), BUFFER);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_set_name(pair, "pair of int");
    MPI_Type_commit(&pair);
    MPI_Comm_dup(MPI_COMM_WORLD, &receives);
    MPI_Comm_dup(MPI_COMM_WORLD, &wildcard);
    MPI_Comm_dup(MPI_COMM_WORLD, &sends);
    truth_named_comm(receives, "receives");
    truth_named_comm(wildcard, "wildcard");
    truth_named_comm(sends, "sends");
    peer = 1 - truth_rank;

    if (truth_rank < 2)
        post_matched_receives();
    truth_settle();
    if (truth_rank < 2)
        send_to_matched_receives();
    truth_settle();
    if (truth_rank < 2) {
        post_pending_receives();
        send_unexpected();
        expect_unexpected();
        talk_to_self();
    }
    truth_settle();
    if (truth_rank == 0) {
        truth_will_send(TRUTH_SYNCHRONOUS, 10, MPI_INT, 1, 900, sends, "MPI_Ssend");
        truth_hang_in("MPI_Ssend");
        MPI_Ssend(truth_buffer(40), 10, MPI_INT, 1, 900, sends);
    } else if (truth_rank == 1) {
        truth_expect(sends, 0, 900, 40);
        truth_will_recv(33, MPI_INT, 0, 901, receives, "MPI_Recv");
        truth_hang_in("MPI_Recv");
        MPI_Recv(truth_buffer(33 * 4), 33, MPI_INT, 0, 901, receives, MPI_STATUS_IGNORE);
    } else
        truth_hang_paused();
    truth_fail("came back from the call that it was to hang in");
}
