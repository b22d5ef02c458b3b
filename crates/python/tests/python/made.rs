//! A made-up interpreter: its objects in memory, and the stacks of compiled code that run it.

use model::{Frame, Stack};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Image, TargetAbi};

use super::shapes::{Entry, Innermost, Position, Shape};

pub const BASE: u64 = 0x7f00_0000_0000;
const IS_EXCEPTION: u64 = 1 << 30;
const PROGRAM: &str = "/opt/python3.NN/bin/python3.NN";

/// Memory that grows.
pub struct Heap {
    pub bytes: Vec<u8>,
}

impl Heap {
    pub fn space(&mut self, size: usize) -> u64 {
        let at = self.bytes.len().next_multiple_of(16);
        self.bytes.resize(at + size, 0);
        BASE + at as u64
    }

    pub fn put(&mut self, at: u64, size: usize, value: u64) {
        let at = usize::try_from(at - BASE).unwrap();
        self.bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    pub fn word(&mut self, at: u64, value: u64) {
        self.put(at, 8, value);
    }

    pub fn data(&mut self, bytes: &[u8]) -> u64 {
        let at = self.space(bytes.len().max(1));
        let begin = usize::try_from(at - BASE).unwrap();
        self.bytes[begin..begin + bytes.len()].copy_from_slice(bytes);
        at
    }
}

/// The types whose names are looked at.
struct Types {
    code: u64,
    text: u64,
    bytes: u64,
    frame: u64,
    traceback: u64,
    error: u64,
    dictionary: u64,
}

/// An interpreter of one release.
pub struct Made {
    pub shape: Shape,
    pub heap: Heap,
    pub runtime: u64,
    pub interpreter: u64,
    types: Types,
    last_thread: Option<u64>,
    stacks: Vec<Stack>,
}

impl Made {
    pub fn new(shape: Shape) -> Self {
        let mut heap = Heap { bytes: Vec::new() };
        let runtime = heap.space(0x1000);
        if !shape.described.is_empty() {
            heap.word(runtime, u64::from_le_bytes(*b"xdebugpy"));
            heap.word(runtime + 8, 3 << 24 | shape.minor << 16);
            for (place, value) in shape.described {
                heap.word(runtime + place, *value);
            }
        }
        let interpreter = heap.space(0x3000);
        heap.word(runtime + shape.interpreters, interpreter);
        heap.word(runtime + shape.interpreters + 16, 1);
        let mut kind = |name: &str, flags: u64| {
            let name = heap.data(format!("{name}\0").as_bytes());
            let kind = heap.space(416);
            heap.word(kind + 24, name);
            heap.word(kind + 168, flags);
            kind
        };
        let types = Types {
            code: kind("code", 0),
            text: kind("str", 1 << 28),
            bytes: kind("bytes", 1 << 27),
            frame: kind("frame", 0),
            traceback: kind("traceback", 0),
            error: kind("ValueError", IS_EXCEPTION),
            dictionary: kind("dict", 1 << 29),
        };
        Self { shape, heap, runtime, interpreter, types, last_thread: None, stacks: Vec::new() }
    }

    fn object(&mut self, size: usize, kind: u64) -> u64 {
        let at = self.heap.space(size);
        self.heap.word(at + 8, kind);
        at
    }

    /// A text of characters of so many bytes.
    pub fn text_of(&mut self, units: &[u64], width: usize, ascii: bool) -> u64 {
        let begin = if ascii { self.shape.ascii } else { self.shape.compact };
        let at = self.object(usize::try_from(begin).unwrap() + (units.len() + 1) * width, self.types.text);
        self.heap.word(at + 16, units.len() as u64);
        self.heap.put(at + 32, 4, ((width as u64) | 8 | if ascii { 16 } else { 0 }) << 2);
        for (index, unit) in units.iter().enumerate() {
            self.heap.put(at + begin + (index * width) as u64, width, *unit);
        }
        at
    }

    pub fn text(&mut self, text: &str) -> u64 {
        self.text_of(&text.bytes().map(u64::from).collect::<Vec<_>>(), 1, true)
    }

    pub fn code(&mut self, function: &str, file: &str, line: u64) -> u64 {
        let (function, file) = (self.text(function), self.text(file));
        let table: &[u8] = match self.shape.minor {
            8 | 9 => &[],
            10 => &[200, 0],
            _ => &[0x80 | (13 << 3) | 7, 0],
        };
        self.code_of(function, file, line, table)
    }

    pub fn code_of(&mut self, function: u64, file: u64, line: u64, table: &[u8]) -> u64 {
        let content = self.object(33 + table.len(), self.types.bytes);
        self.heap.word(content + 16, table.len() as u64);
        let begin = usize::try_from(content - BASE).unwrap() + 32;
        self.heap.bytes[begin..begin + table.len()].copy_from_slice(table);
        let code = self.object(240, self.types.code);
        let shape = self.shape;
        self.heap.word(code + shape.qualname, function);
        self.heap.word(code + shape.short_name, function);
        self.heap.word(code + shape.filename, file);
        self.heap.put(code + shape.first_line, 4, line);
        self.heap.word(code + shape.line_table, content);
        code
    }

