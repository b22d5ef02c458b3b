/*
 * A job that tells of itself by the MPI2DD interface. No MPI has that interface, and none is needed here.
 *
 * A starter forks a metadirectory, two directories and the three ranks of the world "alpha"; rank 1 of it spawns the two
 * ranks of the world "beta". Each process builds the tables that are its own in its own memory; only process ids are
 * handed over. All of them then wait, and note each change of their debugger_flags in flags.PID.
 *
 * usage: mpi2dd DIRECTORY [VARIANT]. The truth is written to DIRECTORY/truth.json. Each VARIANT breaks the tables in one
 * way, see below. "start" calls MPI2DD_breakpoint at the start of the job, "late" does so and fills MPI2DD_info only then;
 * "events" waits for BEING_DEBUGGED, and goes through all debug states when all ranks have seen their gate opened. All
 * processes end with the starter.
 */
#define _GNU_SOURCE
#include "mpi2dd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The draft has the debugger find these two by name. volatile: the debugger writes to it. */
volatile struct MPI2DD_INFO MPI2DD_info = {.magic = {'M', 'P', 'I', '2', 0x7f}, .version = 1, .variant = 1};
void MPI2DD_breakpoint(void);
__attribute__((noinline)) void MPI2DD_breakpoint(void)
{
    __asm__ volatile("" ::: "memory");
}

enum { STARTER, META, DIR_A, DIR_B, ALPHA_0, ALPHA_1, ALPHA_2, BETA_0, BETA_1, ROLES };
static const char *const ROLE_NAMES[] = {"starter", "metadirectory", "directory_a", "directory_b"};

/* Process ids, how many processes have their tables, and a bit for each role whose gate is open. */
static volatile struct roster {
    int pids[ROLES], ready, dead, stranger, gates;
} *roster;

static const char *variant = "good", *directory;
static char executable[4096], host[256];

static int is(const char *name)
{
    return strcmp(variant, name) == 0;
}

