//! Checks the catalogue against the provider schemas: every argument exists, at its path, with its type.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may panic")]

mod common;

use shared_protocol::{
    TypeDef,
    registry::{PropDef, PropKind, PropRole, TerraformBlockKind},
};
use terraform::schema::{BlockSchema, ProviderAttributeKind, ProviderSchemaEntry, schemas};

fn written(def: &TypeDef) -> bool {
    matches!(def.block, TerraformBlockKind::Resource | TerraformBlockKind::Data)
}

fn schema_of(def: &TypeDef, terraform: &str) -> &'static BlockSchema {
    let name = if def.block == TerraformBlockKind::Data {
        format!("data.{terraform}")
    } else {
        terraform.to_owned()
    };
    schemas().get(&name).unwrap_or_else(|| panic!("{}: the provider has no `{name}`", def.id))
}

#[test]
fn every_type_of_the_catalogue_is_there() {
    let registry = common::registry();
    assert_eq!(registry.problems(), &[]);
    let count = |prefix: &str| registry.types().filter(|def| def.id.as_str().starts_with(prefix)).count();
    assert!(count("azurerm/") >= 81 && count("aws/") >= 27 && count("notes/") >= 10, "too few types");
}

#[test]
fn every_property_is_an_argument_of_its_kind() {
    let mut findings = Vec::new();
    for def in common::registry().types().filter(|def| written(def)) {
        for prop in def.props.iter().filter(|prop| prop.role == PropRole::Argument) {
            // When the operating system selects the type, a property may belong to only one of them if its
            // condition says so.
            let places: Vec<Option<ProviderSchemaEntry<'_>>> = def
                .terraform_types()
                .map(|terraform| schema_of(def, terraform).find(prop.argument()))
                .collect();
            let missing = places.iter().filter(|place| place.is_none()).count();
            if !places.is_empty() && (missing == places.len() || (missing > 0 && prop.visible_when.is_none()))
            {
                findings.push(format!("{}.{}: no argument `{}`", def.id, prop.key, prop.argument()));
            }
            for place in places.into_iter().flatten() {
                if let Some(problem) = misfit(prop, place) {
                    findings.push(format!("{}.{}: {problem}", def.id, prop.key));
                }
            }
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

fn misfit(prop: &PropDef, place: ProviderSchemaEntry<'_>) -> Option<String> {
    let kind = match place {
        ProviderSchemaEntry::Block(_) if prop.argument().ends_with("[]") => return None,
        ProviderSchemaEntry::Block(_) => return Some(format!("`{}` is a block", prop.argument())),
        // The schema does not describe the content of an object.
        ProviderSchemaEntry::Attribute(attribute)
            if attribute.kind == ProviderAttributeKind::Any && prop.argument().contains('.') =>
        {
            return None;
        }
        ProviderSchemaEntry::Attribute(attribute) => attribute.kind,
    };
    let fits = match prop.kind {
        PropKind::Boolean => matches!(kind, ProviderAttributeKind::Boolean),
        PropKind::Number => matches!(kind, ProviderAttributeKind::Number | ProviderAttributeKind::Text),
        // Numbers from a list of options are texts until they are written.
        PropKind::Select => match kind {
            ProviderAttributeKind::Number => {
                prop.options.iter().all(|choice| choice.value.parse::<f64>().is_ok())
            }
            ProviderAttributeKind::Boolean => {
                prop.options.iter().all(|choice| choice.value.parse::<bool>().is_ok())
            }
            kind => kind == ProviderAttributeKind::Text,
        },
        PropKind::Text | PropKind::Multiline | PropKind::Cidr | PropKind::Colour => {
            kind == ProviderAttributeKind::Text
        }
        PropKind::List | PropKind::Multiselect => {
            matches!(
                kind,
                ProviderAttributeKind::Texts | ProviderAttributeKind::Numbers | ProviderAttributeKind::Any
            )
        }
        PropKind::Tags => matches!(kind, ProviderAttributeKind::Map | ProviderAttributeKind::Any),
        PropKind::Json | PropKind::Object => {
            matches!(
                kind,
                ProviderAttributeKind::Any | ProviderAttributeKind::Text | ProviderAttributeKind::Map
            )
        }
        PropKind::Reference if prop.many => {
            matches!(kind, ProviderAttributeKind::Texts | ProviderAttributeKind::Any)
        }
        PropKind::Reference => matches!(kind, ProviderAttributeKind::Text | ProviderAttributeKind::Texts),
        PropKind::Slot => false,
    };
    (!fits).then(|| format!("{:?} does not fit {kind:?}", prop.kind))
}

#[test]
fn nothing_that_a_provider_requires_is_missing() {
    let mut findings = Vec::new();
    for def in common::registry().types().filter(|def| written(def)) {
        for terraform in def.terraform_types() {
            require(def, schema_of(def, terraform), "", false, &mut findings);
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}

/// Every required argument has a property that is required, has a value, or shares the argument with others. In an
/// optional block the property may be empty: then the block is omitted.
fn require(def: &TypeDef, schema: &BlockSchema, path: &str, optional: bool, findings: &mut Vec<String>) {
    let at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for (name, _) in schema.attributes.iter().filter(|(_, attribute)| attribute.required) {
        let full = at(name);
        let props: Vec<&PropDef> = def
            .props
            .iter()
            .filter(|prop| prop.argument() == full && prop.role == PropRole::Argument)
            .collect();
        let is_given =
            |prop: &&PropDef| prop.required || prop.default.is_some() || prop.inherit.is_some() || prop.many;
        if !props.iter().any(is_given) && props.len() < if optional { 1 } else { 2 } {
            findings.push(format!("{}: `{full}` is required and nothing gives it", def.id));
        }
    }
    for (name, block) in &schema.blocks {
        let full = at(name);
        let prefix = format!("{full}.");
        let used = def.props.iter().any(|prop| prop.argument().starts_with(&prefix));
        let listed = def.props.iter().any(|prop| prop.argument() == format!("{full}[]"));
        if used {
            require(def, block, &full, optional || !block.required, findings);
        } else if block.required && !listed && !def.always.contains(&full) {
            findings.push(format!("{}: block `{full}` is required and nothing gives it", def.id));
        }
    }
}

#[test]
fn every_output_and_every_reference_reads_an_attribute_that_is_there() {
    let registry = common::registry();
    let mut findings = Vec::new();
    for def in registry.types().filter(|def| written(def)) {
        for terraform in def.terraform_types() {
            let schema = schema_of(def, terraform);
            for output in &def.outputs {
                let attribute = output.attribute.as_deref().unwrap_or(output.key.as_str());
                if !schema.can_read(attribute) {
                    findings.push(format!("{}: output `{attribute}` cannot be read", def.id));
                }
            }
        }
        for prop in def.props.iter().filter(|prop| prop.kind == PropKind::Reference) {
            if prop.output_from.is_some() {
                continue;
            }
            let targets = registry.types().filter(|target| {
                written(target) && prop.targets.iter().any(|pattern| pattern.matches(&target.id))
            });
            for target in targets {
                for terraform in target.terraform_types() {
                    if !schema_of(target, terraform).can_read(prop.target_attribute()) {
                        let attribute = prop.target_attribute();
                        findings.push(format!("{}.{}: {terraform} has no `{attribute}`", def.id, prop.key));
                    }
                }
            }
        }
        for prop in &def.props {
            let Some((key, attribute)) = prop.inherit.as_deref().and_then(|inherit| inherit.split_once('.'))
            else {
                continue;
            };
            let schema = match def.prop(key) {
                None => schemas().get("data.azurerm_client_config"),
                Some(reference) => {
                    let target =
                        registry.types().find(|target| reference.targets[0].matches(&target.id)).unwrap();
                    target.terraform_types().next().map(|terraform| schema_of(target, terraform))
                }
            };
            if !schema.unwrap().can_read(attribute) {
                findings.push(format!("{}.{}: `{attribute}` cannot be inherited", def.id, prop.key));
            }
        }
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
