! The tag is computed from a variable that rank 1 has counted up once too often.
!
! ranks: 2
! verdict: deadlock
! expect: tag mismatch ranks=0,1 lines=0:RECV words="3","4"
! cause: tag mismatch lines=0:RECV,1:SENT
program f_wrong_tag
  use mpi
  implicit none
  integer :: rank, tag, answer, ierr
  double precision :: field(10)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  field = rank
  tag = 3
  print '(a)', 'ready'
  flush (6)
  if (rank == 0) then
    call MPI_Recv(field, 10, MPI_DOUBLE_PRECISION, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! @RECV
    call MPI_Send(tag, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr)
  else
    tag = tag + 1
    call MPI_Send(field, 10, MPI_DOUBLE_PRECISION, 0, tag, MPI_COMM_WORLD, ierr) ! @SENT
    call MPI_Recv(answer, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! @ANSWER
  end if
  call MPI_Finalize(ierr)
end program f_wrong_tag
