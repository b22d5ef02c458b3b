! As calls_started.c: who started the requests that each rank waits for.
module waits
  use mpi_f08
  implicit none
  type(MPI_Request) :: of_module
  integer :: data
contains
  subroutine started(index, function, line)
    integer, intent(in) :: index, line
    character(*), intent(in) :: function
    print '(a, i0, 1x, a, 1x, i0)', 'started ', index, function, line
  end subroutine

  subroutine ready()
    print '(a)', 'ready'
    flush (6)
  end subroutine

  subroutine scalar()
    type(MPI_Request) :: request
    call MPI_Irecv(data, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, request)
    call started(0, 'MPI_Irecv', 21)
    call ready()
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine

  subroutine elements(rank)
    integer, intent(in) :: rank
    type(MPI_Request) :: requests(4)
    integer :: i
    if (rank < 0) then
      call MPI_Irecv(data, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, requests(1))
    else
      do i = 1, 3
        call MPI_Irecv(data, 1, MPI_INTEGER, &
                       0, 7 + i, MPI_COMM_WORLD, requests(i))
        call started(i - 1, 'MPI_Irecv', 35)
      end do
    end if
    call MPI_Issend(rank, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, request=requests(4))
    call started(3, 'MPI_Issend', 40)
    call ready()
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine start()
    call MPI_Irecv(data, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, of_module)
    call started(0, 'MPI_Irecv', 47)
  end subroutine

  subroutine of_the_module()
    call start()
    call ready()
    call MPI_Wait(of_module, MPI_STATUS_IGNORE)
  end subroutine
end module

program calls_started
  use waits
  integer :: rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  select case (rank)
  case (1)
    call scalar()
  case (2)
    call elements(rank)
  case (3)
    call of_the_module()
  case default
    call ready()
    call MPI_Recv(data, 1, MPI_INTEGER, 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end select
  call MPI_Finalize()
end program
