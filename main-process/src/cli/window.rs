//! The long-running ways to start: with a window, and without one.

use super::{Roles, format, workspace_at};
use crate::{
    host::{
        Host, InHost, InPreviews, Job, Launch, Parts, Session, SessionError, Signal, launch, launch_at,
        terraform_user,
    },
    mcp, preview, renderer_link,
    terraform_worker::{self, Wardens},
    upstreams::{self, ManagedServerContext, ManagedServerFolders},
};
use crash_reports::{self, CrashRole, LogWriter, RunningMarker};
use crossbeam_channel::{Receiver, select};
use processes::{
    ChildEvent, ChildSpec, Environment, EventKind, ExitReason, LockError, RestartPolicy, StdStream,
    Supervisor,
};
use shared_protocol::{Code, Refusal, messages::Request, review::Scope};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use std::{io::IsTerminal, path::Path, process::ExitCode, sync::Arc, thread::JoinHandle, time::Duration};
use user_folders as paths;

/// Crashes of the window in a row before it is left alone.
const MAX_CRASHES: u32 = 3;
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// Opens the window.
pub(super) fn open(workspace: Option<&Path>, roles: &Roles) -> ExitCode {
    start_logging();
    if let Err(missing) = display() {
        return format::refuse(&missing, false);
    }
    let opened = match workspace {
        Some(root) => launch_at(root),
        None => launch(),
    };
    let launch = match opened {
        Ok(launch) => launch,
        Err((root, SessionError::Lock(error @ LockError::Held { .. }))) => return raise(&root, &error),
        Err((_, error)) => return format::refuse(&error.into(), false),
    };
    match run(launch, roles, true, mcp::Overrides::default(), |_| ()) {
        Ok(code) => code,
        Err(error) => format::refuse(&Refusal::new(Code::Internal, error.to_string()), false),
    }
}

/// Runs without a window.
pub(super) fn serve(
    folder: Option<&Path>,
    (overrides, approval): (mcp::Overrides, Option<Scope>),
    json: bool,
    roles: &Roles,
) -> ExitCode {
    start_logging();
    let opened = workspace_at::find(folder).and_then(|root| Session::open(&root).map_err(Refusal::from));
    let session = match opened {
        Ok(session) => session,
        Err(refusal) => return format::refuse(&refusal, json),
    };
    let root = session.workspace().root().display().to_string();
    let revision = session.workspace().snapshot().revision();
    let ready = |agents: Option<&str>| {
        if json {
            let pid = std::process::id();
            let line = serde_json::json!({ "ready": true, "pid": pid, "workspace": root, "revision": revision, "mcp": agents });
            format::print(&line.to_string());
        } else {
            format::print(&format!(
                "Serving {root} at revision {revision}, without a window. Stop with Ctrl+C."
            ));
        }
    };
    let launch = Launch { approval, ..Launch::of(session) };
    match run(launch, roles, false, overrides, ready) {
        Ok(code) => code,
        Err(error) => format::refuse(&Refusal::new(Code::Internal, error.to_string()), json),
    }
}

/// Without a display there is no window, and waiting for one would not help.
fn display() -> Result<(), Refusal> {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if set("DISPLAY") || set("WAYLAND_DISPLAY") {
        return Ok(());
    }
    Err(Refusal::new(Code::BadRequest, "there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set")
        .hint("Run `draftboard serve WORKSPACE` to work without a window; `draftboard doctor` shows what is missing."))
}

fn raise(root: &Path, held: &LockError) -> ExitCode {
    let raised = workspace_at::running(root).and_then(|client| match client {
        Some(mut client) => client.request(Request::Raise).map_err(Refusal::from),
        None => Err(Refusal::new(Code::Conflict, held.to_string())),
    });
    match raised {
        Ok(_) => {
            format::print(&format!("{} is open already; its window comes to the front", root.display()));
            ExitCode::SUCCESS
        }
        Err(refusal) => format::refuse(&refusal, false),
    }
}

pub(crate) fn start_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("DRAFTBOARD_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,rmcp=error"));
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(LogWriter::default)
        .with_ansi(std::io::stderr().is_terminal())
        .try_init();
    drop(started);
}

