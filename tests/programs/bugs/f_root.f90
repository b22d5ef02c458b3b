! The root of the reduction is counted from 1 on one rank only, which is then its own root. Nobody sends rank 0 its part.
!
! ranks: 3
! verdict: deadlock
! expect: root mismatch ranks=0,1 | collective mismatch ranks=0,1 lines=0:REDUCE | deadlock ranks=0,1 lines=0:REDUCE
program f_root
  use mpi
  implicit none
  integer, parameter :: cells = 400000
  integer :: rank, root, ierr
  double precision :: part(cells), total(cells)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  part = rank
  root = 0
  if (rank == 1) root = 1
  print '(a)', 'ready'
  flush (6)
  call MPI_Reduce(part, total, cells, MPI_DOUBLE_PRECISION, MPI_SUM, root, MPI_COMM_WORLD, ierr) ! @REDUCE
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
end program f_root