static void nap(void)
{
    usleep(10000);
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* Text of which no end can be read. */
static char *endless(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *text = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    /* Not only protected: whoever reads through /proc would read zeros there all the same. */
    if (text == MAP_FAILED || munmap(text + page, page) != 0)
        fail("mmap");
    memset(text, 'x', page);
    return text + page - 100;
}

static struct MPI2DD_PROCDESC rank_of(int role)
{
    int beta = role >= BETA_0;
    static struct MPI2DD_SPAWNDESC spawn = {"alpha", 1, 0}, circle = {"beta", 0, 0};
    struct MPI2DD_PROCDESC rank = {.executable_name = executable, .pid = roster->pids[role]};
    rank.host_name = beta ? "127.0.0.1" : host;
    rank.comm_world_id = beta ? "beta" : "alpha";
    rank.rank = role - (beta ? BETA_0 : ALPHA_0);
    rank.spawn_desc = beta ? &spawn : is("spawn-circle") ? &circle : NULL;
    if (is("spawn-contradiction") && role == BETA_1)
        rank.spawn_desc = NULL;
    return rank;
}

static void proctable(const int *roles, int count)
{
    /* Room for what variants add. */
    struct MPI2DD_PROCDESC *table = calloc((size_t)count + 2, sizeof *table);
    for (int i = 0; i < count; i++)
        table[i] = rank_of(roles[i]);
    if (is("other-program") && roles[0] == BETA_1)
        table[count++] = (struct MPI2DD_PROCDESC){host, executable, NULL, "alpha", roster->stranger, 3};
    if (is("dead") && roles[0] == BETA_1)
        table[count++] = (struct MPI2DD_PROCDESC){host, executable, NULL, "alpha", roster->dead, 3};
    if (is("foreign") && roles[0] == BETA_1)
        table[count++] = (struct MPI2DD_PROCDESC){"far.example", executable, NULL, "alpha", 1, 3};
    if (is("duplicate") && roles[0] == BETA_1)
        table[count++] = (struct MPI2DD_PROCDESC){host, executable, NULL, "alpha", roster->pids[DIR_B], 0};
    if (is("negative-rank"))
        table[0].rank = -1;
    if (is("unterminated") && roles[0] == BETA_1)
        table[0].comm_world_id = endless();
    if (is("dangling") && roles[0] == BETA_1)
        table[0].executable_name = (const char *)0x10;
    MPI2DD_info.proctable = is("dangling") && roles[0] == ALPHA_2 ? (void *)0x10 : table;
    MPI2DD_info.proctable_size = is("negative") ? -1 : is("huge") ? 0x7fffffff : count;
    MPI2DD_info.mpi_flags |= is("no-flags") ? 0 : I_AM_DIR;
}

static void entries(int metadirectories, const int *pids, int count)
{
    struct MPI2DD_DIRECTORYENTRY *table = calloc((size_t)count + 1, sizeof *table);
    struct unpacked_entry *unpacked = calloc((size_t)count + 1, sizeof *unpacked);
    for (int i = 0; i < count; i++) {
        const char *where = i == 0 ? "localhost" : host;
        if (is("foreign") && i == 0 && !metadirectories)
            where = "far.example";
        table[i] = (struct MPI2DD_DIRECTORYENTRY){where, executable, pids[i]};
        unpacked[i] = (struct unpacked_entry){where, executable, pids[i]};
    }
    const void *made = is("padded") ? (void *)unpacked : (void *)table;
    if (metadirectories) {
        MPI2DD_info.metadirectory_table = made;
        MPI2DD_info.metadirectory_size = count;
    } else {
        MPI2DD_info.directory_table = is("dangling-directory") ? (void *)0x10 : made;
        MPI2DD_info.directory_size = is("negative-directory") ? -1 : is("huge-directory") ? 0x7fffffff : count;
    }
    MPI2DD_info.mpi_flags |= I_AM_METADIR;
}

/* What the process is, in its own memory. */
static void build(int role)
{
    MPI2DD_info.magic[0] = 'M';
    MPI2DD_info.debugger_flags |= OTHER_FLAGS;
    MPI2DD_info.dll_name_32 = "/lib32/libqueues.so";
    MPI2DD_info.dll_name_64 = "/lib64/libqueues.so";
    if (role != META) {
        MPI2DD_info.meta_host_name = host;
        MPI2DD_info.meta_executable_name = executable;
        MPI2DD_info.meta_pid = is("dead-metadirectory") ? roster->dead : roster->pids[META];
    }
    if (role == STARTER)
        MPI2DD_info.mpi_flags |= I_AM_STARTER | PARTIAL_ATTACH_OK;
    if (role == DIR_A)
        proctable((const int[]){ALPHA_2, ALPHA_0, ALPHA_1}, 3);
    if (role == DIR_B) {
        /* Also one that is in the other table, as the draft allows. */
        proctable((const int[]){BETA_1, BETA_0, ALPHA_1}, 3);
        if (is("circle"))
            entries(1, (const int[]){roster->pids[META]}, 1);
    }
    if (role == META) {
        int pids[4] = {roster->pids[DIR_A], roster->pids[DIR_B]}, count = 2;
        if (is("self"))
            pids[count++] = roster->pids[META];
        if (is("dead"))
            pids[count++] = roster->dead;
        if (is("other-program"))
            pids[count++] = roster->stranger;
        if (is("rank-as-directory"))
            pids[count++] = roster->pids[ALPHA_0];
        entries(0, pids, count);
        if (is("self") || is("circle"))
            entries(1, &pids[is("self") ? 2 : 1], 1);
        if (is("magic"))
            MPI2DD_info.magic[0] = 'N';
        if (is("version"))
            MPI2DD_info.version = 2;
        if (is("variant"))
            MPI2DD_info.variant = 7;
    }
}

static void note_flags(uint32_t flags)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/flags.%d", directory, (int)getpid());
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%u\n", flags) < 0 || fclose(file) != 0)
        fail(path);
}

/* A job that a debugger started outlives the debugger, but not for long. */
static int is_launched(void)
{
    return is("start") || is("late") || is("events");
}

