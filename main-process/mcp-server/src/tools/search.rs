//! Full-text search over nodes, types and entities.

use super::shape::{REDACTED, property};
use crate::escape::escape_hidden;
use crate::{
    AgentCall, EnvelopeMeta, FoundEntity, SurfaceTool, ToolReply,
    page::{self, MAX_PAGE_ITEMS, PageRequest},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared_protocol::{Node, Refusal, RefusalCode, TypeDef};
use std::borrow::Cow;

const DEFAULT_RESULTS: usize = 20;
const MAX_QUERY_CHARS: usize = 200;
/// The maximum number of entities in the results; `search_entities` returns all.
const MAX_ENTITY_RESULTS: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum SearchKind {
    Nodes,
    Types,
    Entities,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
    kind: Option<SearchKind>,
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    limit: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn tool() -> SurfaceTool {
    SurfaceTool::read(
        "workbench",
        "search",
        "Search",
        "Search nodes of all boards, types and spec entities by words in id, name, label, type, title or values. Every word must match. Best matches first.",
        json!({ "type": "array" }),
        search,
    )
    .cacheable()
    .of_drafts()
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
enum SearchMatch<'a> {
    #[serde(rename_all = "camelCase")]
    Node {
        instance_id: String,
        name: &'a str,
        label: Cow<'a, str>,
        type_id: &'a str,
        board: Option<&'a str>,
    },
    #[serde(rename_all = "camelCase")]
    Type {
        type_id: &'a str,
        title: Cow<'a, str>,
        category: Cow<'a, str>,
    },
    Entity(FoundEntity),
}

fn search(call: &AgentCall, arguments: SearchArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
    let query: String = arguments.query.to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    if words.is_empty() || query.chars().count() > MAX_QUERY_CHARS {
        let message = format!("query must have 1 to {MAX_QUERY_CHARS} characters");
        return Err(Refusal::new(RefusalCode::BadRequest, message).field("query"));
    }
    let snapshot = &workspace.snapshot;
    let mut found: Vec<(u32, SearchMatch<'_>)> = Vec::new();
    let wants = |kind: SearchKind| arguments.kind.is_none_or(|wanted| wanted == kind);
    if wants(SearchKind::Nodes) {
        for node in snapshot.nodes() {
            let def = snapshot.type_of(node);
            if let Some(score) = score_node(node, def, &words) {
                let board = snapshot.board(node.board).map(|board| board.name.as_str());
                let entry = SearchMatch::Node {
                    instance_id: node.id.to_string(),
                    name: node.name.as_str(),
                    label: escape_hidden(&node.label),
                    type_id: node.type_id.as_str(),
                    board,
                };
                found.push((score, entry));
            }
        }
    }
    if wants(SearchKind::Types) {
        for def in snapshot.registry().types() {
            let fields = [def.id.as_str(), &def.title, &def.category, &def.description];
            if let Some(score) = score(&fields, &words) {
                let entry = SearchMatch::Type {
                    type_id: def.id.as_str(),
                    title: escape_hidden(&def.title),
                    category: escape_hidden(&def.category),
                };
                found.push((score, entry));
            }
        }
    }
    let entities = call.view.specs.as_ref().filter(|_| wants(SearchKind::Entities));
    for entity in entities.map(|specs| specs.find(&query, MAX_ENTITY_RESULTS)).unwrap_or_default() {
        let fields = [entity.id.as_str(), &entity.title, &entity.entity_type];
        // The entity matches in other fields.
        let score = score(&fields, &words).unwrap_or(1);
        found.push((score, SearchMatch::Entity(entity)));
    }
    // Equal scores keep id order, so that results are stable.
    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let asked = PageRequest {
        limit: arguments.limit,
        default_limit: DEFAULT_RESULTS,
        cursor: arguments.cursor,
        offset: None,
        list_key: format!("search {query:?} {:?}", arguments.kind),
        state_key: call.view.generation,
    };
    let page = page::paginate(asked, found.into_iter(), |(_, entry)| entry)?;
    let mut meta = EnvelopeMeta { revision: workspace.revision().0, ..EnvelopeMeta::default() };
    page.describe(&mut meta);
    Ok(ToolReply { data: page.json(), meta, ..ToolReply::default() })
}

fn score_node(node: &Node, def: Option<&TypeDef>, words: &[&str]) -> Option<u32> {
    let id = node.id.to_string();
    let title = def.map_or("", |def| def.title.as_str());
    let own = [node.name.as_str(), &node.label, &id, node.type_id.as_str(), title];
    score(&own, words).or_else(|| {
        // Searches only values that agents may see.
        let values: Vec<String> =
            node.props.iter().flat_map(|(key, value)| texts(&property(def, key, value))).collect();
        let fields: Vec<&str> = own.iter().copied().chain(values.iter().map(String::as_str)).collect();
        score(&fields, words).map(|_| 1)
    })
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if text != REDACTED => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Returns `None` unless every word occurs. Earlier fields and better matches score higher.
fn score(fields: &[&str], words: &[&str]) -> Option<u32> {
    let lower: Vec<String> = fields.iter().map(|field| field.to_lowercase()).collect();
    words.iter().try_fold(0, |sum, word| {
        let best = lower.iter().enumerate().filter_map(|(place, field)| {
            let fit = match field {
                _ if field == word => 40,
                _ if field.starts_with(word) => 30,
                _ if field.contains(word) => 20,
                _ => return None,
            };
            Some(fit - (place as u32).min(10))
        });
        Some(sum + best.max()?)
    })
}
