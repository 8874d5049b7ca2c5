//! Creates a workspace: empty, as the bundled example, or with one board of it.

use include_dir::{Dir, include_dir};
use journal::{FileError, WorkspaceFiles, WorkspacePath, new_project, read_board, write_board};
use shared_protocol::{Board, BoardId, BoardKind, BoardName, GraphDocument, messages::WorkspaceTemplate};
use std::path::{Path, PathBuf};

static EXAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/example");

/// Boards of the example that are templates of their own.
const THREE_TIER: &str = "three-tier";
const INTERFACE: &str = "locker-app";
const SPEC: &str = "spec";
/// A board that only the example has; its drawing stands for the example.
const REHEARSAL: &str = "rehearsal";

#[derive(Debug, thiserror::Error)]
pub enum CreateWorkspaceError {
    #[error("{} is already a workspace: open it with `draftboard {}`", .0.display(), .0.display())]
    Exists(PathBuf),
    #[error("{} could not be created: {source}; choose a folder that you can write to", .path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("{0}")]
    File(#[from] FileError),
}

/// Creates a workspace in a folder, which may have other files but no `draftboard.toml`. That file is written last: a folder
/// without it is no workspace yet.
pub fn create(
    folder: &Path,
    template: WorkspaceTemplate,
    board_id: BoardId,
) -> Result<(), CreateWorkspaceError> {
    let files = prepare_folder(folder)?;
    match template {
        WorkspaceTemplate::Blank => {
            let name = BoardName::of_kind(BoardKind::Infrastructure);
            let board = Board {
                id: board_id,
                kind: BoardKind::Infrastructure,
                name: name.clone(),
                title: "Main".to_owned(),
            };
            let document = GraphDocument { boards: vec![board], ..GraphDocument::default() };
            files.write_atomic(&WorkspacePath::board(&name), write_board(&document)?.as_bytes())?;
            begin_project(&files)
        }
        WorkspaceTemplate::ThreeTier => unpack_part(&files, THREE_TIER),
        WorkspaceTemplate::Interface => unpack_part(&files, INTERFACE),
        WorkspaceTemplate::Spec => unpack_part(&files, SPEC),
        WorkspaceTemplate::Example => unpack(&files),
    }
}

/// The boards of the templates, for their thumbnails.
pub fn template_boards() -> Vec<(WorkspaceTemplate, GraphDocument)> {
    let names = [
        (WorkspaceTemplate::ThreeTier, THREE_TIER),
        (WorkspaceTemplate::Interface, INTERFACE),
        (WorkspaceTemplate::Spec, SPEC),
        (WorkspaceTemplate::Example, REHEARSAL),
    ];
    let board = |(template, name)| {
        let name = BoardName::parse(name).ok()?;
        let text = EXAMPLE.get_file(WorkspacePath::board(&name).as_str())?.contents_utf8()?;
        let read = read_board(text, &name);
        Some((
            template,
            read.inspect_err(|error| tracing::error!(%error, %name, "a template is not drawn")).ok()?,
        ))
    };
    names.into_iter().filter_map(board).collect()
}

/// Whether a folder has Terraform files or a TerraStudio project that can be imported.
pub fn has_terraform(folder: &Path) -> bool {
    let is_source = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.ok()?.path();
        path.extension().filter(|ending| *ending == "tf" || *ending == "tstudio").map(drop)
    };
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.any(|entry| is_source(entry).is_some()))
}

/// A free path for a workspace beside a folder: its name with `-draftboard`, numbered when that is taken.
pub fn free_path_beside(folder: &Path) -> PathBuf {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name =
        folder.file_name().map_or_else(|| "workspace".to_owned(), |name| name.to_string_lossy().into_owned());
    let first = folder.with_file_name(format!("{name}-draftboard"));
    let numbered = (2..).map(|number: u32| folder.with_file_name(format!("{name}-draftboard-{number}")));
    std::iter::once(first.clone()).chain(numbered).find(|place| !place.exists()).unwrap_or(first)
}

/// Creates a workspace without boards.
pub fn create_empty(folder: &Path) -> Result<(), CreateWorkspaceError> {
    begin_project(&prepare_folder(folder)?)
}

/// Prepares a folder that is no workspace yet.
fn prepare_folder(folder: &Path) -> Result<WorkspaceFiles, CreateWorkspaceError> {
    if folder.join(WorkspacePath::config().as_str()).exists() {
        return Err(CreateWorkspaceError::Exists(folder.to_owned()));
    }
    std::fs::create_dir_all(folder)
        .map_err(|source| CreateWorkspaceError::Folder { path: folder.to_owned(), source })?;
    Ok(WorkspaceFiles::open(folder)?)
}

