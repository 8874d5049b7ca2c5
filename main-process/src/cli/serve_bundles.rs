//! Serving bundles by themselves, from the command line.

use super::{format, window};
use crate::logging::start_logging;
use agents::{
    DEFAULT_PORT,
    standalone::{StandaloneBundles, serve_http, serve_stdio},
};
use shared_protocol::{Refusal, RefusalCode};
use std::process::ExitCode;

/// Over standard input and output: nothing but MCP goes to standard output.
pub(super) fn over_stdio(what: Result<StandaloneBundles, Refusal>) -> ExitCode {
    start_logging();
    match what.and_then(|what| serve_stdio(what, format::print_warning)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => {
            format::print_warning(&refusal.to_string());
            ExitCode::FAILURE
        }
    }
}

pub(super) fn over_http(what: Result<StandaloneBundles, Refusal>, port: Option<u16>, json: bool) -> ExitCode {
    start_logging();
    let served = what.and_then(|what| {
        let stops =
            window::stop_signals().map_err(|error| Refusal::new(RefusalCode::Internal, error.to_string()))?;
        let names: Vec<String> = what.sources.iter().map(|source| source.id.clone()).collect();
        serve_http(
            what,
            port.unwrap_or(DEFAULT_PORT),
            format::print_warning,
            |listening| {
                let (url, discovery) = (&listening.url, listening.discovery.display());
                format::print(&match json {
                    true => serde_json::json!({
                        "ready": true, "pid": std::process::id(), "bundles": names, "mcp": url,
                        "discovery": listening.discovery,
                    })
                    .to_string(),
                    false => format!(
                        "Serving {} at {url}; the token is in {discovery}. Stop with Ctrl+C.",
                        names.join(", ")
                    ),
                });
            },
            // Gone: nobody can ask for the end any more.
            || {
                let _ = stops.recv();
            },
        )
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) => format::refuse(&refusal, json),
    }
}
