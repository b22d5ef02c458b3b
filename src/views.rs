//! What Python shows of the model. Made by tools/make-views from docs/schema.json (`make schema`).

use pyo3::prelude::*;

use super::diagnosis::{Diagnosis, Finding};
use super::process::{Communicator, Process};
use super::queue::{Operation, Queue};
use super::snapshot::Snapshot;
use super::stacks::{StackNode, StackTree};
use super::view::{View as _, views};

views! {
    Operation {
        /// How far it is. Words: ``pending``, ``in_transit``, ``matched``, ``complete``.
        status,
        /// The peer's rank in the communicator; None for any source, or where it is not known.
        desired_local_rank,
        /// The peer's rank in MPI_COMM_WORLD; None for any source, or where it is not known.
        desired_global_rank,
        /// Whether a receive takes any source.
        any_source,
        /// Whether a receive takes any tag.
        tag_wild,
        /// The tag; None where it is wild or not known.
        desired_tag,
        /// Length of the message, or of the buffer of a receive, in bytes.
        desired_length,
        /// Whether the data lies in a buffer of the system: a buffered send's copy, an unexpected message.
        system_buffer,
        /// Address of the data in the process.
        buffer,
        /// Rank in the communicator of the peer that was matched (receives), or of the destination (sends).
        actual_local_rank,
        /// The same peer's rank in MPI_COMM_WORLD.
        actual_global_rank,
        /// The tag that was matched.
        actual_tag,
        /// Length of the message that was matched, in bytes.
        actual_length,
        /// Whether the MPI library posted it for itself, in a collective for instance.
        internal,
        /// Whether it belongs to a persistent request.
        persistent,
        /// The MPI function that made it, such as ``MPI_Irecv``, where that is known.
        call,
        /// Name of the datatype, where it has one.
        datatype,
        /// Number of elements of the datatype.
        count,
        /// The C handle of the request; where handles are pointers the address of the MPI library's object.
        request,
        /// Of a send that waits for its receiver: by which address or number the MPI library, or the network's below
        /// it, names the request in its messages; None where that is not known.
        library_request,
        /// Of a message that has arrived and that its sender waits with: its sender's request, as ``library_request``
        /// names it there; None where the message names none.
        sender_request,
        /// As ``CallRequest.started_by``; of an operation of a blocking call empty. Members: ``function``, ``file``,
        /// ``line``, ``caller``, ``request``, ``root``, ``certain``, ``how``.
        started_by,
        /// Further facts; in words in the JSON.
        extra_text,
        /// Why facts are None that this MPI or its transport does not keep, by their names.
        unknown,
        /// How the facts were found and checked, where they do not stand in a list of the library's own.
        evidence,
    }
}

views! {
    Queue {
        /// Whether it could be read. Words: ``ok``, ``no_information``, ``error``.
        state,
        /// A sentence for any other state than ok.
        detail,
        /// How many of the operations stand in no known order among those of the same peer.
        unordered,
        /// How many requests or entries were found of which it could not be told what they are, so that they are not
        /// among the operations. Such a queue is not whole, whatever its state says.
        dropped,
    }
}

