//! The trace links of an entity, beside its context.

use super::PublishedBundles;
use bundles::BundleToolEnvelope;
use mcp_server::AgentView;
use serde_json::Value;
use shared_protocol::{
    OrderedValue,
    trace_link::{TraceLinkEnd, TraceLinkEndState, TraceLinkEndView, TraceLinkView},
};

/// Links in one answer; `meta.totalLinks` counts all.
const MAX_LINKS: usize = 200;

/// Adds the links of the entity that a context is of, if there are any links at all.
pub(super) fn add(envelope: &mut BundleToolEnvelope, arguments: &Value, view: &AgentView) {
    let Some(PublishedBundles(_, all)) =
        view.specs::<PublishedBundles>().filter(|shown| !shown.1.links.is_empty())
    else {
        return;
    };
    let Ok(answer) = &mut envelope.result else { return };
    let (bundle, text) = (answer.bundle_id.as_deref(), |key: &str| arguments[key].as_str());
    let is_meant = |end: &TraceLinkEnd| match end {
        TraceLinkEnd::Entity(entity) => {
            Some(entity.bundle.as_str()) == bundle
                && Some(entity.entity_type.as_str()) == text("entityType")
                && Some(entity.id.as_str()) == text("id")
        }
        TraceLinkEnd::Node(_) => false,
    };
    let meant: Vec<&TraceLinkView> =
        all.links.iter().filter(|link| is_meant(&link.link.from) || is_meant(&link.link.to)).collect();
    let links: Vec<OrderedValue> = meant.iter().take(MAX_LINKS).map(|link| data(link)).collect();
    if let (OrderedValue::Map(members), OrderedValue::Map(meta)) = (&mut answer.data, &mut answer.meta) {
        meta.set("totalLinks", meant.len().into());
        members.set("links", links.into());
    }
}

fn data(link: &TraceLinkView) -> OrderedValue {
    OrderedValue::map_of_present([
        ("id", Some(link.link.id.to_string().into())),
        ("relation", Some(link.link.relation.as_str().into())),
        ("from", Some(end(&link.link.from, &link.from))),
        ("to", Some(end(&link.link.to, &link.to))),
        ("suspect", Some(link.is_suspect().into())),
        ("why", link.suspect_reason().map(OrderedValue::from)),
    ])
}

fn end(end: &TraceLinkEnd, now: &TraceLinkEndView) -> OrderedValue {
    let (node, entity) = match end {
        TraceLinkEnd::Node(node) => (Some(node.to_string()), None),
        TraceLinkEnd::Entity(entity) => (None, Some(entity)),
    };
    let state = match now.state {
        TraceLinkEndState::Same => "same",
        TraceLinkEndState::Changed => "changed",
        TraceLinkEndState::Gone => "gone",
    };
    OrderedValue::map_of_present([
        ("instanceId", node.map(OrderedValue::from)),
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
    use bundles::{BundleToolResponse, Bundles};
    use serde_json::json;
    use shared_protocol::{
        NodeId, TraceLinkId,
        bundle::EntityRef,
        trace_link::{TraceLink, TraceLinkFingerprint, TraceLinksView},
    };
    use std::sync::Arc;

    #[test]
    fn a_context_names_the_links_of_its_entity_and_no_others() {
        let entity = |id: &str| {
            let (bundle, entity_type) = ("lockers".to_owned(), "Requirement".to_owned());
            TraceLinkEnd::Entity(EntityRef { bundle, entity_type, id: id.to_owned() })
        };
        let link = |bits: u64, id: &str, state: TraceLinkEndState| TraceLinkView {
            link: TraceLink {
                id: TraceLinkId::from_bits(bits),
                from: entity(id),
                to: TraceLinkEnd::Node(NodeId::from_bits(bits)),
                relation: "runs on".to_owned(),
                seen: (TraceLinkFingerprint::hash(b""), TraceLinkFingerprint::hash(b"")),
            },
            from: TraceLinkEndView { title: id.to_owned(), board: None, state: TraceLinkEndState::Same },
            to: TraceLinkEndView { title: "Web".to_owned(), board: None, state },
        };
        let links =
            vec![link(1, "REQ-1", TraceLinkEndState::Changed), link(2, "REQ-2", TraceLinkEndState::Same)];
        let shown =
            PublishedBundles(Arc::new(Bundles::default()), Arc::new(TraceLinksView { links, problem: None }));
        let view = AgentView { specs: Some(Arc::new(shown)), ..AgentView::default() };
        let answer = BundleToolResponse {
            data: OrderedValue::map([]),
            bundle_id: Some("lockers".to_owned()),
            meta: OrderedValue::map([]),
            diagnostics: Vec::new(),
        };
        let mut envelope = BundleToolEnvelope { tool: "get_context".to_owned(), result: Ok(answer) };
        add(&mut envelope, &json!({ "entityType": "Requirement", "id": "REQ-1" }), &view);
        let told = envelope.to_json();
        assert_eq!(told["meta"]["totalLinks"], 1);
        let [link] = &told["data"]["links"].as_array().unwrap()[..] else { panic!("{told}") };
        assert_eq!((&link["suspect"], &link["why"]), (&json!(true), &json!("Web changed")));
        assert_eq!(link["to"]["instanceId"], NodeId::from_bits(1).to_string());
        assert_eq!((&link["from"]["id"], &link["to"]["state"]), (&json!("REQ-1"), &json!("changed")));
    }
}
