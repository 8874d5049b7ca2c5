//! The node types that can be placed on a board.

use super::shape::{Detail, REDACTED};
use crate::{
    Call, Code, Failure, Meta, Reply, Tool,
    page::{self, Asked, MOST_LIMIT},
    shown,
    shown::shown_json,
};
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    BoardKind, TypeDef, TypeId,
    registry::{Direction, PropDef, Side},
};
use std::sync::Arc;

const USUAL_LIMIT: usize = 25;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    type_id: Option<String>,
    provider: Option<String>,
    category: Option<String>,
    board_kind: Option<BoardKind>,
    query: Option<String>,
    #[serde(default)]
    detail: Detail,
    limit: Option<u64>,
    offset: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool::read(
        "diagram",
        "get_available_resource_types",
        "Available resource types",
        "List the node types that you can place, with containment rules, handles and properties. Filter by provider, category, board kind or text.",
        json!({
            "typeId": { "type": "string", "description": "return only this type" },
            "provider": { "type": "string", "description": "provider, such as aws, azurerm or ui" },
            "category": { "type": "string" },
            "boardKind": { "enum": ["infrastructure", "interface", "spec"] },
            "query": { "type": "string" },
            "detail": { "enum": ["ids", "summary", "full"] },
            "limit": { "type": "integer", "minimum": 1, "maximum": MOST_LIMIT },
            "offset": { "type": "integer", "minimum": 0 },
            "cursor": { "type": "string" }
        }),
        json!({ "type": "array" }),
        types,
    )
    .lasting()
}

fn types(call: &Call) -> Result<Reply, Failure> {
    let workspace = call.workspace()?;
    let arguments: Arguments = call.arguments()?;
    let registry = workspace.snapshot.registry();
    if let Some(id) = &arguments.type_id {
        let id = TypeId::parse(id.as_str())
            .map_err(|error| Failure::new(Code::BadRequest, error.to_string()).field("typeId"))?;
        registry.require(&id).map_err(|refusal| Failure::from(refusal).field("typeId"))?;
    }
    let query = arguments.query.as_deref().unwrap_or_default().to_lowercase();
    let fits = |def: &&Arc<TypeDef>| {
        arguments.type_id.as_ref().is_none_or(|id| def.id.as_str() == id)
            && arguments.provider.as_ref().is_none_or(|wanted| provider(def).eq_ignore_ascii_case(wanted))
            && arguments.category.as_ref().is_none_or(|wanted| def.category.eq_ignore_ascii_case(wanted))
            && arguments.board_kind.is_none_or(|kind| def.may_stand_on(kind))
            && [def.id.as_str(), &def.title, &def.description]
                .iter()
                .any(|text| text.to_lowercase().contains(&query))
    };
    let mut fitting: Vec<&Arc<TypeDef>> = registry.types().filter(fits).collect();
    fitting.sort_by_key(|def| (provider(def), def.category.as_str(), def.id.as_str()));
    let list = format!(
        "types {:?} {:?} {:?} {:?} {query:?} {:?}",
        arguments.type_id, arguments.provider, arguments.category, arguments.board_kind, arguments.detail
    );
    let asked = Asked {
        limit: arguments.limit,
        usual: USUAL_LIMIT,
        cursor: arguments.cursor,
        offset: arguments.offset,
        list,
        state: call.view.generation,
    };
    let page = page::take(asked, fitting.into_iter(), |def| shape(def, arguments.detail))?;
    let mut meta = Meta { revision: workspace.revision().0, ..Meta::default() };
    page.describe(&mut meta);
    Ok(Reply { data: page.json(), meta, ..Reply::default() })
}

fn provider(def: &TypeDef) -> &str {
    def.id.as_str().split(['/', '.']).next().unwrap_or_default()
}

fn shape(def: &TypeDef, detail: Detail) -> Value {
    if detail == Detail::Ids {
        return json!(def.id);
    }
    let mut entry = json!({
        "typeId": def.id,
        "displayName": shown(&def.title),
        "category": shown(&def.category),
        "provider": provider(def),
        "description": shown(&def.description),
        "isContainer": def.container,
    });
    if detail == Detail::Full {
        entry["canBeChildOf"] = json!(def.parents);
        entry["canBeRoot"] = json!(def.may_be_root());
        entry["handles"] = def.ports.iter().map(handle).collect();
        entry["properties"] = def.props.iter().map(property).collect();
    }
    entry
}

fn handle(port: &shared_protocol::registry::PortDef) -> Value {
    let position = match port.side() {
        Side::Left => "left",
        Side::Right => "right",
        Side::Top => "top",
        Side::Bottom => "bottom",
    };
    let kind = match port.direction {
        Direction::In => "target",
        Direction::Out => "source",
    };
    json!({ "id": port.id, "type": kind, "label": shown(&port.label), "position": position })
}

fn property(prop: &PropDef) -> Value {
    let mut entry = json!({
        "key": prop.key, "label": shown(&prop.label), "type": prop.kind, "required": prop.required,
    });
    if !prop.description.is_empty() {
        entry["description"] = json!(shown(&prop.description));
    }
    if let Some(default) = &prop.default {
        entry["defaultValue"] = match prop.sensitive {
            true => json!(REDACTED),
            false => shown_json(serde_json::to_value(default).unwrap_or_default()),
        };
    }
    if !prop.options.is_empty() {
        entry["options"] = prop.options.iter().map(|choice| json!(choice.value)).collect();
    }
    if !prop.targets.is_empty() {
        entry["targets"] = json!(prop.targets);
    }
    if prop.sensitive {
        entry["sensitive"] = json!(true);
    }
    entry
}