views! {
    Communicator {
        /// Its name as the MPI library holds it, which the program may have set or the library generated; a text of
        /// ours in angle brackets where it has none.
        name,
        /// Whether the program or the standard set the name, not the library; None where that is not known.
        name_set,
        /// A number that names the communicator within its process.
        unique_id,
        /// The MPI library's own number of it, as text: the same on all members where the library has such a thing.
        context_id,
        /// The MPI_Comm handle as the program has it, in hex: for Open MPI the address of the communicator object.
        handle,
        /// Rank of this process in the communicator.
        local_rank,
        /// Size of the (local) group.
        size,
        /// World ranks of the local group in rank order; an element is None where that process's world rank is not
        /// known.
        group,
        /// World ranks of the remote group of an intercommunicator; None for an intracommunicator.
        remote_group,
        /// Members of the groups that are of other worlds, by group and rank. Members: ``remote``, ``local_rank``,
        /// ``count``, ``world_key``, ``rank``.
        elsewhere,
        /// How many messages went to and came from members, where the library counts them; members without any are
        /// left out. Members: ``local_rank``, ``within_local_group``, ``sent``, ``arrived``, ``modulus``.
        traffic,
        /// Whether ``traffic`` tells of all members: one that it lacks was sent nothing, and nothing came from it.
        traffic_complete,
        /// The number that the next non-blocking collective of this process on it will have; None where the library
        /// does not count them. Members that have begun the same ones have the same. Constructors of communicators
        /// count too.
        next_sequence,
        /// Persistent requests that are not started, or whose last run was completed, as they would start: what they
        /// send and receive nobody will, unless they are started. Members: ``status``, ``desired_local_rank``,
        /// ``desired_global_rank``, ``any_source``, ``tag_wild``, ``desired_tag``, ``desired_length``,
        /// ``system_buffer``, ``buffer``, ``actual_local_rank``, ``actual_global_rank``, ``actual_tag``,
        /// ``actual_length``, ``internal``, ``persistent``, ``call``, ``datatype``, ``count``, ``request``,
        /// ``library_request``, ``sender_request``, ``started_by``, ``extra_text``, ``unknown``, ``evidence``.
        inactive,
    }
}

views! {
    Process {
        /// Rank in MPI_COMM_WORLD; None where it is not known.
        rank,
        /// Size of MPI_COMM_WORLD; None where it is not known.
        world_size,
        /// What the MPI library calls its world; None where nothing tells it from others.
        world_key,
        /// What the MPI library calls the world that spawned it; None where none did, or it is not known.
        parent_world_key,
        /// Number of its world in ``Snapshot.worlds``; None where there is but one.
        world,
        /// Its place among the processes of all worlds; None where there is but one world, or it is not known.
        universe_rank,
        /// Process id on its host.
        pid,
        /// When it was stopped to be read, RFC 3339 in UTC; None where only the snapshot's time is known.
        captured_at,
        /// Name of the host; None where the target cannot tell.
        host,
        /// Path of the executable.
        executable,
        /// The MPI library; None where none was found. Members: ``implementation``, ``version``, ``library``,
        /// ``build_id``, ``transport``.
        mpi,
        /// How the facts were obtained. Members: ``kind``, ``plugin``, ``layouts``, ``via``.
        source,
        /// How far it is with MPI; None where that is not known. Words: ``not_initialized``, ``initialized``,
        /// ``finalizing``, ``finalized``, ``ended``.
        stage,
        /// What the kernel says of it: ``running``, ``sleeping``, ``stopped``, ``frozen`` (by its cgroup),
        /// ``zombie``, ``ended``; None where that is not known.
        state,
        /// What the kernel holds for its TCP connections, of a live process of this machine, and in what is recorded
        /// then; of others only why nothing is known. None in what earlier versions have written. Members: ``open``,
        /// ``unread_bytes``, ``unacknowledged_bytes``, ``reason``.
        tcp,
        /// The threads that are inside MPI. Members: ``thread``, ``function``, ``file``, ``line``, ``offset``,
        /// ``caller``, ``through``, ``arguments``, ``arguments_unknown``, ``communicator``, ``window``, ``group``,
        /// ``requests``, ``fingerprint``.
        calls,
        /// What the flight recorder keeps; None where the process runs without it, or what it keeps could not be
        /// read. Members: ``threads``, ``requests``, ``communicators``, ``lost_calls``, ``lost_requests``,
        /// ``lost_communicators``, ``lost_messages``, ``world_rank``, ``world_size``, ``bypassed``, ``forked_from``.
        history,
        /// Where the other threads stand. Members: ``thread``, ``function``, ``caller``, ``file``, ``line``,
        /// ``offset``, ``fingerprint``, ``main``, ``complete``, ``application``, ``start_image``, ``through``,
        /// ``system_call``.
        outside,
        /// The stacks of its threads, where they were asked for: of each only the thread and its frames. Members:
        /// ``thread``, ``complete``, ``frames``, ``arguments``, ``arguments_unknown``, ``fingerprint``,
        /// ``source_calls``, ``main``, ``kernel_thread``, ``system_call``, ``unwinding``, ``caught``.
        stacks,
        /// Exceptions: those that threads handle just now, and the one that ended a Python program; signals whose
        /// handlers run, and who ended the program. Members: ``name``, ``state``, ``thread``, ``function``, ``file``,
        /// ``line``, ``within``, ``handler``.
        exceptions,
        /// Whether Python has ended in it (Py_Finalize): then nothing is known any more of an exception that ended
        /// its program.
        python_ended,
        /// Calls in the source of the functions on its stacks that may have sent messages before. Members:
        /// ``function``, ``file``, ``line``, ``caller``, ``dest``, ``tag``, ``communicator``, ``elsewhere``.
        senders,
        /// Calls in the source of the functions on its stack that may have started non-blocking collectives before.
        /// Members: ``way``, ``first``, ``function``, ``file``, ``line``, ``caller``, ``communicator``, ``root``.
        earlier_collectives,
        /// Calls in the source of the functions on its stacks that may send messages yet. Members: ``function``,
        /// ``file``, ``line``, ``caller``, ``dest``, ``tag``, ``communicator``, ``elsewhere``.
        later_sends,
        /// Functions of collectives that its thread may come to yet, by the source of the functions on its stack,
        /// MPI_Finalize among them; None: not known.
        later_collectives,
        /// Whether ``calls`` and ``outside`` are all threads, each seen down to its end; None where that is not
        /// known. Only then does a thread that is not in ``calls`` stand outside MPI for sure.
        all_threads,
        /// The windows that its calls are on. Members: ``handle``, ``name``, ``communicator``, ``group``, ``epoch``,
        /// ``lock_all``, ``locks``, ``started``, ``posted``, ``unknown``.
        windows,
        /// The handles that were asked for: a list for each kind. Empty in a snapshot of queues. Members: ``kind``,
        /// ``complete``, ``detail``, ``handles``.
        handles,
        /// Processes that this one spawned or connected to, as its plug-in tells (MPI-2). Members: ``pid``, ``host``,
        /// ``executable``.
        spawned,
        /// The function in which a debugger is to stop to see processes that are spawned, as its plug-in tells.
        spawn_breakpoint,
        /// Facts in words that have no place elsewhere, such as messages for a communicator that does not exist yet.
        notes,
        /// What could not be read of this process, in sentences.
        problems,
    }
}

