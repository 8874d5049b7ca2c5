//! The window's model of an entity schema: fields in order, with their kind and display hints. Both vocabularies of hints
//! are supported. A field with an unsupported schema is edited as JSON, never omitted. Must not know: widgets, values.

use shared_protocol::{OrderedValue, bundle::SchemaView, text::capitalize};

/// The maximum depth of nested objects with their own controls; deeper ones are edited as JSON.
const MAX_SCHEMA_DEPTH: usize = 6;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EntityFormSchema {
    pub(crate) id_field: String,
    /// The template of ids, such as `REQ-{slug}`.
    pub(crate) id_template: Option<String>,
    pub(crate) description: String,
    /// The fields in display order, including the id.
    pub(crate) fields: Vec<SchemaField>,
    /// Key and title of each group that has a field.
    pub(crate) groups: Vec<(String, String)>,
    /// There is no usable schema; the fields are those of the entity.
    pub(crate) is_open: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SchemaField {
    pub(crate) name: String,
    pub(crate) label: String,
    pub(crate) description: String,
    pub(crate) required: bool,
    pub(crate) kind: SchemaFieldKind,
    pub(crate) group: Option<String>,
    pub(crate) weight: FieldProminence,
    pub(crate) in_header: bool,
    pub(crate) hidden: bool,
    order: Option<f64>,
}

/// The visual weight of a field on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FieldProminence {
    Hero,
    Primary,
    Usual,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SchemaFieldKind {
    Text,
    /// Multi-line text.
    Long {
        markdown: bool,
    },
    Number {
        whole: bool,
    },
    Boolean,
    Choice(Vec<SchemaChoice>),
    Date,
    /// A reference to an entity of one of these types; any type when empty.
    Reference(Vec<String>),
    List {
        of: Box<SchemaFieldKind>,
        look: ListPresentation,
    },
    Object {
        fields: Vec<SchemaField>,
        as_chips: bool,
    },
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SchemaChoice {
    pub(crate) value: String,
    pub(crate) title: String,
    pub(crate) description: String,
    /// `success`, `info`, `warning`, `error` or `neutral`.
    pub(crate) tone: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum ListPresentation {
    #[default]
    Plain,
    Chips,
    Bullets,
    /// Tabs that show one item at a time. `label` is the field with the tab title, `chosen` the field that marks the chosen
    /// item.
    Tabs {
        label: String,
        chosen: String,
    },
}

impl SchemaFieldKind {
    /// Returns whether the field needs the full width.
    pub(crate) fn is_wide(&self) -> bool {
        match self {
            Self::Long { .. } | Self::Json => true,
            Self::Object { as_chips, .. } => !as_chips,
            Self::List { of, look } => {
                *look == ListPresentation::Bullets
                    || !matches!(**of, Self::Reference(_) | Self::Choice(_) | Self::Text)
            }
            _ => false,
        }
    }

    /// Returns the initial value of a new field.
    pub(crate) fn blank(&self) -> OrderedValue {
        match self {
            Self::Boolean => OrderedValue::Bool(false),
            Self::Number { .. } | Self::Json => OrderedValue::Null,
            Self::List { .. } => OrderedValue::List(Vec::new()),
            Self::Object { fields, .. } => {
                let needed = fields.iter().filter(|field| field.required);
                OrderedValue::Map(needed.map(|field| (field.name.as_str(), field.kind.blank())).collect())
            }
            Self::Choice(choices) => {
                OrderedValue::from(choices.first().map_or("", |choice| choice.value.as_str()))
            }
            _ => OrderedValue::from(""),
        }
    }
}

impl SchemaField {
    /// Creates a field that the schema does not define.
    pub(crate) fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            label: humanise(name),
            description: "The schema does not define this field.".to_owned(),
            required: false,
            kind: SchemaFieldKind::Json,
            group: None,
            weight: FieldProminence::Usual,
            in_header: false,
            hidden: false,
            order: None,
        }
    }
}

impl EntityFormSchema {
    pub(crate) fn from_view(view: &SchemaView) -> Self {
        let root: OrderedValue = serde_json::from_str(&view.schema).unwrap_or_default();
        let reader = SchemaReader { root: &root, references: &view.references };
        let mut fields = reader.fields(&root, "", 0);
        // The sort is stable: fields without an order keep schema order, after fields with one.
        fields.sort_by(|a, b| {
            let (a, b) = (a.order.unwrap_or(f64::MAX), b.order.unwrap_or(f64::MAX));
            a.total_cmp(&b)
        });
        let id = root.get("properties").and_then(|properties| properties.get(&view.id_field));
        let id_template = id.and_then(|id| hint(id, "idTemplate")).and_then(OrderedValue::as_text);
        Self {
            id_field: view.id_field.clone(),
            id_template: id_template.map(str::to_owned),
            description: root.text("description").unwrap_or_default().to_owned(),
            groups: groups(&root, &fields),
            is_open: fields.is_empty(),
            fields,
        }
    }

    pub(crate) fn field(&self, name: &str) -> Option<&SchemaField> {
        self.fields.iter().find(|field| field.name == name)
    }
}

/// Returns the groups that have a field, in order.
fn groups(root: &OrderedValue, fields: &[SchemaField]) -> Vec<(String, String)> {
    let named = hint(root, "layoutGroups").into_iter().flat_map(OrderedValue::members);
    let mut groups: Vec<(f64, String, String)> = named
        .filter(|(key, _)| fields.iter().any(|field| field.group.as_deref() == Some(key)))
        .map(|(key, group)| {
            let order = group.get("order").and_then(OrderedValue::as_number).unwrap_or(f64::MAX);
            (order, key.to_owned(), group.text("title").map_or_else(|| humanise(key), str::to_owned))
        })
        .collect();
    groups.sort_by(|a, b| a.0.total_cmp(&b.0));
    groups.into_iter().map(|(_, key, title)| (key, title)).collect()
}

/// Returns an annotation by its current or its older name: `x-sdd-displayHint`, `displayHint`.
fn hint<'a>(schema: &'a OrderedValue, name: &str) -> Option<&'a OrderedValue> {
    schema
        .get(&format!("x-sdd-{name}"))
        .or_else(|| schema.get(&format!("x-{name}")))
        .or_else(|| schema.get(name))
}

