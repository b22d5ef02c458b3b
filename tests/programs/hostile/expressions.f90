! As expressions.c, in Fortran.
module grid
  use mpi
  implicit none
  integer :: victims(4) = [11, 22, 33, 44]
  integer :: n = 1
contains
  subroutine wait_for(rank, out, in, status)
    integer, intent(in) :: rank
    integer, intent(inout) :: out(1), in(1), status(MPI_STATUS_SIZE)
    integer :: ierror
    if (mod(rank, 3) == 1) then
      call MPI_Sendrecv( &
        out, n, MPI_INTEGER, 0, 7, in, n, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, status, ierror & ! 1
        )
    else if (mod(rank, 3) == 2) then
      call MPI_Sendrecv( &
        out, n, MPI_INTEGER, 0, 7, in, n, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, status, ierror & ! 2
        )
    else
      call MPI_Sendrecv( &
        out, n, MPI_INTEGER, 0, 7, in, n, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, status, ierror & ! 3
        )
    end if
  end subroutine
end module

program expressions
  use grid
  use, intrinsic :: iso_c_binding, only: c_int
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import :: c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  integer(c_int) :: slept
  integer :: rank, ranks, other, ierror, out(1), in(1), status(MPI_STATUS_SIZE)
  character(1000) :: path
  logical :: there
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  out = 8
  in = 0
  print '(a)', 'ready'
  flush (6)
  if (rank == 0) then
    call get_command_argument(1, path)
    there = .false.
    do while (.not. there)
      slept = usleep(10000)
      inquire (file=trim(path), exist=there)
    end do
    do other = 1, ranks - 1
      out = other
      call MPI_Sendrecv(out, 1, MPI_INTEGER, other, 5, in, 1, MPI_INTEGER, other, 7, MPI_COMM_WORLD, status, ierror)
    end do
  else
    call wait_for(rank, out, in, status)
    if (all(victims == [11, 22, 33, 44]) .and. n == 1 .and. in(1) == rank .and. out(1) == 8) then
      print '(a)', 'kept'
    else
      print '(a)', 'changed'
    end if
    flush (6)
  end if
  call MPI_Finalize(ierror)
end program
