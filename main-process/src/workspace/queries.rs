//! What can be asked of a workspace without changing it.

use super::{Workspace, error::storage, group::patch};
use authority::Problems;
use shared_protocol::{
    Code, ElementId, Refusal, Revision, SourcePath,
    messages::{LogEntry, MAX_OPERATIONS, Patch, Problem, Severity, ValidationProblem},
    registry::RegistryProblem,
};

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
            .chain(modules)
            .chain(boards)
            .chain(self.bundles.validate())
            .chain(suspects)
            .collect()
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