static void wait_for_the_end(int role)
{
    for (uint32_t last = OTHER_FLAGS; is_launched() || getppid() != 1; nap()) {
        if (MPI2DD_info.debugger_flags != last)
            note_flags(last = MPI2DD_info.debugger_flags);
        if (last & GATE)
            __atomic_fetch_or(&roster->gates, 1 << role, __ATOMIC_SEQ_CST);
    }
}

static void live(int role)
{
    while (roster->ready == 0)
        nap();
    build(role);
    __atomic_add_fetch(&roster->ready, 1, __ATOMIC_SEQ_CST);
}

static void become(int role)
{
    pid_t pid = fork();
    if (pid < 0)
        fail("fork");
    if (pid != 0) {
        roster->pids[role] = pid;
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    MPI2DD_info.debugger_flags = 0;
    if (role == ALPHA_1)
        for (int spawned = BETA_0; spawned <= BETA_1; spawned++)
            become(spawned);
    live(role);
    wait_for_the_end(role);
    exit(0);
}

static void write_truth(void)
{
    char path[4200], final[4200];
    snprintf(path, sizeof path, "%s/truth.tmp", directory);
    snprintf(final, sizeof final, "%s/truth.json", directory);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        fail(path);
    fprintf(file, "{\"executable\": \"%s\", \"host\": \"%s\", \"width\": %d,\n", executable, host, (int)sizeof(void *));
    for (int role = STARTER; role <= DIR_B; role++)
        fprintf(file, "\"%s\": %d,\n", ROLE_NAMES[role], roster->pids[role]);
    fprintf(file, "\"dead\": %d, \"stranger\": %d,\n\"worlds\": {\"alpha\": [", roster->dead, roster->stranger);
    for (int role = ALPHA_0; role <= ALPHA_2; role++)
        fprintf(file, "%s%d", role == ALPHA_0 ? "" : ", ", roster->pids[role]);
    fprintf(file, "], \"beta\": [%d, %d]},\n", roster->pids[BETA_0], roster->pids[BETA_1]);
    fprintf(file, "\"spawns\": {\"beta\": {\"world\": \"alpha\", \"rank\": 1, \"sequence\": 0}}}\n");
    if (fclose(file) != 0 || rename(path, final) != 0)
        fail(path);
}

static void go_through_states(void)
{
    while (is("events") && !(MPI2DD_info.debugger_flags & BEING_DEBUGGED))
        nap();
    MPI2DD_info.abort_string = "rank 2 has divided by zero";
    for (uint8_t state = START; state <= (is("events") ? ABORT : START); state++) {
        MPI2DD_info.debug_state = state;
        MPI2DD_breakpoint();
        if (is("events") && state == START)
            for (int role = ALPHA_0; role <= BETA_1; role++)
                while (!(roster->gates & 1 << role))
                    nap();
    }
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: mpi2dd DIRECTORY [VARIANT]\n");
        return 2;
    }
    directory = argv[1];
    variant = argc == 3 ? argv[2] : variant;
    if (is("late"))
        MPI2DD_info.magic[0] = 0;
    /* Whoever reads what the debugger prints waits for the end of all that could print there. */
    if (is_launched() && (freopen("/dev/null", "w", stdout) == NULL || dup2(STDOUT_FILENO, STDERR_FILENO) < 0))
        fail("/dev/null");
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    alarm(900);
    ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    if (length < 0 || gethostname(host, sizeof host) != 0)
        fail("who am I");
    roster = mmap(NULL, sizeof *roster, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (roster == MAP_FAILED)
        fail("mmap");
    roster->pids[STARTER] = getpid();
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    waitpid(dead, NULL, 0);
    pid_t stranger = fork();
    if (stranger == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("sleep", "sleep", "100000", (char *)NULL);
        _exit(127);
    }
    roster->dead = dead;
    roster->stranger = stranger;
    for (int role = META; role <= ALPHA_2; role++)
        become(role);
    /* The ranks of beta are named by the process that spawned them. */
    while (roster->pids[BETA_0] <= 0 || roster->pids[BETA_1] <= 0)
        nap();
    build(STARTER);
    roster->ready = 1;
    while (roster->ready < ROLES)
        nap();
    write_truth();
    if (is_launched())
        go_through_states();
    wait_for_the_end(STARTER);
    return 0;
}
