def test_demo(mpi_job):
    job = mpi_job("./demo", ranks=3, hang_after=2)
    assert job.wait() == 0
