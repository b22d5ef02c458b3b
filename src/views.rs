//! What Python shows of the model. Made by tools/make-views from docs/schema.json (`make views`).

use pyo3::prelude::*;

use super::diagnosis::{Diagnosis, Finding};
use super::process::{Communicator, Process};
use super::queue::{Operation, Queue};
use super::snapshot::Snapshot;
use super::view::View as _;

#[pymethods]
impl Operation {
    /// How far it is. Words: ``pending``, ``matched``, ``complete``.
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().status.view(py)
    }
    /// The peer's rank in the communicator; None for any source, or where it is not known.
    #[getter]
    fn desired_local_rank<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().desired_local_rank.view(py)
    }
    /// The peer's rank in MPI_COMM_WORLD; None for any source, or where it is not known.
    #[getter]
    fn desired_global_rank<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().desired_global_rank.view(py)
    }
    /// Whether a receive takes any source.
    #[getter]
    fn any_source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().any_source.view(py)
    }
    /// Whether a receive takes any tag.
    #[getter]
    fn tag_wild<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().tag_wild.view(py)
    }
    /// The tag; None where it is wild or not known.
    #[getter]
    fn desired_tag<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().desired_tag.view(py)
    }
    /// Length of the message, or of the buffer of a receive, in bytes.
    #[getter]
    fn desired_length<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().desired_length.view(py)
    }
    /// Whether the data lies in a buffer of the system: a buffered send's copy, an unexpected message.
    #[getter]
    fn system_buffer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().system_buffer.view(py)
    }
    /// Address of the data in the process.
    #[getter]
    fn buffer<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().buffer.view(py)
    }
    /// Rank in the communicator of the peer that was matched (receives), or of the destination (sends).
    #[getter]
    fn actual_local_rank<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().actual_local_rank.view(py)
    }
    /// The same peer's rank in MPI_COMM_WORLD.
    #[getter]
    fn actual_global_rank<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().actual_global_rank.view(py)
    }
    /// The tag that was matched.
    #[getter]
    fn actual_tag<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().actual_tag.view(py)
    }
    /// Length of the message that was matched, in bytes.
    #[getter]
    fn actual_length<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().actual_length.view(py)
    }
    /// Whether the MPI library posted it for itself, in a collective for instance.
    #[getter]
    fn internal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().internal.view(py)
    }
    /// Whether it belongs to a persistent request.
    #[getter]
    fn persistent<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().persistent.view(py)
    }
    /// The MPI function that made it, such as ``MPI_Irecv``, where that is known.
    #[getter]
    fn call<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().call.view(py)
    }
    /// Name of the datatype, where it has one.
    #[getter]
    fn datatype<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().datatype.view(py)
    }
    /// Number of elements of the datatype.
    #[getter]
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().count.view(py)
    }
    /// The C handle of the request; where handles are pointers the address of the MPI library's object.
    #[getter]
    fn request<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().request.view(py)
    }
    /// Further facts; in words in the JSON.
    #[getter]
    fn extra_text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().extra_text.view(py)
    }
    /// Why facts are None that this MPI or its transport does not keep, by their names.
    #[getter]
    fn unknown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().unknown.view(py)
    }
    /// How the facts were found and checked, where they do not stand in a list of the library's own.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().evidence.view(py)
    }
}

#[pymethods]
impl Queue {
    /// Whether it could be read. Words: ``ok``, ``no_information``, ``error``.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().state.view(py)
    }
    /// A sentence for any other state than ok.
    #[getter]
    fn detail<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().detail.view(py)
    }
    /// How many requests or entries were found of which it could not be told what they are, so that they are not
    /// among the operations. Such a queue is not whole, whatever its state says.
    #[getter]
    fn dropped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().dropped.view(py)
    }
}

