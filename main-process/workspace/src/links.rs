//! The trace links of the workspace: read from their file in the state, changed by operations on it, and judged again after
//! every operation that touches one of their ends.

use super::{
    SourceEdits, SpecBundles,
    notices::{NoticeTopic, WorkspaceNotices},
};
use authority::{
    Snapshot,
    links::{EndNow, Links, Standing, node_now},
};
use serde_json::Value;
use shared_protocol::{
    Change, Code, LinkId, Operation, Refusal, SourcePath,
    link::{Fingerprint, LinkEnd, LinkRequest, LinkView, LinksView},
};
use std::{collections::BTreeMap, sync::Arc};

#[derive(Debug, Default)]
pub(super) struct TraceLinkBook {
    links: Links,
    standing: Standing,
    /// The reason why the file cannot be read.
    problem: Option<String>,
    /// The view that was published last; replaced when it differs.
    view: Arc<LinksView>,
}

/// The state and the bundles in which ends of links are found.
#[derive(Clone, Copy)]
pub(super) struct LinkEndSources<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) bundles: &'a SpecBundles,
}

impl TraceLinkBook {
    pub(super) fn view(&self) -> &Arc<LinksView> {
        &self.view
    }

    /// Reads the file and judges every link.
    pub(super) fn read(&mut self, ends: LinkEndSources<'_>, notices: &mut WorkspaceNotices) {
        let text = ends.snapshot.source(&SourcePath::links());
        let (links, problem) = match text.map(|text| Links::read(text)) {
            None => (Links::default(), None),
            Some(Ok(links)) => (links, None),
            Some(Err(error)) => (Links::default(), Some(error.to_string())),
        };
        match &problem {
            Some(problem) => notices.set(NoticeTopic::Links, problem.clone()),
            None => notices.clear(&NoticeTopic::Links),
        }
        self.standing = Standing::of(&links, |end| ends.find(end));
        (self.links, self.problem) = (links, problem);
        self.refresh_view();
    }

    /// Judges the links again that operations touched.
    pub(super) fn follow(
        &mut self,
        operations: &[Operation],
        ends: LinkEndSources<'_>,
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
        if self.standing.follow(&changes, |end| ends.find(end)) {
            self.refresh_view();
        }
    }

    fn refresh_view(&mut self) {
        let view =
            LinksView { links: self.standing.iter().cloned().collect(), problem: self.problem.clone() };
        if *self.view != view {
            self.view = Arc::new(view);
        }
    }

    /// The summary and the new text of the links' file for a request.
    pub(super) fn edit(
        &self,
        request: &LinkRequest,
        seed: u64,
        ends: LinkEndSources<'_>,
    ) -> Result<(String, SourceEdits), Refusal> {
        if let Some(problem) = &self.problem {
            let refusal = Refusal::new(Code::Conflict, problem.clone());
            return Err(refusal.hint("Mend the file; it is read again as soon as it is saved."));
        }
        let mut links = self.links.clone();
        let words = |link: LinkId| self.standing.get(link).map(LinkView::words).unwrap_or_default();
        let summary = match request {
            LinkRequest::List => "Nothing".to_owned(),
            LinkRequest::Add { from, to, relation } => {
                let (from_now, to_now) = (ends.existing(from, "from")?, ends.existing(to, "to")?);
                let summary = format!("Link {} to {}", from_now.title, to_now.title);
                let (from, to) = ((from.clone(), from_now.fingerprint), (to.clone(), to_now.fingerprint));
                links.add(seed, from, to, relation)?;
                summary
            }
            LinkRequest::Remove { link } => {
                links.remove(*link)?;
                format!("Remove the link \u{201c}{}\u{201d}", words(*link))
            }
            LinkRequest::Clear { links: ids } => {
                for id in ids {
                    links.clear(*id, ends.fingerprints(&links, *id)?)?;
                }
                match &ids[..] {
                    [id] => format!("Say that \u{201c}{}\u{201d} holds", words(*id)),
                    _ => format!("Say that {} links hold", ids.len()),
                }
            }
        };
        Ok((summary, SourceEdits::from([(SourcePath::links(), links.to_text().map(Arc::from))])))
    }
}

impl LinkEndSources<'_> {
    fn find(&self, end: &LinkEnd) -> Option<EndNow> {
        match end {
            LinkEnd::Node(node) => node_now(self.snapshot, *node),
            LinkEnd::Entity(entity) => {
                let bundle = self.bundles.loaded().get(&entity.bundle)?;
                let found = bundle.entity(&entity.entity_type, &entity.id)?;
                let content = serde_json::to_value(found.data()).map(sorted).unwrap_or_default();
                Some(EndNow {
                    title: found.title().unwrap_or(found.id()).to_owned(),
                    board: None,
                    fingerprint: Fingerprint::of(content.to_string().as_bytes()),
                })
            }
        }
    }

    fn existing(&self, end: &LinkEnd, field: &str) -> Result<EndNow, Refusal> {
        self.find(end).ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no {end}")).field(field))
    }

    /// The fingerprints of both ends of a link as they are now.
    fn fingerprints(&self, links: &Links, id: LinkId) -> Result<(Fingerprint, Fingerprint), Refusal> {
        let link = links.get(id);
        let link = link.ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no link {id}")))?;
        let now = |end: &LinkEnd| {
            self.find(end).map(|now| now.fingerprint).ok_or_else(|| {
                let message = format!("{end} is gone, so the link cannot hold");
                Refusal::new(Code::ReferenceError, message).hint("Remove the link, or bring the thing back.")
            })
        };
        Ok((now(&link.from)?, now(&link.to)?))
    }
}

/// Sorts the members of every object, because their order in a file means nothing.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<String, Value> =
                members.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            members.into_iter().collect()
        }
        other => other,
    }
}
