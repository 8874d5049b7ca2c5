//! Imports Terraform files: resources with a type in the catalogue become nodes in the containers that they refer
//! to; everything else is kept as verbatim HCL.

use super::{
    ImportError, ImportedBoard, MAX_IMPORTED_RESOURCES,
    board_builder::BoardBuilder,
    hcl_value::{literal, traversal, value_of},
};
use crate::settings::Backend;
use authority::Snapshot;
use hcl_edit::{
    expr::Expression,
    structure::{Attribute, Block, Body, Structure},
};
use shared_protocol::{
    BoardName, NodeId, NodeName, PropKey, PropValue, TypeDef, TypeId,
    registry::{self, PropDef, PropKind, PropRole},
};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

const VERBATIM: &str = "terraform/core/verbatim";

/// Returns the syntax error of a file, parsed by its file extension.
pub fn syntax_problem(name: &str, bytes: &[u8]) -> Option<String> {
    if name.ends_with(".json") {
        return serde_json::from_slice::<serde::de::IgnoredAny>(bytes).err().map(|error| error.to_string());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => parse(text).err(),
        Err(error) => Some(error.to_string()),
    }
}

fn parse(text: &str) -> Result<Body, String> {
    // Removes the arrow at the start of the error, which only makes sense on its own line.
    let told =
        |error: hcl_edit::parser::Error| error.to_string().trim_start_matches([' ', '-', '>']).to_owned();
    text.parse().map_err(told)
}

/// Reads `.tf` files (name and text) as a new board. `seed` is the source of ids.
pub fn read_terraform(
    snapshot: &Snapshot,
    files: &[(String, String)],
    name: BoardName,
    title: &str,
    seed: u64,
) -> Result<ImportedBoard, ImportError> {
    let mut reading = TerraformImporter {
        drawing: BoardBuilder::new(snapshot, name, title, seed),
        types: types_by_terraform(snapshot),
        addresses: HashMap::new(),
        resources: Vec::new(),
        defaults: 0,
    };
    for (file, text) in files {
        let body = parse(text).map_err(|message| ImportError::Malformed { file: file.clone(), message })?;
        for structure in body {
            reading.import_structure(structure, file);
        }
        if reading.drawing.nodes.len() > MAX_IMPORTED_RESOURCES {
            return Err(ImportError::TooMuch { what: "resources", most: MAX_IMPORTED_RESOURCES });
        }
    }
    reading.import_arguments();
    if reading.defaults > 0 {
        let message = format!(
            "{} properties that the files do not set have a default in Draftboard, which is written: review a plan before \
             you apply",
            reading.defaults
        );
        reading.drawing.add_note(None, message);
    }
    reading.drawing.finish()
}

/// The catalogue type of each Terraform type (prefix `data.` for data sources), and the property value that selects
/// it.
type TypesByTerraformName<'a> = HashMap<String, (&'a TypeDef, Option<(PropKey, Arc<str>)>)>;

fn types_by_terraform(snapshot: &Snapshot) -> TypesByTerraformName<'_> {
    let mut found = HashMap::new();
    for def in snapshot.registry().types() {
        let prefix = match def.block {
            registry::TerraformBlockKind::Resource => "",
            registry::TerraformBlockKind::Data => "data.",
            _ => continue,
        };
        if let Some(terraform) = &def.terraform {
            found.insert(format!("{prefix}{terraform}"), (&**def, None));
        }
        if let Some(by) = &def.terraform_by {
            for (value, terraform) in &by.types {
                found
                    .insert(format!("{prefix}{terraform}"), (&**def, Some((by.prop.clone(), value.clone()))));
            }
        }
    }
    found
}

struct TerraformImporter<'a> {
    drawing: BoardBuilder<'a>,
    types: TypesByTerraformName<'a>,
    addresses: HashMap<String, NodeId>,
    resources: Vec<(NodeId, &'a TypeDef, Block)>,
    defaults: usize,
}

