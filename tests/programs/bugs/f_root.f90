! The root of the reduction is counted from 1 on one rank only, which is then its own root. Rank 1 never has all parts. Rank
! 0 has not either, or, where the algorithm lets it take what rank 1 sends as a root, goes on to the barrier (MPICH).
!
! ranks: 3
! verdict: deadlock
! openmpi expect: root mismatch ranks=0,1 | collective mismatch ranks=0,1 lines=0:REDUCE | deadlock ranks=0,1 lines=0:REDUCE
! mpich expect: root mismatch ranks=0,1 | collective mismatch ranks=0,1 lines=1:REDUCE
! openmpi cause: root mismatch | collective mismatch lines=0:REDUCE
! mpich cause: root mismatch | collective mismatch lines=1:REDUCE
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
