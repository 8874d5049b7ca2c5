//! Configurations of other programs, from which servers can be imported.

use clap::ValueEnum as _;
use connect::{ClientFolders, ConfigScope, ConnectableClient};
use shared_protocol::{
    Refusal, RefusalCode,
    managed_servers::{ImportSource, MAX_UPSTREAM_TEXT_BYTES, ServerImportInput},
};
use std::{
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

/// The existing configurations: each program's own file, and the workspace's.
pub(super) fn list(workspace: Option<PathBuf>) -> Vec<ImportSource> {
    let Some(places) = ClientFolders::of_user(workspace) else { return Vec::new() };
    let mut found = Vec::new();
    for client in ConnectableClient::value_variants() {
        let targets = [ConfigScope::User, ConfigScope::Project].map(|scope| client.target(scope, &places));
        for target in targets.into_iter().flatten().filter(|target| target.file.is_file()) {
            let path = target.file.display().to_string();
            found.push(ImportSource { program: client.title().to_owned(), path });
        }
    }
    // VS Code may also have servers in its settings; settings without servers are not listed.
    let of_workspace = places.workspace.as_ref().map(|root| root.join(".vscode/settings.json"));
    for path in std::iter::once(places.config.join("Code/User/settings.json")).chain(of_workspace) {
        if read(&path).is_ok_and(|text| mcp_client::import(&text).is_ok()) {
            let program = format!("{} settings", ConnectableClient::Vscode.title());
            found.push(ImportSource { program, path: path.display().to_string() });
        }
    }
    found
}

/// The text of a configuration, bounded.
pub(super) fn text(from: &ServerImportInput) -> Result<String, Refusal> {
    match from {
        ServerImportInput::Text(text) if text.0.len() > MAX_UPSTREAM_TEXT_BYTES => Err(too_large()),
        ServerImportInput::Text(text) => Ok(text.0.clone()),
        ServerImportInput::File(path) => read(Path::new(path)),
    }
}

fn read(path: &Path) -> Result<String, Refusal> {
    let unreadable = |error: std::io::Error| {
        Refusal::new(RefusalCode::NotFound, format!("{} cannot be read: {error}", path.display()))
            .field("source")
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_UPSTREAM_TEXT_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_UPSTREAM_TEXT_BYTES {
        return Err(too_large());
    }
    String::from_utf8(bytes).map_err(|_| {
        Refusal::new(RefusalCode::ValidationError, format!("{} is not text", path.display())).field("source")
    })
}

fn too_large() -> Refusal {
    Refusal::new(
        RefusalCode::LimitExceeded,
        format!("The configuration is larger than {MAX_UPSTREAM_TEXT_BYTES} bytes."),
    )
    .field("source")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_vs_code_are_found_when_they_hold_servers() {
        let root = tempfile::tempdir().unwrap();
        let settings = root.path().join(".vscode/settings.json");
        std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
        let found = || {
            let path = settings.display().to_string();
            list(Some(root.path().to_owned())).iter().any(|source| source.path == path)
        };
        assert!(!found());
        std::fs::write(&settings, "{ // mine\n \"editor.fontSize\": 12 }").unwrap();
        assert!(!found(), "settings without servers");
        std::fs::write(&settings, "{\"mcp\": {\"servers\": {\"clock\": {\"command\": \"/opt/clock\"}}}, }")
            .unwrap();
        assert!(found());
    }
}
