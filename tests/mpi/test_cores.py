"""Core files: the same result as on the process that was dumped, and what is not in them is told."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

import pytest
from support import cores, processes
from support.builds import MpiBuild
from support.cli import Result, mpi_queues, pid_options
from support.compare import assert_equal, lasting
from support.jobs import Job
from support.paths import PROJECT

StartJob = Callable[..., Job]
DEBUGGERS = ("gdb", "lldb")


def without_origin(text: str) -> Any:
    """A snapshot without what differs between a process and its core file."""
    snapshot = json.loads(text)
    snapshot["captured_at"] = None
    snapshot["processes"] = [lasting(process) for process in snapshot["processes"]]
    for process in snapshot["processes"]:
        # The kernel writes the thread first that took the signal, which may be any: debuggers count from there.
        for place in ("calls", "outside"):
            threads = [{**one, "thread": None} for one in process[place]]
            process[place] = sorted(threads, key=json.dumps)
    return snapshot


def without_internal(process: Dict[str, Any]) -> Dict[str, Any]:
    """What the program posted itself."""
    for communicator in process["communicators"]:
        for queue in ("pending_sends", "pending_receives", "unexpected_messages"):
            posted = [one for one in communicator[queue]["operations"] if not one["internal"]]
            communicator[queue]["operations"] = posted
    return process


def core_options(dumped: List[pathlib.Path], program: pathlib.Path) -> List[str]:
    return [part for core in dumped for part in ("--core", str(core), "--exe", str(program))]


def from_core(core: pathlib.Path, program: pathlib.Path) -> Result:
    return mpi_queues("show", *core_options([core], program), "--format", "json", "--internal")


PROGRAMS: List[Tuple[str, Tuple[str, ...], int]] = [
    ("truth_modes", (), 2),
    ("truth_comms", (), 3),
    ("truth_threads", (), 2),
    ("truth_collective", ("barrier",), 2),
    ("truth_random", ("1", "300"), 2),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program[0])
@pytest.mark.usual("wheel-5*-truth_comms")
def test_the_same_as_on_the_live_processes(
    mpi_build: MpiBuild, start_job: StartJob, tmp_path: pathlib.Path, program: Tuple[str, Tuple[str, ...], int]
) -> None:
    name, arguments, ranks = program
    job = start_job(mpi_build, name, *arguments, ranks=ranks)
    live = mpi_queues("show", *pid_options(job.pids), "--format", "json", "--internal")
    assert live.status == 0, str(live)
    dumped = [cores.gcore(pid, tmp_path / "core") for pid in job.pids]
    shown = mpi_queues("show", *core_options(dumped, job.program), "--format", "json", "--internal")
    assert (shown.status, shown.err) == (0, ""), str(shown)
    found = json.loads(shown.out)["processes"]
    assert [process["source"]["via"] for process in found] == ["core"] * ranks
    for rank, process in enumerate(found):
        assert_equal(job.truth[rank], without_internal(process))
    assert without_origin(shown.out) == without_origin(live.out)


@pytest.fixture(scope="module")
def modes(debian_mpi: MpiBuild) -> Iterator[Job]:
    with Job(debian_mpi, "truth_modes_of_cores", ranks=2) as job:
        yield job


@pytest.fixture(scope="module")
def whole(modes: Job, tmp_path_factory: pytest.TempPathFactory) -> Iterator[pathlib.Path]:
    """A core of rank 0."""
    made = cores.gcore(modes.pids[0], tmp_path_factory.mktemp("cores") / "core")
    yield made
    made.unlink()


@pytest.fixture
def core(whole: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """One of one's own."""
    copy = tmp_path / "core"
    shutil.copyfile(whole, copy)
    return copy


