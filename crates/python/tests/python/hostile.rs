//! Interpreters that are made to harm: circles, sizes without a measure, and more than anybody has.

use std::time::{Duration, Instant};

use made_up::share;

use super::made::{BASE, Made};
use super::shapes::{SHAPES, Shape};
use super::whole::{read, told, usual};

/// No more is written of a process, in bytes.
const MOST_TEXT: usize = 96 << 20;

fn quick<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = run();
    assert!(begin.elapsed() < Duration::from_secs(20), "{what}: {:?}", begin.elapsed());
    result
}

fn each(run: impl Fn(Shape, Made)) {
    some(1, run);
}

/// For what takes long with every shape.
fn some(every: usize, run: impl Fn(Shape, Made)) {
    for shape in SHAPES.into_iter().step_by(every) {
        run(shape, Made::new(shape));
    }
}

#[test]
fn circles_end() {
    each(|shape, mut made| {
        let code = made.code("f", "x.py", 3);
        let (one, two) = (made.frame(code, 0, false), made.frame(code, 0, false));
        made.heap.word(one + shape.frame_back, two);
        made.heap.word(two + shape.frame_back, one);
        let thread = made.thread(one, 1);
        let error = made.exception(&[one]);
        let traceback =
            u64::from_le_bytes(made.heap.bytes[(error - BASE + shape.traceback) as usize..][..8].try_into().unwrap());
        made.heap.word(traceback + 16, traceback);
        made.handles(thread, error);
        let (stacks, found) = quick("frames", || read(&made));
        assert_eq!(told(&stacks[0]).len(), 2);
        assert!(found.notes.iter().any(|note| note.contains("lead in a circle")), "{:?}", found.notes);
        assert_eq!(found.exceptions.len(), 1, "of a circle of calls the place is that of the last");
        // Handlers.
        let item = made.heap.space(40);
        made.heap.word(item + shape.previous_item, item);
        made.heap.word(thread + shape.exc_info, item);
        let (_, found) = quick("handlers", || read(&made));
        assert!(found.notes.iter().any(|note| note.contains("do not end")), "{:?}", found.notes);
        // Threads, then interpreters.
        made.heap.word(thread + 8, thread);
        let (stacks, found) = quick("threads", || read(&made));
        assert!(told(&stacks[0]).is_empty() && found.notes.len() == 1, "{:?}", found.notes);
        made.heap.word(thread + 8, 0);
        made.heap.word(made.interpreter + shape.next_interpreter, made.interpreter);
        let (stacks, found) = quick("interpreters", || read(&made));
        assert!(told(&stacks[0]).is_empty() && found.notes.len() == 1, "{:?}", found.notes);
    });
}

#[test]
fn long_names_are_cut() {
    each(|_, mut made| {
        let long = made.text(&"x".repeat(100_000));
        let code = made.code_of(long, long, 3, &[]);
        let file = made.text("x.py");
        made.heap.word(code + made.shape.filename, file);
        let inner = made.code("f", "x.py", 3);
        let outer = made.frame(code, 0, true);
        let frame = made.frame(inner, outer, true);
        made.thread(frame, 2);
        let (stacks, found) = read(&made);
        let names: Vec<usize> = told(&stacks[0]).iter().map(|(function, ..)| function.chars().count()).collect();
        assert_eq!((names, found.notes.len()), (vec![1, 4097], 0));
        // One that says that it is longer than memory.
        made.heap.word(long + 16, u64::MAX);
        let (stacks, found) = read(&made);
        assert_eq!((told(&stacks[0]).len(), found.notes.len()), (1, 1), "{:?}", found.notes);
    });
}

