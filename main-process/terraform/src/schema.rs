//! The provider schemas behind the catalogue.
//!
//! Owns: parsing `catalogue::provider_schemas` and looking up the schema at an argument path. Must not know: nodes.

use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::LazyLock,
};

/// Returns the types of all providers, parsed once.
pub fn schemas() -> &'static Schemas {
    static READ: LazyLock<Schemas> = LazyLock::new(Schemas::read);
    &READ
}

#[derive(Debug, Default)]
pub struct Schemas {
    types: HashMap<String, Schema>,
}

/// The body of a type or of a nested block.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    #[serde(rename = "a", default)]
    pub attributes: BTreeMap<String, Attribute>,
    #[serde(rename = "b", default)]
    pub blocks: BTreeMap<String, Schema>,
    /// Read-only attributes.
    #[serde(default)]
    pub computed: BTreeSet<String>,
    /// The block may be repeated.
    #[serde(default)]
    pub many: bool,
    #[serde(default)]
    pub required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Attribute {
    pub required: bool,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Number,
    Boolean,
    Texts,
    Numbers,
    Map,
    /// An object or a list of objects; may also be written as blocks.
    Any,
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        let required = text.starts_with('!');
        let kind = match text.trim_start_matches('!') {
            "string" => Kind::Text,
            "number" => Kind::Number,
            "boolean" => Kind::Boolean,
            "array(string)" => Kind::Texts,
            "array(number)" => Kind::Numbers,
            "map(string)" => Kind::Map,
            _ => Kind::Any,
        };
        Self { required, kind }
    }
}

/// The schema at a path.
#[derive(Debug, Clone, Copy)]
pub enum Found<'a> {
    Attribute(&'a Attribute),
    Block(&'a Schema),
}

#[derive(Deserialize)]
struct File {
    types: HashMap<String, Schema>,
    #[serde(rename = "provider")]
    _provider: String,
    #[serde(rename = "version")]
    _version: String,
}

impl Schemas {
    fn read() -> Self {
        // The texts are embedded in the executable, and a test parses them all. A text that does not parse is
        // skipped; its types are then treated like those of a workspace module, which have no schema.
        let files = catalogue::provider_schemas().filter_map(|text| serde_json::from_str::<File>(text).ok());
        Self { types: files.flat_map(|file| file.types).collect() }
    }

    /// Returns the schema of a resource, or of a data source as `data.type`.
    pub fn get(&self, terraform: &str) -> Option<&Schema> {
        self.types.get(terraform)
    }

    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

impl Schema {
    /// Returns the schema at `block.block.argument`.
    pub fn find(&self, path: &str) -> Option<Found<'_>> {
        let mut body = self;
        let mut parts = path.trim_end_matches("[]").split('.').peekable();
        while let Some(part) = parts.next() {
            match body.blocks.get(part) {
                Some(block) if parts.peek().is_none() => return Some(Found::Block(block)),
                Some(block) => body = block,
                None => {
                    let attribute = body.attributes.get(part)?;
                    // The schema does not describe the content of a list of objects, which may be written as
                    // blocks.
                    let is_whole = parts.peek().is_none();
                    return (is_whole || attribute.kind == Kind::Any).then_some(Found::Attribute(attribute));
                }
            }
        }
        None
    }

    /// Returns whether an attribute such as `id` or `identity[0].principal_id` is readable.
    pub fn can_read(&self, attribute: &str) -> bool {
        let first = attribute.split(['.', '[']).next().unwrap_or_default();
        first == "id"
            || self.attributes.contains_key(first)
            || self.blocks.contains_key(first)
            || self.computed.contains(first)
    }
}
