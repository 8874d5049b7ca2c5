//! Converts files to graph items: one for each block, local, module input and provider requirement.

use super::{
    BlockReference, ConfigurationBlock, ConfigurationBlockKey, ConfigurationBlockPart, ConfigurationGraph,
    lexical, references::ReferenceCollector,
};
use hcl_edit::{
    expr::{Expression, Object, ObjectKey},
    structure::{Attribute, Block, Body},
    visit::Visit,
};
use std::collections::BTreeSet;

/// Data sources that only compute or identify, and send no configuration values.
const PURE_DATA_SOURCES: [&str; 5] = [
    "aws_iam_policy_document",
    "aws_caller_identity",
    "aws_partition",
    "aws_region",
    "azurerm_client_config",
];
/// Provider arguments that select neither an endpoint nor credentials.
const PLAIN_PROVIDER_ARGUMENTS: [&str; 7] =
    ["alias", "region", "zone", "location", "project", "subscription_id", "tenant_id"];
/// The built-in provider: part of the program, never downloaded.
const BUILT_IN_PROVIDER: &str = "terraform.io/builtin/terraform";
/// Meta-arguments of a module call, which are not inputs.
const MODULE_META_ARGUMENTS: [&str; 6] =
    ["source", "version", "count", "for_each", "providers", "depends_on"];

/// Returns the folder of a file; empty for the folder of the board.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn name_of(block: &Block) -> String {
    let labels = block.labels.iter().map(|label| label.as_str());
    std::iter::once(block.ident.as_str()).chain(labels).collect::<Vec<_>>().join(" ")
}

fn labels_of(block: &Block) -> Vec<&str> {
    block.labels.iter().map(|label| label.as_str()).collect()
}

/// The file and folder of a block.
#[derive(Clone, Copy)]
struct ConfigurationFileScope<'a> {
    path: &'a str,
    folder: &'a str,
}

impl ConfigurationFileScope<'_> {
    fn key(&self, name: impl Into<String>) -> ConfigurationBlockKey {
        (self.folder.to_owned(), name.into())
    }

    fn label(&self, what: &str) -> String {
        format!("{what} in {}", self.path)
    }
}

