//! The provider schemas behind the catalogue.
//!
//! Owns: parsing `catalogue::provider_schemas` and looking up the schema at an argument path. Must not know: nodes.

use serde::Deserialize;
use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::LazyLock,
};

/// Returns the types of all providers, parsed once.
pub fn schemas() -> &'static ProviderSchemas {
    static READ: LazyLock<ProviderSchemas> = LazyLock::new(ProviderSchemas::read);
    &READ
}

#[derive(Debug, Default)]
pub struct ProviderSchemas {
    types: HashMap<String, BlockSchema>,
}

/// The body of a type or of a nested block.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlockSchema {
    #[serde(rename = "a", default)]
    pub attributes: BTreeMap<String, AttributeSchema>,
    #[serde(rename = "b", default)]
    pub blocks: BTreeMap<String, BlockSchema>,
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
pub struct AttributeSchema {
    pub required: bool,
    pub kind: ProviderAttributeKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderAttributeKind {
    Text,
    Number,
    Boolean,
    Texts,
    Numbers,
    Map,
    /// An object or a list of objects; may also be written as blocks.
    Any,
}

impl From<String> for AttributeSchema {
    fn from(text: String) -> Self {
        let required = text.starts_with('!');
        let kind = match text.trim_start_matches('!') {
            "string" => ProviderAttributeKind::Text,
            "number" => ProviderAttributeKind::Number,
            "boolean" => ProviderAttributeKind::Boolean,
            "array(string)" => ProviderAttributeKind::Texts,
            "array(number)" => ProviderAttributeKind::Numbers,
            "map(string)" => ProviderAttributeKind::Map,
            _ => ProviderAttributeKind::Any,
        };
        Self { required, kind }
    }
}

/// The schema at a path.
#[derive(Debug, Clone, Copy)]
pub enum ProviderSchemaEntry<'a> {
    Attribute(&'a AttributeSchema),
    Block(&'a BlockSchema),
}

#[derive(Deserialize)]
struct CompactProviderSchema {
    types: HashMap<String, BlockSchema>,
    #[serde(rename = "provider")]
    _provider: String,
    #[serde(rename = "version")]
    _version: String,
}

impl ProviderSchemas {
    fn read() -> Self {
        // The texts are embedded in the executable, and a test parses them all. A text that does not parse is
        // skipped; its types are then treated like those of a workspace module, which have no schema.
        let files = catalogue::provider_schemas()
            .filter_map(|text| serde_json::from_str::<CompactProviderSchema>(text).ok());
        Self { types: files.flat_map(|file| file.types).collect() }
    }

    /// Returns the schema of a resource, or of a data source as `data.type`.
    pub fn get(&self, terraform: &str) -> Option<&BlockSchema> {
        self.types.get(terraform)
    }

    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }
}

impl BlockSchema {
    /// Returns the schema at `block.block.argument`.
    pub fn find(&self, path: &str) -> Option<ProviderSchemaEntry<'_>> {
        let mut body = self;
        let mut parts = path.trim_end_matches("[]").split('.').peekable();
        while let Some(part) = parts.next() {
            match body.blocks.get(part) {
                Some(block) if parts.peek().is_none() => return Some(ProviderSchemaEntry::Block(block)),
                Some(block) => body = block,
                None => {
                    let attribute = body.attributes.get(part)?;
                    // The schema does not describe the content of a list of objects, which may be written as
                    // blocks.
                    let is_whole = parts.peek().is_none();
                    return (is_whole || attribute.kind == ProviderAttributeKind::Any)
                        .then_some(ProviderSchemaEntry::Attribute(attribute));
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
