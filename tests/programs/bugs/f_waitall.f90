! A halo exchange with an array of requests; the sends of rank 1 are left out by a wrong bound of the loop over neighbours.
! Rank 0 waits for all, rank 1 is in the barrier.
!
! ranks: 2
! verdict: deadlock
! expect: deadlock ranks=0,1 lines=0:WAIT,1:BARRIER
! cause: missing in collective | deadlock lines=0:POSTED,1:BARRIER
program f_waitall
  use mpi
  implicit none
  integer :: rank, other, i, sides, requests(4), ierr
  double precision :: out(8, 2), in(8, 2)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  other = 1 - rank
  out = rank
  sides = merge(2, 1, rank == 0)
  print '(a)', 'ready'
  flush (6)
  do i = 1, sides
    call MPI_Irecv(in(:, i), 8, MPI_DOUBLE_PRECISION, other, i, MPI_COMM_WORLD, requests(i), ierr) ! @POSTED
  end do
  do i = 1, sides
    call MPI_Isend(out(:, i), 8, MPI_DOUBLE_PRECISION, other, i, MPI_COMM_WORLD, requests(sides + i), ierr)
  end do
  call MPI_Waitall(2*sides, requests, MPI_STATUSES_IGNORE, ierr) ! @WAIT
  call MPI_Barrier(MPI_COMM_WORLD, ierr) ! @BARRIER
  call MPI_Finalize(ierr)
end program f_waitall
