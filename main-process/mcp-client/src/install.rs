//! Fetches a package before its first start. A separate step with its own timeout, so that a slow download is not
//! mistaken for a server that hangs.

use crate::{actor::StartCancellation, launch::LaunchPlan, log::ServerLog, process::ServerProcess};
use processes::{ProgramLaunch, ProgramSpawner};
use shared_protocol::Refusal;
use std::{
    ffi::OsStr,
    sync::Arc,
    time::{Duration, Instant},
};

/// The time limit for reading remaining output after the process ended.
const MAX_DRAIN_TIME: Duration = Duration::from_millis(500);

/// Returns whether the package still has to be fetched.
pub(crate) fn needs_install(plan: &LaunchPlan) -> bool {
    !plan.install.is_empty() && plan.mark.as_ref().is_none_or(|mark| !mark.exists())
}

/// The reason a fetch did not complete.
pub(crate) enum PackageFetchFailure {
    Failed(Refusal),
    /// The start was cancelled, and its processes have ended.
    Cancelled,
}

pub(crate) async fn run(
    plan: &LaunchPlan,
    spawner: &Arc<dyn ProgramSpawner>,
    log: &Arc<ServerLog>,
    limit: Duration,
    quit: &StartCancellation,
) -> Result<(), PackageFetchFailure> {
    let end = Instant::now() + limit;
    for step in &plan.install {
        match run_step(step, spawner, log, end, quit).await? {
            InstallStepOutcome::Done => {}
            InstallStepOutcome::TimedOut => {
                let message = format!(
                    "Fetching the package took longer than {} s and was stopped. Check the log, raise install_ms, or try again.",
                    limit.as_secs()
                );
                return Err(PackageFetchFailure::Failed(Refusal::network(message)));
            }
        }
    }
    if let Some(mark) = &plan.mark
        && let Err(error) = safe_fs::write_private(mark, b"")
    {
        tracing::warn!(%error, "recording an installation failed; the package will be fetched again");
    }
    Ok(())
}

/// Forces the next start to fetch the package again, because its files may have been deleted.
pub(crate) fn remove_mark(plan: &LaunchPlan) {
    if let Some(mark) = &plan.mark {
        // The mark may not exist.
        let _ = std::fs::remove_file(mark);
    }
}

enum InstallStepOutcome {
    Done,
    TimedOut,
}

/// Runs a step until it ends or times out. No process of it remains in either case.
async fn run_step(
    step: &ProgramLaunch,
    spawner: &Arc<dyn ProgramSpawner>,
    log: &Arc<ServerLog>,
    end: Instant,
    quit: &StartCancellation,
) -> Result<InstallStepOutcome, PackageFetchFailure> {
    let since = log.line_count();
    let name = step.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    log.push(&format!("Draftboard: {name} {}", step.arguments.join(OsStr::new(" ")).display()));
    let failed = |message: String| PackageFetchFailure::Failed(Refusal::unavailable(message));
    let started = ServerProcess::start(spawner, step, log).await;
    let (process, (output, input)) =
        started.map_err(|error| failed(format!("{name} failed to start: {error}")))?;
    drop(input);
    let heard = log.clone();
    let listener = tokio::spawn(async move { heard.read_pipe(output).await });
    let (is_late, is_unwanted) = tokio::select! {
        () = process.wait_ended() => (false, false),
        () = tokio::time::sleep_until(end.into()) => (true, false),
        () = quit.cancelled() => (false, true),
    };
    let exit = process.finish().await;
    let _ = tokio::time::timeout(MAX_DRAIN_TIME, listener).await;
    if is_unwanted {
        return Err(PackageFetchFailure::Cancelled);
    }
    if is_late {
        return Ok(InstallStepOutcome::TimedOut);
    }
    let exit = exit.map_err(|error| failed(format!("{name}: {error}")))?;
    if exit.code == Some(0) {
        return Ok(InstallStepOutcome::Done);
    }
    let said = log.lines_since(since).join("\n");
    Err(PackageFetchFailure::Failed(classify_failure(
        step,
        &name,
        &exit.describe(),
        &said,
        &log.last_lines_text(since),
    )))
}

fn classify_failure(step: &ProgramLaunch, name: &str, exit: &str, log: &str, last_words: &str) -> Refusal {
    let verb = step.arguments.first().and_then(|verb| verb.to_str());
    if matches!(name, "docker" | "podman") && verb == Some("version") {
        return Refusal::unavailable(format!("Docker not running: start Docker and try again.{last_words}"));
    }
    let unknown = [
        "E404",
        "404 Not Found",
        "No matching distribution",
        "not found in the package registry",
        "manifest unknown",
        "does not exist or",
    ];
    if unknown.iter().any(|sign| log.contains(sign)) {
        return Refusal::not_found(format!("Package not found.{last_words}")).field("package.identifier");
    }
    Refusal::unavailable(format!("Fetching the package failed: {name} {exit}.{last_words}"))
}
