//! Parses the text of a file into a component and reports every mistake.

mod fields;
mod props;
mod view;

use crate::{
    ComponentProblems, ComponentProp, ComponentVariant, MAX_FILE_BYTES, SourcePosition, ViewNode,
    problem::ProblemCollector,
    source::{self, SourceNode, SourceValue},
};
use fields::{MappingFields, display_text};
use serde_json::{Map, Value};
use shared_protocol::TypeId;

pub const COMPONENT_FILE_SUFFIXES: &[&str] = &[".component.json", ".component.yaml", ".component.yml"];

pub fn is_component_file(name: &str) -> bool {
    COMPONENT_FILE_SUFFIXES.iter().any(|suffix| name.len() > suffix.len() && name.ends_with(suffix))
}

/// One component, validated on its own. The [`crate::ComponentLibrary`] checks that the components it uses exist.
#[derive(Debug)]
pub struct Component {
    pub file: String,
    pub id: String,
    pub title: String,
    pub description: Option<String>,
    pub tags: Vec<String>,
    /// In file order.
    pub props: Vec<ComponentProp>,
    pub variants: Vec<ComponentVariant>,
    pub view: ViewNode,
    /// The default value of every prop, for expressions.
    pub(crate) defaults: Vec<(Box<str>, minijinja::Value)>,
}

impl Component {
    pub fn prop(&self, name: &str) -> Option<&ComponentProp> {
        self.props.iter().find(|prop| prop.name == name)
    }

    pub fn variant(&self, id: &str) -> Option<&ComponentVariant> {
        self.variants.iter().find(|variant| variant.id == id)
    }

    /// Returns the props of an instance: the values in `set`, otherwise the defaults.
    pub fn with_defaults(&self, set: &Map<String, Value>) -> Map<String, Value> {
        let mut props: Map<String, Value> =
            self.props.iter().map(|prop| (prop.name.clone(), prop.value_when_unset())).collect();
        props.extend(set.iter().map(|(name, value)| (name.clone(), value.clone())));
        props
    }
}

/// Parses one file. Its name selects JSON or YAML and appears in every problem.
pub fn read(file: &str, text: &str) -> Result<Component, ComponentProblems> {
    let mut findings = ProblemCollector::new(file);
    if text.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes, more than the {MAX_FILE_BYTES} allowed", text.len());
        findings.add(SourcePosition::START, message, "a smaller component, or several components");
        return findings.into_result(None);
    }
    let component =
        source::read(file, text, &mut findings).and_then(|source| component(file, &source, &mut findings));
    findings.into_result(component)
}

fn component(file: &str, source: &SourceNode, findings: &mut ProblemCollector<'_>) -> Option<Component> {
    let mut fields = MappingFields::from_source(source, "a component", findings)?;
    // For editors; the value is ignored.
    fields.take_field("$schema");
    format(&mut fields, findings);
    let id =
        fields.require("id", "an id such as ui.button", findings).and_then(|source| id(source, findings));
    let title = fields
        .require("title", "the display name of the component", findings)
        .and_then(|at| display_text(at, "`title`", findings));
    let description =
        fields.take_field("description").and_then(|source| display_text(source, "`description`", findings));
    let tags = fields.take_field("tags").map(|source| tags(source, findings)).unwrap_or_default();
    let props = fields.take_field("props").map(|source| props::props(source, findings)).unwrap_or_default();
    let variants = fields
        .take_field("variants")
        .map(|source| props::variants(source, &props, findings))
        .unwrap_or_default();
    let view = fields
        .require("view", "the node that the component shows, such as { type: text, text: Hello }", findings)
        .and_then(|source| view::view(source, &props, findings));
    fields.finish("a component", findings);
    let defaults = props
        .iter()
        .map(|prop| (prop.name.as_str().into(), crate::from_json(&prop.value_when_unset())))
        .collect();
    Some(Component {
        file: file.to_owned(),
        id: id?,
        title: title?.to_owned(),
        description: description.map(str::to_owned),
        tags,
        props,
        variants,
        view: view?,
        defaults,
    })
}

fn format(fields: &mut MappingFields<'_>, findings: &mut ProblemCollector<'_>) {
    let expected = "format: 1";
    if let Some(source) = fields.require("format", expected, findings)
        && source.data != SourceValue::Number(1.0)
    {
        findings.add(source.place, "unsupported format version", expected);
    }
}

fn id(source: &SourceNode, findings: &mut ProblemCollector<'_>) -> Option<String> {
    let id = display_text(source, "`id`", findings)?;
    match TypeId::parse(id) {
        Ok(id) => Some(id.as_str().to_owned()),
        Err(error) => {
            findings.add(source.place, error.to_string(), "an id such as ui.button");
            None
        }
    }
}

fn tags(source: &SourceNode, findings: &mut ProblemCollector<'_>) -> Vec<String> {
    let SourceValue::List(items) = &source.data else {
        findings.add_mismatch(source, "`tags`", "a list of strings");
        return Vec::new();
    };
    items.iter().filter_map(|item| display_text(item, "a tag", findings).map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example's components must be valid, because people copy them.
    #[test]
    fn the_example_s_components_fit_the_published_schema() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let schema = std::fs::read_to_string(folder.join("schemas/component.schema.json")).unwrap();
        let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
        let mut files = 0;
        for entry in std::fs::read_dir(folder.join("main-process/workspace/example/components")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            read(&name, &text).unwrap();
            let mut findings = ProblemCollector::new(&name);
            let json = source::read(&name, &text, &mut findings).unwrap().to_json();
            let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {errors:?}");
            files += 1;
        }
        assert!(files >= 12, "{files}");
    }
}
