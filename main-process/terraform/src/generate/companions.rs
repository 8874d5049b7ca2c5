//! Renders the companion resources of a node: companions of a reference, and private endpoints of a node in a
//! subnet.

use super::node_renderer::NodeRenderer;
use crate::hcl::{HclBody, HclExpression};
use shared_protocol::{NodeId, PropValue, TypeDef};

const ENDPOINT: &str = "azurerm_private_endpoint";

impl NodeRenderer<'_> {
    pub(super) fn render_companions(&mut self, def: &TypeDef) {
        for companion in &def.companions {
            let targets = self.node.references.get(&companion.each).cloned().unwrap_or_default();
            for target in targets {
                let Some(place) = self.context.places.get(target).cloned() else { continue };
                let mut body = HclBody::default();
                if let Some(alias) = &self.place.alias {
                    body.add_argument(
                        "provider",
                        HclExpression::raw(format!("{}.{alias}", self.place.provider())),
                    );
                }
                for (name, source) in &companion.arguments {
                    let value = match (source.strip_prefix('='), source.split_once('.')) {
                        (Some(text), _) => Some(HclExpression::text(text)),
                        (None, Some(("self", attribute))) => {
                            Some(HclExpression::raw(format!("{}.{attribute}", self.place.local_address())))
                        }
                        (None, Some(("target", attribute))) => {
                            self.read_attribute(Some(&companion.each), target, attribute)
                        }
                        _ => None,
                    };
                    if let Some(value) = value {
                        body.add_argument(name, value);
                    }
                }
                let name = format!("{}_{}_{}", self.node.name, place.name, companion.suffix);
                let text = body.to_block("resource", &[&companion.terraform, &name]);
                self.out.blocks.push((format!("{}.{name}", companion.terraform), text));
            }
        }
    }

    /// Renders one endpoint per requested subresource, in the parent subnet of the node.
    pub(super) fn render_private_endpoints(&mut self, def: &TypeDef, subnet: NodeId) {
        let asked = def.prop("pe_subresources").and_then(|prop| self.value(prop)).cloned();
        let mut parts: Vec<String> = match asked {
            Some(PropValue::List(items)) => {
                items.iter().filter_map(|item| item.as_text().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        };
        if parts.is_empty() {
            parts.extend(def.private_endpoint.first().map(|first| first.value.to_string()));
        }
        for part in parts {
            self.render_private_endpoint(def, subnet, &part);
        }
    }

    fn render_private_endpoint(&mut self, def: &TypeDef, subnet: NodeId, part: &str) {
        let word = |text: &str| text.to_lowercase().replace('_', "-");
        let title = format!("pep-{}-{}", word(self.node.name.as_str()), word(part));
        let mut body = HclBody::default();
        if let Some(alias) = &self.place.alias {
            body.add_argument("provider", HclExpression::raw(format!("azurerm.{alias}")));
        }
        body.add_argument("name", HclExpression::text(&title));
        let group = def
            .prop("resource_group_name")
            .and_then(|prop| self.context.snapshot.targets_of(self.node, prop).first().map(|group| group.id));
        if let Some(group) = group {
            for (argument, attribute) in [("resource_group_name", "name"), ("location", "location")] {
                if let Some(value) = self.read_attribute(None, group, attribute) {
                    body.add_argument(argument, value);
                }
            }
        }
        if let Some(value) = self.read_attribute(None, subnet, "id") {
            body.add_argument("subnet_id", value);
        }
        if let Some(tags) = def.prop("tags").and_then(|prop| self.tags(prop, None)) {
            body.add_argument("tags", tags);
        }
        let mut connection = HclBody::default();
        connection.add_argument("name", HclExpression::text(&title));
        connection.add_argument(
            "private_connection_resource_id",
            HclExpression::raw(format!("{}.id", self.place.local_address())),
        );
        connection.add_argument("subresource_names", HclExpression::List(vec![HclExpression::text(part)]));
        connection.add_argument("is_manual_connection", HclExpression::raw("false"));
        body.add_block("private_service_connection", Vec::new(), connection);
        let zones = self.node.references.get("pe_dns_zone_ids").cloned().unwrap_or_default();
        let zones: Vec<HclExpression> =
            zones.into_iter().filter_map(|zone| self.read_attribute(None, zone, "id")).collect();
        if !zones.is_empty() {
            let mut group = HclBody::default();
            group.add_argument("name", HclExpression::text("default"));
            group.add_argument("private_dns_zone_ids", HclExpression::List(zones));
            body.add_block("private_dns_zone_group", Vec::new(), group);
        }
        let name = format!("{}_{}_endpoint", self.node.name, part.to_lowercase());
        let text = body.to_block("resource", &[ENDPOINT, &name]);
        self.out.blocks.push((format!("{ENDPOINT}.{name}"), text));
    }
}
