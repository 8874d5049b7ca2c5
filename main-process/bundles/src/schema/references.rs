//! Finds the references that a schema declares: at the top level, inside lists, and nested in objects.

use shared_protocol::OrderedValue;

/// The limits for depth, visited subschemas and declared references. A schema may refer to itself, in many places at
/// once.
const MAX_SCHEMA_DEPTH: usize = 12;
const MAX_VISITS: usize = 20_000;
const MAX_DECLARED_REFERENCES: usize = 1_000;

/// A step from a value to the values inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SchemaPathStep {
    Member(Box<str>),
    /// All items of a list.
    Items,
    /// All members of a mapping.
    Members,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SchemaReference {
    pub(crate) steps: Vec<SchemaPathStep>,
    /// The allowed entity types; any type if empty.
    pub(crate) targets: Vec<String>,
}

impl SchemaReference {
    /// Returns the dotted field path: `conformanceRules.linkedRequirement`.
    pub(crate) fn field(&self) -> String {
        let names: Vec<&str> = self
            .steps
            .iter()
            .filter_map(|step| match step {
                SchemaPathStep::Member(name) => Some(&**name),
                _ => None,
            })
            .collect();
        names.join(".")
    }

    pub(crate) fn is_nested(&self) -> bool {
        self.steps.iter().filter(|step| **step != SchemaPathStep::Items).count() > 1
    }
}

pub(super) fn declared_references(schema: &OrderedValue) -> Vec<SchemaReference> {
    let mut walk = ReferenceWalk { root: schema, references: Vec::new(), visits: 0 };
    walk.visit(schema, &mut Vec::new(), 0);
    walk.references
}

struct ReferenceWalk<'a> {
    root: &'a OrderedValue,
    references: Vec<SchemaReference>,
    visits: usize,
}

impl<'a> ReferenceWalk<'a> {
    fn visit(&mut self, schema: &'a OrderedValue, steps: &mut Vec<SchemaPathStep>, depth: usize) {
        self.visits += 1;
        if depth > MAX_SCHEMA_DEPTH
            || self.visits > MAX_VISITS
            || self.references.len() >= MAX_DECLARED_REFERENCES
        {
            return;
        }
        if let Some(targets) = targets(schema)
            && !steps.is_empty()
        {
            let mut reference = SchemaReference { steps: steps.clone(), targets };
            if schema.text("type") == Some("array") {
                reference.steps.push(SchemaPathStep::Items);
            }
            if !self.references.iter().any(|known| known.steps == reference.steps) {
                self.references.push(reference);
            }
            return;
        }
        if let Some(target) = schema.text("$ref").and_then(|pointer| self.resolve(pointer)) {
            self.visit(target, steps, depth + 1);
        }
        for (name, property) in members(schema, "properties") {
            self.step(SchemaPathStep::Member(name.into()), property, steps, depth);
        }
        if let Some(items) = schema.get("items") {
            self.step(SchemaPathStep::Items, items, steps, depth);
        }
        if let Some(others) = schema.get("additionalProperties") {
            self.step(SchemaPathStep::Members, others, steps, depth);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            for branch in schema.get(keyword).and_then(OrderedValue::as_list).unwrap_or_default() {
                self.visit(branch, steps, depth + 1);
            }
        }
        for keyword in ["then", "else"] {
            if let Some(branch) = schema.get(keyword) {
                self.visit(branch, steps, depth + 1);
            }
        }
    }

    fn step(
        &mut self,
        step: SchemaPathStep,
        schema: &'a OrderedValue,
        steps: &mut Vec<SchemaPathStep>,
        depth: usize,
    ) {
        steps.push(step);
        self.visit(schema, steps, depth + 1);
        steps.pop();
    }

    /// Resolves a pointer in the same schema, `#/$defs/Name`.
    fn resolve(&self, pointer: &str) -> Option<&'a OrderedValue> {
        let mut schema = self.root;
        for part in pointer.strip_prefix("#/")?.split('/') {
            schema = schema.get(part)?;
        }
        Some(schema)
    }
}

fn members<'a>(schema: &'a OrderedValue, key: &str) -> impl Iterator<Item = (&'a str, &'a OrderedValue)> {
    schema.get(key).and_then(OrderedValue::as_map).into_iter().flat_map(|map| map.iter())
}

/// Returns the targets of a reference, or `None` if the subschema declares none.
fn targets(schema: &OrderedValue) -> Option<Vec<String>> {
    let declared = schema.get("x-sdd-refTargets").or_else(|| schema.get("x-refTargets"));
    match declared {
        Some(OrderedValue::Text(one)) => Some(vec![one.to_string()]),
        Some(OrderedValue::List(names)) => {
            Some(names.iter().filter_map(OrderedValue::as_text).map(str::to_owned).collect())
        }
        _ => (schema.text("format") == Some("sdd-ref")).then(Vec::new),
    }
}
