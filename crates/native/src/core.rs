//! The process of a core file.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use model::Facts;
use target::address::TargetAddr;
use target::cores::{CoreFile, CoreProcess};
use target::files::Reader;
use target::{Image as Listed, Mapping, Reason, Symbol, Target, TargetAbi, TargetError};

use crate::ending::{Ending, Looks};
use crate::images::Image;
use crate::process::{Process, Thread};

/// The process of a core file.
pub struct Core {
    process: CoreProcess,
    threads: Rc<[Thread]>,
    mappings: Rc<[Mapping]>,
    program: PathBuf,
    reader: Option<Reader>,
    looks: Looks,
}

impl Core {
    /// `program` is the file of its program, as [`target::cores::checked`] returns it; `reader` is for whom files are read that the
    /// core file names.
    pub fn new(core: Arc<CoreFile>, program: PathBuf, reader: Option<Reader>, ending: Ending) -> Self {
        let thread = |one: &target::cores::Thread| Thread {
            id: one.id,
            registers: one.registers.clone(),
            blocked: one.blocked,
            number: None,
        };
        let mut threads: Vec<Thread> = core.threads().iter().map(thread).collect();
        let main = core.pid();
        threads.sort_by_key(|thread| (Some(thread.id) != main, thread.id));
        let mapping = |one: &target::cores::MappedFile| Mapping {
            start: TargetAddr::new(one.start),
            end: TargetAddr::new(one.end),
            readable: true,
            writable: false,
            code: core.may_be_code(one.start),
            shared: false,
            offset: one.offset,
            file: (String::new(), 0),
            name: one.name.clone(),
        };
        let mut mappings: Vec<Mapping> = core.mappings().iter().map(mapping).collect();
        // Code that is of no file: the kernel's own, and what was made at run time.
        let listed = |start: u64| core.mapping(start).is_some();
        mappings.extend(core.regions().into_iter().filter(|region| !listed(region.start)).map(|region| {
            Mapping {
                start: TargetAddr::new(region.start),
                end: TargetAddr::new(region.end),
                readable: region.readable,
                writable: region.writable,
                code: core.is_code(region.start),
                shared: false,
                offset: 0,
                file: (String::new(), 0),
                name: core
                    .vdso()
                    .filter(|start| *start == region.start)
                    .map_or(region.name, |_| target::libraries::VDSO.into()),
            }
        }));
        mappings.sort_by_key(|mapping| mapping.start);
        let looks = Looks::new(ending);
        let process = CoreProcess::new(core, program.clone()).for_reader(reader.clone());
        Self { process, threads: threads.into(), mappings: mappings.into(), program, reader, looks }
    }

    /// With a debugger's numbers of its threads, by the kernel's.
    #[must_use]
    pub fn numbered(self, numbers: &HashMap<u32, i64>) -> Self {
        let number = |thread: &Thread| Thread { number: numbers.get(&thread.id).copied(), ..thread.clone() };
        Self { threads: self.threads.iter().map(number).collect(), ..self }
    }

    /// The process as a target.
    pub fn process(&self) -> &CoreProcess {
        &self.process
    }
}

impl Target for Core {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.looks.may_go_on()?;
        self.process.read(addr, buf)
    }

    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        Ok(self.threads().iter().map(|thread| TargetAddr::new(thread.registers.stack_pointer())).collect())
    }

    fn abi(&self) -> TargetAbi {
        self.process.abi()
    }

    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.process.symbol(name)
    }

    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        self.process.symbols()
    }

    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        self.process.function_at(addr)
    }

    fn images(&self) -> Result<Vec<Listed>, TargetError> {
        self.process.images()
    }
}

impl Process for Core {
    fn threads(&self) -> Rc<[Thread]> {
        Rc::clone(&self.threads)
    }

    fn main_thread(&self) -> Option<u32> {
        self.process.core().pid()
    }

    fn mappings(&self) -> Rc<[Mapping]> {
        Rc::clone(&self.mappings)
    }

    fn places(&self, image: &Image) -> Vec<PathBuf> {
        let program = image.is_program.then(|| self.program.clone());
        let named = Some(PathBuf::from(&image.path)).filter(|path| path.as_os_str() != OsStr::new(""));
        program.into_iter().chain(named).collect()
    }

    fn program_headers(&self) -> Option<u64> {
        self.process.core().program_headers().map(|(headers, _)| headers)
    }

    fn reader(&self) -> Option<Reader> {
        self.reader.clone()
    }

    fn here(&self) -> Option<u32> {
        None
    }

    fn facts(&self, variables: &[&str]) -> Facts {
        self.told(variables)
    }

    fn has_stacks(&self) -> bool {
        self.process.core().holds_stacks()
    }
}
