//! Texts of a table, each once.

use hashbrown::HashMap;

/// A longer text is cut: names are a stranger's, and may be of any length.
const LONGEST: usize = 600;

/// The place of a text in its list; negative: there is none.
pub type TextId = i32;

/// No text.
pub const NONE: TextId = -1;

/// Texts by their places.
#[derive(Debug, Default)]
pub struct Strings {
    places: HashMap<String, TextId>,
    all: Vec<String>,
}

impl Strings {
    /// The place of a text.
    pub fn id(&mut self, text: &str) -> TextId {
        if let Some(known) = self.places.get(text) {
            return *known;
        }
        let Ok(place) = TextId::try_from(self.all.len()) else { return NONE };
        let shown: String = match text.char_indices().nth(LONGEST) {
            Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
            None => text.to_owned(),
        };
        self.places.insert(text.to_owned(), place);
        self.all.push(shown);
        place
    }

    /// The place of one that may not be there.
    pub fn of(&mut self, text: Option<&str>) -> TextId {
        text.map_or(NONE, |text| self.id(text))
    }

    /// `halo.c:42`; the file with its directories.
    pub fn line(&mut self, file: Option<&str>, line: Option<i64>) -> TextId {
        match (file, line) {
            (Some(file), Some(line)) => self.id(&format!("{file}:{line}")),
            (file, _) => self.of(file),
        }
    }

    /// All of them, by their places.
    pub fn finished(self) -> Vec<String> {
        self.all
    }
}
