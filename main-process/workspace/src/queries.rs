//! What can be asked of a workspace without changing it.

use super::{About, Workspace, error::storage, group::patch};
use crate::config_check;
use authority::Problems;
use journal::WorkspacePath;
use rustix::fs::FileType;
use safe_fs::SafeFolder;
use shared_protocol::{
    BoardKind, Code, ElementId, Refusal, Revision, SourcePath,
    messages::{LogEntry, MAX_OPERATIONS, Patch, Problem, Severity, ValidationProblem},
    registry::RegistryProblem,
};
use terraform::{import, write};

/// Operations given in one answer; a client that is further behind reads everything again.
const MAX_CHANGES: usize = 1_000;
const MAX_LOG: usize = 10_000;

impl Workspace {
    pub fn log(&self, limit: usize) -> Result<Vec<LogEntry>, Refusal> {
        let entries = self.journal.log(limit.min(MAX_LOG)).map_err(|error| storage(&error))?;
        Ok(entries.into_iter().map(told).collect())
    }

    /// Some operations of the log; what is no longer kept is left out.
    pub fn operations(&self, revisions: &[Revision]) -> Result<Vec<LogEntry>, Refusal> {
        if revisions.len() > MAX_OPERATIONS {
            let message = format!("{} operations are more than {MAX_OPERATIONS} at once", revisions.len());
            return Err(Refusal::new(Code::LimitExceeded, message).hint("Ask for fewer, or for the log."));
        }
        let found = revisions.iter().filter_map(|revision| self.journal.entry(*revision).transpose());
        found.map(|entry| entry.map(told).map_err(|error| storage(&error))).collect()
    }

    /// What changed after a revision, or nothing when that is no longer kept.
    pub fn changes_since(&self, revision: Revision) -> Result<Option<Vec<Patch>>, Refusal> {
        let operations = self.journal.since(revision, MAX_CHANGES).map_err(|error| storage(&error))?;
        Ok(operations.map(|operations| operations.into_iter().map(patch).collect()))
    }

    /// Everything that is wrong, first what could not be read. The window shows the same in its problems, its banner and its
    /// notices; what Terraform says about the boards is asked for separately.
    pub fn validate(&self) -> Vec<ValidationProblem> {
        let held = self.held_boards().into_iter().map(|held| ValidationProblem {
            severity: Severity::Error,
            element: Some(ElementId::Board(held.board)),
            board: Some(held.board),
            field: None,
            file: None,
            message: format!("{} is read-only: {}", held.name, held.message),
        });
        let notices = self.notices.iter().map(|(about, text)| {
            let notice = about.tell(text);
            ValidationProblem::of_file(about.severity(), notice.file, notice.message)
        });
        let modules = self.snapshot.registry().problems().iter().map(|problem| {
            let message = format!("{}: {}", problem.entry, problem.message);
            ValidationProblem::of_file(RegistryProblem::SEVERITY, Some(problem.origin.clone()), message)
        });
        let suspects = self.links().links.iter().filter(|link| link.is_suspect()).map(|link| {
            let message = format!("Trace link needs review: {}", link.words());
            ValidationProblem::of_file(Severity::Warning, Some(SourcePath::links().to_string()), message)
        });
        let boards = self.problems().into_iter().map(ValidationProblem::from);
        held.chain(notices)
            .chain(self.validate_config())
            .chain(self.validate_prices())
            .chain(self.validate_manifests())
            .chain(self.validate_foreign())
            .chain(self.validate_kinds())
            .chain(modules)
            .chain(boards)
            .chain(self.bundles.validate())
            .chain(suspects)
            .collect()
    }

    /// Settings that are unknown or not of their form; a file that is no TOML is a notice already.
    fn validate_config(&self) -> Vec<ValidationProblem> {
        let path = WorkspacePath::config();
        let Ok(text) = self.files.read_text(&path) else { return Vec::new() };
        let boards: Vec<&str> = self.snapshot.boards().map(|board| board.name.as_str()).collect();
        let found = config_check::problems_of_file(&text, &boards);
        let of =
            |severity, words: String| ValidationProblem::of_file(severity, Some(path.to_string()), words);
        let is_read = found.iter().any(|problem| problem.severity == Severity::Error)
            || self.notices.contains_key(&About::Config);
        let unread = terraform::Settings::read(&text).err().filter(|_| !is_read);
        let found = found.into_iter().map(|problem| of(problem.severity, problem.words()));
        found.chain(unread.map(|error| of(Severity::Error, error.to_string()))).collect()
    }

    fn validate_prices(&self) -> impl Iterator<Item = ValidationProblem> {
        let found = terraform::price_files::problems(&self.files).into_iter();
        found.map(|(file, problem)| ValidationProblem::of_file(Severity::Error, Some(file), problem))
    }

    fn validate_manifests(&self) -> impl Iterator<Item = ValidationProblem> {
        // A link instead of the folder is told with the other links.
        let is_read = SafeFolder::open(&self.root().join("manifests")).is_ok();
        let found = if is_read { upstreams::manifest_problems(self.root()) } else { Vec::new() };
        let of = |(file, problem)| ValidationProblem::of_file(Severity::Error, Some(file), problem);
        found.into_iter().map(of)
    }

    /// Files of others beside the generated ones, which Terraform could not read.
    fn validate_foreign(&self) -> Vec<ValidationProblem> {
        let mut found = Vec::new();
        let mut tell = |file: String, message: String| {
            found.push(ValidationProblem::of_file(Severity::Error, Some(file), message));
        };
        for board in self.snapshot.boards().filter(|board| board.kind == BoardKind::Infrastructure) {
            let folder = write::folder_of(&board.name);
            match write::others(&self.files, &board.name) {
                Ok(files) => {
                    for (name, bytes) in files {
                        if let Some(problem) = import::syntax_problem(&name, &bytes) {
                            tell(format!("{folder}/{name}"), problem);
                        }
                    }
                }
                Err(error) => tell(folder, error.to_string()),
            }
        }
        found
    }

    /// Links and special files in folders whose files are read one by one: they are never followed.
    fn validate_kinds(&self) -> Vec<ValidationProblem> {
        let mut found = Vec::new();
        for folder in ["manifests", "prices"] {
            // What is not there needs no word; a folder that is a link is one of these itself.
            let names = match SafeFolder::open(&self.root().join(folder)) {
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
                let message =
                    "It is a link or a special file, and is not read. Replace it with the file itself.";
                found.push(ValidationProblem::of_file(Severity::Error, Some(name), message));
            }
        }
        found
    }

    pub fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Problems::of(&self.snapshot).iter().cloned().collect();
        problems.sort();
        problems
    }
}

fn told(entry: journal::LogEntry) -> LogEntry {
    LogEntry {
        revision: entry.revision,
        time: entry.time,
        actor: entry.actor,
        kind: entry.kind,
        summary: entry.summary,
        changes: entry.change_count as u64,
    }
}
