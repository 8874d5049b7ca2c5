//! Converts values to argument expressions: the provider schema decides between text and number, value and JSON
//! text.

use crate::{
    hcl::HclExpression,
    schema::{AttributeSchema, BlockSchema, ProviderAttributeKind, ProviderSchemaEntry},
};
use shared_protocol::{PropValue, registry::PropKind};

/// Returns whether a value is empty and therefore not written.
pub(crate) fn is_absent(value: &PropValue) -> bool {
    match value {
        PropValue::Null => true,
        PropValue::Text(text) => text.is_empty(),
        PropValue::List(items) => items.is_empty(),
        PropValue::Object(fields) => fields.is_empty(),
        PropValue::Bool(_) | PropValue::Number(_) => false,
    }
}

/// Returns the expression for an attribute. `builtin` marks the built-in types of Terraform, whose attributes
/// accept any value.
pub(crate) fn argument_expression(
    value: &PropValue,
    kind: PropKind,
    found: Option<&AttributeSchema>,
    builtin: bool,
) -> HclExpression {
    if value.expression().is_some() {
        return HclExpression::from_value(value);
    }
    match found.map(|attribute| attribute.kind) {
        Some(ProviderAttributeKind::Text) if kind == PropKind::Json && value.as_text().is_none() => {
            HclExpression::Call("jsonencode", vec![HclExpression::from_value(value)])
        }
        None if kind == PropKind::Json && !builtin && value.as_text().is_none() => {
            HclExpression::Call("jsonencode", vec![HclExpression::from_value(value)])
        }
        Some(kind) => typed_expression(value, kind),
        None => HclExpression::from_value(value),
    }
}

/// Converts a value to the attribute kind where possible.
fn typed_expression(value: &PropValue, kind: ProviderAttributeKind) -> HclExpression {
    if value.expression().is_some() {
        return HclExpression::from_value(value);
    }
    let each = |kind| match value {
        PropValue::List(items) => {
            HclExpression::List(items.iter().map(|item| typed_expression(item, kind)).collect())
        }
        other => HclExpression::List(vec![typed_expression(other, kind)]),
    };
    match (kind, value) {
        (ProviderAttributeKind::Number, PropValue::Text(text))
            if text.parse::<f64>().is_ok_and(f64::is_finite) =>
        {
            match PropValue::parse_json(text) {
                Ok(PropValue::Number(number)) => HclExpression::raw(number.to_string()),
                _ => HclExpression::from_value(value),
            }
        }
        (ProviderAttributeKind::Boolean, PropValue::Text(text))
            if &**text == "true" || &**text == "false" =>
        {
            HclExpression::raw(&**text)
        }
        (ProviderAttributeKind::Text, PropValue::Number(_) | PropValue::Bool(_)) => {
            HclExpression::text(&value.to_string())
        }
        (ProviderAttributeKind::Texts, _) => each(ProviderAttributeKind::Text),
        (ProviderAttributeKind::Numbers, _) => each(ProviderAttributeKind::Number),
        (ProviderAttributeKind::Map, PropValue::Object(fields)) => HclExpression::Map(
            fields
                .iter()
                .map(|(key, value)| (key.to_string(), typed_expression(value, ProviderAttributeKind::Text)))
                .collect(),
        ),
        _ => HclExpression::from_value(value),
    }
}

/// A block under construction: arguments in insertion order, then nested blocks.
#[derive(Debug, Default)]
pub(crate) struct HclBlockBuilder {
    /// Contains a value that was set explicitly, not only defaults.
    pub(crate) explicit: bool,
    /// An item of a user-provided list; other properties never add to it.
    listed: bool,
    pub(crate) arguments: Vec<(String, HclExpression)>,
    pub(crate) blocks: Vec<(String, Vec<HclBlockBuilder>)>,
}

impl HclBlockBuilder {
    /// Returns the block at this path and creates it when missing.
    pub(crate) fn descend(&mut self, path: &[&str], explicit: bool) -> &mut Self {
        self.explicit |= explicit;
        let Some((first, rest)) = path.split_first() else { return self };
        let index = match self.blocks.iter().position(|(name, _)| name == first) {
            Some(index) => index,
            None => {
                self.blocks.push(((*first).to_owned(), vec![Self::default()]));
                self.blocks.len() - 1
            }
        };
        let instances = &mut self.blocks[index].1;
        let own = instances.iter().position(|instance| !instance.listed).unwrap_or_else(|| {
            instances.push(Self::default());
            instances.len() - 1
        });
        instances[own].descend(rest, explicit)
    }

    /// Removes optional blocks that contain only defaults and lack a required argument, because they do not apply.
    pub(crate) fn prune(&mut self, schema: &BlockSchema) {
        self.blocks.retain_mut(|(name, instances)| {
            let Some(block) = schema.blocks.get(name) else { return true };
            instances.iter_mut().for_each(|instance| instance.prune(block));
            let lacks = |instance: &Self| {
                let attributes = block.attributes.iter().filter(|(_, attribute)| attribute.required);
                let blocks = block.blocks.iter().filter(|(_, block)| block.required);
                let mut names = attributes.map(|(name, _)| name).chain(blocks.map(|(name, _)| name));
                names.any(|name| !instance.has(name))
            };
            let is_required = block.required;
            instances.retain(|instance| is_required || instance.explicit || !lacks(instance));
            !instances.is_empty()
        });
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.arguments.iter().any(|(argument, _)| argument == name)
            || self.blocks.iter().any(|(block, _)| block == name)
    }

    /// Adds one block per object of a list, or one for a single object.
    pub(crate) fn add_repeated(&mut self, name: &str, value: &PropValue, schema: Option<&BlockSchema>) {
        let items = match value {
            PropValue::List(items) => items.as_slice(),
            other => std::slice::from_ref(other),
        };
        let trees: Vec<Self> = items.iter().map(|item| Self::of_object(item, schema)).collect();
        if !trees.is_empty() {
            self.blocks.push((name.to_owned(), trees));
        }
    }

    fn of_object(value: &PropValue, schema: Option<&BlockSchema>) -> Self {
        let mut tree = Self { explicit: true, listed: true, ..Self::default() };
        let PropValue::Object(fields) = value else { return tree };
        for (key, value) in fields.iter().filter(|(_, value)| !matches!(value, PropValue::Null)) {
            match schema.and_then(|schema| schema.find(key)) {
                Some(ProviderSchemaEntry::Block(block)) => tree.add_repeated(key, value, Some(block)),
                Some(ProviderSchemaEntry::Attribute(attribute)) => {
                    tree.arguments.push((key.to_string(), typed_expression(value, attribute.kind)));
                }
                None => tree.arguments.push((key.to_string(), HclExpression::from_value(value))),
            }
        }
        tree
    }

    pub(crate) fn into_body(self, body: &mut crate::hcl::HclBody) {
        for (name, value) in self.arguments {
            body.add_argument(name, value);
        }
        for (name, instances) in self.blocks {
            for instance in instances {
                let mut inner = crate::hcl::HclBody::default();
                instance.into_body(&mut inner);
                body.add_block(name.clone(), Vec::new(), inner);
            }
        }
    }
}
