//! Where other programs keep the servers that they know.

use crate::connect::{Client, Places, Scope};
use clap::ValueEnum as _;
use shared_protocol::{
    Code, Refusal,
    upstreams::{ImportFrom, ImportSource, MAX_TEXT},
};
use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

/// Those that exist: each program's own file, and the workspace's.
pub(super) fn list(workspace: Option<PathBuf>) -> Vec<ImportSource> {
    let Some(places) = Places::of_user(workspace) else { return Vec::new() };
    let mut found = Vec::new();
    for client in Client::value_variants() {
        let targets = [Scope::User, Scope::Project].map(|scope| client.target(scope, &places));
        for target in targets.into_iter().flatten().filter(|target| target.file.is_file()) {
            let path = target.file.display().to_string();
            found.push(ImportSource { program: client.title().to_owned(), path });
        }
    }
    found
}

/// The text of a configuration, bounded.
pub(super) fn text(from: &ImportFrom) -> Result<String, Refusal> {
    match from {
        ImportFrom::Text(text) if text.0.len() > MAX_TEXT => Err(too_large()),
        ImportFrom::Text(text) => Ok(text.0.clone()),
        ImportFrom::File(path) => read(Path::new(path)),
    }
}

fn read(path: &Path) -> Result<String, Refusal> {
    let unreadable = |error: std::io::Error| {
        Refusal::new(Code::NotFound, format!("{} cannot be read: {error}", path.display())).field("source")
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_TEXT {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|_| {
        Refusal::new(Code::ValidationError, format!("{} is not text", path.display())).field("source")
    })
}

fn too_large() -> Refusal {
    Refusal::new(Code::LimitExceeded, format!("a configuration has at most {MAX_TEXT} bytes")).field("source")
}
