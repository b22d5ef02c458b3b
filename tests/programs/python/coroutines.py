"""Blocking calls within coroutines."""

import asyncio

from hanging import comm, rank, ready


async def fetch(source):
    await asyncio.sleep(0)
    ready()
    comm.Barrier() if rank else comm.Probe(source=source, tag=2)  # stuck: 0 MPI_Probe fetch; 1 MPI_Barrier fetch


async def main():
    await asyncio.gather(fetch(1), asyncio.sleep(1000))


asyncio.run(main())
