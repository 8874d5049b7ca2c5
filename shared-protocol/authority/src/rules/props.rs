//! Property rules: allowed values, visibility, exposure.

use crate::{Snapshot, TypeRegistry};
use shared_protocol::{
    Node, PropKey, PropValue, Refusal, RefusalCode, TypeDef,
    limits::MAX_VALUE_BYTES,
    registry::{
        ConditionOperator, ExposureLevel, PropCondition, PropDef, PropKind, PropRole, TerraformBlockKind,
    },
};
use std::collections::BTreeMap;

/// Returns the set value of a property, else its default.
pub(crate) fn effective_value<'a>(
    def: &'a TypeDef,
    props: &'a BTreeMap<PropKey, PropValue>,
    key: &PropKey,
) -> Option<&'a PropValue> {
    props.get(key).or_else(|| def.prop(key.as_str())?.default.as_ref())
}

/// Whether a property is shown and may be set, given the other values. Only its own conditions count, on the stored
/// values: two properties may each exclude the other.
pub fn is_visible(def: &TypeDef, node: &Node, prop: &PropDef) -> bool {
    prop.visible_when.iter().chain(&prop.also_when).all(|condition| condition_holds(def, node, condition))
}

/// Whether a condition holds on the stored values. A reference counts as true when it has a target.
pub fn condition_holds(def: &TypeDef, node: &Node, condition: &PropCondition) -> bool {
    const POINTS_SOMEWHERE: PropValue = PropValue::Bool(true);
    let actual = match node.references.contains_key(&condition.prop) {
        true => &POINTS_SOMEWHERE,
        false => effective_value(def, &node.props, &condition.prop).unwrap_or(&PropValue::Null),
    };
    let listed = || matches!(&condition.value, PropValue::List(items) if items.contains(actual));
    match condition.is {
        ConditionOperator::Eq => *actual == condition.value,
        ConditionOperator::Neq => *actual != condition.value,
        ConditionOperator::In => listed(),
        ConditionOperator::NotIn => !listed(),
        ConditionOperator::Truthy => actual.is_truthy(),
        ConditionOperator::Falsy => !actual.is_truthy(),
    }
}

/// Checks a value for a property of this type; the refusal names the rule.
pub fn check_prop(
    registry: &TypeRegistry,
    def: &TypeDef,
    key: &PropKey,
    value: &PropValue,
) -> Result<(), Refusal> {
    let prop = require_editable(def, key)?;
    if takes_expression(def, prop, value) {
        return Ok(());
    }
    let pattern = prop.pattern.as_deref().and_then(|text| registry.pattern(text));
    check_value(prop, value, pattern).map_err(|message| {
        let refusal =
            Refusal::new(RefusalCode::ValidationError, format!("{} of {}: {message}", prop.label, def.title))
                .field(key);
        match value.as_text() {
            Some(text) if !prop.options.is_empty() => {
                refusal.suggest(super::similar(text, prop.options.iter().map(|choice| &*choice.value)))
            }
            _ => refusal,
        }
    })
}

/// Whether the value is a Terraform expression, which any argument accepts regardless of its kind. Its syntax is
/// checked when the configuration is generated.
pub(crate) fn takes_expression(def: &TypeDef, prop: &PropDef, value: &PropValue) -> bool {
    let becomes_terraform =
        def.block != TerraformBlockKind::Resource || def.terraform_types().next().is_some();
    becomes_terraform
        && prop.role == PropRole::Argument
        && !matches!(prop.kind, PropKind::Reference | PropKind::Slot)
        && value.expression().is_some_and(|text| text.len() <= MAX_VALUE_BYTES)
}

/// Returns the property if it is editable.
pub(crate) fn require_editable<'a>(def: &'a TypeDef, key: &PropKey) -> Result<&'a PropDef, Refusal> {
    let refuse = |message: String| Refusal::new(RefusalCode::ValidationError, message).field(key);
    let prop = def.prop(key.as_str()).ok_or_else(|| {
        refuse(format!("{} has no property `{key}`", def.title))
            .suggest(super::similar(key.as_str(), def.props.iter().map(|prop| prop.key.as_str())))
    })?;
    match prop.exposure {
        ExposureLevel::Editable => Ok(prop),
        ExposureLevel::ReadOnly => Err(refuse(format!("{} of {} is read-only", prop.label, def.title))),
        ExposureLevel::Opaque => {
            Err(refuse(format!("{} of {} cannot be set here: {}", prop.label, def.title, prop.reason)))
        }
    }
}

