! Messages from anybody in Fortran, by one of its three bindings: BINDING is 1 (mpif.h), 2 (use mpi) or 3 (use mpi_f08).
! Each rank sends to itself, so that it knows what it has received; with a status and without one.
#if BINDING == 3
#define HANDLE(kind) type(kind)
#define STATUS(name, count) type(MPI_Status) :: name(count)
#define ONE(name, at) name(at)
#else
#define HANDLE(kind) integer
#define STATUS(name, count) integer :: name(MPI_STATUS_SIZE, count)
#define ONE(name, at) name(:, at)
#endif

program counts
#if BINDING == 2
    use mpi
#elif BINDING == 3
    use mpi_f08
#endif
    implicit none
#if BINDING == 1
    include 'mpif.h'
#endif
    HANDLE(MPI_Request) :: sent(2), received(2)
    HANDLE(MPI_Comm) :: copy
    STATUS(statuses, 2)
    integer :: rank, ierr, buffer(4)

    buffer = 0
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Comm_set_name(copy, 'halo of Fortran', ierr)

    call send(1, 10)
    call MPI_Recv(buffer(3), 1, MPI_INTEGER, MPI_ANY_SOURCE, 10, copy, MPI_STATUS_IGNORE, ierr)
    call MPI_Wait(sent(1), MPI_STATUS_IGNORE, ierr)
    call send(1, 11)
    call MPI_Recv(buffer(3), 1, MPI_INTEGER, rank, MPI_ANY_TAG, copy, ONE(statuses, 1), ierr)
    call MPI_Wait(sent(1), MPI_STATUS_IGNORE, ierr)
    call two(12)
    call MPI_Waitall(2, received, MPI_STATUSES_IGNORE, ierr)
    call MPI_Waitall(2, sent, MPI_STATUSES_IGNORE, ierr)
    call two(14)
    call MPI_Waitall(2, received, statuses, ierr)
    call MPI_Waitall(2, sent, MPI_STATUSES_IGNORE, ierr)
    call two(16)
    call MPI_Wait(received(2), MPI_STATUS_IGNORE, ierr)
    call MPI_Wait(received(1), ONE(statuses, 2), ierr)
    call MPI_Waitall(2, sent, MPI_STATUSES_IGNORE, ierr)
    call tell()
    call MPI_Recv(buffer(1), 1, MPI_INTEGER, 0, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)

contains

    subroutine send(at, tag)
        integer, intent(in) :: at, tag
        call MPI_Isend(buffer(at), 1, MPI_INTEGER, rank, tag, copy, sent(at), ierr)
    end subroutine send

    subroutine two(tag)
        integer, intent(in) :: tag
        call MPI_Irecv(buffer(3), 1, MPI_INTEGER, MPI_ANY_SOURCE, tag, copy, received(1), ierr)
        call MPI_Irecv(buffer(4), 1, MPI_INTEGER, MPI_ANY_SOURCE, tag + 1, copy, received(2), ierr)
        call send(1, tag)
        call send(2, tag + 1)
    end subroutine two

    subroutine tell()
        character(len=1024) :: path, name
        integer :: hole, unit

        call get_environment_variable('MPIQ_TRUTH', path)
        hole = index(path, '%d')
        write (name, '(a, i0, a)') path(:hole - 1), rank, trim(path(hole + 2:))
        open (newunit=unit, file=trim(name) // '.new', action='write')
        write (unit, '(a)') '{"tags": [10, 11, 12, 13, 14, 15, 16, 17]}'
        close (unit)
        call rename(trim(name) // '.new', trim(name))
    end subroutine tell
end program counts
