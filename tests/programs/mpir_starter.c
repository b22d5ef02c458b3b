/* A launcher without an MPI that speaks the MPIR process acquisition interface, variable by variable.
 *
 * Arguments: DIRECTORY RANKS REMOTE PROGRAM. It starts RANKS processes of PROGRAM (mpir_rank.c) and adds REMOTE entries
 * of another host to its table. What counts by being there is compiled in: -DI_AM_STARTER, -DPARTIAL_ATTACH_OK,
 * -DACQUIRED_PRE_MAIN, -DFORCE_TO_MAIN, -DIGNORE_QUEUES, -DIGNORE_QUEUE, -DATTACH_FIFO, -DSERVER. Without I_AM_STARTER
 * it is rank 0 itself.
 *
 * It writes DIRECTORY/truth: its process id and those of its ranks, one a line. Later, DIRECTORY/abort makes it tell of
 * an MPI_Abort and end with status 7; otherwise it ends with status 0 when all its ranks have done so. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  char *host_name;
  char *executable_name;
  int pid;
} MPIR_PROCDESC;

MPIR_PROCDESC *MPIR_proctable = NULL;
int MPIR_proctable_size = 0;
volatile int MPIR_debug_state = 0;
volatile int MPIR_being_debugged = 0;
char *MPIR_debug_abort_string = NULL;
#ifdef I_AM_STARTER
int MPIR_i_am_starter = 0;
#endif
#ifdef PARTIAL_ATTACH_OK
int MPIR_partial_attach_ok = 0;
#endif
#ifdef ACQUIRED_PRE_MAIN
int MPIR_acquired_pre_main = 0;
#endif
#ifdef FORCE_TO_MAIN
int MPIR_force_to_main = 0;
#endif
#ifdef IGNORE_QUEUES
int MPIR_ignore_queues = 0;
#endif
#ifdef IGNORE_QUEUE
int MPIR_ignore_queue = 0;
#endif
#ifdef ATTACH_FIFO
char MPIR_attach_fifo[256];
#endif
#ifdef SERVER
char MPIR_executable_path[256] = "/opt/tool/server";
char MPIR_server_arguments[1024] = "--port\0007000\0--quiet\0";
#endif

__attribute__((noinline)) int MPIR_Breakpoint(void) {
  __asm__ volatile("" ::: "memory");
  return 0;
}

static const char *directory;

static const char *in(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return path;
}

static void note(const char *name, const char *text) {
  char fresh[512];
  snprintf(fresh, sizeof fresh, "%s/.%s", directory, name);
  FILE *file = fopen(fresh, "w");
  if (file == NULL) exit(3);
  fputs(text, file);
  fclose(file);
  /* Whole or not at all: somebody waits for it. */
  rename(fresh, in(name));
}

static pid_t start(const char *program, int rank) {
  char number[16];
  snprintf(number, sizeof number, "%d", rank);
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) exit(3);
  pid_t pid = fork();
  if (pid == 0) {
    execl(program, program, number, directory, (char *)NULL);
    _exit(127);
  }
  /* Closed when it has become the program. */
  close(ready[1]);
  char byte;
  if (read(ready[0], &byte, 1) != 0) exit(3);
  close(ready[0]);
  return pid;
}

static void set_entry(int at, const char *host, const char *program, int pid) {
  MPIR_proctable[at].host_name = strdup(host);
  MPIR_proctable[at].executable_name = strdup(program);
  MPIR_proctable[at].pid = pid;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  directory = argv[1];
  int ranks = atoi(argv[2]), remote = atoi(argv[3]);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  char *text = calloc(1, 64 + 16 * (size_t)ranks);
  int told = sprintf(text, "%d\n", (int)getpid());
  MPIR_proctable = calloc((size_t)(ranks + remote), sizeof *MPIR_proctable);
  int first = 0;
#ifndef I_AM_STARTER
  set_entry(0, host, argv[0], getpid());
  told += sprintf(text + told, "%d\n", (int)getpid());
  first = 1;
#endif
  for (int rank = first; rank < ranks; rank++) {
    pid_t pid = start(argv[4], rank);
    set_entry(rank, host, argv[4], pid);
    told += sprintf(text + told, "%d\n", (int)pid);
  }
  for (int at = 0; at < remote; at++) set_entry(ranks + at, "node7.example", argv[4], 4242 + at);
  MPIR_proctable_size = ranks + remote;
#ifdef ATTACH_FIFO
  snprintf(MPIR_attach_fifo, sizeof MPIR_attach_fifo, "%s", in("fifo"));
  if (mkfifo(MPIR_attach_fifo, 0600) != 0) return 3;
  int fifo = open(MPIR_attach_fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC);
#endif
  MPIR_debug_state = 1;
  note("truth", text);
  note("being_debugged", MPIR_being_debugged ? "1" : "0");
  MPIR_Breakpoint();
#if defined(PARTIAL_ATTACH_OK) || defined(RELEASES)
  note("go", "");
#endif
  int left = ranks - first, status = 0;
  while (left > 0) {
    int how = 0;
    if (waitpid(-1, &how, WNOHANG) > 0) {
      left--;
      if (how != 0) status = 1;
    }
    if (access(in("abort"), F_OK) == 0) {
      MPIR_debug_abort_string = "rank 1 called MPI_Abort(3)";
      MPIR_debug_state = 2;
      MPIR_Breakpoint();
      return 7;
    }
#ifdef ATTACH_FIFO
    char byte = 0;
    if (read(fifo, &byte, 1) == 1 && byte == 1) {
      note("attached", MPIR_being_debugged ? "1" : "0");
      MPIR_Breakpoint();
    }
#endif
    usleep(5000);
  }
  note("ended", status == 0 ? "0" : "1");
  return status;
}