impl TerraformImporter<'_> {
    fn import_structure(&mut self, structure: Structure, file: &str) {
        let block = match structure {
            Structure::Block(block) => block,
            Structure::Attribute(attribute) => {
                let message = format!(
                    "{file}: `{}` is outside of any block and was not imported",
                    attribute.key.as_str()
                );
                return self.drawing.add_note(None, message);
            }
        };
        let labels: Vec<String> = block.labels.iter().map(|label| label.as_str().to_owned()).collect();
        match (block.ident.as_str(), &labels[..]) {
            ("resource", [terraform, name]) => self.import_resource(terraform, name, "", block),
            ("data", [terraform, name]) => self.import_resource(terraform, name, "data.", block),
            ("variable", [name]) => self.import_variable(name, &block),
            ("output", [name]) => self.import_output(name, &block),
            ("module", [name]) => self.import_module_call(name, &block),
            ("locals", []) => {
                for attribute in block.body.attributes() {
                    self.import_local(attribute);
                }
            }
            ("terraform", []) => self.import_terraform_block(&block),
            ("provider", [name]) => self.import_provider(name, block.clone()),
            _ => self.import_verbatim(&block, block.ident.as_str()),
        }
    }

    fn type_id(text: &str) -> Option<TypeId> {
        TypeId::parse(text).ok()
    }

    /// Imports a block as verbatim HCL.
    fn import_verbatim(&mut self, block: &Block, name: &str) {
        let Some(type_id) = Self::type_id(VERBATIM) else { return };
        let words: Vec<&str> = block.labels.iter().map(|label| label.as_str()).collect();
        let label = format!("{} {}", block.ident.as_str(), words.join(" "));
        let id = self.drawing.add_node(
            type_id,
            NodeName::from_words(name, &NodeName::fallback()).as_str(),
            label.trim(),
        );
        self.drawing.set_prop(id, "text", PropValue::text(source(block)));
        self.drawing.add_note(Some(id), format!("`{}` was imported as verbatim HCL", label.trim()));
    }

    fn import_resource(&mut self, terraform: &str, name: &str, prefix: &str, block: Block) {
        let known = self.types.get(&format!("{prefix}{terraform}")).cloned();
        let Some((def, choice)) = known else { return self.import_verbatim(&block, name) };
        let id = self.drawing.add_node(def.id.clone(), name, name);
        if let Some((key, value)) = choice {
            self.drawing.set_prop(id, key.as_str(), PropValue::Text(value));
        }
        self.addresses.insert(format!("{prefix}{terraform}.{name}"), id);
        self.resources.push((id, def, block));
    }

    /// Imports the arguments, after every resource has an address.
    fn import_arguments(&mut self) {
        let resources = std::mem::take(&mut self.resources);
        for (id, def, block) in &resources {
            self.set_parent(*id, def, block);
        }
        for (id, def, block) in &resources {
            let mut filling = ResourceImport { id: *id, def, extra: Vec::new() };
            self.import_body(&mut filling, &block.body, "");
            if !filling.extra.is_empty() {
                let text = filling.extra.join("");
                self.drawing.set_prop(*id, "extra", PropValue::text(text));
                let message = "arguments without a matching property were kept under Further arguments";
                self.drawing.add_note(Some(*id), message);
            }
            let node = self.drawing.node(*id);
            self.defaults += def
                .props
                .iter()
                .filter(|prop| {
                    prop.default.is_some()
                        && prop.role == PropRole::Argument
                        && node.is_some_and(|node| {
                            !node.props.contains_key(&prop.key) && authority::is_visible(def, node, prop)
                        })
                })
                .count();
        }
    }

    /// Moves a resource into the container that it refers to.
    fn set_parent(&mut self, id: NodeId, def: &TypeDef, block: &Block) {
        let keys = def.parent_reference.iter().map(|key| key.as_str());
        let others = def.props.iter().filter(|prop| prop.from_ancestor).map(|prop| prop.key.as_str());
        for key in keys.chain(others) {
            let Some(prop) = def.prop(key) else { continue };
            let Some(expression) = expression_at(&block.body, prop.argument()) else { continue };
            let Some(target) =
                traversal(expression).and_then(|(address, _)| self.addresses.get(&address).copied())
            else {
                continue;
            };
            if self.drawing.may_stand_in(id, target)
                && !self.drawing.is_within(target, id)
                && let Some(node) = self.drawing.node_mut(id)
            {
                node.parent = Some(target);
                return;
            }
        }
    }

    fn import_body(&mut self, filling: &mut ResourceImport<'_>, body: &Body, path: &str) {
        let mut repeated: BTreeMap<String, Vec<&Block>> = BTreeMap::new();
        for structure in body {
            match structure {
                Structure::Attribute(attribute) => {
                    let full = join(path, attribute.key.as_str());
                    if !self.import_argument(filling, &full, &attribute.value) {
                        filling.push_extra(path, &source_of_attribute(attribute));
                    }
                }
                Structure::Block(block) => {
                    repeated.entry(block.ident.as_str().to_owned()).or_default().push(block);
                }
            }
        }
        for (name, blocks) in repeated {
            let full = join(path, &name);
            let list = filling.def.props.iter().find(|prop| prop.argument() == format!("{full}[]"));
            let values: Option<Vec<PropValue>> = blocks.iter().map(|block| object_of(&block.body)).collect();
            let known = filling.has_block(&full);
            match (list, values) {
                (Some(prop), Some(values)) => {
                    self.drawing.set_prop(filling.id, prop.key.as_str(), PropValue::List(values));
                }
                _ if known
                    && blocks.len() == 1
                    && list.is_none()
                    && self.fits(filling, &blocks[0].body, &full) =>
                {
                    self.import_body(filling, &blocks[0].body, &full);
                }
                _ => {
                    for block in blocks {
                        filling.push_extra(path, &source(block));
                    }
                }
            }
        }
    }

    /// Returns whether everything in a nested block has a property; a block cannot be split.
    fn fits(&self, filling: &ResourceImport<'_>, body: &Body, path: &str) -> bool {
        body.iter().all(|structure| match structure {
            Structure::Attribute(attribute) => filling.prop(&join(path, attribute.key.as_str())).is_some(),
            Structure::Block(block) => {
                let full = join(path, block.ident.as_str());
                filling.has_block(&full) && self.fits(filling, &block.body, &full)
            }
        })
    }

    /// Imports an argument. Returns `false` when no property matches.
    fn import_argument(&mut self, filling: &ResourceImport<'_>, path: &str, expression: &Expression) -> bool {
        let mut props: Vec<&PropDef> = filling.props(path).collect();
        let Some(&first) = props.first() else { return false };
        // Imported as a reference where a property can hold it.
        let targets: Option<Vec<(NodeId, String)>> = match expression {
            Expression::Array(items) if !items.is_empty() => {
                items.iter().map(|item| self.target(item)).collect()
            }
            other => self.target(other).map(|target| vec![target]),
        };
        if let Some(targets) = &targets {
            for prop in &props {
                let takes = |(target, attribute): &(NodeId, String)| {
                    let fits = self.drawing.node(*target).is_some_and(|target| {
                        prop.targets.iter().any(|pattern| pattern.matches(&target.type_id))
                    });
                    fits && attribute == prop.target_attribute()
                };
                let is_reference = prop.kind == PropKind::Reference && prop.output_from.is_none();
                if is_reference && (targets.len() == 1 || prop.many) && targets.iter().all(takes) {
                    for (target, _) in targets {
                        if *target != filling.id {
                            self.drawing.add_reference(filling.id, prop.key.as_str(), *target);
                        }
                    }
                    return true;
                }
                if prop.inherit.is_some() && self.is_inherited(filling, prop, targets) {
                    return true;
                }
            }
        }
        props.retain(|prop| prop.kind != PropKind::Reference);
        let shown = |prop: &&&PropDef| {
            self.drawing.node(filling.id).is_some_and(|node| authority::is_visible(filling.def, node, prop))
        };
        let Some(&prop) = props.iter().find(shown).or(props.first()) else {
            // Only reference properties match, and this is not a reference.
            return first.kind != PropKind::Reference;
        };
        let value = match literal(expression) {
            Some(PropValue::Null) => return false,
            Some(value) => self.coerce_value(filling, prop, value),
            None => json_of(prop, expression).unwrap_or_else(|| value_of(expression)),
        };
        self.drawing.set_prop(filling.id, prop.key.as_str(), value);
        true
    }

    /// Converts a literal to a form that the property accepts; otherwise returns it unchanged.
    fn coerce_value(&self, filling: &ResourceImport<'_>, prop: &PropDef, value: PropValue) -> PropValue {
        let registry = self.drawing.snapshot.registry();
        let takes =
            |value: &PropValue| authority::check_prop(registry, filling.def, &prop.key, value).is_ok();
        let as_text = PropValue::text(value.to_string());
        let as_number = value.as_text().and_then(|text| PropValue::parse_json(text).ok());
        let candidates = [Some(value.clone()), Some(as_text), as_number];
        candidates.into_iter().flatten().find(|value| takes(value)).unwrap_or(value)
    }

    fn target(&self, expression: &Expression) -> Option<(NodeId, String)> {
        let (address, attribute) = traversal(expression)?;
        Some((*self.addresses.get(&address)?, attribute))
    }

    /// Returns whether the argument equals the inherited value, such as the location of its own resource group.
    fn is_inherited(
        &self,
        filling: &ResourceImport<'_>,
        prop: &PropDef,
        targets: &[(NodeId, String)],
    ) -> bool {
        let Some((key, attribute)) = prop.inherit.as_deref().and_then(|inherit| inherit.split_once('.'))
        else {
            return false;
        };
        let [(target, read)] = targets else { return false };
        let reference =
            filling.def.prop(key).and_then(|prop| reference_target(&self.drawing, filling.id, prop));
        attribute == read && reference == Some(*target)
    }

    fn import_variable(&mut self, name: &str, block: &Block) {
        let Some(id) = self.built_in("variable", name) else { return };
        self.addresses.insert(format!("var.{name}"), id);
        let mut extra = String::new();
        for structure in &block.body {
            match structure {
                Structure::Attribute(attribute) => {
                    let key = attribute.key.as_str();
                    match (key, literal(&attribute.value)) {
                        ("type", _) => {
                            let text = attribute.value.to_string();
                            self.drawing.set_prop(id, "type", PropValue::text(text.trim()));
                        }
                        ("default", value) => {
                            let value = value.unwrap_or_else(|| value_of(&attribute.value));
                            let value = if value == PropValue::Null {
                                PropValue::of_expression("null")
                            } else {
                                value
                            };
                            self.drawing.set_prop(id, "default", value);
                        }
                        ("description" | "sensitive" | "nullable", Some(value)) => {
                            self.drawing.set_prop(id, key, value)
                        }
                        _ => extra.push_str(&source_of_attribute(attribute)),
                    }
                }
                Structure::Block(block) => extra.push_str(&source(block)),
            }
        }
        if !block.body.has_attribute("type") {
            self.drawing.set_prop(id, "type", PropValue::text("any"));
        }
        self.keep_extra(id, extra);
    }

    fn import_local(&mut self, attribute: &Attribute) {
        let name = attribute.key.as_str();
        let Some(type_id) = Self::type_id("terraform/core/local") else { return };
        let id = self.drawing.add_node(type_id, name, name);
        self.addresses.insert(format!("local.{name}"), id);
        self.drawing.set_prop(id, "value", value_of(&attribute.value));
    }

    fn import_output(&mut self, name: &str, block: &Block) {
        let Some(id) = self.built_in("output", name) else { return };
        let mut extra = String::new();
        for structure in &block.body {
            match structure {
                Structure::Attribute(attribute) => {
                    let key = attribute.key.as_str();
                    match (key, literal(&attribute.value)) {
                        ("value", _) => self.drawing.set_prop(id, "value", value_of(&attribute.value)),
                        ("description" | "sensitive", Some(value)) => self.drawing.set_prop(id, key, value),
                        _ => extra.push_str(&source_of_attribute(attribute)),
                    }
                }
                Structure::Block(block) => extra.push_str(&source(block)),
            }
        }
        self.keep_extra(id, extra);
    }

    fn import_module_call(&mut self, name: &str, block: &Block) {
        let Some(id) = self.built_in("module", name) else { return };
        self.addresses.insert(format!("module.{name}"), id);
        let (mut inputs, mut extra) = (BTreeMap::new(), String::new());
        for structure in &block.body {
            match structure {
                Structure::Attribute(attribute) => match attribute.key.as_str() {
                    key @ ("source" | "version") => {
                        self.drawing.set_prop(id, key, value_of(&attribute.value))
                    }
                    "providers" | "count" | "for_each" | "depends_on" => {
                        extra.push_str(&source_of_attribute(attribute));
                    }
                    key => drop(inputs.insert(Arc::from(key), value_of(&attribute.value))),
                },
                Structure::Block(block) => extra.push_str(&source(block)),
            }
        }
        self.drawing.set_prop(id, "inputs", PropValue::Object(inputs));
        self.keep_extra(id, extra);
    }

    fn built_in(&mut self, kind: &str, name: &str) -> Option<NodeId> {
        let id = self.drawing.add_node(Self::type_id(&format!("terraform/core/{kind}"))?, name, name);
        Some(id)
    }

    fn keep_extra(&mut self, id: NodeId, extra: String) {
        if !extra.is_empty() {
            self.drawing.set_prop(id, "extra", PropValue::text(extra));
        }
    }

    fn import_terraform_block(&mut self, block: &Block) {
        for structure in &block.body {
            match structure {
                Structure::Attribute(attribute) if attribute.key.as_str() == "required_version" => {
                    let value =
                        literal(&attribute.value).and_then(|value| value.as_text().map(str::to_owned));
                    self.drawing.settings.required_version = value;
                }
                Structure::Block(inner) if inner.ident.as_str() == "backend" => {
                    let config = inner.body.attributes().filter_map(|attribute| {
                        Some((attribute.key.as_str().to_owned(), literal(&attribute.value)?))
                    });
                    self.drawing.settings.backend = Some(Backend {
                        kind: inner.labels.first().map(|label| label.as_str().to_owned()).unwrap_or_default(),
                        config: config.collect(),
                    });
                }
                Structure::Block(inner) if inner.ident.as_str() == "required_providers" => {
                    for attribute in inner.body.attributes() {
                        if let Some(PropValue::Object(fields)) = literal(&attribute.value) {
                            let settings = self
                                .drawing
                                .settings
                                .providers
                                .entry(attribute.key.as_str().to_owned())
                                .or_default();
                            settings.extend(fields.into_iter().map(|(key, value)| (key.to_string(), value)));
                        }
                    }
                }
                other => {
                    let name = match other {
                        Structure::Attribute(attribute) => attribute.key.as_str(),
                        Structure::Block(block) => block.ident.as_str(),
                    };
                    self.drawing.add_note(
                        None,
                        format!("`terraform {{ {name} }}` was not imported: add it manually if you need it"),
                    );
                }
            }
        }
    }

    fn import_provider(&mut self, name: &str, block: Block) {
        let plain: Option<Vec<(String, PropValue)>> = block
            .body
            .iter()
            .filter(|structure| !matches!(structure, Structure::Block(inner) if inner.ident.as_str() == "features" && inner.body.is_empty()))
            .map(|structure| match structure {
                Structure::Attribute(attribute) if attribute.key.as_str() != "alias" => {
                    Some((attribute.key.as_str().to_owned(), literal(&attribute.value)?))
                }
                _ => None,
            })
            .collect();
        match plain {
            Some(arguments) => {
                self.drawing.settings.providers.entry(name.to_owned()).or_default().extend(arguments);
            }
            None => self.import_verbatim(&block, &format!("provider_{name}")),
        }
    }
}

