//! The node types that can be placed on a board.

use super::shape::{AnswerDetail, REDACTED};
use crate::escape::escape_hidden;
use crate::{
    AgentCall, EnvelopeMeta, SurfaceTool, ToolReply,
    escape::escape_hidden_json,
    page::{self, MAX_PAGE_ITEMS, PageRequest},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use shared_protocol::{
    BoardKind, Refusal, RefusalCode, TypeDef, TypeId,
    registry::{PortDirection, PortSide, PropDef},
};
use std::sync::Arc;

const DEFAULT_TYPES: usize = 25;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TypesArguments {
    /// only this type
    type_id: Option<String>,
    /// such as aws, azurerm or ui
    provider: Option<String>,
    category: Option<String>,
    #[schemars(extend("enum" = BoardKind::ALL), with = "Option<String>")]
    board_kind: Option<BoardKind>,
    query: Option<String>,
    #[serde(default)]
    detail: AnswerDetail,
    #[schemars(range(min = 1, max = MAX_PAGE_ITEMS))]
    limit: Option<u64>,
    offset: Option<u64>,
    cursor: Option<String>,
}

pub(super) fn tool() -> SurfaceTool {
    SurfaceTool::read(
        "diagram",
        "get_available_resource_types",
        "Available resource types",
        "List the node types that you can place, with containment rules, handles and properties. Filter by provider, category, board kind or text.",
        json!({ "type": "array" }),
        types,
    )
    .cacheable()
}

fn types(call: &AgentCall, arguments: TypesArguments) -> Result<ToolReply, Refusal> {
    let workspace = call.workspace()?;
    let registry = workspace.snapshot.registry();
    if let Some(id) = &arguments.type_id {
        let id = TypeId::parse(id.as_str())
            .map_err(|error| Refusal::new(RefusalCode::BadRequest, error.to_string()).field("typeId"))?;
        registry.require(&id).map_err(|refusal| refusal.field("typeId"))?;
    }
    let query = arguments.query.as_deref().unwrap_or_default().to_lowercase();
    let fits = |def: &&Arc<TypeDef>| {
        arguments.type_id.as_ref().is_none_or(|id| def.id.as_str() == id)
            && arguments.provider.as_ref().is_none_or(|wanted| provider(def).eq_ignore_ascii_case(wanted))
            && arguments.category.as_ref().is_none_or(|wanted| def.category.eq_ignore_ascii_case(wanted))
            && arguments.board_kind.is_none_or(|kind| def.is_allowed_on(kind))
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
    let asked = PageRequest {
        limit: arguments.limit,
        default_limit: DEFAULT_TYPES,
        cursor: arguments.cursor,
        offset: arguments.offset,
        list_key: list,
        state_key: call.view.generation,
    };
    let page = page::paginate(asked, fitting.into_iter(), |def| shape(def, arguments.detail))?;
    let mut meta = EnvelopeMeta { revision: workspace.revision().0, ..EnvelopeMeta::default() };
    page.describe(&mut meta);
    Ok(ToolReply { data: page.json(), meta, ..ToolReply::default() })
}

fn provider(def: &TypeDef) -> &str {
    def.id.as_str().split(['/', '.']).next().unwrap_or_default()
}

fn shape(def: &TypeDef, detail: AnswerDetail) -> Value {
    if detail == AnswerDetail::Ids {
        return json!(def.id);
    }
    let mut entry = json!({
        "typeId": def.id,
        "displayName": escape_hidden(&def.title),
        "category": escape_hidden(&def.category),
        "provider": provider(def),
        "description": escape_hidden(&def.description),
        "isContainer": def.container,
    });
    if detail == AnswerDetail::Full {
        entry["canBeChildOf"] = json!(def.parents);
        entry["canBeRoot"] = json!(def.may_be_root());
        entry["handles"] = def.ports.iter().map(handle).collect();
        entry["properties"] = def.props.iter().map(property).collect();
    }
    entry
}

fn handle(port: &shared_protocol::registry::PortDef) -> Value {
    let position = match port.side() {
        PortSide::Left => "left",
        PortSide::Right => "right",
        PortSide::Top => "top",
        PortSide::Bottom => "bottom",
    };
    let kind = match port.direction {
        PortDirection::In => "target",
        PortDirection::Out => "source",
    };
    json!({ "id": port.id, "type": kind, "label": escape_hidden(&port.label), "position": position })
}

fn property(prop: &PropDef) -> Value {
    let mut entry = json!({
        "key": prop.key, "label": escape_hidden(&prop.label), "type": prop.kind, "required": prop.required,
    });
    if !prop.description.is_empty() {
        entry["description"] = json!(escape_hidden(&prop.description));
    }
    if let Some(default) = &prop.default {
        entry["defaultValue"] = match prop.sensitive {
            true => json!(REDACTED),
            false => escape_hidden_json(serde_json::to_value(default).unwrap_or_default()),
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