views! {
    Snapshot {
        /// When it was taken, RFC 3339 in UTC.
        captured_at,
        /// The worlds of the processes, by number; empty where there is but one. Members: ``number``, ``key``,
        /// ``name``, ``size``, ``first``, ``parent``.
        worlds,
        /// What to know of the whole, in sentences: how far apart in time its processes were read.
        notes,
        /// What could not be read at all, in sentences.
        problems,
    }
}

views! {
    Finding {
        /// What kind of thing.
        kind,
        /// One sentence that names ranks, and what is wrong; where that is not certain it begins with "perhaps".
        summary,
        /// The ranks it is about, as ``Snapshot.rank`` takes them; of a cycle in the order in which they wait for one
        /// another, else ascending.
        ranks,
        /// Where these stand; for many ranks at the same place some of them. Members: ``rank``, ``thread``,
        /// ``function``, ``file``, ``line``, ``offset``, ``caller``, ``through``, ``arguments``,
        /// ``arguments_unknown``, ``communicator``, ``window``, ``group``, ``requests``, ``fingerprint``,
        /// ``waits_for``.
        calls,
        /// Calls that started the operations, or sent the messages, that it is about; of one operation several where
        /// none is certain. Members: ``rank``, ``function``, ``file``, ``line``, ``caller``, ``request``, ``root``,
        /// ``certain``, ``how``.
        started_by,
        /// Of an odd rank: what it has that nearly all others have not, the strongest first.
        odd,
        /// Exceptions, signals and ends of programs of the ranks that others wait for, which may be why they wait.
        /// Members: ``ranks``, ``name``, ``state``, ``thread``, ``function``, ``file``, ``line``, ``within``,
        /// ``handler``.
        exceptions,
        /// The calls to look at or to change, those most to blame first; of many places some. Members: ``ranks``,
        /// ``function``, ``file``, ``line``, ``caller``, ``certain``.
        blamed,
        /// Of the finding that is told first: the ranks that can never go on because of it, directly or through
        /// others, beside those that it is about.
        waiting,
        /// Whether it follows from the finding that is told first: who mends that one need not mind this one.
        consequence,
        /// Whether it follows from what was read; else it is possible, and ``evidence`` says what is not known.
        certain,
        /// What it follows from, in sentences, the strongest first; and what is not known where it is not certain.
        evidence,
        /// What to change, and where, in a sentence or two; None only in a JSON of an earlier version.
        advice,
    }
}

