! Exchanges and adds up in Fortran, by the binding that BINDING names (1: mpif.h, 2: mpi, 3: mpi_f08), and prints the results.
program results
#if BINDING == 3
  use mpi_f08
#elif BINDING == 2
  use mpi
#endif
  implicit none
#if BINDING == 1
  include 'mpif.h'
#endif
#if BINDING == 3
  type(MPI_Comm) :: half
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: states(2)
#else
  integer :: half, requests(2), states(MPI_STATUS_SIZE, 2)
#endif
  integer :: rank, ranks, left, right, step, ierr, which
  logical :: done
  double precision :: mine(64), theirs(64), total(64), checked
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  checked = 0
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), rank, half, ierr)
  do step = 1, 20
    mine = rank + step
    call MPI_Irecv(theirs, 64, MPI_DOUBLE_PRECISION, left, step, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(mine, 64, MPI_DOUBLE_PRECISION, right, step, MPI_COMM_WORLD, requests(2), ierr)
    if (modulo(step, 3) == 0) then
      call MPI_Waitall(2, requests, states, ierr)
    else if (modulo(step, 3) == 1) then
      call MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE, ierr)
      call MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE, ierr)
    else
      done = .false.
      do while (.not. done)
        call MPI_Testall(2, requests, done, states, ierr)
      end do
    end if
    call MPI_Allreduce(theirs, total, 64, MPI_DOUBLE_PRECISION, MPI_SUM, half, ierr)
    checked = checked + sum(total)*step
    call MPI_Bcast(mine, 64, MPI_DOUBLE_PRECISION, modulo(step, ranks), MPI_COMM_WORLD, ierr)
    checked = checked + sum(mine)
  end do
  print '(a,i0,a,f0.1)', 'rank ', rank, ': ', checked
  flush (6)
  call MPI_Comm_free(half, ierr)
  call MPI_Finalize(ierr)
end program results
