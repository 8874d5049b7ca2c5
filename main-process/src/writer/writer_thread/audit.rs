//! The whole audit, to read or to export. Only the writer may open the journal, so another thread requests it page by page
//! and the writer handles other messages in between.

use crate::{background, writer::WriterHandle};
use journal::check_audit;
use shared_protocol::{
    Actor, Refusal, RefusalCode,
    request::Responder,
    requests::{ExportedFile, ReadAudit, ReadAuditPage},
    review::{AuditLine, AuditView, MAX_AUDIT_ENTRIES},
};
use std::{
    collections::VecDeque,
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    time::Duration,
};

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

    /// Writes the audit into a file.
    pub(crate) fn export_audit(&self, path: String, actor: Actor, responder: Responder<ExportedFile>) {
        let writer = self.clone();
        background::spawn("audit", responder, move |responder| {
            let written = export(&writer, &actor, Path::new(&path));
            responder.send(written.map(|bytes| ExportedFile { path, bytes }));
        });
    }
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
        Ok(())
    })?;
    view.lines = newest.into_iter().rev().collect();
    Ok(view)
}

fn export(writer: &WriterHandle, actor: &Actor, path: &Path) -> Result<u64, Refusal> {
    let failed = |error: std::io::Error| {
        Refusal::new(RefusalCode::StorageError, format!("{} could not be written: {error}", path.display()))
            .hint("Choose another file, or free some space.")
    };
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    let mut bytes = 0;
    for_each_line(writer, actor, |lines| {
        for line in &lines {
            let mut text = serde_json::to_string(line)
                .map_err(|error| Refusal::new(RefusalCode::Internal, error.to_string()))?;
            text.push('\n');
            file.write_all(text.as_bytes()).map_err(failed)?;
            bytes += text.len() as u64;
        }
        Ok(())
    })?;
    file.flush().map_err(failed)?;
    Ok(bytes)
}

/// Reads the lines oldest first, a page at a time.
fn for_each_line(
    writer: &WriterHandle,
    actor: &Actor,
    mut take: impl FnMut(Vec<AuditLine>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
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
