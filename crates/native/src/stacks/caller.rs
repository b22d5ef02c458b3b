//! The frame that called a function of MPI, as `calls` asks for it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use calls::{Frame, Frames, Unknown};
use functions::constants::Family;
use target::address::TargetAddr;
use target::files::{Reader, about};
use target::libraries::{is_application, is_mpi_file};
use target::{Target, TargetAbi};
use variables::{DebugInfo, FrameFacts, FrameScope, OuterFrame};

use super::thread::{gone, read};
use super::walked::{Shown, Walked, place};
use crate::images::{Image, Loaded};
use crate::process::Process;
use crate::stacks::Shared;
use crate::stop::processor_time;

/// A frame that called MPI.
pub(super) struct NativeCaller<P: Process> {
    shared: Rc<Shared<P>>,
    walked: Rc<Walked>,
    /// Its place among those that are shown.
    shown: usize,
}

impl<P: Process + 'static> NativeCaller<P> {
    pub(super) fn new(shared: Rc<Shared<P>>, walked: Rc<Walked>, shown: usize) -> Result<Self, Unknown> {
        walked.shown.get(shown).ok_or_else(gone)?;
        Ok(Self { shared, walked, shown })
    }

    fn frame(&self) -> Result<&Shown, Unknown> {
        self.walked.shown.get(self.shown).ok_or_else(gone)
    }

    fn loaded(&self) -> Result<&Arc<Loaded>, Unknown> {
        self.walked.file(self.frame()?).ok_or_else(|| Unknown::new("its code is in no file"))
    }
}

/// What the variables of a frame of the stack are found by.
fn facts(walked: &Rc<Walked>, at: usize) -> Option<Rc<FrameFacts>> {
    let (frame, loaded) = (walked.stack.get(at)?, walked.loaded.get(at)?.as_ref()?);
    let further = Rc::clone(walked);
    let outer = move || {
        let loaded = further.loaded.get(at + 1)?.as_ref()?;
        let info = loaded.file.as_ref().and_then(|file| file.information().cloned());
        Some(OuterFrame { info, facts: facts(&further, at + 1)? })
    };
    Some(Rc::new(FrameFacts {
        pc: place(frame),
        bias: loaded.bias,
        registers: frame.registers.iter().collect::<BTreeMap<_, _>>(),
        cfa: frame.cfa,
        outer: Some(Rc::new(outer)),
    }))
}