#[pymethods]
impl Communicator {
    /// Its name as the MPI library holds it, which the program may have set or the library generated; a text of
    /// ours in angle brackets where it has none.
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().name.view(py)
    }
    /// Whether the program or the standard set the name, not the library; None where that is not known.
    #[getter]
    fn name_set<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().name_set.view(py)
    }
    /// A number that names the communicator within its process.
    #[getter]
    fn unique_id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().unique_id.view(py)
    }
    /// The MPI library's own number of it, as text: the same on all members where the library has such a thing.
    #[getter]
    fn context_id<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().context_id.view(py)
    }
    /// The MPI_Comm handle as the program has it, in hex: for Open MPI the address of the communicator object.
    #[getter]
    fn handle<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().handle.view(py)
    }
    /// Rank of this process in the communicator.
    #[getter]
    fn local_rank<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().local_rank.view(py)
    }
    /// Size of the (local) group.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().size.view(py)
    }
    /// World ranks of the local group in rank order; an element is None where that process's world rank is not
    /// known.
    #[getter]
    fn group<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().group.view(py)
    }
    /// World ranks of the remote group of an intercommunicator; None for an intracommunicator.
    #[getter]
    fn remote_group<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().remote_group.view(py)
    }
    /// Members of the groups that are of other worlds, by group and rank. Members: ``remote``, ``local_rank``,
    /// ``count``, ``world_key``, ``rank``.
    #[getter]
    fn elsewhere<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().elsewhere.view(py)
    }
    /// How many messages went to and came from members, where the library counts them; members without any are
    /// left out. Members: ``local_rank``, ``within_local_group``, ``sent``, ``arrived``, ``modulus``.
    #[getter]
    fn traffic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().traffic.view(py)
    }
    /// Whether ``traffic`` tells of all members: one that it lacks was sent nothing, and nothing came from it.
    #[getter]
    fn traffic_complete<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().traffic_complete.view(py)
    }
    /// The number that the next non-blocking collective of this process on it will have; None where the library
    /// does not count them. Members that have begun the same ones have the same. Constructors of communicators
    /// count too.
    #[getter]
    fn next_sequence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().next_sequence.view(py)
    }
    /// Persistent requests that are not started, or whose last run was completed, as they would start: what they
    /// send and receive nobody will, unless they are started. Members: ``status``, ``desired_local_rank``,
    /// ``desired_global_rank``, ``any_source``, ``tag_wild``, ``desired_tag``, ``desired_length``,
    /// ``system_buffer``, ``buffer``, ``actual_local_rank``, ``actual_global_rank``, ``actual_tag``,
    /// ``actual_length``, ``internal``, ``persistent``, ``call``, ``datatype``, ``count``, ``request``,
    /// ``extra_text``, ``unknown``, ``evidence``.
    #[getter]
    fn inactive<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().inactive.view(py)
    }
}

#[pymethods]
impl Process {
    /// Rank in MPI_COMM_WORLD; None where it is not known.
    #[getter]
    fn rank<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().rank.view(py)
    }
    /// Size of MPI_COMM_WORLD; None where it is not known.
    #[getter]
    fn world_size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().world_size.view(py)
    }
    /// What the MPI library calls its world; None where nothing tells it from others.
    #[getter]
    fn world_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().world_key.view(py)
    }
    /// What the MPI library calls the world that spawned it; None where none did, or it is not known.
    #[getter]
    fn parent_world_key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().parent_world_key.view(py)
    }
    /// Number of its world in ``Snapshot.worlds``; None where there is but one.
    #[getter]
    fn world<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().world.view(py)
    }
    /// Its place among the processes of all worlds; None where there is but one world, or it is not known.
    #[getter]
    fn universe_rank<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().universe_rank.view(py)
    }
    /// Process id on its host.
    #[getter]
    fn pid<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().pid.view(py)
    }
    /// When it was stopped to be read, RFC 3339 in UTC; None where only the snapshot's time is known.
    #[getter]
    fn captured_at<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().captured_at.view(py)
    }
    /// Name of the host; None where the target cannot tell.
    #[getter]
    fn host<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().host.view(py)
    }
    /// Path of the executable.
    #[getter]
    fn executable<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().executable.view(py)
    }
    /// The MPI library; None where none was found. Members: ``implementation``, ``version``, ``library``,
    /// ``build_id``, ``transport``.
    #[getter]
    fn mpi<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().mpi.view(py)
    }
    /// How the facts were obtained. Members: ``kind``, ``plugin``, ``layouts``, ``via``.
    #[getter]
    fn source<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().source.view(py)
    }
    /// How far it is with MPI; None where that is not known. Words: ``not_initialized``, ``initialized``,
    /// ``finalizing``, ``finalized``, ``ended``.
    #[getter]
    fn stage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().stage.view(py)
    }
    /// What the kernel says of it: ``running``, ``sleeping``, ``stopped``, ``zombie``, ``ended``; None where that
    /// is not known.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().state.view(py)
    }
    /// The threads that are inside MPI. Members: ``thread``, ``function``, ``file``, ``line``, ``caller``,
    /// ``arguments``, ``arguments_unknown``, ``communicator``, ``window``, ``requests``, ``fingerprint``.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().calls.view(py)
    }
    /// Where the other threads stand. Members: ``thread``, ``function``, ``caller``, ``file``, ``line``,
    /// ``fingerprint``, ``main``, ``complete``, ``application``, ``start_image``, ``through``, ``system_call``.
    #[getter]
    fn outside<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().outside.view(py)
    }
    /// Whether ``calls`` and ``outside`` are all threads, each seen down to its end; None where that is not
    /// known. Only then does a thread that is not in ``calls`` stand outside MPI for sure.
    #[getter]
    fn all_threads<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().all_threads.view(py)
    }
    /// The windows that its calls are on. Members: ``handle``, ``name``, ``communicator``, ``group``, ``epoch``,
    /// ``lock_all``, ``locks``, ``started``, ``posted``, ``unknown``.
    #[getter]
    fn windows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().windows.view(py)
    }
    /// The handles that were asked for: a list for each kind. Empty in a snapshot of queues. Members: ``kind``,
    /// ``complete``, ``detail``, ``handles``.
    #[getter]
    fn handles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().handles.view(py)
    }
    /// Processes that this one spawned or connected to, as its plug-in tells (MPI-2). Members: ``pid``, ``host``,
    /// ``executable``.
    #[getter]
    fn spawned<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().spawned.view(py)
    }
    /// The function in which a debugger is to stop to see processes that are spawned, as its plug-in tells.
    #[getter]
    fn spawn_breakpoint<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().spawn_breakpoint.view(py)
    }
    /// Facts in words that have no place elsewhere, such as messages for a communicator that does not exist yet.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().notes.view(py)
    }
    /// What could not be read of this process, in sentences.
    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().problems.view(py)
    }
}

