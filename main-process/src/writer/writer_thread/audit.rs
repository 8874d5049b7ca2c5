//! The whole audit, to read or to export. Only the writer may open the journal, so another thread requests it page by page
//! and the writer handles other messages in between.

use crate::{background, device_keys, responses::wait_for, writer::WriterHandle};
use journal::{Journal, JournalError, check_audit};
use safe_fs::PathProblem;
use shared_protocol::{
    Actor, Refusal, RefusalCode,
    request::Responder,
    requests::{ExportedFile, ReadAudit, ReadAuditPage},
    review::{AuditLine, AuditReport, AuditView, MAX_AUDIT_ENTRIES},
};
use std::{
    collections::VecDeque,
    io::{BufWriter, Write as _},
    path::Path,
    time::Duration,
};
use workspace::{JournalAccess, verify_audit};

/// The writer may take this long for a page.
const PAGE_LIMIT: Duration = Duration::from_secs(30);

impl WriterHandle {
    /// Reads a page of the audit and verifies the whole of it.
    pub(crate) fn read_audit_page(
        &self,
        request: ReadAuditPage,
        actor: Actor,
        responder: Responder<AuditView>,
    ) {
        let writer = self.clone();
        background::spawn("audit", responder, move |responder| {
            let (before, limit) = (request.before.unwrap_or(u64::MAX), request.limit.min(MAX_AUDIT_ENTRIES));
            responder.send(view(&writer, &actor, before, limit as usize));
        });
    }

    /// Verifies the audit and the operations while others go on working.
    pub(crate) fn verify_audit(&self, responder: Responder<AuditReport>) {
        let writer = self.clone();
        background::spawn("audit", responder, move |responder| responder.send(verify(&writer)));
    }

    /// Verifies a workspace that was just opened, in the background. Findings become a notice.
    pub(crate) fn check_opened(&self) {
        let writer = self.clone();
        let check = move || match verify(&writer) {
            Ok(report) if report.findings.is_empty() => {}
            Ok(report) => writer.call(Responder::new(|_: Result<(), Refusal>| {}), move |writer| {
                writer.session.workspace.note_findings(&report.findings);
                Ok(())
            }),
            Err(refusal) => tracing::info!(%refusal, "the audit was not verified"),
        };
        if let Err(error) = std::thread::Builder::new().name("audit".to_owned()).spawn(check) {
            tracing::error!(%error, "the audit is not verified");
        }
    }

    /// Writes the audit into a file.
    pub(crate) fn export_audit(&self, path: String, actor: Actor, responder: Responder<ExportedFile>) {
        let writer = self.clone();
        background::spawn("audit", responder, move |responder| {
            let written = export(&writer, &actor, Path::new(&path));
            responder.send(written.map(|bytes| ExportedFile { path, bytes }));
        });
    }
}

/// The journal of the writer. Every turn makes sure that it is still the same.
struct WriterJournal<'w> {
    writer: &'w WriterHandle,
    identity: Option<String>,
}

impl JournalAccess for WriterJournal<'_> {
    fn read<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, Refusal> {
        let expected = self.identity.clone();
        let (identity, read) = wait_for(PAGE_LIMIT, |responder| {
            self.writer.call(responder, move |writer| {
                let journal = writer.session.workspace.journal();
                if expected.is_some_and(|expected| expected != journal.identity()) {
                    let message = "The workspace was closed while its audit was verified.";
                    return Err(Refusal::new(RefusalCode::Conflict, message).hint("Try again."));
                }
                let read = work(journal)
                    .map_err(|error| Refusal::new(RefusalCode::StorageError, error.to_string()))?;
                Ok((journal.identity().to_owned(), read))
            });
        })?;
        self.identity = Some(identity);
        Ok(read)
    }
}

fn verify(writer: &WriterHandle) -> Result<AuditReport, Refusal> {
    let root = wait_for(PAGE_LIMIT, |responder| {
        writer.call(responder, |writer| Ok(writer.session.workspace.root().to_owned()));
    })?;
    verify_audit(&mut WriterJournal { writer, identity: None }, &device_keys::proof_files(), &root)
}

fn view(writer: &WriterHandle, actor: &Actor, before: u64, limit: usize) -> Result<AuditView, Refusal> {
    let (mut view, mut newest) = (AuditView::default(), VecDeque::new());
    let mut end = None;
    for_each_line(writer, actor, |lines| {
        if view.broken.is_none() {
            match check_audit(end.take(), &lines) {
                Ok(last) => end = last,
                Err(broken) => view.broken = Some((broken.number, broken.problem.to_owned())),
            }
        }
        view.total += lines.len() as u64;
        newest.extend(lines.into_iter().filter(|line| line.number < before));
        newest.drain(..newest.len().saturating_sub(limit));
        Ok::<_, Refusal>(())
    })?;
    view.lines = newest.into_iter().rev().collect();
    Ok(view)
}

fn export(writer: &WriterHandle, actor: &Actor, path: &Path) -> Result<u64, Refusal> {
    let written = safe_fs::replace_at(path, |file| {
        let mut file = BufWriter::new(file);
        let mut bytes = 0;
        for_each_line(writer, actor, |lines| {
            for line in &lines {
                let mut text = serde_json::to_string(line)
                    .map_err(|error| Refusal::new(RefusalCode::Internal, error.to_string()))?;
                text.push('\n');
                file.write_all(text.as_bytes()).map_err(PathProblem::from)?;
                bytes += text.len() as u64;
            }
            Ok::<_, ExportError>(())
        })?;
        file.flush().map_err(PathProblem::from)?;
        Ok(bytes)
    });
    written.map_err(|error| match error {
        ExportError::Refused(refusal) => refusal,
        ExportError::File(problem) => {
            let message = format!("{} could not be written: {problem}", path.display());
            Refusal::new(RefusalCode::StorageError, message)
        }
    })
}

/// The audit could not be read, or the file not be written.
enum ExportError {
    Refused(Refusal),
    File(PathProblem),
}

impl From<Refusal> for ExportError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<PathProblem> for ExportError {
    fn from(problem: PathProblem) -> Self {
        Self::File(problem)
    }
}

/// Reads the lines oldest first, a page at a time.
fn for_each_line<E: From<Refusal>>(
    writer: &WriterHandle,
    actor: &Actor,
    mut take: impl FnMut(Vec<AuditLine>) -> Result<(), E>,
) -> Result<(), E> {
    let mut after = 0;
    loop {
        let lines =
            writer.wait_for(ReadAudit { after, limit: MAX_AUDIT_ENTRIES }, actor.clone(), PAGE_LIMIT)?;
        match lines.last() {
            Some(last) => after = last.number,
            None => return Ok(()),
        }
        take(lines)?;
    }
}