#[test]
fn a_deep_stack_is_cut_and_proves_no_end() {
    each(|shape, mut made| {
        let code = made.code("again", "x.py", 3);
        let module = made.code("<module>", "x.py", 9);
        let mut frame = made.frame(module, 0, true);
        for _ in 0..5000 {
            frame = made.frame(code, frame, false);
        }
        made.thread(frame, 1);
        let error = made.exception(&[frame]);
        made.in_sys(if shape.minor >= 12 { "last_exc" } else { "last_value" }, error);
        let (stacks, found) = quick("deep", || read(&made));
        assert_eq!(told(&stacks[0]).len(), 2000);
        assert!(found.notes.iter().any(|note| note.contains("too many")), "{:?}", found.notes);
        assert_eq!(found.exceptions, []);
    });
}

#[test]
fn many_threads_of_long_names_are_not_read_to_their_end() {
    each(|shape, mut made| {
        let name = made.text(&"n".repeat(4000));
        let mut frame = 0;
        for line in 0..1900 {
            let code = made.code_of(name, name, line + 1, &[]);
            // It has a file of its own.
            let file = made.text("x.py");
            made.heap.word(code + shape.filename, file);
            frame = made.frame(code, frame, false);
        }
        for _ in 0..300 {
            made.thread(frame, 1);
        }
        let (stacks, found) = quick("many", || read(&made));
        let texts = stacks.iter().flat_map(|stack| &stack.frames);
        let size: usize = texts.map(|frame| frame.function.as_ref().map_or(0, String::len)).sum();
        assert!(size < MOST_TEXT, "{size}");
        assert!(found.notes.iter().any(|note| note.contains("more Python frames and names")), "{:?}", found.notes);
        assert!(found.notes.len() < 20 && found.exceptions.is_empty(), "{:?}", found.notes.len());
    });
}

#[test]
fn large_tables_of_lines_are_paid_for() {
    some(share::every(3), |shape, mut made| {
        let (name, file) = (made.text("f"), made.text("x.py"));
        // No line within: it is gone through to its end each time.
        let table = if shape.minor <= 10 { [1, 0x80].repeat(1 << 18) } else { vec![0x80 | (15 << 3); 1 << 19] };
        let code = made.code_of(name, file, 3, &table);
        let mut frame = 0;
        for index in 0..1900 {
            frame = made.frame(code, frame, false);
            match shape.position {
                super::shapes::Position::Index(at) => made.heap.put(frame + at, 4, (1 << 25) + index),
                super::shapes::Position::Pointer(at) => {
                    made.heap.word(frame + at, code + shape.code + (1 << 25) + index)
                }
            }
        }
        for _ in 0..20 {
            made.thread(frame, 1);
        }
        let (_, found) = quick("tables", || read(&made));
        assert!(found.notes.iter().any(|note| note.contains("more Python frames and names")), "{:?}", found.notes);
    });
}

#[test]
fn what_is_no_interpreter_is_said_to_be_none() {
    each(|shape, mut made| {
        usual(&mut made);
        let whole = made.heap.bytes.clone();
        for cut in [0, 8, 40, 0x800, 0x1000, 0x2000, 0x4100, whole.len() / 2, whole.len() - 600] {
            made.heap.bytes = whole[..cut].to_vec();
            let (stacks, found) = quick("cut", || read(&made));
            let frames = stacks.iter().flat_map(told).count();
            assert!(frames <= 4, "3.{}: {cut}", shape.minor);
            assert!(!found.notes.is_empty() || cut > whole.len() / 2, "3.{}: {cut}: {found:?}", shape.minor);
        }
    });
}

#[test]
fn a_description_of_itself_is_bounded() {
    for shape in SHAPES.iter().filter(|shape| !shape.described.is_empty()) {
        for (place, _) in shape.described {
            for wrong in [u64::MAX, 1 << 40, 17 << 20, 0, 3] {
                let mut made = Made::new(*shape);
                usual(&mut made);
                made.heap.word(made.runtime + place, wrong);
                let (stacks, found) = quick("offset", || read(&made));
                let frames: Vec<_> = stacks.iter().flat_map(told).collect();
                assert!(frames.len() <= 4 && found.notes.len() < 20, "3.{}: {place}: {wrong}", shape.minor);
            }
        }
    }
}