/// A resource whose arguments are being imported.
struct ResourceImport<'a> {
    id: NodeId,
    def: &'a TypeDef,
    /// Content without a matching property.
    extra: Vec<String>,
}

impl ResourceImport<'_> {
    fn props(&self, path: &str) -> impl Iterator<Item = &PropDef> {
        self.def.props.iter().filter(move |prop| prop.role == PropRole::Argument && prop.argument() == path)
    }

    fn prop(&self, path: &str) -> Option<&PropDef> {
        self.props(path).next()
    }

    fn has_block(&self, block: &str) -> bool {
        let prefix = format!("{block}.");
        self.def
            .props
            .iter()
            .any(|prop| prop.role == PropRole::Argument && prop.argument().starts_with(&prefix))
    }

    /// Keeps text of the body at `path`. Only top-level content can be kept separately; nested blocks are kept
    /// whole.
    fn push_extra(&mut self, path: &str, text: &str) {
        debug_assert!(path.is_empty(), "{path}");
        self.extra.push(text.to_owned());
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Returns the expression at `block.block.argument`.
fn expression_at<'a>(body: &'a Body, path: &str) -> Option<&'a Expression> {
    match path.split_once('.') {
        None => body.get_attribute(path).map(|attribute| &attribute.value),
        Some((block, rest)) => {
            expression_at(&body.blocks().find(|inner| inner.ident.as_str() == block)?.body, rest)
        }
    }
}