impl ConfigurationGraph {
    pub(super) fn add_file(&mut self, path: &str, bytes: &[u8], folders: &BTreeSet<String>) {
        let place = ConfigurationFileScope { path, folder: folder_of(path) };
        let name = path.rsplit('/').next().unwrap_or(path);
        let text = String::from_utf8_lossy(bytes);
        if name.ends_with(".tf.json") || name.ends_with(".tofu.json") {
            // A JSON file may use everything in its folder.
            let references = ["local.", "var.", "module.", "data.", "resource."]
                .map(|prefix| BlockReference::Every(place.key(prefix)));
            let item = ConfigurationBlock {
                label: format!("{path}, which is JSON and is not analyzed"),
                parts: vec![ConfigurationBlockPart::Text(text.into_owned())],
                references: references.into(),
                is_sink: true,
                unsafe_calls: Vec::new(),
            };
            self.fetched.get_or_insert_with(|| path.to_owned());
            self.items.insert(place.key(format!("file.{name}")), item);
            return;
        }
        let is_values =
            place.folder.is_empty() && (name == "terraform.tfvars" || name.ends_with(".auto.tfvars"));
        if !is_configuration(name) && !is_values {
            return;
        }
        let parsed = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<Body>().ok());
        let Some(body) = parsed.filter(|body| lexical::check_body(&text, body).is_ok()) else {
            return self.unreadable.push(path.to_owned());
        };
        if is_values {
            for attribute in body.attributes() {
                let name = format!("var.{}", attribute.key.as_str());
                self.add_attribute(place, name.clone(), &name, attribute);
            }
            return;
        }
        for block in body.blocks() {
            self.add_block(place, block, folders);
        }
    }

    fn block_entry(&mut self, key: ConfigurationBlockKey, label: String) -> &mut ConfigurationBlock {
        let item = self.items.entry(key).or_default();
        if item.label.is_empty() {
            item.label = label;
        }
        item
    }

    fn add_attribute(
        &mut self,
        place: ConfigurationFileScope<'_>,
        name: String,
        what: &str,
        attribute: &Attribute,
    ) {
        let mut collector = ReferenceCollector::new(place.folder, None);
        collector.visit_expr(&attribute.value);
        let ReferenceCollector { references, unsafe_calls, files, .. } = collector;
        // Relative to the working folder of Terraform, or to the module folder with `path.module`.
        self.files.extend(files.into_iter().flat_map(|file| [join_folder(place.folder, &file), file]));
        let item = self.block_entry(place.key(name), place.label(what));
        item.parts.push(ConfigurationBlockPart::Expression(Box::new(attribute.value.clone())));
        item.references.extend(references);
        item.unsafe_calls.extend(unsafe_calls);
    }

    fn add_whole(&mut self, place: ConfigurationFileScope<'_>, name: String, block: &Block, is_sink: bool) {
        self.add_named(place, name, &name_of(block), (block, None), is_sink);
    }

    fn add_named(
        &mut self,
        place: ConfigurationFileScope<'_>,
        name: String,
        what: &str,
        (block, own): (&Block, Option<&str>),
        is_sink: bool,
    ) {
        let mut collector = ReferenceCollector::new(place.folder, own);
        collector.visit_body(&block.body);
        let ReferenceCollector { references, unsafe_calls, files, .. } = collector;
        // Relative to the working folder of Terraform, or to the module folder with `path.module`.
        self.files.extend(files.into_iter().flat_map(|file| [join_folder(place.folder, &file), file]));
        let item = self.block_entry(place.key(name), place.label(what));
        item.parts.push(ConfigurationBlockPart::Block(Box::new(block.clone())));
        item.references.extend(references);
        item.unsafe_calls.extend(unsafe_calls);
        // When two blocks share a name, a sink wins.
        item.is_sink |= is_sink;
    }

    fn add_block(&mut self, place: ConfigurationFileScope<'_>, block: &Block, folders: &BTreeSet<String>) {
        let labels = labels_of(block);
        self.record_fetched_provider(place, block, &labels);
        match (block.ident.as_str(), &labels[..]) {
            ("locals", []) => {
                for attribute in block.body.attributes() {
                    let name = format!("local.{}", attribute.key.as_str());
                    self.add_attribute(place, name.clone(), &name, attribute);
                }
            }
            ("variable", [name]) => self.add_whole(place, format!("var.{name}"), block, false),
            ("output", [name]) => self.add_whole(place, format!("output.{name}"), block, false),
            ("resource", [kind, name]) => self.add_resource(place, kind, name, block),
            ("data", [kind, name]) => {
                let sink = !PURE_DATA_SOURCES.contains(kind);
                self.add_whole(place, format!("data.{kind}.{name}"), block, sink);
            }
            ("module", [name]) => self.add_call(place, name, block, folders),
            ("provider", [name]) => {
                let alias = block.body.get_attribute("alias").map(|alias| alias.value.to_string());
                let key = format!("provider.{name}.{}", alias.unwrap_or_default().trim());
                self.add_whole(place, key, block, is_provider_sink(&block.body));
            }
            ("terraform", []) => self.add_terraform(place, block),
            ("moved" | "removed", _) => {
                self.add_whole(place, format!("{}.{}", block.ident.as_str(), block.body), block, false);
            }
            // Ephemeral resources, checks, imports, actions and future block types: they act during a plan.
            (kind, labels) => {
                let key = format!("{kind}.{}", labels.join("."));
                self.add_whole(place, key, block, true);
            }
        }
    }

    /// Records the first block that needs a downloaded provider.
    fn record_fetched_provider(&mut self, place: ConfigurationFileScope<'_>, block: &Block, labels: &[&str]) {
        let is_built_in = |kind: &str| kind == "terraform" || kind.starts_with("terraform_");
        let chooses = |body: &Body| body.get_attribute("provider").is_some();
        let is_fetched = match (block.ident.as_str(), labels) {
            ("resource" | "data", [kind, _]) => !is_built_in(kind) || chooses(&block.body),
            ("provider", [name]) => !is_built_in(name),
            ("terraform", _) => block.body.blocks().any(|inner| {
                inner.ident.as_str() == "required_providers"
                    && !inner.body.attributes().all(is_built_in_source)
            }),
            ("locals" | "variable" | "output" | "module" | "moved", _) => false,
            _ => true,
        };
        if is_fetched {
            self.fetched.get_or_insert_with(|| place.label(&name_of(block)));
        }
    }

    /// Provisioners run during apply and never during a plan. No plan shows them, so a person must have reviewed
    /// the board.
    fn add_resource(&mut self, place: ConfigurationFileScope<'_>, kind: &str, name: &str, block: &Block) {
        let key = format!("resource.{kind}.{name}");
        for runs in
            block.body.blocks().filter(|inner| matches!(inner.ident.as_str(), "provisioner" | "connection"))
        {
            let what = format!("{} of {}", name_of(runs), name_of(block));
            let within = format!("{key}/{}", runs.ident.as_str());
            self.add_named(place, within, &what, (runs, Some(&key)), true);
        }
        self.add_named(place, key.clone(), &name_of(block), (block, Some(&key)), false);
    }

    fn add_call(
        &mut self,
        place: ConfigurationFileScope<'_>,
        name: &str,
        block: &Block,
        folders: &BTreeSet<String>,
    ) {
        let key = format!("module.{name}");
        let folder = block
            .body
            .get_attribute("source")
            .and_then(|source| match &source.value {
                Expression::String(text) => resolve_local_source(place.folder, text.value()),
                _ => None,
            })
            .filter(|folder| folders.contains(folder));
        let Some(folder) = folder else {
            return self.add_whole(place, key, block, true);
        };
        self.calls.push((place.key(key.as_str()), folder));
        for attribute in block.body.attributes() {
            let argument = attribute.key.as_str();
            if MODULE_META_ARGUMENTS.contains(&argument) {
                self.add_attribute(place, key.clone(), &name_of(block), attribute);
            } else {
                let what = format!("{argument} of {}", name_of(block));
                self.add_attribute(place, format!("{key}/{argument}"), &what, attribute);
            }
        }
    }

    fn add_terraform(&mut self, place: ConfigurationFileScope<'_>, block: &Block) {
        for attribute in block.body.attributes() {
            let name = format!("terraform.{}", attribute.key.as_str());
            self.add_attribute(place, name.clone(), &name, attribute);
        }
        for inner in block.body.blocks() {
            let what = format!("{} of terraform", name_of(inner));
            match inner.ident.as_str() {
                "required_providers" => {
                    for attribute in inner.body.attributes() {
                        let key = format!("terraform.provider.{}", attribute.key.as_str());
                        let what = format!("provider requirement {}", attribute.key.as_str());
                        self.add_attribute(place, key.clone(), &what, attribute);
                        if !is_official(&attribute.value) {
                            self.block_entry(place.key(key), String::new()).is_sink = true;
                        }
                    }
                }
                "backend" | "cloud" => {
                    let sink = !is_own_state(inner);
                    self.add_named(place, "terraform.backend".to_owned(), &what, (inner, None), sink);
                }
                other => {
                    self.add_named(place, format!("terraform.{other}"), &what, (inner, None), true);
                }
            }
        }
    }
}

