/*
 * Random communicators and random point-to-point operations.
 *
 * Arguments: seed, number of operations. All ranks draw the same plan from the seed and run the same model of MPI's
 * matching rules (MPI 4.0, section 3.5) beside it: per communicator and receiver a list of posted receives and one of
 * unexpected messages, each searched from the oldest. The plan is carried out one operation at a time, in the same order
 * everywhere, and each send is waited for at its receiver where the model says that it goes: so the outcome is known.
 */
#include "common/truth.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMS = 6, MAX_RANKS = 16, MAX_OPERATIONS = 20000, LARGE = 20000, CONFIRM = 32000 };

struct plan {
    int sender, receiver; /* local ranks; sender -1: any source */
    int comm, tag, count, mode, is_send, persistent;
    struct truth_op *op;
    int taken; /* matched, or a message that left the queue */
};

static uint64_t random_state;
static struct plan plans[MAX_OPERATIONS];
static int plan_count;
static MPI_Comm comms[COMMS];
static int members[COMMS][MAX_RANKS], sizes[COMMS], world_to_local[COMMS][MAX_RANKS];

/* SplitMix64, by its published definition: the same on every rank. */
static uint64_t draw(void)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int below(int limit)
{
    return (int)(draw() % (uint64_t)limit);
}

static void make_comms(void)
{
    for (int c = 0; c < COMMS; c++) {
        int order[MAX_RANKS], ranks = truth_size, chosen[MAX_RANKS];
        MPI_Group world, group;
        char name[32];
        for (int i = 0; i < ranks; i++)
            order[i] = i;
        for (int i = ranks - 1; i > 0; i--) {
            int j = below(i + 1), other = order[i];
            order[i] = order[j];
            order[j] = other;
        }
        sizes[c] = c == 0 ? ranks : 1 + below(ranks);
        for (int i = 0; i < ranks; i++)
            world_to_local[c][i] = -1;
        for (int i = 0; i < sizes[c]; i++) {
            chosen[i] = members[c][i] = order[i];
            world_to_local[c][order[i]] = i;
        }
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, sizes[c], chosen, &group);
        MPI_Comm_create(MPI_COMM_WORLD, group, &comms[c]);
        MPI_Group_free(&group);
        MPI_Group_free(&world);
        if (comms[c] == MPI_COMM_NULL)
            continue;
        snprintf(name, sizeof name, "random %d", c);
        if (c % 2)
            truth_comm(comms[c], NULL);
        else
            truth_named_comm(comms[c], name);
    }
}

static int matches(const struct plan *receive, const struct plan *send)
{
    return !receive->is_send && send->is_send && receive->comm == send->comm && receive->receiver == send->receiver &&
           (receive->sender == -1 || receive->sender == send->sender) &&
           (receive->tag == -1 || receive->tag == send->tag);
}

/* The oldest earlier operation of the other kind that is still free and fits. */
static struct plan *partner(struct plan *new)
{
    for (struct plan *old = plans; old < new; old++)
        if (!old->taken && (new->is_send ? matches(old, new) : matches(new, old)))
            return old;
    return NULL;
}

/* Whether it is known which message a receive from any source takes: MPI orders the messages of one source only. */
static int is_known(struct plan *new)
{
    int sender = -1;
    if (new->is_send || new->sender != -1)
        return 1;
    for (struct plan *old = plans; old < new; old++)
        if (!old->taken && matches(new, old)) {
            if (sender != -1 && sender != old->sender)
                return 0;
            sender = old->sender;
        }
    return 1;
}

/* Returns when the receiver has taken in all that the sender has sent before. No receive for any tag can take this message:
 * it would have taken the unexpected one before it. */
