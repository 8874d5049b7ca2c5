//! Renders a node as Terraform: every applicable property with a value or default becomes an argument.

use super::{
    addresses::{BlockAddress, BlockAddresses, is_reference},
    naming::conventional_name,
    rendered_node::{CrossModuleAttribute, RenderedNode, TerraformVariable},
    values::{HclBlockBuilder, argument_expression, is_absent},
};
use crate::{
    hcl::{HclBody, HclExpression, HclStatement, is_identifier},
    schema::{AttributeSchema, BlockSchema, ProviderAttributeKind, ProviderSchemaEntry, schemas},
    settings::TerraformProjectSettings,
};
use authority::{Snapshot, is_visible};
use shared_protocol::{
    Node, NodeId, PropKey, PropValue, TypeDef,
    registry::{PropDef, PropKind, PropRole, TerraformBlockKind},
    terraform::TerraformFindingView,
};
use std::sync::Arc;

pub(crate) const COMMON_TAGS: &str = "common_tags";

/// The inputs of rendering a node.
pub(crate) struct RenderContext<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) settings: &'a TerraformProjectSettings,
    pub(crate) places: &'a BlockAddresses,
    /// Nodes that must come before this one because of an edge.
    pub(crate) before: &'a [NodeId],
}

pub(crate) fn render(context: &RenderContext<'_>, node: &Node, place: &Arc<BlockAddress>) -> RenderedNode {
    let mut writing = NodeRenderer { context, node, place, out: RenderedNode::default() };
    match context.snapshot.type_of(node) {
        None => {
            let message = format!("unknown type `{}`: no HCL is generated for this node", node.type_id);
            writing.out.findings.push(TerraformFindingView::error(node.id, None, message));
        }
        Some(def) => writing.render_node(def),
    }
    writing.out
}

pub(super) struct NodeRenderer<'a> {
    pub(super) context: &'a RenderContext<'a>,
    pub(super) node: &'a Node,
    pub(super) place: &'a Arc<BlockAddress>,
    pub(super) out: RenderedNode,
}