#[pymethods]
impl Snapshot {
    /// When it was taken, RFC 3339 in UTC.
    #[getter]
    fn captured_at<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().captured_at.view(py)
    }
    /// The worlds of the processes, by number; empty where there is but one. Members: ``number``, ``key``,
    /// ``name``, ``size``, ``first``, ``parent``.
    #[getter]
    fn worlds<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().worlds.view(py)
    }
    /// What to know of the whole, in sentences: how far apart in time its processes were read.
    #[getter]
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().notes.view(py)
    }
    /// What could not be read at all, in sentences.
    #[getter]
    fn problems<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().problems.view(py)
    }
}

#[pymethods]
impl Finding {
    /// What kind of thing.
    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().kind.view(py)
    }
    /// One sentence that names ranks, and what is wrong; where that is not certain it begins with "perhaps".
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().summary.view(py)
    }
    /// The ranks it is about, as ``Snapshot.rank`` takes them; of a cycle in the order in which they wait for one
    /// another, else ascending.
    #[getter]
    fn ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().ranks.view(py)
    }
    /// Where these stand; for many ranks at the same place some of them. Members: ``rank``, ``thread``,
    /// ``function``, ``file``, ``line``, ``caller``, ``arguments``, ``arguments_unknown``, ``communicator``,
    /// ``window``, ``requests``, ``fingerprint``, ``waits_for``.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().calls.view(py)
    }
    /// Whether it follows from what was read; else it is possible, and ``evidence`` says what is not known.
    #[getter]
    fn certain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().certain.view(py)
    }
    /// What it follows from, in sentences, the strongest first; and what is not known where it is not certain.
    #[getter]
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().evidence.view(py)
    }
    /// What to look at or to do, in a sentence; may be None.
    #[getter]
    fn advice<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().advice.view(py)
    }
}

#[pymethods]
impl Diagnosis {
    /// What is said of the whole. Words: ``deadlock``, ``suspect``, ``waiting``, ``running``, ``unknown``.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().state.view(py)
    }
    /// What is said of the whole, in a sentence.
    #[getter]
    fn headline<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().headline.view(py)
    }
    /// What limits it, in sentences: ranks that could not be read, communicators that could not be told apart,
    /// queues without information.
    #[getter]
    fn limits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().limits.view(py)
    }
    /// Of what kind the limits are, in the same order; empty in an older JSON. Members: ``kind``, ``ranks``.
    #[getter]
    fn limited_by<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().limited_by.view(py)
    }
    /// Time between two looks in milliseconds; None for a single one, or where it is not known.
    #[getter]
    fn interval_ms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().interval_ms.view(py)
    }
    /// How ranks moved between two looks. Members: ``rank``, ``state``, ``how``.
    #[getter]
    fn movement<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.data().movement.view(py)
    }
}
