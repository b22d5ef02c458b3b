/*
 * Probes: rank 0 blocked in MPI_Probe for a message that nobody sends, rank 1 in MPI_Mprobe; both hold a message that an
 * MPI_Mprobe took out of the queue, and have unexpected ones beside. Two ranks.
 */
#include "common/truth.h"

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Message held;
    MPI_Status status;
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (truth_size != 2)
        truth_fail("needs two ranks");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    truth_named_comm(comm, "probed");
    int peer = 1 - truth_rank;
    truth_isend(TRUTH_STANDARD, 5, MPI_INT, peer, 1, comm, TRUTH_EAGER, NULL);
    truth_isend(TRUTH_STANDARD, 30000, MPI_BYTE, peer, 2, comm, TRUTH_PENDING, NULL);
    truth_isend(TRUTH_STANDARD, 6, MPI_INT, peer, 3, comm, TRUTH_EAGER, NULL);
    truth_isend(TRUTH_SYNCHRONOUS, 7, MPI_INT, peer, 4, comm, TRUTH_PENDING, NULL);
    truth_expect(comm, peer, 1, 20);
    truth_expect(comm, peer, 2, 30000);
    truth_expect(comm, peer, 3, 24);
    truth_expect(comm, peer, 4, 28);
    truth_irecv(8, MPI_INT, peer, 5, comm, TRUTH_PENDING, NULL);
    /* An MPI_Probe that has come back leaves nothing behind; the message stays unexpected. */
    MPI_Probe(peer, 1, comm, &status);
    truth_mprobe(peer, 2, comm);
    truth_mprobe(peer, 3, comm);
    truth_settle();
    if (truth_rank == 0) {
        truth_will_probe(peer, 900, comm, "MPI_Probe");
        truth_hang_in("MPI_Probe");
        MPI_Probe(peer, 900, comm, &status);
    } else {
        truth_will_probe(MPI_ANY_SOURCE, 901, comm, "MPI_Mprobe");
        truth_hang_in("MPI_Mprobe");
        MPI_Mprobe(MPI_ANY_SOURCE, 901, comm, &held, &status);
    }
    truth_fail("came back from the probe");
}
