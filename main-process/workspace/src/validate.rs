//! The problems of a workspace: unreadable files, settings, prices, manifests, types, the graph, bundles and links.

use super::{
    Workspace, config_check,
    notices::{NoticeTopic, WorkspaceNotices},
};
use authority::{ProblemIndex, Snapshot};
use journal::{WorkspaceFiles, WorkspacePath};
use rustix::fs::FileType;
use safe_fs::SafeFolder;
use shared_protocol::{
    BoardKind, ElementId, SourcePath,
    messages::{BoardProblem, ProblemSeverity, WorkspaceProblem},
    registry::RegistryProblem,
};
use std::path::Path;
use terraform::{import, write};

/// All problems, unreadable files first. The window shows the same in its problems, its banner and its notices; findings of
/// Terraform are requested separately.
pub(super) fn problems_of(workspace: &Workspace) -> Vec<WorkspaceProblem> {
    let Workspace { storage, snapshot, notices, bundles, .. } = workspace;
    let (files, root) = (&*storage.files, storage.files.root());
    let held = workspace.held_boards().into_iter().map(|held| WorkspaceProblem {
        severity: ProblemSeverity::Error,
        element: Some(ElementId::Board(held.board)),
        board: Some(held.board),
        field: None,
        file: None,
        message: format!("{} is read-only: {}", held.name, held.message),
    });
    let modules = snapshot.registry().problems().iter().map(|problem| {
        let message = format!("{}: {}", problem.entry, problem.message);
        WorkspaceProblem::of_file(RegistryProblem::SEVERITY, Some(problem.origin.clone()), message)
    });
    let suspects = workspace.links().links.iter().filter(|link| link.is_suspect()).map(|link| {
        let message = format!("Trace link needs review: {}", link.describe());
        WorkspaceProblem::of_file(
            ProblemSeverity::Warning,
            Some(SourcePath::trace_links().to_string()),
            message,
        )
    });
    let boards = graph_problems(snapshot).into_iter().map(WorkspaceProblem::from);
    held.chain(notices.problems())
        .chain(validate_config(files, snapshot, notices))
        .chain(validate_prices(files))
        .chain(validate_manifests(root))
        .chain(validate_foreign(files, snapshot))
        .chain(validate_kinds(root))
        .chain(modules)
        .chain(boards)
        .chain(bundles.validate())
        .chain(suspects)
        .collect()
}

/// Settings that are unknown or malformed. A file that is no TOML has a notice already.
fn validate_config(
    files: &WorkspaceFiles,
    snapshot: &Snapshot,
    notices: &WorkspaceNotices,
) -> Vec<WorkspaceProblem> {
    let path = WorkspacePath::config();
    let Ok(text) = files.read_text(&path) else { return Vec::new() };
    let boards: Vec<&str> = snapshot.boards().map(|board| board.name.as_str()).collect();
    let found = config_check::problems_of_file(&text, &boards);
    let of = |severity, words: String| WorkspaceProblem::of_file(severity, Some(path.to_string()), words);
    let is_read = found.iter().any(|problem| problem.severity == ProblemSeverity::Error)
        || notices.get(&NoticeTopic::Config).is_some();
    let unread = terraform::TerraformProjectSettings::read(&text).err().filter(|_| !is_read);
    let found = found.into_iter().map(|problem| of(problem.severity, problem.describe()));
    found.chain(unread.map(|error| of(ProblemSeverity::Error, error.to_string()))).collect()
}

fn validate_prices(files: &WorkspaceFiles) -> impl Iterator<Item = WorkspaceProblem> {
    let found = terraform::price_files::problems(files).into_iter();
    found.map(|(file, problem)| WorkspaceProblem::of_file(ProblemSeverity::Error, Some(file), problem))
}

fn validate_manifests(root: &Path) -> impl Iterator<Item = WorkspaceProblem> {
    // A link instead of the folder is listed by `validate_kinds`.
    let is_read = SafeFolder::open(&root.join("manifests")).is_ok();
    let found = if is_read { mcp_client::manifest_problems(root) } else { Vec::new() };
    let of = |(file, problem)| WorkspaceProblem::of_file(ProblemSeverity::Error, Some(file), problem);
    found.into_iter().map(of)
}

/// Files beside the generated ones that Terraform cannot read.
fn validate_foreign(files: &WorkspaceFiles, snapshot: &Snapshot) -> Vec<WorkspaceProblem> {
    let mut found = Vec::new();
    let mut add = |file: String, message: String| {
        found.push(WorkspaceProblem::of_file(ProblemSeverity::Error, Some(file), message));
    };
    for board in snapshot.boards().filter(|board| board.kind == BoardKind::Infrastructure) {
        let folder = write::folder_of(&board.name);
        match write::other_files(files, &board.name) {
            Ok(others) => {
                for (name, bytes) in others {
                    if let Some(problem) = import::syntax_problem(&name, &bytes) {
                        add(format!("{folder}/{name}"), problem);
                    }
                }
            }
            Err(error) => add(folder, error.to_string()),
        }
    }
    found
}

/// Links and special files in folders whose files are read one by one. They are never followed.
fn validate_kinds(root: &Path) -> Vec<WorkspaceProblem> {
    let mut found = Vec::new();
    for folder in ["manifests", "prices"] {
        // A missing folder is no problem; a folder that is a link is one itself.
        let names = match SafeFolder::open(&root.join(folder)) {
            Ok(opened) => opened
                .list()
                .unwrap_or_default()
                .into_iter()
                .map(|entry| {
                    let is_plain = matches!(entry.kind, FileType::RegularFile | FileType::Directory);
                    (format!("{folder}/{}", entry.name), is_plain)
                })
                .collect(),
            Err(error) if error.problem.is_missing() => Vec::new(),
            Err(_) => vec![(folder.to_owned(), false)],
        };
        for (name, _) in names.into_iter().filter(|(_, is_plain)| !is_plain) {
            let message = "It is a link or a special file, and is not read. Replace it with the file itself.";
            found.push(WorkspaceProblem::of_file(ProblemSeverity::Error, Some(name), message));
        }
    }
    found
}

pub(super) fn graph_problems(snapshot: &Snapshot) -> Vec<BoardProblem> {
    let mut problems: Vec<BoardProblem> = ProblemIndex::check_all(snapshot).iter().cloned().collect();
    problems.sort();
    problems
}
