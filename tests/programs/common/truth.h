/*
 * What a test program says it posted.
 *
 * Each program posts operations through the functions below. They call MPI and note what was asked for, from the
 * arguments and from MPI's own enquiry functions alone; nothing is read from the library's internals. At the end
 * truth_hang_*() writes the notes as JSON and hangs. The file appears under its final name (MPIQ_TRUTH with the rank
 * for "%d") by a rename when the process has reached the place where it hangs: its existence is the ready signal.
 */
#ifndef MPIQ_TRUTH_H
#define MPIQ_TRUTH_H

#include "handle_value.h"

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

/* Send modes. */
enum truth_mode { TRUTH_STANDARD, TRUTH_SYNCHRONOUS, TRUTH_BUFFERED, TRUTH_READY };

/* What becomes of an operation before the process hangs. Over anything but Open MPI's ob1, standard and ready sends that
 * are said to be pending or eager are settled: MPI leaves that to the library. An operation that was answered at once without
 * a request of its own leaves no trace. */
enum truth_fate {
    TRUTH_PENDING,   /* no peer matches it */
    TRUTH_COMPLETE,  /* it completes and nobody waits for it */
    TRUTH_EAGER,     /* a send that is too small for its library (Open MPI) to wait: complete */
    TRUTH_SETTLED,   /* near a limit of the library: what MPI_Request_get_status says once all is quiet */
    TRUTH_GONE       /* completed and waited for, or never posted: it must not appear */
};

struct truth_op;

/* Whether messages go through Open MPI's pml ob1, whose limits and ways are known here: which sends are complete is else the
 * library's own. */
int truth_limits_are_known(void);

/* MPI_Init_thread, the communicator "control" for handshakes, and the notes on MPI_COMM_WORLD and MPI_COMM_SELF. */
void truth_begin(int *argc, char ***argv, int thread_level);
extern int truth_rank, truth_size;
extern MPI_Comm truth_control;
/* The number of this process's world in a job of several, 0 unless the program sets it. The file of rank R of world W
 * has "W.R" for "%d". */
extern int truth_world;

/* Notes a communicator. name: what the program named it with MPI_Comm_set_name, NULL where it did not. */
void truth_comm(MPI_Comm comm, const char *name);
/* Names a communicator and notes it. */
void truth_named_comm(MPI_Comm comm, const char *name);
/* Notes the world of each member of a communicator that spans several, and its rank there: all members tell one another. */
void truth_exchange_members(MPI_Comm comm);
/* Frees the communicator; with operations pending it stays listed, else it must not appear. */
void truth_free_comm(MPI_Comm *comm, int operations_pending);

/* A buffer of that many bytes that lives as long as the process. */
void *truth_buffer(size_t bytes);

/* Posts a nonblocking send or receive; the request is returned in *request when it is not NULL. */
struct truth_op *truth_isend(enum truth_mode mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                             enum truth_fate fate, MPI_Request *request);
struct truth_op *truth_irecv(int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, enum truth_fate fate,
                             MPI_Request *request);
/* A receive into memory of the caller's, or into none: MPI_BOTTOM. */
struct truth_op *truth_irecv_into(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                  enum truth_fate fate, MPI_Request *request);
/* Makes a persistent request; it is inactive, so nothing is noted until truth_start. */
struct truth_op *truth_send_init(enum truth_mode mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                 MPI_Request *request);
struct truth_op *truth_recv_init(int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                 MPI_Request *request);
void truth_start(struct truth_op *op, enum truth_fate fate);
/* Notes a blocking call, or one of another thread, that is about to be made. */
struct truth_op *truth_will_send(enum truth_mode mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                 const char *call);
struct truth_op *truth_will_recv(int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, const char *call);
/* Notes a probe that will block. */
void truth_will_probe(int source, int tag, MPI_Comm comm, const char *call);
/* Takes a message that was noted before out of the queue and holds it without receiving it. */
void truth_mprobe(int source, int tag, MPI_Comm comm);
/* The application gave the handle back although the operation is pending (MPI_Request_free), or waited for it. */
void truth_free_request(struct truth_op *op);
void truth_wait(struct truth_op *op);
void truth_cancel(struct truth_op *op);
/* A receive that has been matched with this message and whose data cannot come. */
void truth_matched(struct truth_op *op, int source, int tag, uint64_t bytes);
/* The order relative to others of its communicator is not known (posted by a thread). */
void truth_unordered(struct truth_op *op);
/* A buffered send that the library completes for the caller while the message has not been taken yet. */
void truth_buffered_pending(struct truth_op *op);
/* Polls until a posted operation is complete. */
void truth_await(struct truth_op *op);
/* An operation that was to stay pending has been matched after all: waits until it is complete. */
void truth_completes(struct truth_op *op);
MPI_Request truth_request(struct truth_op *op);

/* A message that has been sent to this process and that no receive takes: waits until it has arrived, notes it.
 * Messages of one source on one communicator must be noted in the order in which they were sent. */
void truth_expect(MPI_Comm comm, int source, int tag, uint64_t bytes);
/* The same without waiting: for a message that was sent before another that is waited for. */
void truth_expect_earlier(MPI_Comm comm, int source, int tag, uint64_t bytes);
/* A message that is sent once this process has left MPI for good. */
void truth_expect_in_transit(MPI_Comm comm, int source, int tag, uint64_t bytes);
/* Messages that an MPI_Mprobe took out of the queue are not unexpected any more. */
void truth_forget_message(MPI_Comm comm, int source, int tag);

/* A collective in which this process will hang: its internal operations have these tags on this communicator. */
void truth_will_collect(MPI_Comm comm, const char *call);

/* All ranks: waits for each other and lets the library take in what is under way. */
void truth_settle(void);

/* Waits, outside MPI, until that rank has written its truth. */
void truth_await_truth_of(int rank);

/* Writes the truth and waits in pause() for a signal. */
void truth_hang_paused(void);
/* The same without a call of MPI: what was posted last stays as it is. */
void truth_hang_stopped(void);
/* Writes the truth and arms the ready signal, which is given once the library has been waiting quietly in the call that
 * the caller makes next. */
void truth_hang_in(const char *call);
/* The same in two steps, for calls of several threads: the truth before they make them; then, when each is about to,
 * their kernel thread ids, which must be asleep as well (but for the one that makes progress). */
void truth_hang_threads_begin(const char *call);
void truth_hang_threads(const int *sleepers, int sleeper_count);

/* Ends the whole job with a message. */
void truth_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
