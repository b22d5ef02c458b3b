//! What is told of whole interpreters.

use model::{ExceptionState, Frame, Stack};
use python::{Told, add_frames};

use super::made::Made;
use super::shapes::SHAPES;

pub type Place = (String, String, i64);

/// Python's frames of a stack, innermost first.
pub fn told(stack: &Stack) -> Vec<Place> {
    let own = |frame: &&Frame| frame.language.is_some();
    let place =
        |frame: &Frame| (frame.function.clone().unwrap(), frame.file.clone().unwrap(), frame.line.unwrap_or(-1));
    stack.frames.iter().filter(own).map(place).collect()
}

pub fn read(made: &Made) -> (Vec<Stack>, Told) {
    let (target, mut stacks) = made.process();
    let told = add_frames(&target, &mut stacks);
    (stacks, told)
}

/// Two threads: `<module>` calls `solve`, which calls `step` through C; and one that runs `work`.
pub fn usual(made: &mut Made) -> [Vec<Place>; 2] {
    let place = |function: &str, line| (function.to_owned(), "/home/me/x.py".to_owned(), line);
    let code = |made: &mut Made, function, line| made.code(function, "/home/me/x.py", line);
    let codes = [code(made, "<module>", 30), code(made, "solve", 20), code(made, "step", 10), code(made, "work", 5)];
    let module = made.frame(codes[0], 0, true);
    let solve = made.frame(codes[1], module, matches!(made.shape.minor, 8..=10));
    let step = made.frame(codes[2], solve, true);
    let work = made.frame(codes[3], 0, true);
    let evals = if made.shape.minor <= 10 { 3 } else { 2 };
    let thread = made.thread(step, evals);
    made.thread(work, 1);
    let error = made.exception(&[module, solve]);
    made.handles(thread, error);
    [vec![place("step", 10), place("solve", 20), place("<module>", 30)], vec![place("work", 5)]]
}

#[test]
fn every_release_is_read() {
    for shape in SHAPES {
        let mut made = Made::new(shape);
        let places = usual(&mut made);
        let (stacks, found) = read(&made);
        assert_eq!(found.notes, Vec::<String>::new(), "3.{}", shape.minor);
        assert_eq!([told(&stacks[0]), told(&stacks[1])], places, "3.{}", shape.minor);
        let [exception] = found.exceptions.as_slice() else { panic!("3.{}: {found:?}", shape.minor) };
        assert_eq!((exception.name.as_str(), exception.thread), ("ValueError", Some(1)));
        assert_eq!((exception.function.as_deref(), exception.line), (Some("solve"), Some(20)));
        assert!(!found.ended);
        // Each stands behind the function of C that runs it.
        let functions: Vec<&str> = stacks[0].frames.iter().filter_map(|frame| frame.function.as_deref()).collect();
        assert_eq!(&functions[..3], ["read", "_PyEval_EvalFrameDefault", "step"], "3.{}", shape.minor);
        assert_eq!(functions.last(), Some(&"main"));
    }
}

#[test]
fn an_unhandled_exception_is_told_of_the_whole_program_alone() {
    for shape in SHAPES {
        let name = if shape.minor >= 12 { "last_exc" } else { "last_value" };
        for (outermost, file, wanted) in [
            ("<module>", "/home/me/x.py", true),
            ("_run_module_as_main", "<frozen runpy>", true),
            ("<module>", "<console>", false),
            ("__call__", "/usr/lib/python3.11/tkinter/__init__.py", false),
        ] {
            let mut made = Made::new(shape);
            let codes = [made.code(outermost, file, 3), made.code("check", "/home/me/x.py", 12)];
            let module = made.frame(codes[0], 0, true);
            let check = made.frame(codes[1], module, true);
            made.thread(0, 0);
            let error = made.exception(&[module, check]);
            made.in_sys(name, error);
            let (_, found) = read(&made);
            let told: Vec<_> =
                found.exceptions.iter().map(|one| (one.state, one.line, one.function.as_deref())).collect();
            let all = [(ExceptionState::Unhandled, Some(12), Some("check"))];
            assert_eq!(told, if wanted { &all[..] } else { &[] }, "3.{}: {outermost} of {file}", shape.minor);
            // While the program runs, it is one of long ago.
            if wanted {
                made.thread(module, 1);
                assert_eq!(read(&made).1.exceptions, []);
            }
        }
    }
}

#[test]
fn an_interpreter_that_has_ended_is_told_from_one_that_never_began() {
    for shape in SHAPES {
        let mut made = Made::new(shape);
        made.thread(0, 0);
        made.heap.word(made.runtime + shape.interpreters, 0);
        let (_, found) = read(&made);
        assert!(found.ended && found.notes.is_empty() && found.exceptions.is_empty(), "3.{}: {found:?}", shape.minor);
        for count in [0, u64::MAX] {
            made.heap.word(made.runtime + shape.interpreters + 16, count);
            assert!(!read(&made).1.ended, "3.{}", shape.minor);
        }
    }
}

#[test]
fn names_are_of_any_characters() {
    for shape in SHAPES {
        let mut made = Made::new(shape);
        let names: [(Vec<u64>, usize, bool, String); 5] = [
            ("größe".chars().map(u64::from).collect(), 1, false, "größe".to_owned()),
            ("値".chars().map(u64::from).collect(), 2, false, "値".to_owned()),
            ("🐍".chars().map(u64::from).collect(), 4, false, "🐍".to_owned()),
            // Bytes of a file's name that are no UTF-8, half of a pair, and no character at all.
            (vec![0x61, 0xdcff, 0xd800], 2, false, "a\\xff\u{fffd}".to_owned()),
            (vec![0x11_0000, 0x1b], 4, false, "\u{fffd}\u{1b}".to_owned()),
        ];
        let mut back = 0;
        for (units, width, ascii, _) in &names {
            let name = made.text_of(units, *width, *ascii);
            let code = made.code_of(name, name, 1, &[]);
            // One that has the same text for both is the interpreter's own where it has no line.
            let other = made.text("x.py");
            made.heap.word(code + shape.filename, other);
            back = made.frame(code, back, true);
        }
        made.thread(back, names.len());
        let (stacks, _) = read(&made);
        let found: Vec<String> = told(&stacks[0]).into_iter().map(|(function, _, _)| function).collect();
        let wanted: Vec<String> = names.iter().rev().map(|(.., text)| text.clone()).collect();
        assert_eq!(found, wanted, "3.{}", shape.minor);
    }
}
