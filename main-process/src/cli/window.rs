//! The running process behind `draftboard open` and `draftboard serve`: starts every part, waits for the end, stops them.

use super::{RoleEntryPoints, format};
use crate::{
    renderer_connection,
    router::RequestRouter,
    terminal::TerminalServer,
    writer::{
        LaunchTarget, ProcessHandle, ProcessSignal, Services, WriterHandle, WriterMsg, WriterPreviewEvents,
        WriterServiceEvents, terraform_user,
    },
};
use crash_reports::{self, CrashRole, RunningMarker};
use crossbeam_channel::{Receiver, select};
use managed_servers::{ManagedServerContext, ManagedServerFolders};
use processes::{
    Backoff, ChildEvent, ChildEventKind, ChildSpec, Environment, ExitReason, RestartPolicy, StdStream,
    Supervisor, WardenCommandLine,
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{process::ExitCode, sync::Arc, thread::JoinHandle, time::Duration};
use user_folders as paths;

/// Crashes of the window in a row before it is not started again.
const MAX_CRASHES: u32 = 3;
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// Runs the process until its end. Calls `ready` when it can be stopped as well.
pub(super) fn run(
    mut launch: LaunchTarget,
    roles: &RoleEntryPoints,
    window: bool,
    overrides: agents::SettingsOverrides,
    ready: impl FnOnce(Option<&str>),
) -> anyhow::Result<ExitCode> {
    let stops = stop_signals()?;
    let role = if window { CrashRole::Main } else { CrashRole::Serve };
    let _marker = RunningMarker::place(role)
        .inspect_err(|error| tracing::warn!(%error, "an unexpected end of this run will not be noticed"));
    connect::keep_mcp_json(launch.session.workspace().root());
    let (supervisor, children) = Supervisor::launch()?;
    let (agents, agents_messages) = agents::AgentServerHandle::new();
    let (terraform, questions) = terraform_runs::TerraformHandle::new();
    let (previews, wishes) = preview_sessions::PreviewsHandle::new()?;
    let (managed_servers, wanted) = managed_servers::ManagedServersHandle::new();
    let services = Services {
        agents: agents.clone(),
        terraform: terraform.clone(),
        previews: previews.clone(),
        managed_servers: managed_servers.clone(),
    };
    let (process, signals) = ProcessHandle::new(window, std::mem::take(&mut launch.failed));
    let terminals = TerminalServer::server_factory(services.clone(), process.clone());
    let (host, writer) = WriterHandle::start(launch, process.clone(), services.clone(), terminals)?;
    let router = RequestRouter { writer: host.clone(), services, process };
    let around = Arc::new(WriterServiceEvents { host: host.clone(), agents: agents.clone() });
    let spawner = Arc::new(WardenCommandLine::new(&roles.exe));
    let worker = terraform_runs::start(
        terraform.clone(),
        questions,
        around,
        spawner,
        terraform_user(paths::settings(), paths::plans()),
    )?;
    let around = Arc::new(WriterPreviewEvents { host: host.clone(), agents: agents.clone() });
    let launcher = preview_sessions::PreviewLauncher::of_role(roles.exe.clone());
    let previewing = preview_sessions::start(previews.clone(), wishes, around, launcher)?;
    let deps = agents::AgentServerDeps {
        events: Arc::new(host.clone()),
        terraform: terraform.clone(),
        previews: previews.clone(),
        settings: paths::settings(),
    };
    let started = agents::start(agents.clone(), agents_messages, deps, overrides)
        .inspect_err(|error| tracing::error!(%error, "agents cannot connect"));
    if let Ok(started) = &started {
        let context = ManagedServerContext {
            events: Arc::new(WriterServiceEvents { host: host.clone(), agents: agents.clone() }),
            action_runs: Arc::clone(&agents.action_runs),
            exe: roles.exe.clone(),
            folders: ManagedServerFolders::of_user(),
        };
        managed_servers::start(managed_servers.clone(), wanted, context, &started.runtime);
    }
    ready(started.as_ref().ok().and_then(|started| started.url.as_deref()));
    if window {
        supervisor.start(renderer(roles))?;
    }
    let code = wait_for_end(&router, &children, &signals, &stops);
    supervisor.shutdown(STOP_LIMIT);
    managed_servers.stop();
    agents.stop();
    if started.is_ok_and(|started| started.thread.join().is_err()) {
        tracing::error!("the agents' side ended with a fault");
    }
    previews.stop();
    if previewing.join().is_err() {
        tracing::error!("the part that keeps previews ended with a fault");
    }
    terraform.stop();
    if worker.join().is_err() {
        tracing::error!("the part that runs Terraform ended with a fault");
    }
    finish(&host, writer);
    Ok(code)
}

fn renderer(roles: &RoleEntryPoints) -> ChildSpec {
    ChildSpec {
        name: "renderer".to_owned(),
        exe: roles.exe.clone(),
        args: vec!["--role".into(), "renderer".into()],
        // A frame takes and gives back megabytes; a huge page to be cleared for them can hold it up for 50 ms.
        env: Environment::inherit().with("MIMALLOC_ALLOW_THP", "0"),
        stderr: StdStream::Inherit,
        policy: RestartPolicy::new(Backoff::of_role(MAX_CRASHES - 1)),
    }
}

/// Ctrl+C and the like, as messages.
pub(super) fn stop_signals() -> anyhow::Result<Receiver<i32>> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let (sender, receiver) = crossbeam_channel::bounded(4);
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            // Full: the end is asked for already.
            let _ = sender.try_send(signal);
        }
    })?;
    Ok(receiver)
}

