/*
 * Persistent requests that are inactive, started, complete, and started again; and the order in which receives with
 * and without wildcards over several sources are matched. Two ranks or more; all hang in MPI_Waitall.
 */
#include "common/truth.h"

#include <stdlib.h>

enum { BUFFER = 1 << 20 };

int main(int argc, char **argv)
{
    MPI_Comm persistent, ordered;
    MPI_Request waited[3];
    struct truth_op *op, *again;
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (truth_size < 2)
        truth_fail("needs two ranks");
    MPI_Buffer_attach(malloc(BUFFER), BUFFER);
    MPI_Comm_dup(MPI_COMM_WORLD, &persistent);
    MPI_Comm_dup(MPI_COMM_WORLD, &ordered);
    truth_named_comm(persistent, "persistent");
    truth_named_comm(ordered, "ordered");
    int to = (truth_rank + 1) % truth_size, from = (truth_rank + truth_size - 1) % truth_size;

    /* Never started: nothing is pending. */
    truth_send_init(TRUTH_STANDARD, 1, MPI_INT, to, 1, persistent, NULL);
    truth_send_init(TRUTH_SYNCHRONOUS, 50000, MPI_INT, to, 2, persistent, NULL);
    truth_send_init(TRUTH_BUFFERED, 3, MPI_INT, to, 3, persistent, NULL);
    truth_send_init(TRUTH_READY, 4, MPI_INT, to, 4, persistent, NULL);
    truth_recv_init(5, MPI_INT, from, 5, persistent, NULL);
    truth_recv_init(6, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, persistent, NULL);

    /* Receives that a started send will match. */
    struct truth_op *complete[3];
    complete[0] = truth_recv_init(10, MPI_INT, from, 10, persistent, NULL);
    complete[1] = truth_recv_init(30000, MPI_CHAR, MPI_ANY_SOURCE, 11, persistent, NULL);
    complete[2] = truth_recv_init(12, MPI_INT, from, 12, persistent, NULL);
    for (int i = 0; i < 3; i++)
        truth_start(complete[i], TRUTH_COMPLETE);
    again = truth_recv_init(13, MPI_INT, from, 13, persistent, NULL);
    truth_start(again, TRUTH_COMPLETE);
    truth_settle();
    truth_start(truth_send_init(TRUTH_STANDARD, 7, MPI_INT, to, 10, persistent, NULL), TRUTH_COMPLETE);
    truth_start(truth_send_init(TRUTH_SYNCHRONOUS, 30000, MPI_CHAR, to, 11, persistent, NULL), TRUTH_COMPLETE);
    truth_start(truth_send_init(TRUTH_READY, 12, MPI_INT, to, 12, persistent, NULL), TRUTH_COMPLETE);
    op = truth_send_init(TRUTH_STANDARD, 13, MPI_INT, to, 13, persistent, NULL);
    truth_start(op, TRUTH_COMPLETE);
    /* Complete and waited for: inactive again. The receive is then started once more. */
    truth_wait(op);
    truth_wait(again);
    for (int i = 0; i < 3; i++)
        truth_await(complete[i]);
    truth_settle();
    truth_start(again, TRUTH_PENDING);

    /* Started and unmatched. */
    truth_start(truth_recv_init(20, MPI_INT, from, 20, persistent, NULL), TRUTH_PENDING);
    truth_start(truth_recv_init(21, MPI_DOUBLE, MPI_ANY_SOURCE, 21, persistent, NULL), TRUTH_PENDING);
    truth_start(truth_recv_init(22, MPI_DOUBLE, from, MPI_ANY_TAG, ordered, NULL), TRUTH_PENDING);
    truth_start(truth_recv_init(23, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, ordered, NULL), TRUTH_PENDING);
    truth_start(truth_send_init(TRUTH_STANDARD, 30000, MPI_BYTE, to, 30, persistent, &waited[0]), TRUTH_PENDING);
    truth_start(truth_send_init(TRUTH_SYNCHRONOUS, 2, MPI_INT, to, 31, persistent, NULL), TRUTH_PENDING);
    truth_start(truth_send_init(TRUTH_STANDARD, 2, MPI_INT, to, 32, persistent, NULL), TRUTH_EAGER);
    op = truth_send_init(TRUTH_BUFFERED, 20000, MPI_BYTE, to, 33, persistent, NULL);
    truth_start(op, TRUTH_PENDING);
    truth_buffered_pending(op);
    truth_start(truth_send_init(TRUTH_BUFFERED, 2, MPI_INT, to, 34, persistent, NULL), TRUTH_COMPLETE);
    truth_expect(persistent, from, 30, 30000);
    truth_expect(persistent, from, 31, 8);
    truth_expect(persistent, from, 32, 8);
    truth_expect(persistent, from, 33, 20000);
    truth_expect(persistent, from, 34, 8);

    /* Matching order over all sources, specific and wildcard receives in turn, persistent ones started among them. */
    MPI_Request late_request;
    struct truth_op *late = truth_recv_init(40, MPI_INT, from, 140, ordered, &late_request);
    for (int i = 0; i < 24; i++) {
        int source = i % (truth_size + 1);
        if (source == truth_size)
            truth_irecv(i, MPI_INT, MPI_ANY_SOURCE, i % 5 ? 100 + i : MPI_ANY_TAG, ordered, TRUTH_PENDING, NULL);
        else
            truth_irecv(i, MPI_INT, source, i % 7 ? 100 + i : MPI_ANY_TAG, ordered, TRUTH_PENDING, NULL);
        if (i == 11)
            truth_start(late, TRUTH_PENDING);
    }
    /* Taken out of the middle and put at the end. */
    op = truth_irecv(41, MPI_INT, from, 141, ordered, TRUTH_PENDING, NULL);
    truth_irecv(42, MPI_INT, MPI_ANY_SOURCE, 142, ordered, TRUTH_PENDING, &waited[1]);
    truth_cancel(op);
    truth_wait(op);
    truth_irecv(43, MPI_INT, from, 141, ordered, TRUTH_PENDING, &waited[2]);

    truth_settle();
    truth_hang_in("MPI_Waitall");
    MPI_Waitall(3, waited, MPI_STATUSES_IGNORE);
    truth_fail("came back from MPI_Waitall");
}