/// Checks that a property can become a Terraform variable: it must be an argument of a type that generates Terraform.
pub fn may_vary(def: &TypeDef, key: &PropKey) -> Result<(), Refusal> {
    let refuse = |message: String| Err(Refusal::new(RefusalCode::ValidationError, message).field(key));
    let prop = require_editable(def, key)?;
    if def.terraform_types().next().is_none() {
        return refuse(format!(
            "{} generates no Terraform, so {} cannot be a variable",
            def.title, prop.label
        ));
    }
    if matches!(prop.kind, PropKind::Reference | PropKind::Slot) {
        return refuse(format!(
            "{} of {} references nodes, so it cannot be a variable",
            prop.label, def.title
        ));
    }
    Ok(())
}

/// Refuses the first of these properties that is hidden by the other values of the node.
pub(crate) fn check_visible(def: &TypeDef, node: &Node, touched: &[PropKey]) -> Result<(), Refusal> {
    for key in touched {
        let Some(prop) = def.prop(key.as_str()) else { continue };
        if is_visible(def, node, prop) {
            continue;
        }
        let mut conditions = prop.visible_when.iter().chain(&prop.also_when);
        let failing = conditions.find(|condition| !condition_holds(def, node, condition));
        let depends = failing.map(|condition| condition.prop.to_string()).unwrap_or_default();
        let on = def.prop(&depends).map_or(depends.as_str(), |prop| prop.label.as_str());
        let message = format!("{} of {} does not apply with the current {on}", prop.label, def.title);
        return Err(Refusal::new(RefusalCode::ValidationError, message)
            .field(key)
            .hint(format!("Change {on} first.")));
    }
    Ok(())
}

/// Checks kind, range, length, pattern and options; `Err` says what is expected.
pub(crate) fn check_value(
    prop: &PropDef,
    value: &PropValue,
    pattern: Option<&regex_lite::Regex>,
) -> Result<(), String> {
    if value.to_json().len() > MAX_VALUE_BYTES {
        return Err(format!("larger than {MAX_VALUE_BYTES} bytes"));
    }
    let wrong_kind = || Err(format!("expected {}, found {}", prop.kind.describe(), value.kind_name()));
    match (prop.kind, value) {
        (PropKind::Text | PropKind::Multiline, PropValue::Text(text)) => check_text(prop, text, pattern),
        (PropKind::Number, PropValue::Number(number)) => check_number(prop, number.get()),
        (PropKind::Boolean, PropValue::Bool(_)) | (PropKind::Json, _) => Ok(()),
        (PropKind::Select, PropValue::Text(text)) => check_option(prop, text),
        (PropKind::Multiselect, PropValue::List(items)) => {
            check_count(prop, items.len())?;
            each_text(items)?.into_iter().try_for_each(|text| check_option(prop, text))
        }
        (PropKind::Colour, PropValue::Text(text)) if is_colour(text) => Ok(()),
        (PropKind::Cidr, PropValue::Text(text)) => check_cidr(text),
        (PropKind::Tags, PropValue::Object(fields)) => {
            check_count(prop, fields.len())?;
            match fields.iter().find(|(_, value)| value.as_text().is_none()) {
                Some((key, value)) => Err(format!("`{key}` should be text, not {}", value.kind_name())),
                None => Ok(()),
            }
        }
        (PropKind::List, PropValue::List(items)) => {
            check_count(prop, items.len())?;
            each_text(items)?.into_iter().try_for_each(|text| match pattern {
                Some(pattern) if !pattern.is_match(text) => Err(pattern_mismatch(prop, text)),
                _ => Ok(()),
            })
        }
        (PropKind::Object, PropValue::Object(_)) => Ok(()),
        (PropKind::Reference, _) => Err("a reference is set by its targets, not by a value".to_owned()),
        (PropKind::Slot, _) => Err("a slot is filled by nesting, not by a value".to_owned()),
        _ => wrong_kind(),
    }
}