/// Until somebody asks for the end, the window is closed, or it crashed too often.
fn wait_for_end(
    router: &RequestRouter,
    children: &Receiver<ChildEvent>,
    signals: &Receiver<ProcessSignal>,
    stops: &Receiver<i32>,
) -> ExitCode {
    loop {
        select! {
            recv(stops) -> _ => return ExitCode::SUCCESS,
            recv(signals) -> signal => match signal {
                Ok(ProcessSignal::Quit) | Err(_) => return ExitCode::SUCCESS,
            },
            recv(children) -> event => match event {
                Ok(event) => if let Some(code) = child_event(router, event) { return code },
                Err(_) => return ExitCode::FAILURE,
            },
        }
    }
}

fn child_event(router: &RequestRouter, event: ChildEvent) -> Option<ExitCode> {
    match event.kind {
        ChildEventKind::Started { pid, channel, .. } => {
            tracing::info!(pid, "the window starts");
            let router = router.clone();
            let serve = move || {
                if let Err(reason) = renderer_connection::serve(channel, &router) {
                    tracing::error!(%reason, "the window's connection was ended");
                }
            };
            if let Err(error) = std::thread::Builder::new().name("renderer-in".to_owned()).spawn(serve) {
                tracing::error!(%error, "no thread for the window's connection");
            }
            None
        }
        ChildEventKind::Exited { reason: ExitReason::Clean, .. } => None,
        ChildEventKind::Exited { reason, uptime } => {
            crash_reports::record_child(CrashRole::Renderer, None, reason, Some(uptime), &[]);
            tracing::error!(%reason, ?uptime, "the window ended; nothing is lost");
            None
        }
        ChildEventKind::StartFailed { error } => {
            tracing::error!(%error, "the window did not start");
            None
        }
        ChildEventKind::Restarting { after } => {
            tracing::warn!(?after, "the window comes back");
            None
        }
        ChildEventKind::GaveUp { reason } => {
            format::print_warning(&format!(
                "the window failed {MAX_CRASHES} times in a row (last: {reason}) and will not be restarted.\nNo data is lost: \
                 every acknowledged change is in the journal.\nRun `draftboard doctor` to see what is missing, or `draftboard \
                 serve` to work without a window."
            ));
            Some(ExitCode::FAILURE)
        }
        ChildEventKind::Stopped => Some(ExitCode::SUCCESS),
    }
}

fn finish(writer: &WriterHandle, thread: JoinHandle<()>) {
    if let Err(refusal) = writer.send(WriterMsg::Stop) {
        tracing::error!(%refusal, "the writer did not take the end");
        return;
    }
    if thread.join().is_err() {
        tracing::error!("the writer ended with a fault; every acknowledged change is in the journal");
    }
}