impl<P: Process + 'static> calls::Caller for NativeCaller<P> {
    type Scope = FrameScope;

    fn file(&self) -> Result<Option<PathBuf>, Unknown> {
        let source = self.frame()?.source.as_ref();
        Ok(source.filter(|source| source.line.is_some_and(|line| line > 0)).and_then(|source| source.path.clone()))
    }

    fn line(&self) -> Result<Option<i64>, Unknown> {
        Ok(self.frame()?.frame.line)
    }

    fn built(&self) -> Result<Option<f64>, Unknown> {
        let Some(file) = &self.loaded()?.file else { return Ok(None) };
        let about = about(file.object.path()).ok();
        Ok(about.map(|about| about.modified.0 as f64 + about.modified.1 as f64 / 1e9))
    }

    fn reader(&self) -> Result<Option<Reader>, Unknown> {
        Ok(self.shared.memory.inner().reader())
    }

    fn family(&self) -> Result<Option<Family>, Unknown> {
        if let Some(known) = self.shared.family.get() {
            return Ok(*known);
        }
        let names: Vec<String> = self.shared.images.all().iter().map(|image| image.shown()).collect();
        let found = Family::of(&|name: &str| self.symbol(name), &names.join(" "))?;
        Ok(*self.shared.family.get_or_init(|| found))
    }

    fn symbol(&self, name: &str) -> Result<Option<i128>, Unknown> {
        let found = self.shared.memory.symbol(name).map_err(|error| Unknown::new(error.to_string()))?;
        Ok(found.map(|symbol| i128::from(symbol.addr.get())))
    }

    fn scope(&self, fortran: bool) -> Result<FrameScope, Unknown> {
        let shown = self.frame()?;
        let information = |loaded: &Loaded| -> Option<Arc<DebugInfo>> { loaded.file.as_ref()?.information().cloned() };
        let loaded = self.loaded()?;
        let own = information(loaded).ok_or_else(|| Unknown::new("it has no debug information"))?;
        let facts = match shown.jump {
            // Nothing is left of its own variables; those of the program are there.
            Some(_) => Some(Rc::new(FrameFacts {
                pc: self.walked.pc(shown).ok_or_else(gone)?.wrapping_sub(1),
                bias: loaded.bias,
                registers: BTreeMap::new(),
                cfa: None,
                outer: None,
            })),
            None => facts(&self.walked, shown.at),
        };
        let facts = facts.ok_or_else(gone)?;
        // Those in which a program may have variables of its own; and its MPI's.
        let wanted = |image: &&Image| {
            let path = image.shown();
            image.start != loaded.image.start && (is_application(&path, &self.shared.executable) || is_mpi_file(&path))
        };
        let images = self.shared.images.all().iter().filter(wanted);
        let others = images.filter_map(|image| self.shared.images.loaded(image.start));
        let others = others.filter_map(|loaded| Some((information(&loaded)?, loaded.bias))).collect();
        let memory = Rc::new(Memory { shared: Rc::clone(&self.shared) });
        FrameScope::new(own, facts, others, shown.depth, fortran, memory)
    }

    fn frames(&self) -> Result<Frames<'_>, Unknown> {
        self.frame()?;
        let own = self.walked.shown.iter().skip(self.shown).filter(|shown| !shown.is_inlined());
        Ok(Box::new(own.map_while(|shown| self.call_frame(shown)).map(Ok)))
    }

    fn abi(&self) -> Result<TargetAbi, Unknown> {
        Ok(self.shared.memory.abi())
    }

    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown> {
        read(&self.shared, address, length)
    }

    fn read_code(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown> {
        read(&self.shared, address, length)
    }

    fn processor_time(&self) -> Result<Duration, Unknown> {
        Ok(processor_time())
    }
}

impl<P: Process + 'static> NativeCaller<P> {
    /// A frame, as call sites are found by it; `None` where it has no debug information.
    fn call_frame(&self, shown: &Shown) -> Option<Frame> {
        let (frame, loaded) = (self.walked.stack.get(shown.at)?, self.walked.file(shown)?);
        let file = loaded.file.as_ref()?;
        file.information()?;
        let object = file.object.debug_file().map_or(&file.object, |debug| debug.as_ref());
        let machine = frame.registers.machine();
        // Nothing is left of the frame of a function that ended with a jump.
        let own = Some(frame).filter(|_| shown.jump.is_none());
        let registers: HashMap<String, u64> = own
            .into_iter()
            .flat_map(|frame| frame.registers.iter())
            .filter_map(|(number, value)| Some((machine.name(number)?.to_owned(), value)))
            .collect();
        Some(Frame {
            path: object.path().to_path_buf(),
            build_id: object.build_id().map(str::to_owned),
            pc: self.walked.pc(shown)?,
            text: file.object.text_address().wrapping_add(loaded.bias),
            registers,
            cfa: own.and_then(|frame| frame.cfa),
        })
    }
}

/// The memory of the process, as variables ask for it.
struct Memory<P: Process> {
    shared: Rc<Shared<P>>,
}

impl<P: Process> variables::Memory for Memory<P> {
    fn read(&self, address: u64, into: &mut [u8]) -> bool {
        self.shared.memory.read(TargetAddr::new(address), into).is_ok()
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        self.shared.memory.symbol(name).ok().flatten().map(|symbol| symbol.addr.get())
    }

    fn defined(&self, bias: u64, name: &str) -> Option<u64> {
        let loaded = self.shared.images.loaded_with(bias)?;
        Some(loaded.file.as_ref()?.object.variable(name)?.wrapping_add(bias))
    }

    fn copied(&self, name: &str) -> Option<u64> {
        let program = self.shared.images.loaded(self.shared.images.program()?.start)?;
        Some(program.file.as_ref()?.object.exported_variable(name)?.wrapping_add(program.bias))
    }
}