static void confirm(const struct plan *plan, MPI_Comm comm, int me)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (me == plan->sender)
        MPI_Isend(NULL, 0, MPI_BYTE, plan->receiver, CONFIRM, comm, &request);
    if (me == plan->receiver)
        MPI_Recv(NULL, 0, MPI_BYTE, plan->sender, CONFIRM, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void carry_out_send(struct plan *plan, struct plan *receive, MPI_Comm comm, int me)
{
    /* A process sends to itself with an eager limit of 1024 bytes less headers (opal/mca/btl/self, Open MPI 4.1.4). */
    int limit = plan->sender == plan->receiver ? 900 : LARGE - 1;
    int eager = plan->mode == TRUTH_STANDARD && plan->count <= limit;
    enum truth_fate fate = receive ? TRUTH_COMPLETE : TRUTH_PENDING;
    if (me == plan->sender) {
        if (plan->persistent) {
            plan->op = truth_send_init(plan->mode, plan->count, MPI_BYTE, plan->receiver, plan->tag, comm, NULL);
            truth_start(plan->op, eager ? TRUTH_EAGER : fate);
        } else
            plan->op = truth_isend(plan->mode, plan->count, MPI_BYTE, plan->receiver, plan->tag, comm,
                                   eager ? TRUTH_EAGER : fate, NULL);
    }
    if (receive) {
        if (me == plan->receiver)
            truth_completes(receive->op);
        if (me == plan->sender)
            truth_await(plan->op);
        return;
    }
    confirm(plan, comm, me);
    if (me == plan->receiver)
        truth_expect_earlier(comm, plan->sender, plan->tag, plan->count);
}

static void carry_out_receive(struct plan *plan, struct plan *send, MPI_Comm comm, int me)
{
    int source = plan->sender == -1 ? MPI_ANY_SOURCE : plan->sender, tag = plan->tag == -1 ? MPI_ANY_TAG : plan->tag;
    enum truth_fate fate = send ? TRUTH_COMPLETE : TRUTH_PENDING;
    if (me == plan->receiver) {
        if (plan->persistent) {
            plan->op = truth_recv_init(2 * LARGE, MPI_BYTE, source, tag, comm, NULL);
            truth_start(plan->op, fate);
        } else
            plan->op = truth_irecv(2 * LARGE, MPI_BYTE, source, tag, comm, fate, NULL);
        if (send) {
            truth_await(plan->op);
            truth_forget_message(comm, send->sender, send->tag);
        }
    }
    /* A send that waited for this receive is now complete. */
    if (send && me == send->sender)
        truth_completes(send->op);
}

static void carry_out(struct plan *plan)
{
    struct plan *other;
    int me = world_to_local[plan->comm][truth_rank];
    if (!is_known(plan)) {
        plan->taken = 1;
        return;
    }
    other = partner(plan);
    plan->taken = other != NULL;
    if (other)
        other->taken = 1;
    if (me < 0)
        return;
    if (plan->is_send)
        carry_out_send(plan, other, comms[plan->comm], me);
    else
        carry_out_receive(plan, other, comms[plan->comm], me);
}

static void draw_plan(struct plan *plan)
{
    plan->comm = below(COMMS);
    plan->receiver = below(sizes[plan->comm]);
    plan->sender = below(sizes[plan->comm]);
    plan->tag = below(12);
    plan->is_send = below(2);
    plan->persistent = below(6) == 0;
    if (plan->is_send) {
        static const int counts[] = {0, 1, 17, 200, 256, 257, 1000, 3000, LARGE, LARGE + 7, 2 * LARGE};
        plan->count = counts[below(11)];
        plan->mode = below(4) == 0 ? TRUTH_SYNCHRONOUS : TRUTH_STANDARD;
    } else {
        if (below(4) == 0)
            plan->sender = -1;
        if (below(4) == 0)
            plan->tag = -1;
    }
}

int main(int argc, char **argv)
{
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 3 || truth_size > MAX_RANKS)
        truth_fail("usage: truth_random SEED OPERATIONS, at most %d ranks", MAX_RANKS);
    random_state = strtoull(argv[1], NULL, 10);
    plan_count = atoi(argv[2]);
    if (plan_count < 0 || plan_count > MAX_OPERATIONS)
        truth_fail("at most %d operations", MAX_OPERATIONS);
    make_comms();
    truth_settle();
    for (int i = 0; i < plan_count; i++) {
        draw_plan(&plans[i]);
        carry_out(&plans[i]);
        /* One at a time, and the receiver has it before the next is begun. */
        MPI_Barrier(truth_control);
    }
    truth_settle();
    truth_hang_paused();
}