struct SchemaReader<'a> {
    root: &'a OrderedValue,
    references: &'a [(String, Vec<String>)],
}

impl SchemaReader<'_> {
    fn fields(&self, schema: &OrderedValue, path: &str, depth: usize) -> Vec<SchemaField> {
        let required = schema.get("required").and_then(OrderedValue::as_list).unwrap_or_default();
        let properties = schema.get("properties").into_iter().flat_map(OrderedValue::members);
        properties
            .map(|(name, property)| {
                let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                self.field(
                    name,
                    self.resolve(property),
                    required.iter().any(|item| item.as_text() == Some(name)),
                    &path,
                    depth,
                )
            })
            .collect()
    }

    fn field(
        &self,
        name: &str,
        schema: &OrderedValue,
        required: bool,
        path: &str,
        depth: usize,
    ) -> SchemaField {
        let text = |key: &str| hint(schema, key).and_then(OrderedValue::as_text).unwrap_or_default();
        let label = [text("prominenceLabel"), text("title"), text("displayName")];
        let label =
            label.into_iter().find(|label| !label.is_empty()).map_or_else(|| humanise(name), capitalize);
        SchemaField {
            name: name.to_owned(),
            label,
            description: text("description").to_owned(),
            required,
            kind: self.kind(schema, path, depth),
            group: hint(schema, "layoutGroup").and_then(OrderedValue::as_text).map(str::to_owned),
            weight: match text("prominence") {
                "hero" => FieldProminence::Hero,
                "primary" => FieldProminence::Primary,
                _ => FieldProminence::Usual,
            },
            in_header: text("displayLocation") == "header",
            hidden: text("displayHint") == "hidden",
            order: hint(schema, "order").and_then(OrderedValue::as_number),
        }
    }

    /// Resolves a `$ref` within the same schema file.
    fn resolve<'s>(&'s self, schema: &'s OrderedValue) -> &'s OrderedValue {
        let mut at = schema;
        for _ in 0..MAX_SCHEMA_DEPTH {
            let Some(path) = at.text("$ref").and_then(|path| path.strip_prefix("#/")) else { break };
            let found = path.split('/').try_fold(self.root, |at, key| at.get(key));
            match found {
                Some(found) => at = found,
                None => break,
            }
        }
        at
    }

    fn kind(&self, schema: &OrderedValue, path: &str, depth: usize) -> SchemaFieldKind {
        let schema = self.resolve(schema);
        let display = hint(schema, "displayHint").and_then(OrderedValue::as_text).unwrap_or_default();
        match type_of(schema) {
            "string" => self.text_kind(schema, path, display),
            "integer" => SchemaFieldKind::Number { whole: true },
            "number" => SchemaFieldKind::Number { whole: false },
            "boolean" => SchemaFieldKind::Boolean,
            "array" if depth < MAX_SCHEMA_DEPTH => {
                let of = match schema.get("items") {
                    Some(items) => self.kind(items, path, depth + 1),
                    None => SchemaFieldKind::Json,
                };
                SchemaFieldKind::List { of: Box::new(of), look: list_look(schema, display) }
            }
            "object" if depth < MAX_SCHEMA_DEPTH => {
                let fields = self.fields(schema, path, depth + 1);
                if fields.is_empty() {
                    return SchemaFieldKind::Json;
                }
                SchemaFieldKind::Object { fields, as_chips: display == "booleanChips" }
            }
            _ => SchemaFieldKind::Json,
        }
    }

    fn text_kind(&self, schema: &OrderedValue, path: &str, display: &str) -> SchemaFieldKind {
        let format = schema.text("format").unwrap_or_default();
        let declared = self.references.iter().find(|(known, _)| known == path);
        if format == "sdd-ref" || declared.is_some() || hint(schema, "refTargets").is_some() {
            let targets = hint(schema, "refTargets").and_then(OrderedValue::as_list).unwrap_or_default();
            let targets: Vec<String> =
                targets.iter().filter_map(OrderedValue::as_text).map(str::to_owned).collect();
            return SchemaFieldKind::Reference(declared.map_or(targets, |(_, types)| types.clone()));
        }
        if let Some(OrderedValue::List(values)) = schema.get("enum") {
            return SchemaFieldKind::Choice(
                values
                    .iter()
                    .filter_map(OrderedValue::as_text)
                    .map(|value| parse_choice(schema, value))
                    .collect(),
            );
        }
        let widget = hint(schema, "widget").or_else(|| schema.get("ui:widget"));
        match (display, widget.and_then(OrderedValue::as_text).unwrap_or_default()) {
            ("markdown", _) | (_, "MarkdownWidget") => SchemaFieldKind::Long { markdown: true },
            ("multiline", _) | (_, "textarea") => SchemaFieldKind::Long { markdown: false },
            _ if format == "date" => SchemaFieldKind::Date,
            // Fields that usually contain sentences.
            _ if matches!(path, "description" | "statement" | "rationale") => {
                SchemaFieldKind::Long { markdown: true }
            }
            _ => SchemaFieldKind::Text,
        }
    }
}

