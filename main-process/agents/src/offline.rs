//! The surface that the bridge answers with while no Draftboard runs: that of one started now.

use crate::settings;
use mcp_server::SurfaceDescription;

pub fn offline_surface() -> bridge::OfflineSurface {
    let mode = settings::read(&user_folders::settings()).unwrap_or_default().mode;
    let offline = SurfaceDescription::describe(&crate::surface(), env!("CARGO_PKG_VERSION"), mode);
    bridge::OfflineSurface {
        server_info: offline.server_info,
        capabilities: offline.capabilities,
        instructions: offline.instructions.to_owned(),
        handshake_versions: offline.handshake_versions,
        stateless_versions: offline.stateless_versions,
        tools: offline.tools,
        resources: offline.resources,
        resource_templates: offline.resource_templates,
        prompts: offline.prompts,
    }
}
