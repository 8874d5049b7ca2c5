//! MCP resources: two fixed ones, and templates for the parts of each bundle.

use crate::{Bundle, Bundles};
use shared_protocol::{OrderedValue, Refusal, RefusalCode};

/// A resource or a resource template.
pub struct BundleResource {
    pub uri: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    pub mime_type: &'static str,
}

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";

pub static RESOURCES: &[BundleResource] = &[
    BundleResource {
        uri: "bundle://list",
        name: "bundles",
        description: "All loaded bundles with metadata",
        mime_type: JSON,
    },
    BundleResource {
        uri: "bundle://domain-knowledge",
        name: "domain-knowledge",
        description: "The domain knowledge of all bundles",
        mime_type: MARKDOWN,
    },
];

pub static TEMPLATES: &[BundleResource] = &[
    BundleResource {
        uri: "bundle://{bundleId}/manifest",
        name: "bundle-manifest",
        description: "The manifest of a bundle",
        mime_type: JSON,
    },
    BundleResource {
        uri: "bundle://{bundleId}/schema/{type}",
        name: "entity-schema",
        description: "The JSON Schema of an entity type",
        mime_type: JSON,
    },
    BundleResource {
        uri: "bundle://{bundleId}/entity/{type}/{id}",
        name: "entity",
        description: "The data of an entity",
        mime_type: JSON,
    },
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleResourceContent {
    pub text: String,
    pub mime_type: &'static str,
}

/// Lists the resource URIs: the fixed ones, then the manifest and schemas of each bundle.
pub fn list_resources(bundles: &Bundles) -> Vec<String> {
    let fixed = RESOURCES.iter().map(|resource| resource.uri.to_owned());
    let parts = bundles.iter().flat_map(|bundle| {
        let id = percent_escape(bundle.id());
        let schemas = bundle.manifest().schema_paths();
        let schemas: Vec<String> =
            schemas.map(|(name, _)| format!("bundle://{id}/schema/{}", percent_escape(name))).collect();
        [format!("bundle://{id}/manifest")].into_iter().chain(schemas)
    });
    fixed.chain(parts).collect()
}

/// Returns the content of a resource.
pub fn read_resource(bundles: &Bundles, uri: &str) -> Result<BundleResourceContent, Refusal> {
    let unknown = || Refusal::new(RefusalCode::NotFound, format!("Resource {uri} not found"));
    let path = uri.strip_prefix("bundle://").ok_or_else(unknown)?;
    let parts: Vec<String> =
        path.split('/').map(percent_unescape).collect::<Option<_>>().ok_or_else(unknown)?;
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts[..] {
        ["list"] => Ok(json(&list(bundles))),
        ["domain-knowledge"] => Ok(domain_knowledge(bundles)),
        [bundle, "manifest"] => Ok(json(bundles.resolve(Some(bundle))?.manifest().data())),
        [bundle, "schema", kind] => {
            let schema = crate::tools::find_schema(bundles.resolve(Some(bundle))?, kind)?;
            Ok(BundleResourceContent { text: schema.text.to_string(), mime_type: JSON })
        }
        [bundle, "entity", kind, id] => {
            let bundle = bundles.resolve(Some(bundle))?;
            let entity = bundle
                .entity(kind, id)
                .ok_or_else(|| crate::envelope::entity_not_found(bundle.id(), kind, id))?;
            Ok(json(entity.data()))
        }
        _ => Err(unknown()),
    }
}

fn json(data: &OrderedValue) -> BundleResourceContent {
    BundleResourceContent { text: data.to_pretty_json(), mime_type: JSON }
}

fn list(bundles: &Bundles) -> OrderedValue {
    let bundles = bundles.iter().map(|bundle| {
        let metadata = |key: &str| bundle.manifest().metadata(key);
        let description = bundle.description.as_deref().or_else(|| metadata("description"));
        OrderedValue::map_of_present([
            ("id", Some(bundle.id().into())),
            ("name", metadata("name").map(OrderedValue::from)),
            ("bundleType", metadata("bundleType").map(OrderedValue::from)),
            ("tags", Some(OrderedValue::texts(&bundle.tags))),
            ("description", Some(description.unwrap_or_default().into())),
            ("entityTypes", Some(OrderedValue::texts(bundle.entity_types()))),
            ("entityCount", Some(bundle.entity_count().into())),
        ])
    });
    bundles.collect::<Vec<_>>().into()
}

fn domain_knowledge(bundles: &Bundles) -> BundleResourceContent {
    let section =
        |bundle: &Bundle| Some(format!("# Bundle: {}\n\n{}", bundle.id(), bundle.domain_knowledge()?));
    let sections: Vec<String> = bundles.iter().filter_map(section).collect();
    if sections.is_empty() {
        let text = "No domain knowledge files configured in any loaded bundle.".to_owned();
        return BundleResourceContent { text, mime_type: "text/plain" };
    }
    BundleResourceContent { text: sections.join("\n\n---\n\n"), mime_type: MARKDOWN }
}

/// Percent-encodes a segment of a URI.
fn percent_escape(part: &str) -> String {
    let mut text = String::new();
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// Decodes a percent-encoded segment. Returns `None` if it is malformed.
fn percent_unescape(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}