fn begin_project(files: &WorkspaceFiles) -> Result<(), CreateWorkspaceError> {
    let folder_name = files.root().file_name().map(|name| name.to_string_lossy().into_owned());
    let config = new_project(folder_name.as_deref().unwrap_or("Workspace"));
    Ok(files.write_atomic(&WorkspacePath::config(), config.as_bytes())?)
}

/// Unpacks one board of the example; the spec with its bundle, the interface with its components, the architecture with its
/// function and its prices.
fn unpack_part(files: &WorkspaceFiles, name: &str) -> Result<(), CreateWorkspaceError> {
    let board = format!("boards/{name}.board.json");
    let belongs = |file: &&include_dir::File<'_>| {
        file.path() == Path::new(&board)
            || (name == SPEC && file.path().starts_with("specs"))
            || (name == INTERFACE && file.path().starts_with("components"))
            || (name == THREE_TIER
                && ["functions", "prices"].iter().any(|folder| file.path().starts_with(folder)))
    };
    for file in bundled(&EXAMPLE).into_iter().filter(belongs) {
        files.write_atomic(
            &WorkspacePath::parse(file.path().to_string_lossy().into_owned())?,
            file.contents(),
        )?;
    }
    begin_project(files)
}

fn unpack(files: &WorkspaceFiles) -> Result<(), CreateWorkspaceError> {
    let config = WorkspacePath::config();
    let mut contents: Vec<(WorkspacePath, &[u8])> = Vec::new();
    for file in bundled(&EXAMPLE) {
        contents.push((WorkspacePath::parse(file.path().to_string_lossy().into_owned())?, file.contents()));
    }
    contents.sort_by_key(|(path, _)| (*path == config, path.to_string()));
    for (path, bytes) in contents {
        files.write_atomic(&path, bytes)?;
    }
    Ok(())
}

fn bundled<'d>(folder: &'d Dir<'d>) -> Vec<&'d include_dir::File<'d>> {
    folder.files().chain(folder.dirs().flat_map(bundled)).collect()
}

/// Unpacks the example in the user's own folder on the first start. It belongs to the user from then on.
pub fn unpack_example(folder: &Path, board_id: BoardId) -> Result<(), CreateWorkspaceError> {
    match create(folder, WorkspaceTemplate::Example, board_id) {
        Err(CreateWorkspaceError::Exists(_)) => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TimeAndSeed, Workspace};

    #[test]
    fn every_template_but_the_blank_one_can_be_drawn() {
        let drawn: Vec<WorkspaceTemplate> = template_boards()
            .into_iter()
            .filter(|(_, document)| document.boards.len() == 1 && document.nodes.len() > 3)
            .map(|(template, _)| template)
            .collect();
        assert_eq!(drawn, WorkspaceTemplate::ALL[1..]);
    }

    #[test]
    fn a_place_beside_a_folder_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let infra = folder.path().join("infra");
        std::fs::create_dir(&infra).unwrap();
        assert!(!has_terraform(&infra));
        std::fs::write(infra.join("main.tf"), "").unwrap();
        assert!(has_terraform(&infra));
        let first = free_path_beside(&infra);
        assert_eq!(first, folder.path().join("infra-draftboard"));
        create_empty(&first).unwrap();
        assert_eq!(free_path_beside(&infra), folder.path().join("infra-draftboard-2"));
    }

    #[test]
    fn every_template_opens_without_a_complaint() {
        let folder = tempfile::tempdir().unwrap();
        for (number, template) in WorkspaceTemplate::ALL.into_iter().enumerate() {
            let root = folder.path().join(format!("workspace-{number}"));
            create(&root, template, BoardId::from_bits(9)).unwrap();
            let workspace = Workspace::open(&root, TimeAndSeed { time: 1, seed: 2 }).unwrap();
            let boards = workspace.snapshot().boards().count();
            assert_eq!(boards, if template == WorkspaceTemplate::Example { 4 } else { 1 }, "{template:?}");
            assert_eq!(
                workspace.snapshot().node_count() == 0,
                template == WorkspaceTemplate::Blank,
                "{template:?}"
            );
            let bundles = workspace.bundles().view().bundles;
            let has_spec = matches!(template, WorkspaceTemplate::Example | WorkspaceTemplate::Spec);
            assert_eq!(bundles.len(), usize::from(has_spec), "{template:?}");
            assert!(bundles.iter().all(|bundle| bundle.errors + bundle.warnings == 0), "{bundles:?}");
            let status = workspace.status();
            assert!(status.held.is_empty() && status.notices.is_empty(), "{template:?}: {status:?}");
            assert!(matches!(
                create(&root, template, BoardId::from_bits(9)),
                Err(CreateWorkspaceError::Exists(_))
            ));
        }
    }
}
