//! Agents over HTTP, on this machine. Where it listens and with which token is in a file that only its user can read.

use super::{StandaloneBundles, runtime};
use crate::listen;
use mcp_server::http::{HttpEdge, HttpLimits, TokenCheck};
use processes::{RuntimeDir, instance::InstanceToken};
use shared_protocol::{Refusal, RefusalCode};
use std::{
    fs,
    net::{IpAddr, Ipv4Addr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

const STOP_LIMIT: Duration = Duration::from_secs(2);

/// Where agents find the server.
pub struct StandaloneAddress {
    pub url: String,
    /// Holds address and token; it goes when the server ends.
    pub discovery: PathBuf,
}

/// Serves until `stopped` returns.
pub fn serve_http(
    what: StandaloneBundles,
    port: u16,
    report: impl Fn(&str),
    ready: impl FnOnce(&StandaloneAddress),
    stopped: impl FnOnce(),
) -> Result<(), Refusal> {
    let internal = |message: String| Refusal::new(RefusalCode::Internal, message);
    let running = runtime::start(what, report)?;
    let token = InstanceToken::generate().map_err(|error| internal(error.to_string()))?;
    let admitted = token.clone();
    let admits: TokenCheck = Arc::new(move |presented| admitted.matches(presented));
    let listener = listen::bind(IpAddr::V4(Ipv4Addr::LOCALHOST), port).map_err(internal)?;
    let edge = {
        let _entered = running.runtime.enter();
        HttpEdge::start(&running.service, running.service.agent(), listener, admits, HttpLimits::default())
            .map_err(|error| internal(format!("the server did not start: {error}")))?
    };
    let url = format!("http://{}/mcp", edge.address());
    let listening = StandaloneAddress { discovery: record_address(&url, &token)?, url };
    ready(&listening);
    stopped();
    drop(fs::remove_file(&listening.discovery));
    running.service.stop();
    running.runtime.block_on(edge.stop());
    running.runtime.shutdown_timeout(STOP_LIMIT);
    Ok(())
}

fn record_address(url: &str, token: &InstanceToken) -> Result<PathBuf, Refusal> {
    let unwritten = |error: String| {
        Refusal::new(RefusalCode::StorageError, format!("the address and token could not be saved: {error}"))
    };
    let runtime = RuntimeDir::of_user().map_err(|error| unwritten(error.to_string()))?;
    let pid = std::process::id();
    let path = runtime.path().join(format!("bundles-{pid}.json"));
    let record = serde_json::json!({ "pid": pid, "mcpUrl": url, "mcpToken": token });
    safe_fs::write_private(&path, record.to_string().as_bytes())
        .map_err(|error| unwritten(error.to_string()))?;
    Ok(path)
}
