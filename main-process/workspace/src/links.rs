//! The trace links of the workspace: read from their file in the state, changed by operations on it, and judged again after
//! every operation that touches one of their ends.

use super::{
    SourceFileEdits, SpecBundles,
    notices::{NoticeTopic, WorkspaceNotices},
};
use authority::{
    Snapshot,
    trace_links::{CurrentTraceLinkEnd, TraceLinkIndex, TraceLinks, node_now},
};
use serde_json::Value;
use shared_protocol::{
    Change, Operation, Refusal, RefusalCode, SourcePath, TraceLinkId,
    trace_link::{TraceLinkChange, TraceLinkEnd, TraceLinkFingerprint, TraceLinkView, TraceLinksView},
};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Debug, Default)]
pub(super) struct WorkspaceTraceLinks {
    links: TraceLinks,
    index: TraceLinkIndex,
    /// The reason why the file cannot be read.
    problem: Option<String>,
    /// The view that was published last; replaced when it differs.
    view: Arc<TraceLinksView>,
}

/// The state and the bundles in which ends of links are found.
#[derive(Clone, Copy)]
pub(super) struct TraceLinkEndSources<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) bundles: &'a SpecBundles,
}

impl WorkspaceTraceLinks {
    pub(super) fn view(&self) -> &Arc<TraceLinksView> {
        &self.view
    }

    /// Reads the file and judges every link.
    pub(super) fn read(&mut self, ends: TraceLinkEndSources<'_>, notices: &mut WorkspaceNotices) {
        let text = ends.snapshot.source(&SourcePath::trace_links());
        let (links, problem) = match text.map(|text| TraceLinks::parse(text)) {
            None => (TraceLinks::default(), None),
            Some(Ok(links)) => (links, None),
            Some(Err(error)) => (TraceLinks::default(), Some(error.to_string())),
        };
        match &problem {
            Some(problem) => notices.set(NoticeTopic::Links, problem.clone()),
            None => notices.clear(&NoticeTopic::Links),
        }
        self.index = TraceLinkIndex::from_links(&links, |end| ends.find(end));
        (self.links, self.problem) = (links, problem);
        self.refresh_view();
    }

    /// Judges the links again that operations touched.
    pub(super) fn update(
        &mut self,
        operations: &[Operation],
        ends: TraceLinkEndSources<'_>,
        notices: &mut WorkspaceNotices,
    ) {
        let changes = operations.iter().flat_map(|operation| &operation.changes);
        if changes.clone().any(|change| matches!(change, Change::Source { .. })) {
            return self.read(ends, notices);
        }
        if self.links.iter().len() == 0 {
            return;
        }
        let changes: Vec<Change> = changes.cloned().collect();
        if self.index.update(&changes, |end| ends.find(end)) {
            self.refresh_view();
        }
    }

    fn refresh_view(&mut self) {
        let view =
            TraceLinksView { links: self.index.iter().cloned().collect(), problem: self.problem.clone() };
        if *self.view != view {
            self.view = Arc::new(view);
        }
    }

    /// The summary and the new text of the links' file for a change.
    pub(super) fn edit(
        &self,
        change: &TraceLinkChange,
        seed: u64,
        ends: TraceLinkEndSources<'_>,
    ) -> Result<(String, SourceFileEdits), Refusal> {
        if let Some(problem) = &self.problem {
            let refusal = Refusal::new(RefusalCode::Conflict, problem.clone());
            return Err(refusal.hint("Fix the file; it reloads automatically."));
        }
        let mut links = self.links.clone();
        let words = |link: TraceLinkId| self.index.get(link).map(TraceLinkView::describe).unwrap_or_default();
        let summary = match change {
            TraceLinkChange::Add { from, to, relation } => {
                let (from_now, to_now) = (ends.existing(from, "from")?, ends.existing(to, "to")?);
                let summary = format!("Link {} to {}", from_now.title, to_now.title);
                let (from, to) = ((from.clone(), from_now.fingerprint), (to.clone(), to_now.fingerprint));
                links.add(seed, from, to, relation)?;
                summary
            }
            TraceLinkChange::Remove { link } => {
                links.remove(*link)?;
                format!("Remove the trace link \u{201c}{}\u{201d}", words(*link))
            }
            TraceLinkChange::Clear { links: ids } => {
                for id in ids {
                    links.mark_reviewed(*id, ends.fingerprints(&links, *id)?)?;
                }
                match &ids[..] {
                    [id] => format!("Confirm the trace link \u{201c}{}\u{201d}", words(*id)),
                    _ => format!("Confirm {} trace links", ids.len()),
                }
            }
        };
        Ok((summary, SourceFileEdits::from([(SourcePath::trace_links(), links.to_text().map(Arc::from))])))
    }
}

impl TraceLinkEndSources<'_> {
    fn find(&self, end: &TraceLinkEnd) -> Option<CurrentTraceLinkEnd> {
        match end {
            TraceLinkEnd::Node(node) => node_now(self.snapshot, *node),
            TraceLinkEnd::Entity(entity) => {
                let bundle = self.bundles.bundles().get(&entity.bundle)?;
                let found = bundle.entity(&entity.entity_type, &entity.id)?;
                let content = serde_json::to_value(found.data()).map(sort_keys).unwrap_or_default();
                Some(CurrentTraceLinkEnd {
                    title: found.title().unwrap_or(found.id()).to_owned(),
                    board: None,
                    fingerprint: TraceLinkFingerprint::hash(content.to_string().as_bytes()),
                })
            }
        }
    }

    fn existing(&self, end: &TraceLinkEnd, field: &str) -> Result<CurrentTraceLinkEnd, Refusal> {
        self.find(end)
            .ok_or_else(|| Refusal::new(RefusalCode::NotFound, format!("there is no {end}")).field(field))
    }

    /// The fingerprints of both ends of a link as they are now.
    fn fingerprints(
        &self,
        links: &TraceLinks,
        id: TraceLinkId,
    ) -> Result<(TraceLinkFingerprint, TraceLinkFingerprint), Refusal> {
        let link = links.get(id);
        let link =
            link.ok_or_else(|| Refusal::new(RefusalCode::NotFound, format!("there is no trace link {id}")))?;
        let now = |end: &TraceLinkEnd| {
            self.find(end).map(|now| now.fingerprint).ok_or_else(|| {
                let message = format!("{end} no longer exists, so the trace link cannot be confirmed");
                Refusal::new(RefusalCode::ReferenceError, message)
                    .hint("Remove the trace link, or restore the deleted element.")
            })
        };
        Ok((now(&link.from)?, now(&link.to)?))
    }
}

/// Sorts the members of every object, because their order in a file means nothing.
fn sort_keys(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sort_keys).collect(),
        Value::Object(members) => {
            let members: BTreeMap<String, Value> =
                members.into_iter().map(|(key, value)| (key, sort_keys(value))).collect();
            members.into_iter().collect()
        }
        other => other,
    }
}