fn each_text(items: &[PropValue]) -> Result<Vec<&str>, String> {
    items
        .iter()
        .map(|item| {
            item.as_text().ok_or_else(|| format!("every item should be text, not {}", item.kind_name()))
        })
        .collect()
}

fn check_number(prop: &PropDef, number: f64) -> Result<(), String> {
    if prop.whole && number.fract() != 0.0 {
        return Err("expected a whole number".to_owned());
    }
    check_range(prop, number, "")
}

fn check_text(prop: &PropDef, text: &str, pattern: Option<&regex_lite::Regex>) -> Result<(), String> {
    check_range(prop, text.chars().count() as f64, " characters")?;
    match pattern {
        Some(pattern) if !pattern.is_match(text) => Err(pattern_mismatch(prop, text)),
        _ => Ok(()),
    }
}

fn pattern_mismatch(prop: &PropDef, text: &str) -> String {
    let shown: String = text.chars().take(60).collect();
    if prop.pattern_hint.is_empty() {
        format!("{shown:?} does not match `{}`", prop.pattern.as_deref().unwrap_or_default())
    } else {
        format!("{shown:?} is not valid: {}", prop.pattern_hint)
    }
}

fn check_count(prop: &PropDef, count: usize) -> Result<(), String> {
    check_range(prop, count as f64, " items")
}

fn check_range(prop: &PropDef, number: f64, what: &str) -> Result<(), String> {
    if let Some(min) = prop.min
        && number < min
    {
        return Err(format!("expected at least {min}{what}"));
    }
    if let Some(max) = prop.max
        && number > max
    {
        return Err(format!("expected at most {max}{what}"));
    }
    Ok(())
}

fn check_option(prop: &PropDef, text: &str) -> Result<(), String> {
    if prop.options.iter().any(|choice| &*choice.value == text) {
        return Ok(());
    }
    let known: Vec<&str> = prop.options.iter().take(12).map(|choice| &*choice.value).collect();
    let shown: String = text.chars().take(60).collect();
    Err(format!("{shown:?} is not one of {}", known.join(", ")))
}

fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        matches!(digits.len(), 3 | 6 | 8) && digits.chars().all(|digit| digit.is_ascii_hexdigit())
    })
}

fn check_cidr(text: &str) -> Result<(), String> {
    let wrong = || Err(format!("{text:?} is not a CIDR range such as 10.0.0.0/16"));
    let Some((address, prefix)) = text.split_once('/') else { return wrong() };
    // Rejects a sign or a leading zero in the prefix, which other parsers do not accept.
    let written = prefix;
    let (Ok(address), Ok(prefix)) = (address.parse::<std::net::IpAddr>(), prefix.parse::<u8>()) else {
        return wrong();
    };
    let (bits, width) = match address {
        std::net::IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
        std::net::IpAddr::V6(address) => (u128::from(address), 128),
    };
    if prefix > width || prefix.to_string() != written {
        return wrong();
    }
    let host_bits = u32::from(width - prefix);
    let host = if host_bits >= 128 { bits } else { bits & ((1u128 << host_bits) - 1) };
    if host != 0 {
        return Err(format!("{text:?} has host bits set"));
    }
    Ok(())
}

impl Snapshot {
    /// Returns the targets of a reference: the set ones, else (where the type says so) the nearest matching ancestor
    /// container.
    pub fn targets_of<'a>(&'a self, node: &'a Node, prop: &PropDef) -> Vec<&'a Node> {
        match node.references.get(&prop.key) {
            Some(targets) if !targets.is_empty() => {
                targets.iter().filter_map(|target| self.node(*target)).collect()
            }
            _ if prop.from_ancestor => {
                let fits = |around: &&Node| prop.targets.iter().any(|target| target.matches(&around.type_id));
                self.ancestors(node.parent).find(fits).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the set value of a node's property, else the default of the type.
    pub fn effective_prop<'a>(&'a self, node: &'a Node, key: &PropKey) -> Option<&'a PropValue> {
        match self.type_of(node) {
            Some(def) => effective_value(def, &node.props, key),
            None => node.props.get(key),
        }
    }
}
