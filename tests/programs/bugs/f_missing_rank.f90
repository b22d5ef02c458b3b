! The sum stands in a branch for the ranks that have cells; rank 2 has none and is in the broadcast after it.
!
! ranks: 3
! verdict: deadlock
! expect: collective mismatch ranks=0,2 lines=0:SUM,2:NEXT | missing in collective ranks=2 lines=0:SUM
! cause: collective mismatch | missing in collective lines=0:SUM,2:NEXT
program f_missing_rank
  use mpi_f08
  implicit none
  integer :: rank, cells, total, step
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  cells = merge(0, 10, rank == 2)
  step = 1
  print '(a)', 'ready'
  flush (6)
  if (cells > 0) then
    call MPI_Allreduce(cells, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD) ! @SUM
  end if
  call MPI_Bcast(step, 1, MPI_INTEGER, 0, MPI_COMM_WORLD) ! @NEXT
  call MPI_Finalize()
end program f_missing_rank
