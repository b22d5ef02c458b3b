/* What truth.c notes and truth_write.c writes; see truth.h. */
#ifndef MPIQ_TRUTH_INTERNAL_H
#define MPIQ_TRUTH_INTERNAL_H

#include "truth.h"

#include <stddef.h>

struct truth_comm {
    MPI_Comm handle;
    char *name;
    int listed, freed, inter;
    int local_rank, size, remote_size;
    int *group, *remote_group;
    int *members, *remote_members; /* pairs of world and rank, where the program noted them */
};

struct truth_op {
    struct truth_comm *comm;
    int receive, peer, tag, count, mode, persistent, listed, ordered, buffered_pending, cancelled;
    enum truth_fate fate;
    const char *call;
    char datatype[MPI_MAX_OBJECT_NAME];
    uint64_t bytes;
    uintptr_t address; /* the request's handle when it was posted; 0: not known */
    void *buffer;
    int matched, matched_source, matched_tag; /* data under way */
    uint64_t matched_bytes;
    int probe; /* 1: waits in a probe; 2: a message that a matching probe holds */
    MPI_Request request;
    unsigned long order;
    /* What the library says at the end. */
    int complete, traceless;
    MPI_Status status;
};

struct message {
    struct truth_comm *comm;
    int source, tag, listed, in_transit;
    uint64_t bytes;
};
extern struct truth_comm **truth_comms;
extern struct truth_op **truth_ops;
extern struct message **truth_messages;
extern size_t truth_comm_count, truth_op_count, truth_message_count;
extern struct truth_comm *truth_collective_comm;
extern const char *truth_collective_call;
extern uintptr_t truth_empty_request;

/* Finds out how a quiet wait is to be noticed. */
void truth_prepare_hang(void);
/* Writes the truth to the file of truth_hang_*(), not yet under its final name. */
void truth_write(const char *call, int asking_is_allowed);
void truth_publish(void);

#endif
