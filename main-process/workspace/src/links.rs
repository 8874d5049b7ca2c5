//! The links of the workspace: read from their file in the state, changed by operations on it, and judged again after
//! whatever touches one of their ends.

use super::{About, Moment, SourceEdits, Workspace};
use authority::links::{EndNow, Links, Standing, node_now};
use serde_json::Value;
use shared_protocol::{
    Actor, Change, Code, LinkId, Operation, Refusal, SourcePath,
    link::{Fingerprint, LinkEnd, LinkRequest, LinkView, LinksView},
    messages::{Applied, Patch},
};
use std::{collections::BTreeMap, sync::Arc};

/// What is known of the links now.
#[derive(Debug, Default)]
pub(super) struct LinkBook {
    links: Links,
    standing: Standing,
    /// Why the file cannot be read.
    problem: Option<String>,
    /// What was told last; made anew when something changed.
    view: Arc<LinksView>,
}

impl Workspace {
    pub fn links(&self) -> &Arc<LinksView> {
        &self.links.view
    }

    /// Reads the file and judges every link.
    pub(super) fn read_links(&mut self) {
        let text = self.snapshot.source(&SourcePath::links());
        let (links, problem) = match text.map(|text| Links::read(text)) {
            None => (Links::default(), None),
            Some(Ok(links)) => (links, None),
            Some(Err(error)) => (Links::default(), Some(error.to_string())),
        };
        match &problem {
            Some(problem) => self.notice(About::Links, problem.clone()),
            None => self.in_order(&About::Links),
        }
        let standing = Standing::of(&links, |end| self.end_now(end));
        self.links = LinkBook { links, standing, problem, view: Arc::default() };
        self.show_links();
    }

    /// Judges again what operations touched.
    pub(super) fn links_follow(&mut self, operations: &[Operation]) {
        let changes = operations.iter().flat_map(|operation| &operation.changes);
        if changes.clone().any(|change| matches!(change, Change::Source { .. })) {
            return self.read_links();
        }
        if self.links.links.iter().len() == 0 {
            return;
        }
        let changes: Vec<Change> = changes.cloned().collect();
        let mut standing = std::mem::take(&mut self.links.standing);
        let any = standing.follow(&changes, |end| self.end_now(end));
        self.links.standing = standing;
        if any {
            self.show_links();
        }
    }

    fn show_links(&mut self) {
        let links: Vec<LinkView> = self.links.standing.iter().cloned().collect();
        let view = LinksView { links, problem: self.links.problem.clone() };
        if *self.links.view != view {
            self.links.view = Arc::new(view);
        }
    }

    fn end_now(&self, end: &LinkEnd) -> Option<EndNow> {
        match end {
            LinkEnd::Node(node) => node_now(&self.snapshot, *node),
            LinkEnd::Entity(entity) => {
                let bundle = self.bundles.loaded().get(&entity.bundle)?;
                let found = bundle.entity(&entity.entity_type, &entity.id)?;
                let content = serde_json::to_value(found.data()).map(in_order).unwrap_or_default();
                Some(EndNow {
                    title: found.title().unwrap_or(found.id()).to_owned(),
                    board: None,
                    fingerprint: Fingerprint::of(content.to_string().as_bytes()),
                })
            }
        }
    }

    /// Changes links, as one operation that is on the disk when this returns.
    pub fn change_links(
        &mut self,
        request: &LinkRequest,
        actor: &Actor,
        moment: Moment,
    ) -> Result<(Applied, Vec<Patch>), Refusal> {
        if let Some(problem) = &self.links.problem {
            let refusal = Refusal::new(Code::Conflict, problem.clone());
            return Err(refusal.hint("Mend the file; it is read again as soon as it is saved."));
        }
        let mut links = self.links.links.clone();
        let summary = match request {
            LinkRequest::List => "Nothing".to_owned(),
            LinkRequest::Add { from, to, relation } => {
                let (from_now, to_now) = (self.existing(from, "from")?, self.existing(to, "to")?);
                let summary = format!("Link {} to {}", from_now.title, to_now.title);
                let (from, to) = ((from.clone(), from_now.fingerprint), (to.clone(), to_now.fingerprint));
                links.add(moment.seed, from, to, relation)?;
                summary
            }
            LinkRequest::Remove { link } => {
                let words = self.links.standing.get(*link).map(LinkView::words);
                links.remove(*link)?;
                format!("Remove the link \u{201c}{}\u{201d}", words.unwrap_or_default())
            }
            LinkRequest::Clear { links: ids } => {
                for id in ids {
                    links.clear(*id, self.seen_now(&links, *id)?)?;
                }
                match &ids[..] {
                    [id] => {
                        let words = self.links.standing.get(*id).map(LinkView::words).unwrap_or_default();
                        format!("Say that \u{201c}{words}\u{201d} holds")
                    }
                    _ => format!("Say that {} links hold", ids.len()),
                }
            }
        };
        let edits = SourceEdits::from([(SourcePath::links(), links.to_text().map(Arc::from))]);
        self.edit_sources(summary, edits, actor, moment)
    }

    fn seen_now(&self, links: &Links, id: LinkId) -> Result<(Fingerprint, Fingerprint), Refusal> {
        let link = links.get(id);
        let link = link.ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no link {id}")))?;
        let now = |end: &LinkEnd| {
            self.end_now(end).map(|now| now.fingerprint).ok_or_else(|| {
                let message = format!("{end} is gone, so the link cannot hold");
                Refusal::new(Code::ReferenceError, message).hint("Remove the link, or bring the thing back.")
            })
        };
        Ok((now(&link.from)?, now(&link.to)?))
    }

    fn existing(&self, end: &LinkEnd, field: &str) -> Result<EndNow, Refusal> {
        self.end_now(end)
            .ok_or_else(|| Refusal::new(Code::NotFound, format!("there is no {end}")).field(field))
    }
}

/// The same with every object's members sorted: in which order somebody wrote them says nothing.
fn in_order(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(in_order).collect(),
        Value::Object(members) => {
            let members: BTreeMap<String, Value> =
                members.into_iter().map(|(key, value)| (key, in_order(value))).collect();
            members.into_iter().collect()
        }
        other => other,
    }
}
