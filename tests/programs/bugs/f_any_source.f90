! The collector waits for anybody, the others for a start signal of the collector: it was written for rank numbers that begin at 1.
! Rank 1 gets its signal, which is for itself as a collector, and is done.
!
! ranks: 3
! verdict: deadlock
! expect: deadlock ranks=0,2 lines=0:COLLECT,2:START
! cause: missing in collective | deadlock lines=0:COLLECT,2:START
program f_any_source
  use mpi
  implicit none
  integer :: rank, ranks, i, signal, got, ierr, status(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  signal = 1
  print '(a)', 'ready'
  flush (6)
  if (rank == 0) then
    do i = 1, ranks - 2
      call MPI_Send(signal, 1, MPI_INTEGER, i, 1, MPI_COMM_WORLD, ierr)
    end do
    do i = 1, ranks - 1
      call MPI_Recv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, status, ierr) ! @COLLECT
    end do
  else
    call MPI_Recv(signal, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, status, ierr) ! @START
    call MPI_Send(rank, 1, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, ierr)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierr) ! @BARRIER
  call MPI_Finalize(ierr)
end program f_any_source