views! {
    Diagnosis {
        /// What is said of the whole. Words: ``deadlock``, ``suspect``, ``waiting``, ``running``, ``unknown``.
        state,
        /// What is said of the whole, in a sentence.
        headline,
        /// What limits it, in sentences: ranks that could not be read, communicators that could not be told apart,
        /// queues without information.
        limits,
        /// Of what kind the limits are, in the same order; empty in an older JSON. Members: ``kind``, ``ranks``.
        limited_by,
        /// Time between two looks in milliseconds; None for a single one, or where it is not known.
        interval_ms,
        /// The ranks that may be in a live lock: messages went between them, and nothing else of the job changed.
        live_lock,
        /// How ranks moved between two looks. Members: ``rank``, ``state``, ``how``.
        movement,
    }
}

views! {
    StackTree {
        /// Whether all threads are in it, not the main ones only. Threads of the MPI library and its helpers are not,
        /// unless ``internal``.
        all_threads,
        /// Whether frames are there that else are folded away: inside MPI, of what wraps MPI, of interpreters, before
        /// ``main``.
        internal,
        /// Those of which no stack could be read. Members: ``ranks``, ``pids``, ``unnamed``.
        not_read,
        /// Those with a stack that was not seen to its outermost frame. Members: ``ranks``, ``pids``, ``unnamed``.
        incomplete,
        /// Those with a stack whose innermost frames are left out, because the tree would be too large. Members:
        /// ``ranks``, ``pids``, ``unnamed``.
        cut,
        /// What threads of the tree wait for outside MPI, and who has it. Members: ``ranks``, ``pids``, ``unnamed``,
        /// ``what``.
        waits,
    }
}

views! {
    StackNode {
        /// How many frames of the tree are further out.
        depth,
        /// Name of the function without parameters; of MPI's as the application calls it. None where it is not known.
        function,
        /// Source file as the compiler was given it, where debug information says it; of MPI's functions None.
        file,
        /// Line in it at which the stacks stand.
        line,
        /// The language of code that an interpreter runs; None: compiled code. Words: ``python``.
        language,
        /// The file that the code is from, where the function is not known.
        image,
        /// Whether it is a function of MPI; frames inside it are folded away.
        mpi,
        /// Whether what called it is not known: the stacks were not seen to their end.
        incomplete,
        /// How many frames between it and the one that called it are left out, of stacks that are too deep.
        left_out,
        /// Where stacks have the frame several times in a row (a function that calls itself): how often. Members:
        /// ``least``, ``most``.
        repeats,
        /// Ranks of the tree whose stacks do not pass through it, where these are no more than those that do.
        absent,
        /// Whose stacks end here: it is their innermost frame that is not folded away. Members: ``ranks``, ``pids``,
        /// ``unnamed``.
        ends,
        /// The threads whose stacks pass through it, by their numbers; empty where only main threads are in the tree.
        /// Members: ``thread``, ``ranks``, ``pids``, ``unnamed``.
        threads,
    }
}
