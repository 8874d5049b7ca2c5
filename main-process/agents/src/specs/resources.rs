//! The resources: two fixed ones, and templates for the parts of each bundle.

use super::{bundles_of, prompts};
use bundles::{BundleResource, RESOURCES, TEMPLATES, read_resource};
use mcp_server::{AgentView, ResourceDocument, ResourceInput, SurfaceResource};
use shared_protocol::{Refusal, RefusalCode};
use std::sync::Arc;

/// Bytes of a resource: with its quotes escaped it still fits into what clients take in one message.
const MAX_RESOURCE_BYTES: usize = 700 * 1024;

pub(super) fn all() -> impl Iterator<Item = SurfaceResource> {
    RESOURCES.iter().chain(TEMPLATES).map(resource)
}

fn resource(info: &'static BundleResource) -> SurfaceResource {
    let text =
        |view: &AgentView, uri: &str| read_resource(bundles_of(view), uri).ok().map(|content| content.text);
    SurfaceResource {
        uri: info.uri,
        aliases: Vec::new(),
        name: info.name,
        title: info.name,
        description: info.description,
        mime: info.mime_type,
        depends: &[ResourceInput::Specs],
        differs: Some(Arc::new(move |before, after, uri| text(before, uri) != text(after, uri))),
        read: Arc::new(|call, uri| {
            let content = read_resource(bundles_of(&call.view), uri).map_err(prompts::failure)?;
            if content.text.len() > MAX_RESOURCE_BYTES {
                let message = format!("{uri} is larger than {MAX_RESOURCE_BYTES} bytes");
                return Err(Refusal::new(RefusalCode::LimitExceeded, message)
                    .hint("Read parts of it with the tools."));
            }
            Ok(ResourceDocument { mime: content.mime_type, text: content.text })
        }),
        complete: Some(Arc::new(|asked| prompts::complete_argument(info.uri, asked))),
    }
}