    /// A frame that runs code, called by another; `entry`: a C function of its own runs it.
    pub fn frame(&mut self, code: u64, back: u64, entry: bool) -> u64 {
        let shape = self.shape;
        let frame = self.object(112, self.types.frame);
        if !shape.own_frame {
            // It is no object.
            self.heap.word(frame + 8, 0);
        }
        self.heap.word(frame + shape.frame_code, code);
        match shape.position {
            Position::Index(at) => self.heap.put(frame + at, 4, 0),
            Position::Pointer(at) => self.heap.word(frame + at, code + shape.code),
        }
        let mut back = back;
        match shape.entry {
            Entry::Each => {}
            Entry::Marked(at) => self.heap.put(frame + at, 1, u64::from(entry)),
            Entry::Owner(at) if entry => {
                // The interpreter's own, without code.
                let own = self.heap.space(112);
                self.heap.put(own + at, 1, 3);
                self.heap.word(own + shape.frame_back, back);
                back = own;
            }
            Entry::Owner(_) => {}
        }
        self.heap.word(frame + shape.frame_back, back);
        frame
    }

    /// A thread whose innermost frame this is, and its stack, which has so many functions that run frames.
    pub fn thread(&mut self, innermost: u64, evals: usize) -> u64 {
        let shape = self.shape;
        let thread = self.heap.space(400);
        match shape.innermost {
            Innermost::Here(at) => self.heap.word(thread + at, innermost),
            Innermost::Cframe(at, current) => {
                let cframe = self.heap.space(32);
                self.heap.word(cframe + current, innermost);
                self.heap.word(thread + at, cframe);
            }
        }
        self.heap.word(thread + 16, self.interpreter);
        let number = 100 + self.stacks.len() as u64;
        match shape.native_thread_id {
            Some(at) => self.heap.word(thread + at, number),
            None => {
                // As glibc has it on x86-64.
                let own = self.heap.space(1024);
                self.heap.put(own + 720, 4, number);
                self.heap.word(thread + shape.thread_id, own);
            }
        }
        let before = self.last_thread.map_or(self.interpreter + shape.threads, |last| last + 8);
        self.heap.word(before, thread);
        self.last_thread = Some(thread);
        let frame = |function: &str| Frame {
            function: Some(function.to_owned()),
            image: Some(PROGRAM.to_owned()),
            application: Some(true),
            ..Frame::default()
        };
        let mut frames = vec![frame("read")];
        frames.extend((0..evals).map(|_| frame("_PyEval_EvalFrameDefault")));
        frames.push(frame("main"));
        self.stacks.push(Stack {
            thread: number as i64 - 99,
            complete: true,
            frames,
            kernel_thread: Some(number as i64),
            ..Stack::default()
        });
        thread
    }

    /// An exception that came through these frames, outermost first.
    pub fn exception(&mut self, frames: &[u64]) -> u64 {
        let shape = self.shape;
        let value = self.object(88, self.types.error);
        let mut before = value + shape.traceback;
        for frame in frames {
            let traceback = self.object(48, self.types.traceback);
            let object = if shape.own_frame {
                *frame
            } else {
                let object = self.object(64, self.types.frame);
                self.heap.word(object + 24, *frame);
                object
            };
            self.heap.word(traceback + 24, object);
            self.heap.word(before, traceback);
            before = traceback + 16;
        }
        value
    }

    /// Lets a thread handle an exception.
    pub fn handles(&mut self, thread: u64, value: u64) {
        let item = self.heap.space(40);
        self.heap.word(item + self.shape.exc_value, value);
        self.heap.word(thread + self.shape.exc_info, item);
    }

    /// Lets `sys` have a value under a name.
    pub fn in_sys(&mut self, name: &str, value: u64) {
        let key = self.text(name);
        let keys = self.heap.space(256);
        let (count, first, entry) = if self.shape.minor <= 10 {
            self.heap.word(keys + 8, 8);
            (32, 48, 24)
        } else {
            // Eight bytes of indices; names without hashes.
            self.heap.put(keys + 9, 1, 3);
            self.heap.put(keys + 10, 1, 1);
            (24, 40, 16)
        };
        self.heap.word(keys + count, 2);
        let at = keys + first + entry + if entry == 24 { 8 } else { 0 };
        self.heap.word(at, key);
        self.heap.word(at + 8, value);
        let dictionary = self.object(64, self.types.dictionary);
        self.heap.word(dictionary + 32, keys);
        self.heap.word(self.interpreter + self.shape.sysdict, dictionary);
    }

    /// The process, and its stacks.
    pub fn process(&self) -> (MockTarget, Vec<Stack>) {
        let mut target = MockTarget::new(TargetAbi::LITTLE_64);
        target.add_segment(TargetAddr::new(BASE), self.heap.bytes.clone());
        target.add_symbol("_PyRuntime", TargetAddr::new(self.runtime), Some(0x1000));
        let path = PROGRAM.replace("NN", &self.shape.minor.to_string());
        target.add_image(Image { path, bias: TargetAddr::new(0x40_0000), build_id: None, is_executable: true });
        (target, self.stacks.clone())
    }
}
