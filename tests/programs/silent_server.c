/*
 * Rank 0 is in MPI_Barrier, rank 1 reads a file whose server does not answer: the server is a child of it, the file system is seen by
 * rank 1 and that child alone. A signal makes its wait one that nothing but a kill ends (fs/fuse/dev.c, request_wait_answer).
 * Needs the right to mount. Argument: the directory at which the file system is mounted.
 */
#define _GNU_SOURCE
#include "common/told.h"

#include <mpi.h>

#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>

static pthread_t reader;

static void answer(int device, unsigned long unique, int error, const void *body, size_t size)
{
    char bytes[512];
    struct fuse_out_header head = {.len = (unsigned)(sizeof head + size), .error = error, .unique = unique};
    memcpy(bytes, &head, sizeof head);
    if (size)
        memcpy(bytes + sizeof head, body, size);
    if (write(device, bytes, head.len) != (ssize_t)head.len)
        _exit(4);
}

/* Every name is that of a file; what is in it nobody learns. */
static void serve(int device)
{
    static char bytes[1 << 17];
    struct fuse_in_header *head = (struct fuse_in_header *)bytes;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (read(device, bytes, sizeof bytes) > 0) {
        struct fuse_init_out init = {.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096};
        struct fuse_attr_out directory = {.attr = {.ino = 1, .mode = S_IFDIR | 0755, .nlink = 2}};
        struct fuse_entry_out file = {.nodeid = 2, .attr = {.ino = 2, .mode = S_IFREG | 0644, .nlink = 1, .size = 4096}};
        struct fuse_open_out open = {.fh = 1};
        switch (head->opcode) {
        case FUSE_INIT: answer(device, head->unique, 0, &init, sizeof init); break;
        case FUSE_GETATTR: answer(device, head->unique, 0, &directory, sizeof directory); break;
        case FUSE_LOOKUP: answer(device, head->unique, 0, &file, sizeof file); break;
        case FUSE_OPEN: answer(device, head->unique, 0, &open, sizeof open); break;
        default: break;
        }
    }
    _exit(0);
}

static void mounts(const char *where)
{
    char options[128];
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%u,group_id=%u", device, getuid(), getgid());
    if (device < 0 || unshare(CLONE_NEWNS) || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("silent", where, "fuse", 0, options)) {
        perror(where);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (fork() == 0)
        serve(device);
    close(device);
}

static void ignored(int number)
{
    (void)number;
}

static void *interrupts(void *unused)
{
    usleep(500000);
    pthread_kill(reader, SIGUSR1);
    return unused;
}

int main(int argc, char **argv)
{
    char path[TOLD_PATH], bytes[16];
    pthread_t thread;
    int rank, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    snprintf(path, sizeof path, "%s/results.dat", argv[1]);
    if (rank == 1) {
        signal(SIGUSR1, ignored);
        mounts(argv[1]);
        reader = pthread_self();
        pthread_create(&thread, NULL, interrupts, NULL);
    }
    told(rank);
    if (rank == 1) {
        int file = open(path, O_RDONLY);
        printf("%zd\n", read(file, bytes, sizeof bytes));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