/// Says that it is ready when it can be stopped as well.
fn run(
    launch: Launch,
    roles: &Roles,
    window: bool,
    overrides: mcp::Overrides,
    ready: impl FnOnce(Option<&str>),
) -> anyhow::Result<ExitCode> {
    let stops = stops()?;
    let role = if window { CrashRole::Main } else { CrashRole::Serve };
    let _marker = RunningMarker::place(role)
        .inspect_err(|error| tracing::warn!(%error, "an unexpected end of this run will not be noticed"));
    connect::keep_mcp_json(launch.session.workspace().root());
    let (supervisor, children) = Supervisor::launch()?;
    let (agents, orders) = mcp::Link::new();
    let (terraform, questions) = terraform_worker::Link::new();
    let (previews, wishes) = preview::Link::new()?;
    let (upstreams, wanted) = upstreams::Link::new();
    let parts = Parts {
        agents: agents.clone(),
        terraform: terraform.clone(),
        previews: previews.clone(),
        upstreams: upstreams.clone(),
    };
    let (host, signals, writer) = Host::start(launch, window, parts)?;
    let around = Arc::new(InHost { host: host.clone(), agents: agents.clone() });
    let spawner = Arc::new(Wardens::new(&roles.exe));
    let worker = terraform_worker::start(
        terraform.clone(),
        questions,
        around,
        spawner,
        terraform_user(paths::settings(), paths::plans()),
    )?;
    let around = Arc::new(InPreviews { host: host.clone(), agents: agents.clone() });
    let roles_of_previews = Box::new(preview::Roles(roles.exe.clone()));
    let previewing = preview::start(previews.clone(), wishes, around, roles_of_previews)?;
    let started = mcp::start(agents.clone(), orders, host.clone(), terraform.clone(), overrides)
        .inspect_err(|error| tracing::error!(%error, "agents cannot connect"));
    if let Ok(started) = &started {
        let context = ManagedServerContext {
            events: Arc::new(InHost { host: host.clone(), agents: agents.clone() }),
            action_runs: Arc::clone(&agents.doings),
            exe: roles.exe.clone(),
            folders: ManagedServerFolders::of_user(),
        };
        upstreams::start(upstreams.clone(), wanted, context, &started.runtime);
    }
    ready(started.as_ref().ok().and_then(|started| started.url.as_deref()));
    if window {
        supervisor.start(renderer(roles))?;
    }
    let code = attend(&host, &children, &signals, &stops);
    supervisor.shutdown(STOP_LIMIT);
    upstreams.stop();
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

fn renderer(roles: &Roles) -> ChildSpec {
    ChildSpec {
        name: "renderer".to_owned(),
        exe: roles.exe.clone(),
        args: vec!["--role".into(), "renderer".into()],
        // A frame takes and gives back megabytes; a huge page to be cleared for them can hold it up for 50 ms.
        env: Environment::inherit().with("MIMALLOC_ALLOW_THP", "0"),
        stderr: StdStream::Inherit,
        policy: RestartPolicy::new(MAX_CRASHES),
    }
}

/// Ctrl+C and the like, as messages.
pub(super) fn stops() -> anyhow::Result<Receiver<i32>> {
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
fn attend(
    host: &Host,
    children: &Receiver<ChildEvent>,
    signals: &Receiver<Signal>,
    stops: &Receiver<i32>,
) -> ExitCode {
    loop {
        select! {
            recv(stops) -> _ => return ExitCode::SUCCESS,
            recv(signals) -> signal => match signal {
                Ok(Signal::Quit) | Err(_) => return ExitCode::SUCCESS,
            },
            recv(children) -> event => match event {
                Ok(event) => if let Some(code) = child_event(host, event) { return code },
                Err(_) => return ExitCode::FAILURE,
            },
        }
    }
}

fn child_event(host: &Host, event: ChildEvent) -> Option<ExitCode> {
    match event.kind {
        EventKind::Started { pid, channel, .. } => {
            tracing::info!(pid, "the window starts");
            let host = host.clone();
            let serve = move || {
                if let Err(reason) = renderer_link::serve(channel, &host) {
                    tracing::error!(%reason, "the window's connection was ended");
                }
            };
            if let Err(error) = std::thread::Builder::new().name("renderer-in".to_owned()).spawn(serve) {
                tracing::error!(%error, "no thread for the window's connection");
            }
            None
        }
        EventKind::Exited { reason: ExitReason::Clean, .. } => None,
        EventKind::Exited { reason, uptime } => {
            crash_reports::record_child(CrashRole::Renderer, None, reason, Some(uptime), &[]);
            tracing::error!(%reason, ?uptime, "the window ended; nothing is lost");
            None
        }
        EventKind::StartFailed { error } => {
            tracing::error!(%error, "the window did not start");
            None
        }
        EventKind::Restarting { after } => {
            tracing::warn!(?after, "the window comes back");
            None
        }
        EventKind::GaveUp { reason } => {
            format::complain(&format!(
                "the window failed {MAX_CRASHES} times in a row (last: {reason}) and is not started again.\nNothing is lost: \
                 every acknowledged change is in the journal.\nRun `draftboard doctor` to see what is missing, or `draftboard \
                 serve` to work without a window."
            ));
            Some(ExitCode::FAILURE)
        }
        EventKind::Stopped => Some(ExitCode::SUCCESS),
    }
}

fn finish(host: &Host, writer: JoinHandle<()>) {
    if let Err(refusal) = host.send(Job::Stop) {
        tracing::error!(%refusal, "the writer did not take the end");
        return;
    }
    if writer.join().is_err() {
        tracing::error!("the writer ended with a fault; every acknowledged change is in the journal");
    }
}