impl NodeRenderer<'_> {
    fn render_node(&mut self, def: &TypeDef) {
        match self.place.block {
            TerraformBlockKind::Resource | TerraformBlockKind::Data => self.render_resource(def),
            TerraformBlockKind::Variable => self.render_variable(),
            TerraformBlockKind::Local => {
                let value = self.built_in_prop("value").unwrap_or_else(|| HclExpression::raw("null"));
                self.out.locals.push((self.place.label.to_string(), value));
            }
            TerraformBlockKind::Output => self.render_output(def),
            TerraformBlockKind::Module => self.render_module_call(),
            TerraformBlockKind::Verbatim => self.render_verbatim(),
            TerraformBlockKind::Group => {}
        }
    }

    fn render_resource(&mut self, def: &TypeDef) {
        let (block, path) = match self.place.block {
            TerraformBlockKind::Data => ("data", format!("data.{}", self.place.terraform)),
            _ => ("resource", self.place.terraform.to_string()),
        };
        let schema = schemas().get(&path);
        let mut body = HclBody::default();
        if let Some(alias) = &self.place.alias {
            body.add_argument("provider", HclExpression::raw(format!("{}.{alias}", self.place.provider())));
        }
        let mut tree = HclBlockBuilder::default();
        for prop in &def.props {
            // A short name replaces `name`, which is then hidden but still written.
            let named = prop.key.as_str() == "name" && self.text_prop("slug").is_some();
            if prop.role == PropRole::Argument && (named || is_visible(def, self.node, prop)) {
                self.render_property(def, prop, schema, &mut tree);
            }
        }
        for name in &def.always {
            tree.descend(&name.split('.').collect::<Vec<_>>(), false);
        }
        if let Some(schema) = schema {
            tree.prune(schema);
            self.check_required(def, schema, &tree, "");
        }
        tree.into_body(&mut body);
        self.render_depends_on(&mut body);
        if let Some(extra) = self.extra_hcl(def) {
            body.items.push(HclStatement::Verbatim(extra));
        }
        let text = body.to_block(block, &[&self.place.terraform, &self.place.label]);
        self.out.blocks.push((self.place.local_address(), text));
        self.render_companions(def);
        if let Some(subnet) = self.place.endpoint_subnet {
            self.render_private_endpoints(def, subnet);
        }
    }

    /// Returns the value of a property, or its default.
    pub(super) fn value<'v>(&'v self, prop: &'v PropDef) -> Option<&'v PropValue> {
        let value = self.node.props.get(&prop.key).or(prop.default.as_ref())?;
        Some(value).filter(|value| !is_absent(value))
    }

    fn render_property(
        &mut self,
        def: &TypeDef,
        prop: &PropDef,
        schema: Option<&BlockSchema>,
        tree: &mut HclBlockBuilder,
    ) {
        let path = prop.argument();
        let found = schema.and_then(|schema| schema.find(path));
        let explicit =
            self.node.props.contains_key(&prop.key) || self.node.references.contains_key(&prop.key);
        if let Some(list) = path.strip_suffix("[]") {
            let Some(value) = self.value(prop) else { return };
            let parts: Vec<&str> = list.split('.').collect();
            let Some((name, parents)) = parts.split_last() else { return };
            let inner = match found {
                Some(ProviderSchemaEntry::Block(block)) => Some(block),
                _ => None,
            };
            let value = value.clone();
            if self.check_inner_expressions(&prop.key, &value) {
                tree.descend(parents, explicit).add_repeated(name, &value, inner);
            }
            return;
        }
        let attribute = match found {
            Some(ProviderSchemaEntry::Attribute(attribute)) => Some(attribute),
            _ => None,
        };
        let Some(value) = self.property_value(def, prop, attribute) else { return };
        let parts: Vec<&str> = path.split('.').collect();
        let Some((name, parents)) = parts.split_last() else { return };
        let target = tree.descend(parents, explicit);
        // Several properties may map to one argument; the first with a value wins.
        if !target.has(name) {
            target.arguments.push(((*name).to_owned(), value));
        }
    }

    fn property_value(
        &mut self,
        def: &TypeDef,
        prop: &PropDef,
        attribute: Option<&AttributeSchema>,
    ) -> Option<HclExpression> {
        if is_reference(prop.kind) {
            return self.reference(prop, attribute);
        }
        if prop.key.as_str() == "tags" && prop.kind == PropKind::Tags {
            return self.tags(prop, attribute);
        }
        if prop.key.as_str() == "name"
            && let Some(slug) = self.text_prop("slug")
        {
            let naming = self.context.settings.naming.as_ref();
            return Some(HclExpression::text(&conventional_name(naming, def, self.place, &slug)));
        }
        let value = self.value(prop).cloned();
        if let Some(expression) = value.as_ref().and_then(PropValue::expression) {
            return self.checked_expression(&prop.key, expression);
        }
        if prop.sensitive {
            if value.is_none() && prop.inherit.is_some() {
                return self.inherited_value(def, prop);
            }
            return (value.is_some() || prop.required).then(|| self.declare_sensitive(prop, attribute));
        }
        if self.node.variables.contains(&prop.key) {
            return Some(self.declare_property_variable(prop, attribute, value.as_ref()));
        }
        match value {
            Some(value) => {
                if !self.check_inner_expressions(&prop.key, &value) {
                    return None;
                }
                let builtin = self.place.provider() == "terraform";
                Some(argument_expression(&value, prop.kind, attribute, builtin))
            }
            None => self.inherited_value(def, prop).or_else(|| {
                // A conventional name needs no explicit name; without either, the node name is used.
                (prop.key.as_str() == "name" && def.prop("slug").is_some()).then(|| {
                    let slug = self.node.name.as_str().replace('_', "-");
                    HclExpression::text(&conventional_name(
                        self.context.settings.naming.as_ref(),
                        def,
                        self.place,
                        &slug,
                    ))
                })
            }),
        }
    }

    fn declare_property_variable(
        &mut self,
        prop: &PropDef,
        attribute: Option<&AttributeSchema>,
        value: Option<&PropValue>,
    ) -> HclExpression {
        let kind = variable_kind(prop, attribute);
        let builtin = self.place.provider() == "terraform";
        let name = format!("{}_{}", self.node.name, prop.key);
        let mut variable = TerraformVariable::new(name, kind, describe(prop, self.node));
        variable.default = value.map(|value| argument_expression(value, prop.kind, attribute, builtin));
        self.declare(variable)
    }

    /// Declares a sensitive variable. Its value is never written to a file: the variable has no default and is set
    /// when Terraform runs.
    fn declare_sensitive(&mut self, prop: &PropDef, attribute: Option<&AttributeSchema>) -> HclExpression {
        let name = format!("{}_{}", self.node.name, prop.key);
        let mut variable =
            TerraformVariable::new(name, variable_kind(prop, attribute), describe(prop, self.node));
        variable.sensitive = true;
        self.declare(variable)
    }

    fn declare(&mut self, mut variable: TerraformVariable) -> HclExpression {
        variable.node = Some(self.node.id);
        let expression = HclExpression::raw(format!("var.{}", variable.name));
        self.out.variables.push(variable);
        expression
    }

    pub(super) fn tags(
        &mut self,
        prop: &PropDef,
        attribute: Option<&AttributeSchema>,
    ) -> Option<HclExpression> {
        let own = self.value(prop).cloned();
        if let Some(expression) = own.as_ref().and_then(PropValue::expression) {
            return self.checked_expression(&prop.key, expression);
        }
        let own = own.map(|own| argument_expression(&own, prop.kind, attribute, false));
        if self.context.settings.tags.is_empty() {
            return own;
        }
        self.out.common_tags = true;
        let holder = if self.place.module.is_some() { "var" } else { "local" };
        let common = HclExpression::raw(format!("{holder}.{COMMON_TAGS}"));
        Some(match own {
            Some(own) => HclExpression::Call("merge", vec![common, own]),
            None => common,
        })
    }

    fn reference(&mut self, prop: &PropDef, attribute: Option<&AttributeSchema>) -> Option<HclExpression> {
        let targets: Vec<NodeId> =
            self.context.snapshot.targets_of(self.node, prop).iter().map(|target| target.id).collect();
        let mut found = Vec::with_capacity(targets.len());
        for target in targets {
            let name = match &prop.output_from {
                None => prop.target_attribute().to_owned(),
                Some(key) => self.selected_output(prop, key, target)?,
            };
            found.extend(self.read_attribute(Some(&prop.key), target, &name));
        }
        let wants_list = attribute.map_or(prop.many, |attribute| {
            matches!(attribute.kind, ProviderAttributeKind::Texts | ProviderAttributeKind::Numbers)
                || (prop.many && attribute.kind == ProviderAttributeKind::Any)
        });
        if wants_list {
            return (!found.is_empty()).then_some(HclExpression::List(found));
        }
        if found.len() > 1 {
            let message = format!("{} accepts one target; only the first is used", prop.label);
            self.out.findings.push(TerraformFindingView::error(self.node.id, Some(&prop.key), message));
        }
        found.into_iter().next()
    }

    fn selected_output(&mut self, prop: &PropDef, key: &PropKey, target: NodeId) -> Option<String> {
        let chosen = self.text_prop(key.as_str()).unwrap_or_else(|| "id".to_owned());
        let outputs = self
            .context
            .snapshot
            .node(target)
            .and_then(|target| Some(self.context.snapshot.type_of(target)?.outputs.as_slice()));
        match outputs.unwrap_or_default().iter().find(|output| output.key.as_str() == chosen) {
            Some(output) => Some(output.attribute.clone().unwrap_or(chosen)),
            None => {
                let message = format!("{}: the source has no output `{chosen}`", prop.label);
                self.out.findings.push(TerraformFindingView::error(self.node.id, Some(key), message));
                None
            }
        }
    }

    /// Returns an expression that reads an attribute of another node.
    pub(super) fn read_attribute(
        &mut self,
        prop: Option<&PropKey>,
        target: NodeId,
        attribute: &str,
    ) -> Option<HclExpression> {
        let place = self.context.places.get(target)?.clone();
        self.out.used_addresses.push((target, place.clone()));
        if !place.is_written() {
            let message = "it refers to a node that is not in the Terraform files".to_owned();
            self.out.findings.push(TerraformFindingView::error(self.node.id, prop, message));
            return None;
        }
        let source = match place.block {
            TerraformBlockKind::Variable | TerraformBlockKind::Local => place.local_address(),
            _ => format!("{}.{attribute}", place.local_address()),
        };
        if place.module == self.place.module {
            self.out.after.push(target);
            return Some(HclExpression::raw(source));
        }
        let name = format!("{}_{}", place.name, to_identifier(attribute));
        let crossing = CrossModuleAttribute {
            from: place.module.clone(),
            to: self.place.module.clone(),
            sensitive: self.is_sensitive(target, attribute),
            kind: if matches!(attribute, "id" | "name" | "location" | "arn") { "string" } else { "any" },
            source,
            name,
        };
        let expression = match &crossing.to {
            Some(_) => format!("var.{}", crossing.name),
            None => format!("module.{}.{}", crossing.from.as_deref().unwrap_or_default(), crossing.name),
        };
        self.out.crossings.push(crossing);
        Some(HclExpression::raw(expression))
    }

    fn is_sensitive(&self, target: NodeId, attribute: &str) -> bool {
        let snapshot = self.context.snapshot;
        let def = snapshot.node(target).and_then(|target| snapshot.type_of(target));
        def.is_some_and(|def| {
            let mut outputs = def.outputs.iter();
            outputs.any(|output| {
                output.sensitive && output.attribute.as_deref().unwrap_or(output.key.as_str()) == attribute
            })
        })
    }

    fn inherited_value(&mut self, def: &TypeDef, prop: &PropDef) -> Option<HclExpression> {
        match prop.inherit.as_ref()?.split_once('.')? {
            ("client", attribute) => {
                self.out.uses_client_config = true;
                let name = self.place.alias.as_deref().unwrap_or("current");
                Some(HclExpression::raw(format!("data.azurerm_client_config.{name}.{attribute}")))
            }
            (key, attribute) => {
                let reference = def.prop(key)?;
                let targets = self.context.snapshot.targets_of(self.node, reference);
                let target = targets.first()?.id;
                self.read_attribute(Some(&prop.key), target, attribute)
            }
        }
    }

    /// Checks a user-written expression. Returns `None` and adds a finding when it is invalid.
    fn checked_expression(&mut self, key: &PropKey, text: &str) -> Option<HclExpression> {
        match super::expressions::check_expression(text) {
            Err(problem) => {
                let message = format!("invalid expression: {problem}");
                self.out.findings.push(TerraformFindingView::error(self.node.id, Some(key), message));
                None
            }
            Ok(addresses) => {
                for address in addresses {
                    let Some(target) = self.context.places.node_at(&address) else { continue };
                    let Some(place) = self.context.places.get(target).cloned() else { continue };
                    if place.module != self.place.module {
                        let message = format!(
                            "the expression refers to `{address}`, which is in another module: use a reference property or an output"
                        );
                        self.out.findings.push(TerraformFindingView::error(self.node.id, Some(key), message));
                    } else if target != self.node.id {
                        self.out.after.push(target);
                    }
                    self.out.used_addresses.push((target, place));
                }
                Some(HclExpression::raw(text.trim()))
            }
        }
    }

    /// Checks expressions inside lists and objects like those that are a whole value: their targets are written
    /// first, and an invalid one adds a finding. Returns whether all of them are valid.
    fn check_inner_expressions(&mut self, key: &PropKey, value: &PropValue) -> bool {
        let parts: Vec<&PropValue> = match value {
            PropValue::List(items) => items.iter().collect(),
            PropValue::Object(fields) => fields.values().collect(),
            _ => return true,
        };
        let mut well_formed = true;
        for part in parts {
            well_formed &= match part.expression() {
                Some(text) => self.checked_expression(key, text).is_some(),
                None => self.check_inner_expressions(key, part),
            };
        }
        well_formed
    }

    pub(super) fn text_prop(&self, key: &str) -> Option<String> {
        let def = self.context.snapshot.type_of(self.node)?;
        self.value(def.prop(key)?)?.as_text().map(str::to_owned)
    }

    /// Returns a property of a built-in block without type conversion.
    fn built_in_prop(&mut self, key: &str) -> Option<HclExpression> {
        let def = self.context.snapshot.type_of(self.node)?;
        let value = self.value(def.prop(key)?)?.clone();
        match value.expression() {
            Some(text) => self.checked_expression(&PropKey::parse(key).ok()?, text),
            None => {
                let well_formed = self.check_inner_expressions(&PropKey::parse(key).ok()?, &value);
                well_formed.then(|| HclExpression::from_value(&value))
            }
        }
    }

    fn bool_prop(&self, key: &str) -> bool {
        let def = self.context.snapshot.type_of(self.node);
        let value = def.and_then(|def| self.value(def.prop(key)?));
        value.and_then(PropValue::as_bool).unwrap_or(false)
    }

    fn render_variable(&mut self) {
        let kind = self.text_prop("type").unwrap_or_else(|| "any".to_owned());
        let mut variable = TerraformVariable::new(
            self.place.label.to_string(),
            &kind,
            self.text_prop("description").unwrap_or_default(),
        );
        if let Err(problem) = super::expressions::check_expression(&kind) {
            let key = PropKey::parse("type").ok();
            let message = format!("invalid type: {problem}");
            self.out.findings.push(TerraformFindingView::error(self.node.id, key.as_ref(), message));
            variable.kind = "any".to_owned();
        }
        variable.sensitive = self.bool_prop("sensitive");
        // An empty text is a valid default, so empty values are not filtered here.
        variable.default = match self.node.props.get("default") {
            None => None,
            Some(value) => match value.expression() {
                Some(_) => self.built_in_prop("default"),
                None => Some(HclExpression::from_value(value)),
            },
        };
        if variable.sensitive && variable.default.is_some() {
            let message = "the default of a sensitive variable is not written to a file: set its value when you run Terraform";
            self.out.findings.push(TerraformFindingView::warning(Some(self.node.id), message));
        }
        variable.nullable = !matches!(self.node.props.get("nullable"), Some(PropValue::Bool(false)));
        if let Some(def) = self.context.snapshot.type_of(self.node) {
            variable.extra = self.extra_hcl(def).unwrap_or_default();
        }
        self.declare(variable);
    }

    fn render_output(&mut self, def: &TypeDef) {
        let mut body = HclBody::default();
        let source = def.prop("source_id").and_then(|prop| self.reference(prop, None));
        match source.or_else(|| self.built_in_prop("value")) {
            Some(value) => body.add_argument("value", value),
            None => {
                let key = PropKey::parse("value").ok();
                let message = "an output needs a source or a value";
                self.out.findings.push(TerraformFindingView::error(self.node.id, key.as_ref(), message));
                return;
            }
        }
        if let Some(description) = self.text_prop("description") {
            body.add_argument("description", HclExpression::text(&description));
        }
        let reads_secret = {
            let targets = self.out.used_addresses.clone();
            let chosen = self.text_prop("source_output").unwrap_or_else(|| "id".to_owned());
            targets.iter().any(|(target, _)| self.is_sensitive(*target, &chosen))
        };
        if self.bool_prop("sensitive") || reads_secret {
            body.add_argument("sensitive", HclExpression::raw("true"));
        }
        if let Some(extra) = self.extra_hcl(def) {
            body.items.push(HclStatement::Verbatim(extra));
        }
        self.out.outputs.push((self.place.label.to_string(), body));
    }

    fn render_module_call(&mut self) {
        let mut body = HclBody::default();
        for key in ["source", "version"] {
            if let Some(value) = self.built_in_prop(key) {
                body.add_argument(key, value);
            }
        }
        if let Some(PropValue::Object(inputs)) = self.node.props.get("inputs").cloned() {
            body.items.push(HclStatement::Gap);
            for (name, value) in &inputs {
                if !is_identifier(name) {
                    let key = PropKey::parse("inputs").ok();
                    let message = format!("`{name}` is not a valid input name");
                    self.out.findings.push(TerraformFindingView::error(self.node.id, key.as_ref(), message));
                    continue;
                }
                let value = match value.expression() {
                    Some(text) => {
                        let Ok(key) = PropKey::parse("inputs") else { continue };
                        let Some(value) = self.checked_expression(&key, text) else { continue };
                        value
                    }
                    None => HclExpression::from_value(value),
                };
                body.add_argument(name.to_string(), value);
            }
        }
        self.render_depends_on(&mut body);
        if let Some(extra) = self.context.snapshot.type_of(self.node).and_then(|def| self.extra_hcl(def)) {
            body.items.push(HclStatement::Verbatim(extra));
        }
        let text = body.to_block("module", &[&self.place.label]);
        self.out.blocks.push((self.place.local_address(), text));
    }

    fn render_verbatim(&mut self) {
        let Some(text) = self.text_prop("text") else { return };
        match super::expressions::check_body(&text) {
            Ok(()) => {
                let text = format!("{}\n", text.trim_matches('\n'));
                self.out.blocks.push((format!("verbatim.{}", self.node.name), text));
            }
            Err(problem) => {
                let key = PropKey::parse("text").ok();
                let message = format!("invalid HCL: {problem}");
                self.out.findings.push(TerraformFindingView::error(self.node.id, key.as_ref(), message));
            }
        }
    }

    fn render_depends_on(&mut self, body: &mut HclBody) {
        let mut addresses = Vec::new();
        for &before in self.context.before {
            let Some(place) = self.context.places.get(before).cloned() else { continue };
            self.out.used_addresses.push((before, place.clone()));
            if !place.is_written()
                || !matches!(
                    place.block,
                    TerraformBlockKind::Resource | TerraformBlockKind::Data | TerraformBlockKind::Module
                )
            {
                continue;
            }
            if place.module == self.place.module {
                self.out.after.push(before);
                addresses.push(place.local_address());
            } else if let (Some(module), None) = (&place.module, &self.place.module) {
                addresses.push(format!("module.{module}"));
            } else {
                let message = format!("it cannot depend on {}, which is in another module", place.name);
                self.out.findings.push(TerraformFindingView::warning(Some(self.node.id), message));
            }
        }
        addresses.sort();
        addresses.dedup();
        if !addresses.is_empty() {
            body.items.push(HclStatement::Gap);
            let addresses = addresses.into_iter().map(HclExpression::Raw).collect();
            body.add_argument("depends_on", HclExpression::List(addresses));
        }
    }

    fn extra_hcl(&mut self, def: &TypeDef) -> Option<String> {
        let prop = def.props.iter().find(|prop| prop.role == PropRole::Extra)?;
        let text = self.value(prop)?.as_text()?.to_owned();
        match super::expressions::check_body(&text) {
            Ok(()) => Some(text),
            Err(problem) => {
                let message = format!("invalid HCL: {problem}");
                self.out.findings.push(TerraformFindingView::error(self.node.id, Some(&prop.key), message));
                None
            }
        }
    }

    /// Adds findings for arguments that the provider requires and that are missing.
    fn check_required(&mut self, def: &TypeDef, schema: &BlockSchema, tree: &HclBlockBuilder, path: &str) {
        let extra = self.node.props.get("extra").and_then(PropValue::as_text).unwrap_or_default().to_owned();
        let attributes = schema.attributes.iter().filter(|(_, attribute)| attribute.required);
        let blocks = schema.blocks.iter().filter(|(_, block)| block.required);
        let names = attributes.map(|(name, _)| name).chain(blocks.map(|(name, _)| name));
        for name in names.filter(|name| !tree.has(name) && !extra.contains(name.as_str())) {
            let full = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let prop = def.props.iter().find(|prop| {
                let argument = prop.argument().trim_end_matches("[]");
                argument == full || argument.starts_with(&format!("{full}."))
            });
            let label = prop.map_or(full.as_str(), |prop| prop.label.as_str());
            let message = format!("{label} is required");
            self.out.findings.push(TerraformFindingView::error(
                self.node.id,
                prop.map(|prop| &prop.key),
                message,
            ));
        }
        for (name, instances) in &tree.blocks {
            if let Some(block) = schema.blocks.get(name) {
                let full = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                for instance in instances {
                    self.check_required(def, block, instance, &full);
                }
            }
        }
    }
}

