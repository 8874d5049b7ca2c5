//! Spec bundles served by themselves, without a window or a workspace: over standard input and output, or over HTTP. The same
//! surface as in a workspace, and the same way of writing: planned, then all files or none.
//!
//! Must not know: workspaces, the journal's state, the window.

mod http;
mod loaded_bundles;
mod runtime;
mod stdio;
mod watch;

pub use http::{StandaloneAddress, serve_http};
pub use stdio::serve_stdio;

use bundles::{BundleConfigError, BundleSource, Bundles};
use shared_protocol::{Refusal, RefusalCode, mcp::McpMode, review::ApprovalScope};
use std::path::PathBuf;

/// Which bundles, and what may be done to them.
#[derive(Debug, Clone)]
pub struct StandaloneBundles {
    pub sources: Vec<BundleSource>,
    pub mode: McpMode,
    pub approval: Option<ApprovalScope>,
}

/// The bundles that the command line names: folders, or what a `bundles.yaml` lists.
pub fn sources(folders: &[PathBuf], config: Option<&PathBuf>) -> Result<Vec<BundleSource>, Refusal> {
    let listed = config.map(|config| BundleSource::of_config(config)).transpose();
    let listed = listed.map_err(|error: BundleConfigError| {
        let hint = "Expected `bundles:` with a list of entries that have `id` and `path`.";
        Refusal::new(RefusalCode::BadRequest, error.to_string()).field("--config").hint(hint)
    })?;
    Ok(listed.unwrap_or_else(|| BundleSource::of_folders(folders)))
}

/// Loads the bundles. Reports those that cannot be loaded; fails if none can.
pub fn load(sources: &[BundleSource], report: impl Fn(&str)) -> Result<Bundles, Refusal> {
    let bundles = Bundles::load(sources);
    for (source, error) in bundles.load_failures() {
        report(&format!("the bundle {} is skipped: {error}", source.id));
    }
    if bundles.iter().len() == 0 {
        return Err(Refusal::new(RefusalCode::NotFound, "no bundle could be loaded")
            .hint("Pass a folder with an sdd-bundle.yaml as --bundle, or a bundles.yaml as --config."));
    }
    Ok(bundles)
}