fn is_built_in_source(requirement: &Attribute) -> bool {
    let Expression::Object(fields) = &requirement.value else { return false };
    matches!(sources_of(fields)[..], [Expression::String(source)] if source.value() == BUILT_IN_PROVIDER)
}

/// Returns whether the source is a constant that names the built-in provider or one of the official namespace.
fn is_official(requirement: &Expression) -> bool {
    let Expression::Object(fields) = requirement else {
        // With only a version, the provider is the official one.
        return matches!(requirement, Expression::String(_));
    };
    match sources_of(fields)[..] {
        [] => true,
        [Expression::String(source)] => {
            let source = source.value();
            source == BUILT_IN_PROVIDER
                || source.strip_prefix("hashicorp/").is_some_and(|name| !name.contains('/'))
        }
        _ => false,
    }
}

/// Returns the possible `source` values of a provider requirement, including those of keys that are not constant.
fn sources_of(fields: &Object) -> Vec<&Expression> {
    let is_source = |key: &ObjectKey| match key {
        ObjectKey::Ident(name) => name.as_str() == "source",
        ObjectKey::Expression(Expression::Variable(name)) => name.as_str() == "source",
        ObjectKey::Expression(Expression::String(name)) => name.value() == "source",
        ObjectKey::Expression(_) => true,
    };
    fields.iter().filter(|(key, _)| is_source(key)).map(|(_, value)| value.expr()).collect()
}

