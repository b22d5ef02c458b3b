/* A correct program that looks for long times as if it hung, until so many seconds have passed: in each step, of so many
 * seconds, one of
 *
 *     computes    all ranks compute, and meet in a sum afterwards
 *     imbalance   the last rank computes, the others wait for it in the sum
 *     sleeps      rank 1 sleeps before it sends, rank 0 waits for that message, the others in a barrier
 *     disk        rank 0 writes a file line by line and waits for the disk, the others wait for it in a broadcast
 *     pipe        rank 0 reads what a script says at the end, the others wait for it in a broadcast
 *     polls       rank 0 asks again and again for a message that rank 1 sends late
 *     probes      the same, with pauses, for any message
 *     window      rank 0 has locked memory of rank 1, which computes; the others wait in a barrier
 *     file        rank 0 is late for a file that all write together
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

static double seconds_of_step;

static double compute(void)
{
    double begun = MPI_Wtime(), sum = 0;
    while (MPI_Wtime() - begun < seconds_of_step)
        for (int i = 1; i < 1000000; i++)
            sum += 1.0 / i;
    return sum > 0;
}

static void rest(void)
{
    usleep((useconds_t)(seconds_of_step * 1e6));
}

static double write_to_disk(void)
{
    FILE *file = tmpfile();
    double lines = 0;
    for (double begun = MPI_Wtime(); file != NULL && MPI_Wtime() - begun < seconds_of_step; lines++) {
        fprintf(file, "%g\n", lines);
        fflush(file);
        fsync(fileno(file));
    }
    if (file != NULL)
        fclose(file);
    return lines > 0;
}

static double read_from_script(void)
{
    char command[64];
    double value = 0;
    snprintf(command, sizeof command, "sleep %g; echo 1", seconds_of_step);
    FILE *input = popen(command, "r");
    if (input == NULL || fscanf(input, "%lf", &value) != 1)
        MPI_Abort(MPI_COMM_WORLD, 1);
    pclose(input);
    return value;
}

static double await_message(int rank, int with_pauses)
{
    double value = 0;
    int there = 0;
    MPI_Request request;
    if (rank == 1) {
        rest();
        value = 1;
        MPI_Send(&value, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    } else if (rank == 0 && with_pauses) {
        while (!there) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
            usleep(20000);
        }
        MPI_Recv(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 0) {
        MPI_Irecv(&value, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD, &request);
        while (!there)
            MPI_Test(&request, &there, MPI_STATUS_IGNORE);
    } else {
        value = 1;
    }
    return value;
}

static double step_of(const char *what, int rank, int size, MPI_Win window, MPI_File file)
{
    double value = 1;
    if (strcmp(what, "computes") == 0) {
        value = compute();
    } else if (strcmp(what, "imbalance") == 0) {
        if (rank == size - 1)
            value = compute();
    } else if (strcmp(what, "sleeps") == 0) {
        if (rank == 1) {
            rest();
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
        } else if (rank == 0) {
            MPI_Recv(&value, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "disk") == 0 || strcmp(what, "pipe") == 0) {
        if (rank == 0)
            value = what[0] == 'd' ? write_to_disk() : read_from_script();
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "polls") == 0 || strcmp(what, "probes") == 0) {
        value = await_message(rank, what[1] == 'r');
    } else if (strcmp(what, "window") == 0) {
        if (rank == 0) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
            MPI_Put(&value, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window);
            MPI_Win_unlock(1, window);
        } else if (rank == 1) {
            value = compute();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        if (rank == 0)
            rest();
        MPI_File_write_at_all(file, (MPI_Offset)(rank * sizeof value), &value, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
    }
    return value;
}

int main(int argc, char **argv)
{
    int rank, size, goes_on = 1, steps = 0;
    double mine, sum = 0, *memory;
    char name[4096];
    MPI_Win window;
    MPI_File file;
    if (argc != 4)
        return 2;
    seconds_of_step = atof(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    snprintf(name, sizeof name, "%s/works", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    diagnosed_ready();
    for (double begun = MPI_Wtime(); goes_on; steps++) {
        double total;
        mine = step_of(argv[1], rank, size, window, file);
        MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += total;
        goes_on = MPI_Wtime() - begun < atof(argv[2]);
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    int wrong = sum != (double)size * steps;
    printf("rank %d: %s\n", rank, wrong ? "wrong" : "right");
    MPI_File_close(&file);
    MPI_Win_free(&window);
    MPI_Finalize();
    return wrong;
}