def in_debugger(debugger: str, opened: List[List[str]], *commands: str) -> str:
    """What a debugger prints for commands about processes, each of which some commands have opened."""
    loader = PROJECT / f"{debugger}-scripts" / "mpi_queues.py"
    if debugger == "gdb":
        start, option, load = ["gdb", "-nx", "-q", "-batch"], "-ex", f"source {loader}"
        start += ["-iex", "set debuginfod enabled off", "-iex", "set auto-load off"]
        for number, one in enumerate(opened[1:], 2):
            one[:0] = ["add-inferior -no-connection", f"inferior {number}"]
    else:
        start, option, load = ["lldb-19", "--no-lldbinit", "--batch"], "-o", f"command script import {loader}"
    typed = [part for one in ([load], *opened, commands) for command in one for part in (option, command)]
    run = subprocess.run([*start, *typed], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    return run.stdout + run.stderr


def opened_core(debugger: str, core: pathlib.Path, program: pathlib.Path) -> List[str]:
    if debugger == "gdb":
        return [f"file {program}", f"core-file {core}"]
    return [f"target create {program} --core {core}"]


def attached(debugger: str, pid: int) -> List[str]:
    return [f"attach {pid}"] if debugger == "gdb" else ['target create ""', f"process attach -p {pid}"]


def shown_in(said: str) -> Any:
    """The JSON among what a debugger has printed."""
    return json.JSONDecoder().raw_decode(said[said.index('{\n  "schema"') :])[0]


@pytest.mark.parametrize("debugger", DEBUGGERS)
@pytest.mark.slow
def test_in_a_debugger(debugger: str, modes: Job, whole: pathlib.Path) -> None:
    live = mpi_queues("show", "--pid", str(modes.pids[0]), "--format", "json", "--internal")
    said = in_debugger(debugger, [opened_core(debugger, whole, modes.program)], "mpi queues -format json -internal")
    assert without_origin(json.dumps(shown_in(said))) == without_origin(live.out)


def test_gdb_without_the_program_tells_what_the_libraries_tell(modes: Job, whole: pathlib.Path) -> None:
    # Without it gdb knows no libraries, and unwinds at random. Some gdb look for the program that the core names.
    program, hidden = pathlib.Path(modes.program), pathlib.Path(f"{modes.program}.hidden")
    program.rename(hidden)
    try:
        said = in_debugger("gdb", [[f"core-file {whole}"]], "mpi queues -format json")
    finally:
        hidden.rename(program)
    (process,) = shown_in(said)["processes"]
    assert process["executable"] == str(modes.program)
    told = [(call["function"], call["caller"], call["line"]) for call in process["calls"]]
    assert told == [(modes.truth[0]["call"], None, None)]
    operations = [
        operation
        for communicator in process["communicators"]
        for operation in communicator["pending_receives"]["operations"]
    ]
    assert operations
    assert {one["call"] for one in operations if not one["persistent"]} == {None}


@pytest.mark.parametrize("debugger", DEBUGGERS)
@pytest.mark.slow
def test_core_files_one_after_another(debugger: str, modes: Job, whole: pathlib.Path, core: pathlib.Path) -> None:
    # Both have the pid of one process, and only the first has its heap.
    heap = cores.mapped(modes.pids[0], "[heap]")
    cores.leave_out(core, lambda segment: segment.address in heap)
    first, second = (opened_core(debugger, one, modes.program) for one in (whole, core))
    said = in_debugger(debugger, [first], "mpi queues", second[-1], "mpi queues -selected")
    assert said.count("Rank 0 of 2") == 1
    assert "are not in the core file: the heap" in said


@pytest.mark.slow
@pytest.mark.parametrize("debugger", DEBUGGERS)
def test_recorded_in_a_debugger(debugger: str, modes: Job, whole: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "hang.mpirec"
    for command, answer in (
        (f"mpi record {file}", f"recorded 1 process in {file} ("),
        ("mpi record", "mpi record: needs the name of a file"),
        ("mpi record -full /proc/x", "cannot write the recording /proc/x"),
    ):
        assert answer in in_debugger(debugger, [opened_core(debugger, whole, modes.program)], command)
    shown = mpi_queues("show", "--recording", str(file), "--format", "json", "--internal")
    assert without_origin(shown.out) == without_origin(from_core(whole, modes.program).out)


@pytest.mark.parametrize("debugger", DEBUGGERS)
def test_a_debugger_with_another_program_is_told(
    debugger: str, debian_mpi: MpiBuild, start_job: StartJob, whole: pathlib.Path
) -> None:
    other = start_job(debian_mpi, "truth_comms", ranks=2)
    said = in_debugger(debugger, [opened_core(debugger, whole, other.program)], "mpi queues")
    assert f"was not dumped by {other.program}" in said
    assert "truth_modes" in said


@pytest.mark.slow
def test_both_dumps_of_gdb_are_read(modes: Job, tmp_path: pathlib.Path, whole: pathlib.Path) -> None:
    made = tmp_path / "generated"
    attached = ["gdb", "-nx", "-q", "-batch", "-iex", "set debuginfod enabled off", "-p", str(modes.pids[0])]
    subprocess.run(
        [*attached, "-ex", f"generate-core-file {made}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    expected = without_origin(from_core(whole, modes.program).out)
    assert expected["processes"]
    assert without_origin(from_core(made, modes.program).out) == expected


@pytest.mark.parametrize("packer", ["zstd", "lz4", "xz", "gzip"])
def test_compressed_ones(packer: str, modes: Job, whole: pathlib.Path, tmp_path: pathlib.Path) -> None:
    packed = tmp_path / "core.packed"
    with packed.open("wb") as file:
        subprocess.run([packer, "-1", "-c", str(whole)], stdout=file, check=True)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    named = ("show", *core_options([packed], modes.program), "--format", "json", "--internal")
    shown = mpi_queues(*named, environment={"TMPDIR": str(temporary)})
    assert (shown.status, shown.err) == (0, ""), str(shown)
    assert without_origin(shown.out) == without_origin(from_core(whole, modes.program).out)
    assert list(temporary.iterdir()) == []
    assert "No such file" in refused(*named[1:-3], environment={"TMPDIR": str(tmp_path / "nix")})


def test_a_core_that_systemd_keeps(tmp_path: pathlib.Path) -> None:
    said = refused("--core", "/var/lib/systemd/coredump/core.solver.0.12ab.4711.17000.zst")
    assert "type: coredumpctl dump 4711 -o core" in said


def test_a_library_that_is_missing_is_named(tmp_path: pathlib.Path) -> None:
    library, source = tmp_path / "libwait.so", tmp_path / "wait.c"
    source.write_text("#include <unistd.h>\nint wait_here(void) { pause(); return 1; }\n")
    main = tmp_path / "main.c"
    main.write_text("int wait_here(void);\nint main(void) { return wait_here() + 1; }\n")
    program = tmp_path / "program"
    subprocess.run(["gcc", "-g", "-shared", "-fPIC", "-o", library, source], check=True)
    subprocess.run(["gcc", "-g", "-o", program, main, library, f"-Wl,-rpath,{tmp_path}"], check=True)
    child = subprocess.Popen([program])
    try:
        processes.wait_until(lambda: "pause" in pathlib.Path(f"/proc/{child.pid}/wchan").read_text(), "pause()")
        dumped = cores.gcore(child.pid, tmp_path / "core")
    finally:
        child.kill()
        child.wait()
    build_id = "(build-id "
    library.unlink()
    told = mpi_queues("stacks", *core_options([dumped], program))
    assert f"the core file names {library} {build_id}" in " ".join(told.err.split() + told.out.split()), str(told)
    assert "which is not here" in " ".join(told.out.split()) + told.err
    subprocess.run(["gcc", "-O2", "-g", "-shared", "-fPIC", "-o", library, source], check=True)
    told = mpi_queues("stacks", *core_options([dumped], program))
    assert f"and the file there {build_id}" in " ".join(told.err.split() + told.out.split()), str(told)


def test_a_core_names_its_program_itself(modes: Job, whole: pathlib.Path) -> None:
    result = mpi_queues("show", "--core", str(whole), "--format", "json")
    assert result.status == 0, str(result)
    assert json.loads(result.out)["processes"][0]["executable"] == str(modes.program)


@pytest.mark.parametrize("filter_bits", ["0x33", "0x7f"] if cores.KERNEL_WRITES_FILES else [])
@pytest.mark.slow
def test_the_dump_of_the_kernel(
    filter_bits: str, debian_mpi: MpiBuild, start_job: StartJob, tmp_path: pathlib.Path
) -> None:
    job = start_job(debian_mpi, "truth_modes", ranks=2, options=["--wdir", str(tmp_path)])
    live = mpi_queues("show", "--pid", str(job.pids[1]), "--format", "json", "--internal")
    pathlib.Path(f"/proc/{job.pids[1]}/coredump_filter").write_text(filter_bits)
    dumped = cores.kernel_core(job.pids[1], tmp_path)
    shown = from_core(dumped, job.program)
    assert shown.status == 0, str(shown)
    assert without_origin(shown.out) == without_origin(live.out)


def test_a_heap_that_was_left_out_is_never_empty_queues(modes: Job, core: pathlib.Path) -> None:
    heap = cores.mapped(modes.pids[0], "[heap]")
    assert cores.leave_out(core, lambda segment: segment.address in heap) >= 1
    result = from_core(core, modes.program)
    assert result.status == 3, str(result)
    assert "are not in the core file: the heap" in result.err
    assert "coredump_filter" in result.err
    assert json.loads(result.out)["processes"] == []


@pytest.mark.slow
def test_the_filter_that_leaves_out_everything(
    debian_mpi: MpiBuild, start_job: StartJob, tmp_path: pathlib.Path
) -> None:
    job = start_job(debian_mpi, "truth_modes", ranks=2)
    pathlib.Path(f"/proc/{job.pids[0]}/coredump_filter").write_text("0x0")
    dumped = cores.gcore(job.pids[0], tmp_path / "core")
    result = from_core(dumped, job.program)
    assert result.status == 3, str(result)
    assert f"are not in the core file: memory of {job.program}" in result.err
    assert "coredump_filter" in result.err


def test_stacks_that_were_left_out_prove_nothing(modes: Job, core: pathlib.Path) -> None:
    # Without the stacks nobody knows that no thread is in MPI_Recv.
    stack = cores.mapped(modes.pids[0], "[stack]")
    assert cores.leave_out(core, lambda segment: segment.address in stack) == 1
    (process,) = json.loads(from_core(core, modes.program).out)["processes"]
    assert process["host"] is None
    operations = [
        operation
        for communicator in process["communicators"]
        for operation in communicator["pending_receives"]["operations"]
    ]
    assert operations
    assert not [one for one in operations if one["call"] is not None and not one["persistent"] and not one["internal"]]


@pytest.mark.parametrize("part", [0.05, 0.5, 0.9])
@pytest.mark.usual("0.5")
def test_a_truncated_core(part: float, modes: Job, core: pathlib.Path) -> None:
    size = core.stat().st_size
    with core.open("r+b") as file:
        file.truncate(int(size * part))
    result = from_core(core, modes.program)
    assert result.status == 3, str(result)
    assert "is truncated: " in result.err
    assert "Traceback" not in result.err


def test_another_program(debian_mpi: MpiBuild, start_job: StartJob, modes: Job, whole: pathlib.Path) -> None:
    other = start_job(debian_mpi, "truth_comms", ranks=2)
    result = from_core(whole, other.program)
    assert result.status == 3
    assert f"{whole}: was not dumped by {other.program}" in result.err
    assert str(modes.program) in result.err


def refused(*arguments: str, environment: Optional[Dict[str, str]] = None) -> str:
    result = mpi_queues("show", *arguments, environment=environment)
    assert result.status == 3, str(result)
    assert result.out == ""
    assert "Traceback" not in result.err
    return result.err


@pytest.mark.slow
def test_files_that_are_no_core(modes: Job, core: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = str(modes.program)
    text = tmp_path / "text"
    text.write_text("no core\n")
    assert f"{text}: not a core file" in refused("--core", str(text), "--exe", program)
    assert f"{tmp_path}: not a core file" in refused("--core", str(tmp_path), "--exe", program)
    assert "not a core file" in refused("--core", "/dev/null", "--exe", program)
    assert "No such file" in refused("--core", str(tmp_path / "nix"), "--exe", program)
    assert "a program or library, not a core file" in refused("--core", program, "--exe", program)
    assert f"{core}: {tmp_path / 'nix'}" in refused("--core", str(core), "--exe", str(tmp_path / "nix"))
    content = bytearray(core.read_bytes())
    # `e_machine`: SPARC.
    content[18:20] = (2).to_bytes(2, "little")
    core.write_bytes(content)
    assert "a file of machine 2, and this machine is" in refused("--core", str(core), "--exe", program)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.usual("3")
def test_damaged_headers(seed: int, modes: Job, core: pathlib.Path) -> None:
    import random

    chance = random.Random(seed)
    with core.open("r+b") as file:
        for _ in range(40):
            file.seek(chance.randrange(0x40, 0x6000))
            file.write(bytes([chance.randrange(256)]))
    from mpi_queues import NativeError, _native
    from mpi_queues.debuggers.base import DebuggerError

    try:
        damaged = _native.CoreFile(str(core))
    except NativeError:
        return
    damaged.environment(b"PATH")
    for segment in list(cores.segments(core))[:50]:
        try:
            assert len(damaged.read(segment.address, 64)) == 64
        except DebuggerError as error:
            assert "core file" in str(error)


@pytest.mark.slow
def test_a_recording_of_a_core(modes: Job, whole: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "hang.mpirec"
    result = mpi_queues("record", "--core", str(whole), "--exe", str(modes.program), "--full", "-o", str(file))
    assert result.status == 0, str(result)
    shown: Dict[str, Any] = json.loads(
        mpi_queues("show", "--recording", str(file), "--format", "json", "--internal").out
    )
    expected = without_origin(from_core(whole, modes.program).out)
    assert expected["processes"]
    assert without_origin(json.dumps(shown)) == expected
