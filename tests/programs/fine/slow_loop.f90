! A loop of exchanges and sums in which rank 1 needs longer than the others.
!
! ranks: 3
program slow_loop
  use mpi
  implicit none
  integer :: rank, ranks, left, right, i, ierr
  double precision :: mine, ghost, total
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  mine = rank
  print '(a)', 'ready'
  flush (6)
  do
    call MPI_Sendrecv(mine, 1, MPI_DOUBLE_PRECISION, right, 1, ghost, 1, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    do i = 1, merge(2000000, 1000, rank == 1)
      mine = mine + 1d-9*ghost
    end do
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
end program slow_loop
