! Handles of mpi_f08, and integers of the older bindings, in every shape. Two ranks. The output is that of printers.c.
program printers
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    interface
        integer(c_int) function pause() bind(c)
            import c_int
        end function
    end interface
    type exchange
        type(MPI_Comm) :: comm
        type(MPI_Request) :: pending(2)
    end type
    type(MPI_Comm) :: world, halo, none
    type(MPI_Comm), pointer :: where
    type(MPI_Comm), target :: aimed
    type(MPI_Request) :: grid(2, 3)
    type(MPI_Datatype), allocatable :: types(:)
    type(MPI_Status) :: status
    type(MPI_Op) :: add
    type(MPI_Info) :: info
    type(exchange) :: all
    integer :: icomm, irequest, itype, istatus(MPI_STATUS_SIZE), istatuses(MPI_STATUS_SIZE, 2), wrong, rank, values(10), i, j

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    world = MPI_COMM_WORLD
    call MPI_Comm_dup(world, halo)
    call MPI_Comm_set_name(halo, "halo")
    none = MPI_COMM_NULL
    aimed = halo
    where => aimed
    add = MPI_SUM
    info = MPI_INFO_NULL
    allocate (types(2))
    types = [MPI_INTEGER, MPI_DATATYPE_NULL]
    do j = 1, 3
        do i = 1, 2
            grid(i, j) = MPI_REQUEST_NULL
        end do
    end do
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, 1 - rank, 6, values, 1, MPI_INTEGER, 1 - rank, 6, halo, status)
    all%comm = halo
    call MPI_Irecv(values, 10, MPI_INTEGER, 1 - rank, 8, halo, all%pending(1))
    all%pending(2) = MPI_REQUEST_NULL
    call MPI_Irecv(values, 2, MPI_INTEGER, 1 - rank, 9, halo, grid(2, 3))
    icomm = halo%mpi_val
    irequest = all%pending(1)%mpi_val
    itype = MPI_REAL%mpi_val
    wrong = 999999
    istatus = transfer(status, istatus)
    istatuses(:, 1) = istatus
    istatuses(:, 2) = istatus

    print '(a)', 'frame printers'
    print '(a,i0,a)', 'world = MPI_COMM_WORLD, rank ', rank, ' of 2'
    print '(a,i0,a)', 'halo = "halo", rank ', rank, ' of 2'
    print '(a)', 'none = MPI_COMM_NULL'
    print '(a,i0,a)', 'where ~ -> "halo", rank ', rank, ' of 2'
    print '(a)', 'types(1) ~ MPI_INTEGER'
    print '(a)', 'types(2) = MPI_DATATYPE_NULL'
    print '(a,i0,a)', 'status ~ from ', 1 - rank, ', tag 6'
    print '(a)', 'add ~ MPI_SUM'
    print '(a)', 'info = MPI_INFO_NULL'
    print '(a)', 'grid(1,1) = MPI_REQUEST_NULL'
    print '(a,i0,a)', 'grid(2,3) = MPI_Irecv from ', 1 - rank, ', tag 9 on "halo", 8 bytes, pending'
    print '(a,i0,a)', 'all%comm = "halo", rank ', rank, ' of 2'
    print '(a,i0,a)', 'all%pending(1) = MPI_Irecv from ', 1 - rank, ', tag 8 on "halo", 40 bytes, pending'
    print '(a)', 'all%pending(2) = MPI_REQUEST_NULL'
    call stop_here(halo, all%pending, icomm, istatus)

contains

    subroutine stop_here(comm, pending, number, plain)
        type(MPI_Comm), intent(in) :: comm
        type(MPI_Request), intent(in) :: pending(:)
        integer, intent(in) :: number, plain(:)
        print '(a)', 'frame printers::stop_here'
        print '(a,i0,a)', 'comm = "halo", rank ', rank, ' of 2'
        print '(a,i0,a)', 'pending(1) = MPI_Irecv from ', 1 - rank, ', tag 8 on "halo", 40 bytes, pending'
        print '(a)', 'ready'
        flush (6)
        do while (pause() /= 0)
        end do
        print *, comm%mpi_val, pending(1)%mpi_val, number, plain
    end subroutine
end program
