//! The process of a core file as a target, read without a debugger.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::shown;
use super::file::CoreFile;
use super::libraries::r_debug;
use super::notes::AT_PHDR;
use crate::address::TargetAddr;
use crate::files::{self, Reader};
use crate::{
    ElfSymbols, Image, PageCache, Symbol, Target, TargetAbi, TargetError, build_id_in_memory, images_from_link_map,
    r_debug_from_program_headers,
};

/// The process of a core file, and its program.
pub struct CoreProcess {
    core: Arc<CoreFile>,
    program: PathBuf,
    symbols: OnceCell<Result<ElfSymbols, TargetError>>,
    reader: Option<Reader>,
}

impl CoreProcess {
    /// `program` is the file of its program, as [`super::checked`] returns it.
    pub fn new(core: Arc<CoreFile>, program: PathBuf) -> Self {
        Self { core, program, symbols: OnceCell::new(), reader: None }
    }

    /// Opens files for somebody, who may have fewer rights than whoever runs this.
    #[must_use]
    pub fn for_reader(mut self, reader: Option<Reader>) -> Self {
        self.reader = reader;
        self
    }

    /// The core file.
    pub fn core(&self) -> &Arc<CoreFile> {
        &self.core
    }

    /// Path of the executable: as the kernel knew it where there is a file, else where its file is now.
    pub fn executable(&self) -> &Path {
        self.core.executable().map(Path::new).filter(|named| files::about(named).is_ok()).unwrap_or(&self.program)
    }

    fn list_images(&self) -> Result<Vec<Image>, TargetError> {
        let executable = shown(self.executable());
        let cached = PageCache::new(self);
        let Some((headers, count)) = self.core.program_headers() else { return Ok(Vec::new()) };
        let in_memory = r_debug_from_program_headers(&cached, TargetAddr::new(headers), count);
        let found = match in_memory {
            // The program's file tells where its dynamic section lies, where its headers are not in the core.
            Err(error) if error.is_left_out() => r_debug(&self.core, &self.program)?.map(TargetAddr::new),
            other => other?,
        };
        match found {
            Some(found) => images_from_link_map(&cached, found, Some(&executable)),
            // A static executable: it is the only image.
            None => {
                let bias = self.core.bias_of_program(&self.program).map(TargetAddr::new).unwrap_or_default();
                Ok(vec![Image { path: executable, bias, build_id: None, is_executable: true }])
            }
        }
    }

    fn elf(&self) -> Result<&ElfSymbols, TargetError> {
        let open = || {
            let (core, program) = (Arc::clone(&self.core), self.program.clone());
            let others = move |image: &Image| {
                if image.is_executable {
                    return vec![program.clone()];
                }
                // A path that is no UTF-8 is shown in other bytes.
                let named = core.mapping(image.bias.get()).filter(|mapping| mapping.start == image.bias.get());
                named.map(|mapping| PathBuf::from(&mapping.name)).into_iter().collect()
            };
            let images = self.list_images()?.into_iter().map(|image| self.with_build_id(image)).collect();
            let symbols = ElfSymbols::new(images, vec![PathBuf::from("/")]).for_reader(self.reader.clone());
            Ok(symbols.or_at(Box::new(others)))
        };
        self.symbols.get_or_init(open).as_ref().map_err(Clone::clone)
    }

    /// With the build-id that stands in memory, if it is there.
    fn with_build_id(&self, image: Image) -> Image {
        let headers = TargetAddr::new(self.core.auxiliary(AT_PHDR));
        let first = self.core.mapping(headers.get()).map(|mapping| TargetAddr::new(mapping.start));
        let start = first.filter(|_| image.is_executable).unwrap_or(image.bias);
        let build_id = self.read_bytes(start, 4096).ok().and_then(|page| build_id_in_memory(&page));
        Image { build_id, ..image }
    }
}

impl CoreFile {
    /// What is added to the addresses in the program's file; `None` where that cannot be read.
    fn bias_of_program(&self, program: &Path) -> Option<u64> {
        use super::elf::{HEADER, Header, PT_LOAD, Pieces, image_segments};
        let file = Pieces::open(program).ok()?;
        let header = Header::parse(&file.read(0, HEADER).ok()?)?;
        let segments = image_segments(&file)?;
        let first = segments.iter().find(|segment| segment.kind == PT_LOAD && segment.held > 0)?;
        let own = first.address.wrapping_sub(first.offset).wrapping_add(header.table_at);
        Some(self.auxiliary(AT_PHDR).wrapping_sub(own))
    }
}

impl Target for CoreProcess {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        Ok(self.core.read(addr.get(), buf)?)
    }

    fn abi(&self) -> TargetAbi {
        // Core files of other machines are not opened.
        TargetAbi::LITTLE_64
    }

    /// # Errors
    /// Also where the file of the executable or of an MPI library cannot be had, so that the name may be defined there.
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        let elf = self.elf()?;
        match elf.lookup(name, self) {
            Some(found) => Ok(Some(found)),
            None if elf.is_complete(self) => Ok(None),
            None => Err(TargetError::File {
                path: shown(self.executable()),
                reason: format!("symbols of its files cannot be read, so it is not known whether it has {name}"),
            }),
        }
    }

    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        let elf = self.elf()?;
        Ok(elf.is_complete(self).then(|| elf.dynamic_symbols(self)))
    }

    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        Ok(self.elf()?.function_at(addr, self))
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(self.elf()?.images())
    }
}