/// Returns the explicit or inherited target of a reference.
fn reference_target(drawing: &BoardBuilder<'_>, id: NodeId, prop: &PropDef) -> Option<NodeId> {
    let node = drawing.node(id)?;
    if let Some(target) = node.references.get(&prop.key).and_then(|targets| targets.first()) {
        return Some(*target);
    }
    let mut around = node.parent;
    while let Some(parent) = around.and_then(|parent| drawing.node(parent)) {
        if prop.targets.iter().any(|pattern| pattern.matches(&parent.type_id)) {
            return Some(parent.id);
        }
        around = parent.parent;
    }
    None
}

/// Converts the arguments and blocks of a body to an object; `None` when any of them is not a literal.
fn object_of(body: &Body) -> Option<PropValue> {
    let mut fields: BTreeMap<Arc<str>, PropValue> = BTreeMap::new();
    for structure in body {
        match structure {
            Structure::Attribute(attribute) => {
                fields.insert(Arc::from(attribute.key.as_str()), literal(&attribute.value)?);
            }
            Structure::Block(block) => {
                let list = fields
                    .entry(Arc::from(block.ident.as_str()))
                    .or_insert_with(|| PropValue::List(Vec::new()));
                match list {
                    PropValue::List(items) => items.push(object_of(&block.body)?),
                    _ => return None,
                }
            }
        }
    }
    Some(PropValue::Object(fields))
}

/// Returns the argument of `jsonencode`, for a JSON property.
fn json_of(prop: &PropDef, expression: &Expression) -> Option<PropValue> {
    let Expression::FuncCall(call) = expression else { return None };
    let is_it =
        prop.kind == PropKind::Json && call.name.name.as_str() == "jsonencode" && call.args.len() == 1;
    if is_it { literal(call.args.iter().next()?) } else { None }
}

/// Returns the source of a block without surrounding space.
fn source(block: &Block) -> String {
    let mut body = Body::new();
    body.push(Structure::Block(block.clone()));
    dedent(&body.to_string())
}

fn source_of_attribute(attribute: &Attribute) -> String {
    dedent(&format!("{} = {}", attribute.key.as_str(), attribute.value.to_string().trim()))
}

/// Removes the indent of the last line from all lines.
fn dedent(text: &str) -> String {
    let lines: Vec<&str> = text.trim().lines().collect();
    let spaces = |line: &str| line.len() - line.trim_start().len();
    let indent = lines.last().map_or(0, |last| spaces(last));
    let cut = |line: &&str| line[spaces(line).min(indent)..].trim_end().to_owned();
    lines.iter().map(cut).collect::<Vec<_>>().join("\n") + "\n"
}
