//! The trace links of an entity, beside its context.

use super::Shown;
use bundles::{Data, Envelope};
use mcp_server::View;
use serde_json::Value;
use shared_protocol::link::{EndState, EndView, LinkEnd, LinkView};

/// Links in one answer; `meta.totalLinks` counts all.
const MAX_LINKS: usize = 200;

/// Adds the links of the entity that a context is of, if there are any links at all.
pub(super) fn add(envelope: &mut Envelope, arguments: &Value, view: &View) {
    let Some(Shown(_, all)) = view.specs::<Shown>().filter(|shown| !shown.1.links.is_empty()) else { return };
    let Ok(answer) = &mut envelope.result else { return };
    let (bundle, text) = (answer.bundle_id.as_deref(), |key: &str| arguments[key].as_str());
    let is_meant = |end: &LinkEnd| match end {
        LinkEnd::Entity(entity) => {
            Some(entity.bundle.as_str()) == bundle
                && Some(entity.entity_type.as_str()) == text("entityType")
                && Some(entity.id.as_str()) == text("id")
        }
        LinkEnd::Node(_) => false,
    };
    let meant: Vec<&LinkView> =
        all.links.iter().filter(|link| is_meant(&link.link.from) || is_meant(&link.link.to)).collect();
    let links: Vec<Data> = meant.iter().take(MAX_LINKS).map(|link| data(link)).collect();
    if let (Data::Map(members), Data::Map(meta)) = (&mut answer.data, &mut answer.meta) {
        meta.set("totalLinks", meant.len().into());
        members.set("links", links.into());
    }
}

fn data(link: &LinkView) -> Data {
    Data::map_of_some([
        ("id", Some(link.link.id.to_string().into())),
        ("relation", Some(link.link.relation.as_str().into())),
        ("from", Some(end(&link.link.from, &link.from))),
        ("to", Some(end(&link.link.to, &link.to))),
        ("suspect", Some(link.is_suspect().into())),
        ("why", link.trouble().map(Data::from)),
    ])
}

fn end(end: &LinkEnd, now: &EndView) -> Data {
    let (node, entity) = match end {
        LinkEnd::Node(node) => (Some(node.to_string()), None),
        LinkEnd::Entity(entity) => (None, Some(entity)),
    };
    let state = match now.state {
        EndState::Same => "same",
        EndState::Changed => "changed",
        EndState::Gone => "gone",
    };
    Data::map_of_some([
        ("instanceId", node.map(Data::from)),
        ("bundleId", entity.map(|entity| entity.bundle.as_str().into())),
        ("entityType", entity.map(|entity| entity.entity_type.as_str().into())),
        ("id", entity.map(|entity| entity.id.as_str().into())),
        ("title", Some(now.title.as_str().into())),
        ("state", Some(state.into())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use bundles::{Answer, Bundles};
    use serde_json::json;
    use shared_protocol::{
        LinkId, NodeId,
        bundle::EntityRef,
        link::{Fingerprint, Link, LinksView},
    };
    use std::sync::Arc;

    #[test]
    fn a_context_names_the_links_of_its_entity_and_no_others() {
        let entity = |id: &str| {
            let (bundle, entity_type) = ("lockers".to_owned(), "Requirement".to_owned());
            LinkEnd::Entity(EntityRef { bundle, entity_type, id: id.to_owned() })
        };
        let link = |bits: u64, id: &str, state: EndState| LinkView {
            link: Link {
                id: LinkId::from_bits(bits),
                from: entity(id),
                to: LinkEnd::Node(NodeId::from_bits(bits)),
                relation: "runs on".to_owned(),
                seen: (Fingerprint::of(b""), Fingerprint::of(b"")),
            },
            from: EndView { title: id.to_owned(), board: None, state: EndState::Same },
            to: EndView { title: "Web".to_owned(), board: None, state },
        };
        let links = vec![link(1, "REQ-1", EndState::Changed), link(2, "REQ-2", EndState::Same)];
        let shown = Shown(Arc::new(Bundles::default()), Arc::new(LinksView { links, problem: None }));
        let view = View { specs: Some(Arc::new(shown)), ..View::default() };
        let answer = Answer {
            data: Data::map([]),
            bundle_id: Some("lockers".to_owned()),
            meta: Data::map([]),
            diagnostics: Vec::new(),
        };
        let mut envelope = Envelope { tool: "get_context".to_owned(), result: Ok(answer) };
        add(&mut envelope, &json!({ "entityType": "Requirement", "id": "REQ-1" }), &view);
        let told = envelope.to_json();
        assert_eq!(told["meta"]["totalLinks"], 1);
        let [link] = &told["data"]["links"].as_array().unwrap()[..] else { panic!("{told}") };
        assert_eq!((&link["suspect"], &link["why"]), (&json!(true), &json!("Web changed")));
        assert_eq!(link["to"]["instanceId"], NodeId::from_bits(1).to_string());
        assert_eq!((&link["from"]["id"], &link["to"]["state"]), (&json!("REQ-1"), &json!("changed")));
    }
}
