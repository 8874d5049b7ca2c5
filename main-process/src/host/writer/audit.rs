//! The whole audit for somebody who reads or keeps it. Nobody but the writer may open the journal, so it is asked for page by
//! page from another thread, and goes on with its work in between.

use crate::host::{Host, Reply};
use journal::check_audit;
use shared_protocol::{
    Actor, Code, Refusal,
    messages::{Answer, Request},
    review::{AuditLine, AuditView, MAX_AUDIT},
};
use std::{
    collections::VecDeque,
    fs::File,
    io::{BufWriter, Write as _},
    path::Path,
    time::Duration,
};

/// How long the writer may take for a page.
const PAGE_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn view_aside(host: Host, actor: Actor, (before, limit): (Option<u64>, u32), reply: Reply) {
    aside(move || {
        let viewed = view(&host, &actor, before.unwrap_or(u64::MAX), limit.min(MAX_AUDIT) as usize);
        reply(viewed.map(|view| Answer::AuditView(Box::new(view))));
    });
}

pub(super) fn export_aside(host: Host, actor: Actor, path: String, reply: Reply) {
    aside(move || {
        let written = export(&host, &actor, Path::new(&path));
        reply(written.map(|bytes| Answer::Exported { path, bytes }));
    });
}

fn aside(work: impl FnOnce() + Send + 'static) {
    if let Err(error) = std::thread::Builder::new().name("audit".to_owned()).spawn(work) {
        tracing::error!(%error, "no thread for the audit");
    }
}

fn view(host: &Host, actor: &Actor, before: u64, limit: usize) -> Result<AuditView, Refusal> {
    let (mut view, mut newest) = (AuditView::default(), VecDeque::new());
    let mut end = None;
    each(host, actor, |lines| {
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

fn export(host: &Host, actor: &Actor, path: &Path) -> Result<u64, Refusal> {
    let failed = |error: std::io::Error| {
        Refusal::new(Code::StorageError, format!("{} could not be written: {error}", path.display()))
            .hint("Choose another place, or free some space.")
    };
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    let mut bytes = 0;
    each(host, actor, |lines| {
        for line in &lines {
            let mut text = serde_json::to_string(line)
                .map_err(|error| Refusal::new(Code::Internal, error.to_string()))?;
            text.push('\n');
            file.write_all(text.as_bytes()).map_err(failed)?;
            bytes += text.len() as u64;
        }
        Ok(())
    })?;
    file.flush().map_err(failed)?;
    Ok(bytes)
}

/// Oldest first, a page at a time.
fn each(
    host: &Host,
    actor: &Actor,
    mut take: impl FnMut(Vec<AuditLine>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut after = 0;
    loop {
        let page = Request::Audit { after, limit: MAX_AUDIT };
        let Answer::Audit(lines) = host.request(page, actor.clone(), PAGE_LIMIT)? else {
            return Err(Refusal::new(Code::Internal, "an answer that was not asked for"));
        };
        match lines.last() {
            Some(last) => after = last.number,
            None => return Ok(()),
        }
        take(lines)?;
    }
}
