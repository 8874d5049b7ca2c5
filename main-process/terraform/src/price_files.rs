//! The workspace's price book: every `.json` file in `prices/`, in the order of their names.

use crate::cost::PriceBook;
use journal::{FileError, WorkspaceFiles, WorkspacePath};
use shared_protocol::{Refusal, RefusalCode};
use std::sync::{Arc, Mutex, PoisonError};

const FOLDER: &str = "prices";
const MAX_PRICE_FILES: usize = 100;

/// Read again only when a file differs: a book can be large.
#[derive(Default)]
pub struct PriceFileCache {
    last: Mutex<Option<LoadedPriceFiles>>,
}

struct LoadedPriceFiles {
    texts: Vec<(String, String)>,
    book: Arc<PriceBook>,
}

impl PriceFileCache {
    pub fn price_book(&self, files: &WorkspaceFiles) -> Result<Arc<PriceBook>, Refusal> {
        let texts = texts(files)?;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = last.as_ref().filter(|read| read.texts == texts) {
            return Ok(Arc::clone(&read.book));
        }
        let mut book = PriceBook::new();
        for (path, text) in &texts {
            book.add(path, text).map_err(|error| {
                Refusal::new(RefusalCode::ValidationError, error.to_string())
                    .hint("Correct the price book. docs/TERRAFORM.md shows its format.")
            })?;
        }
        let book = Arc::new(book);
        *last = Some(LoadedPriceFiles { texts, book: Arc::clone(&book) });
        Ok(book)
    }
}

/// The price books that cannot be used, each with why.
pub fn problems(files: &WorkspaceFiles) -> Vec<(String, String)> {
    let read = match texts(files) {
        Ok(read) => read,
        Err(refusal) => return vec![(FOLDER.to_owned(), refusal.message)],
    };
    let mut book = PriceBook::new();
    read.into_iter()
        .filter_map(|(path, text)| book.add(&path, &text).err().map(|error| (path, error.to_string())))
        .collect()
}

fn texts(files: &WorkspaceFiles) -> Result<Vec<(String, String)>, Refusal> {
    let folder = WorkspacePath::parse(FOLDER).map_err(|error| storage(&error))?;
    let names = files.list(&folder).map_err(|error| storage(&error))?.files;
    let names: Vec<String> = names.into_iter().filter(|name| name.ends_with(".json")).collect();
    if names.len() > MAX_PRICE_FILES {
        let message = format!("{FOLDER} contains more than {MAX_PRICE_FILES} files");
        return Err(
            Refusal::new(RefusalCode::LimitExceeded, message).hint("Put the prices into fewer files.")
        );
    }
    let read = |name: String| {
        let path = format!("{FOLDER}/{name}");
        let text = WorkspacePath::parse(path.as_str()).and_then(|path| files.read_text(&path));
        text.map(|text| (path, text)).map_err(|error| storage(&error))
    };
    let read: Vec<(String, String)> = names.into_iter().map(read).collect::<Result<_, _>>()?;
    // `cost --missing > prices/own.json`: the shell makes the file before anybody can write into it.
    Ok(read.into_iter().filter(|(_, text)| !text.is_empty()).collect())
}

fn storage(error: &FileError) -> Refusal {
    Refusal::new(RefusalCode::StorageError, error.to_string())
}
