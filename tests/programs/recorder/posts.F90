! Calls from Fortran, by one of its three bindings: BINDING is 1 (mpif.h), 2 (use mpi) or 3 (use mpi_f08).
! Lines that leave a request open end in "! open", the line at which it waits in "! waits".
#if BINDING == 3
#define HANDLE(kind) type(kind)
#define VALUE(handle) handle%MPI_VAL
#else
#define HANDLE(kind) integer
#define VALUE(handle) handle
#endif

program posts
#if BINDING == 2
    use mpi
#elif BINDING == 3
    use mpi_f08
#endif
    implicit none
#if BINDING == 1
    include 'mpif.h'
#endif
    HANDLE(MPI_Request) :: open(4), pair(2)
    HANDLE(MPI_Comm) :: copy, half, spare
    integer :: rank, ierr, done, indices(2), buffer(8, 8)
    logical :: flag

    buffer = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half, ierr)
    call MPI_Comm_dup(copy, spare, ierr)
    call MPI_Comm_free(spare, ierr)
    call MPI_Bcast(buffer(1, 1), 3, MPI_INTEGER, 1, copy, ierr)
    call MPI_Allreduce(buffer(1, 1), buffer(1, 2), 2, MPI_INTEGER, MPI_SUM, copy, ierr)

    call MPI_Irecv(buffer(1, 1), 5, MPI_INTEGER, 0, 1017, copy, open(1), ierr)  ! open
    call MPI_Issend(buffer(1, 2), 6, MPI_INTEGER, 1, 1018, MPI_COMM_WORLD, open(2), ierr)  ! open
    call MPI_Recv_init(buffer(1, 3), 7, MPI_INTEGER, MPI_ANY_SOURCE, 1019, half, open(3), ierr)  ! open
    call MPI_Irecv(buffer(1, 8), 1, MPI_INTEGER, 0, 1020, copy, open(4), ierr)
    call MPI_Start(open(3), ierr)

    call MPI_Irecv(buffer(1, 4), 1, MPI_INTEGER, rank, 5, copy, pair(1), ierr)
    call MPI_Isend(buffer(1, 5), 1, MPI_INTEGER, rank, 5, copy, pair(2), ierr)
    call MPI_Waitall(2, pair, MPI_STATUSES_IGNORE, ierr)
    call MPI_Irecv(buffer(1, 4), 1, MPI_INTEGER, rank, 5, copy, pair(1), ierr)
    call MPI_Isend(buffer(1, 5), 1, MPI_INTEGER, rank, 5, copy, pair(2), ierr)
    done = 0
    do while (done < 2)
        block
            integer :: some
            call MPI_Testsome(2, pair, some, indices, MPI_STATUSES_IGNORE, ierr)
            done = done + some
        end block
    end do
    call MPI_Send_init(buffer(1, 6), 2, MPI_INTEGER, rank, 6, copy, pair(1), ierr)
    call MPI_Recv_init(buffer(1, 7), 2, MPI_INTEGER, rank, 6, copy, pair(2), ierr)
    call MPI_Startall(2, pair, ierr)
#if BINDING == 3
    ! MPICH's mpi_f08 counts the indices of Testany from 0.
    call MPI_Waitall(2, pair, MPI_STATUSES_IGNORE, ierr)
    done = 2
#else
    done = 0
#endif
    do while (done < 2)
        call MPI_Testany(2, pair, indices(1), flag, MPI_STATUS_IGNORE, ierr)
        if (flag) done = done + 1
    end do
    call MPI_Cancel(open(4), ierr)
    call MPI_Wait(open(4), MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(buffer(1, 6), 1, MPI_INTEGER, rank, 8, buffer(1, 7), 2, MPI_INTEGER, rank, 8, copy, &
        MPI_STATUS_IGNORE, ierr)
    call tell()
    call MPI_Recv(buffer(1, 1), 8, MPI_INTEGER, 0, 31999, copy, MPI_STATUS_IGNORE, ierr)  ! waits

contains

    subroutine tell()
        character(len=1024) :: path, name
        integer :: hole, unit

        call get_environment_variable('MPIQ_TRUTH', path)
        hole = index(path, '%d')
        write (name, '(a, i0, a)') path(:hole - 1), rank, trim(path(hole + 2:))
        open (newunit=unit, file=trim(name) // '.new', action='write')
        write (unit, '(*(g0))') '{"open": [', VALUE(open(1)), ',', VALUE(open(2)), ',', VALUE(open(3)), '],'
        write (unit, '(*(g0))') '"inactive": [', VALUE(pair(1)), ',', VALUE(pair(2)), '],'
        write (unit, '(*(g0))') '"copy": ', VALUE(copy), ', "half": ', VALUE(half), ', "integer": ', VALUE(MPI_INTEGER)
        write (unit, '(*(g0))') ', "world": ', VALUE(MPI_COMM_WORLD), '}'
        close (unit)
        call rename(trim(name) // '.new', trim(name))
    end subroutine tell
end program posts
