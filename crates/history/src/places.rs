//! Where calls stand, by where they return to.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use model::{Given, Text};
use target::address::TargetAddr;
use target::{Image, Target};

/// Places of the code of one process; each is asked for once.
pub(crate) struct Places<'t, T: Target> {
    target: &'t T,
    images: OnceCell<Vec<Image>>,
    known: RefCell<HashMap<u64, Place>>,
}

#[derive(Clone, Default)]
struct Place {
    file: Option<Text>,
    line: Option<i64>,
    caller: Option<Text>,
    place: Option<Text>,
}

impl<'t, T: Target> Places<'t, T> {
    pub(crate) fn new(target: &'t T) -> Self {
        Self { target, images: OnceCell::new(), known: RefCell::default() }
    }

    /// Says where a call stands that returns to `site`.
    pub(crate) fn tell(&self, site: u64, given: &mut Given) {
        let known = self.known.borrow().get(&site).cloned();
        let place = known.unwrap_or_else(|| {
            let found = self.find(site);
            self.known.borrow_mut().insert(site, found.clone());
            found
        });
        let Place { file, line, caller, place } = place;
        (given.file, given.line, given.caller, given.place) = (file, line, caller, place);
    }

    fn find(&self, site: u64) -> Place {
        let Some(inside) = site.checked_sub(1).filter(|inside| *inside != 0) else { return Place::default() };
        let told = self.target.place_of(TargetAddr::new(inside)).ok().flatten().unwrap_or_default();
        let place = if told.line.is_none() { self.in_image(site) } else { None };
        Place { file: told.file.map(Into::into), line: told.line, caller: told.function.map(Into::into), place }
    }

    /// The image with the greatest bias below an address: images do not lie in one another.
    fn in_image(&self, site: u64) -> Option<Text> {
        let images = self.images.get_or_init(|| self.target.images().unwrap_or_default());
        let below = images.iter().filter(|image| image.bias.get() <= site).max_by_key(|image| image.bias.get())?;
        Some(format!("{}+{:#x}", below.file_name(), site - below.bias.get()).into())
    }
}
