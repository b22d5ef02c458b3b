! Large sends head to head, in the style of mpif.h.
!
! ranks: 2
! verdict: deadlock
! expect: deadlock ranks=0,1 lines=0:SEND,1:SEND certain
! cause: deadlock lines=0:SEND,1:SEND
      program f_mpifh_sends
      implicit none
      include 'mpif.h'
      integer rank, other, ierr, status(MPI_STATUS_SIZE)
      integer, parameter :: cells = 500000
      double precision a(cells), b(cells)
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      other = 1 - rank
      a = rank
      write (*, '(a)') 'ready'
      flush (6)
      call MPI_SEND(a, cells, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, ierr) ! @SEND
      call MPI_RECV(b, cells, MPI_DOUBLE_PRECISION, other, 1, MPI_COMM_WORLD, status, ierr)
      call MPI_FINALIZE(ierr)
      end program f_mpifh_sends
