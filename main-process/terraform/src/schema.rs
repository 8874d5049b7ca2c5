//! What the providers say about their types: the facts behind the catalogue.
//!
//! Owns: reading `catalogue::provider_schemas` and answering what stands at an argument's path. Must not know: nodes.

use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::LazyLock,
};

/// Every provider's types, read once.
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
    /// Attributes that can only be read.
    #[serde(default)]
    pub computed: BTreeSet<String>,
    /// The block may stand several times.
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
    /// An object or a list of objects; blocks are understood for it as well.
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

/// What stands at a path.
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
        // The texts are part of the executable and a test reads them all: one that does not read is left out, and its
        // types are then treated like types of a workspace module, of which nothing is known.
        let files = catalogue::provider_schemas().filter_map(|text| serde_json::from_str::<File>(text).ok());
        Self { types: files.flat_map(|file| file.types).collect() }
    }

    /// The schema of a resource, or of a data source as `data.type`.
    pub fn get(&self, terraform: &str) -> Option<&Schema> {
        self.types.get(terraform)
    }

    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

impl Schema {
    /// What stands at `block.block.argument`.
    pub fn find(&self, path: &str) -> Option<Found<'_>> {
        let mut body = self;
        let mut parts = path.trim_end_matches("[]").split('.').peekable();
        while let Some(part) = parts.next() {
            match body.blocks.get(part) {
                Some(block) if parts.peek().is_none() => return Some(Found::Block(block)),
                Some(block) => body = block,
                None => {
                    let attribute = body.attributes.get(part)?;
                    // The schema does not say what is in a list of objects, which may be written as blocks.
                    let is_whole = parts.peek().is_none();
                    return (is_whole || attribute.kind == Kind::Any).then_some(Found::Attribute(attribute));
                }
            }
        }
        None
    }

    /// Whether an attribute such as `id` or `identity[0].principal_id` can be read.
    pub fn can_read(&self, attribute: &str) -> bool {
        let first = attribute.split(['.', '[']).next().unwrap_or_default();
        first == "id"
            || self.attributes.contains_key(first)
            || self.blocks.contains_key(first)
            || self.computed.contains(first)
    }
}