/// Returns whether a provider block can send data. A block with plain constant arguments cannot. The author of the
/// settings is unknown, because they come with a clone.
fn is_provider_sink(body: &Body) -> bool {
    let is_plain = |attribute: &Attribute| match (attribute.key.as_str(), &attribute.value) {
        ("version", Expression::String(_)) => true,
        (name, Expression::String(text)) => {
            PLAIN_PROVIDER_ARGUMENTS.contains(&name)
                && text.value().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        }
        (name, Expression::Bool(_)) => name.starts_with("skip_"),
        _ => false,
    };
    let is_plain_block = |block: &Block| match block.ident.as_str() {
        "features" => block.body.is_empty(),
        "default_tags" => {
            let mut inner = block.body.iter().map(|structure| structure.as_attribute());
            inner.all(|tags| tags.is_some_and(|tags| tags.key.as_str() == "tags" && is_constant(&tags.value)))
        }
        _ => false,
    };
    let is_harmless = body.attributes().all(is_plain) && body.blocks().all(is_plain_block);
    !is_harmless
}

/// Returns whether a value is a string, number or boolean, or an object of those.
fn is_constant(value: &Expression) -> bool {
    match value {
        Expression::String(_) | Expression::Number(_) | Expression::Bool(_) => true,
        Expression::Object(fields) => fields.iter().all(|(key, value)| {
            let is_name = match key {
                ObjectKey::Ident(_) => true,
                ObjectKey::Expression(key) => matches!(key, Expression::String(_) | Expression::Variable(_)),
            };
            is_name && is_constant(value.expr())
        }),
        _ => false,
    }
}

/// Returns whether the state is a file in the folder of the board.
fn is_own_state(backend: &Block) -> bool {
    let is_below = |attribute: &Attribute| {
        let Expression::String(path) = &attribute.value else { return false };
        let mut parts = path.value().split('/');
        attribute.key.as_str() == "path"
            && path.value().ends_with(".tfstate")
            && parts.all(|part| !part.is_empty() && !part.starts_with(['.', '~']) && !part.contains('\\'))
    };
    labels_of(backend) == ["local"]
        && backend.ident.as_str() == "backend"
        && backend.body.iter().all(|structure| structure.as_attribute().is_some_and(is_below))
}

/// Returns whether Terraform or OpenTofu reads the file as configuration.
pub(super) fn is_configuration(name: &str) -> bool {
    name.ends_with(".tf") || name.ends_with(".tofu")
}

fn join_folder(folder: &str, file: &str) -> String {
    if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") }
}

/// Resolves a local module source; `None` when it is outside the folder of the board.
fn resolve_local_source(folder: &str, source: &str) -> Option<String> {
    if !source.starts_with("./") && !source.starts_with("../") {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in source.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}