fn describe(prop: &PropDef, node: &Node) -> String {
    let label = if node.label.is_empty() { node.name.as_str() } else { &node.label };
    format!("{} of {label}", prop.label)
}

/// Converts an attribute such as `kubelet_identity[0].object_id` to a part of a name.
fn to_identifier(attribute: &str) -> String {
    let mut name: String =
        attribute.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    while name.contains("__") {
        name = name.replace("__", "_");
    }
    name
}

fn variable_kind(prop: &PropDef, attribute: Option<&AttributeSchema>) -> &'static str {
    match attribute.map(|attribute| attribute.kind) {
        Some(ProviderAttributeKind::Text) => "string",
        Some(ProviderAttributeKind::Number) => "number",
        Some(ProviderAttributeKind::Boolean) => "bool",
        Some(ProviderAttributeKind::Texts) => "list(string)",
        Some(ProviderAttributeKind::Numbers) => "list(number)",
        Some(ProviderAttributeKind::Map) => "map(string)",
        Some(ProviderAttributeKind::Any) | None => match prop.kind {
            PropKind::Number => "number",
            PropKind::Boolean => "bool",
            PropKind::List | PropKind::Multiselect => "list(string)",
            PropKind::Tags => "map(string)",
            PropKind::Object | PropKind::Json => "any",
            _ => "string",
        },
    }
}
