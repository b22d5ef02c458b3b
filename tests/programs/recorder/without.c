/* Has nothing to do with MPI, and asks whether there is one. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int MPI_Init(int *, char ***) __attribute__((weak));
void mpi_recv_(void) __attribute__((weak));
void (*volatile kept)(void) = mpi_recv_;

int main(void)
{
    printf("%d %d %d\n", MPI_Init != NULL, mpi_recv_ != NULL, kept != NULL);
    printf("%d\n", dlsym(RTLD_DEFAULT, "MPI_Send") != NULL);
    const char *said = dlerror();
    puts(said != NULL ? "said why" : "said nothing");
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int mappings = 0;
    while (fgets(line, sizeof(line), maps) != NULL)
        mappings += line[0] != '\0' && __builtin_strstr(line, "mpi-queues recorder") != NULL;
    printf("%d\n", mappings);
    return 0;
}