/// Returns the type of a schema. A union counts only when one type besides null remains.
fn type_of(schema: &OrderedValue) -> &str {
    match schema.get("type") {
        Some(OrderedValue::Text(name)) => name,
        Some(OrderedValue::List(names)) => {
            let mut names = names.iter().filter_map(OrderedValue::as_text).filter(|name| *name != "null");
            match (names.next(), names.next()) {
                (Some(only), None) => only,
                _ => "",
            }
        }
        _ if schema.get("enum").is_some() => "string",
        _ if schema.get("properties").is_some() => "object",
        _ => "",
    }
}

fn parse_choice(schema: &OrderedValue, value: &str) -> SchemaChoice {
    let of = |name: &str| hint(schema, name).and_then(|all| all.get(value));
    let style = of("enumStyles");
    let tone = style.and_then(|style| style.as_text().or_else(|| style.text("color")));
    SchemaChoice {
        value: value.to_owned(),
        title: of("enumTitles")
            .and_then(OrderedValue::as_text)
            .map_or_else(|| humanise(value), str::to_owned),
        description: of("enumDescriptions").and_then(OrderedValue::as_text).unwrap_or_default().to_owned(),
        tone: tone.map(str::to_owned),
    }
}

fn list_look(schema: &OrderedValue, display: &str) -> ListPresentation {
    let text = |name: &str, usual: &str| {
        hint(schema, name).and_then(OrderedValue::as_text).unwrap_or(usual).to_owned()
    };
    match hint(schema, "layout").and_then(OrderedValue::as_text).unwrap_or_default() {
        "tabbedArray" => ListPresentation::Tabs {
            label: text("tabLabelField", "name"),
            chosen: text("choiceField", "isChosen"),
        },
        "bulletList" => ListPresentation::Bullets,
        _ if display == "chips" => ListPresentation::Chips,
        _ => ListPresentation::Plain,
    }
}

/// Formats a name as a label: `governedByAdrIds` becomes `Governed by adr`, `non_functional` becomes `Non functional`.
pub(crate) fn humanise(name: &str) -> String {
    capitalize(&phrase(name))
}

/// Formats a name for use within a sentence: `Requirement` becomes `requirement`, `ADR` stays unchanged.
pub(crate) fn phrase(name: &str) -> String {
    let mut text = String::new();
    let mut before = ' ';
    for sign in name.chars() {
        let starts = sign.is_uppercase() && before.is_lowercase();
        if matches!(sign, '_' | '-') || starts {
            text.push(' ');
        }
        if !matches!(sign, '_' | '-') {
            text.push(if starts { sign.to_ascii_lowercase() } else { sign });
        }
        before = sign;
    }
    let text = text.trim();
    let text = text.strip_suffix(" ids").or_else(|| text.strip_suffix(" id")).unwrap_or(text);
    let mut signs = text.chars();
    match (signs.next(), signs.next()) {
        (Some(first), Some(second)) if !second.is_uppercase() => {
            first.to_lowercase().chain(std::iter::once(second)).chain(signs).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(schema: &str) -> EntityFormSchema {
        let references = vec![("ownerId".to_owned(), vec!["Actor".to_owned()])];
        EntityFormSchema::from_view(&SchemaView {
            schema: schema.to_owned(),
            id_field: "id".into(),
            references,
        })
    }

    #[test]
    fn kinds_and_hints_of_both_vocabularies() {
        let schema = read(
            r##"{"type":"object","required":["title"],"$defs":{"sev":{"type":"string","enum":["low","high"]}},"properties":{
            "id":{"type":"string","x-idTemplate":"REQ-{slug}"},
            "title":{"type":"string","title":"name of it"},
            "body":{"type":"string","displayHint":"markdown"},
            "state":{"type":"string","enum":["in-progress"],"x-sdd-enumStyles":{"in-progress":{"color":"info"}},"x-sdd-displayLocation":"header"},
            "ownerId":{"type":"string"},
            "featureIds":{"type":"array","items":{"type":"string","format":"sdd-ref","x-refTargets":["Feature"]}},
            "rules":{"type":"array","items":{"type":"object","properties":{"severity":{"$ref":"#/$defs/sev"}}}},
            "count":{"type":["integer","null"]},
            "odd":{"oneOf":[{"type":"string"},{"type":"number"}]},
            "decision":{"type":"string","x-sdd-order":1,"x-sdd-prominence":"hero","x-sdd-prominenceLabel":"The Decision"}}}"##,
        );
        assert_eq!(schema.id_template.as_deref(), Some("REQ-{slug}"));
        assert_eq!(schema.fields[0].name, "decision", "what has an order comes first");
        assert_eq!(
            (schema.fields[0].label.as_str(), schema.fields[0].weight),
            ("The Decision", FieldProminence::Hero)
        );
        let kind = |name: &str| &schema.field(name).unwrap().kind;
        assert!(schema.field("title").unwrap().required);
        assert_eq!(schema.field("title").unwrap().label, "Name of it");
        assert_eq!(kind("body"), &SchemaFieldKind::Long { markdown: true });
        assert_eq!(
            kind("ownerId"),
            &SchemaFieldKind::Reference(vec!["Actor".into()]),
            "declared by a relation only"
        );
        let SchemaFieldKind::Choice(choices) = kind("state") else { panic!() };
        assert_eq!((choices[0].title.as_str(), choices[0].tone.as_deref()), ("In progress", Some("info")));
        assert!(schema.field("state").unwrap().in_header);
        assert!(
            matches!(kind("featureIds"), SchemaFieldKind::List { of, .. } if **of == SchemaFieldKind::Reference(vec!["Feature".into()]))
        );
        let SchemaFieldKind::List { of, .. } = kind("rules") else { panic!() };
        assert!(
            matches!(&**of, SchemaFieldKind::Object { fields, .. } if matches!(fields[0].kind, SchemaFieldKind::Choice(_)))
        );
        assert_eq!(kind("count"), &SchemaFieldKind::Number { whole: true });
        assert_eq!(kind("odd"), &SchemaFieldKind::Json);
    }

    #[test]
    fn groups_that_no_field_is_in_are_none() {
        let text = r#"{"properties":{"a":{"type":"string","x-sdd-layoutGroup":"two"},"b":{"type":"string","x-sdd-layoutGroup":"one"}},
            "x-sdd-layoutGroups":{"two":{"title":"Second","order":2},"one":{"order":1},"none":{"order":0}}}"#;
        let groups = read(text).groups;
        assert_eq!(groups, [("one".to_owned(), "One".to_owned()), ("two".to_owned(), "Second".to_owned())]);
    }

    #[test]
    fn names_read_as_words() {
        for (name, shown) in [
            ("governedByAdrIds", "Governed by adr"),
            ("non_functional", "Non functional"),
            ("ownerId", "Owner"),
            ("id", "Id"),
            ("FR", "FR"),
        ] {
            assert_eq!(humanise(name), shown);
        }
        assert_eq!((phrase("ADR"), phrase("OpenQuestion")), ("ADR".into(), "open question".into()));
    }

    #[test]
    fn a_broken_schema_leaves_the_entity_open() {
        assert!(read("no schema").is_open);
    }
}
