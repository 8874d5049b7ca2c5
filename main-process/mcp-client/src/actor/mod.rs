//! One actor per server. It alone starts, watches and stops the server's process, and no server can block another.
//! Calls do not pass through it: they use its [`ServerSession`], so a hanging call blocks nothing either.

mod cancel;
mod client;
mod connection;
mod era;
mod handshake;
mod open;
mod session;
mod state;

pub(crate) use cancel::{StartCancellation, StartCanceller};
pub use client::CallProgress;
pub(crate) use session::{ServerSession, ToolDefinitions};
pub(crate) use state::{ServerRunState, SharedServerState};

use crate::{config::ManagedServerConfig, secrets::SecretStore};
use connection::ServerConnection;
use handshake::StartFailure;
use processes::{Backoff, ProgramSpawner, RestartDecision, RestartPolicy};
use shared_protocol::Refusal;
use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Instant};
use tokio::{
    runtime::Handle as Runtime,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};

/// The dependencies that all servers share.
pub(crate) struct ServerDeps {
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) data: PathBuf,
    pub(crate) spawner: Arc<dyn ProgramSpawner>,
    pub(crate) secrets: Arc<dyn SecretStore>,
    pub(crate) backoff: Backoff,
}

type ServerMsgReply = oneshot::Sender<Result<(), Refusal>>;

pub(crate) enum ServerActorMsg {
    /// Started by a person, who receives the result and decides about a retry.
    Start(ServerMsgReply),
    /// Started by Draftboard, which retries by itself.
    Launch,
    Stop(ServerMsgReply),
    Restart(ServerMsgReply),
}

/// The handle to an actor. Dropping it stops the server.
pub(crate) struct ServerActorHandle {
    pub(crate) orders: mpsc::Sender<ServerActorMsg>,
    pub(crate) config: watch::Sender<Arc<ManagedServerConfig>>,
    pub(crate) shared: Arc<SharedServerState>,
    task: JoinHandle<()>,
}

const MAX_QUEUED_ORDERS: usize = 16;

impl ServerActorHandle {
    pub(crate) fn new(
        config: Arc<ManagedServerConfig>,
        surroundings: Arc<ServerDeps>,
        changed: watch::Sender<u64>,
        runtime: &Runtime,
    ) -> Self {
        let (orders, receiver) = mpsc::channel(MAX_QUEUED_ORDERS);
        let (config, current) = watch::channel(config);
        let shared = Arc::new(SharedServerState::new(changed));
        let restarts = RestartPolicy::new(surroundings.backoff);
        let actor = ServerActor {
            config: current,
            orders: receiver,
            shared: shared.clone(),
            deps: surroundings,
            restarts,
        };
        Self { orders, config, shared, task: runtime.spawn(actor.run()) }
    }

    /// Stops the server and returns the task to await.
    pub(crate) fn into_task(self) -> JoinHandle<()> {
        self.task
    }
}

struct ServerActor {
    config: watch::Receiver<Arc<ManagedServerConfig>>,
    orders: mpsc::Receiver<ServerActorMsg>,
    shared: Arc<SharedServerState>,
    deps: Arc<ServerDeps>,
    restarts: RestartPolicy,
}

/// The next step of an actor.
enum ActorStep {
    Idle,
    Start { waiting: Vec<ServerMsgReply>, alone: bool },
    Wait(Instant),
    Serve(Box<ServerConnection>),
    Exit,
}

/// The step that follows an interrupted start.
enum StartInterruption {
    Exit,
    Restart,
    Stop(Option<ServerMsgReply>),
}

impl ServerActor {
    async fn run(mut self) {
        let mut next = ActorStep::Idle;
        loop {
            next = match next {
                ActorStep::Idle => self.wait_for_order(None).await,
                ActorStep::Wait(until) => self.wait_for_order(Some(until)).await,
                ActorStep::Start { waiting, alone } => self.start(waiting, alone).await,
                ActorStep::Serve(connection) => self.serve(connection).await,
                ActorStep::Exit => break,
            };
        }
    }

    /// Waits for an order or for the retry time while nothing runs.
    async fn wait_for_order(&mut self, until: Option<Instant>) -> ActorStep {
        let time = async {
            match until {
                Some(until) => tokio::time::sleep_until(until.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            order = self.orders.recv() => match order {
                None => ActorStep::Exit,
                Some(ServerActorMsg::Start(reply) | ServerActorMsg::Restart(reply)) => {
                    self.restarts.reset();
                    ActorStep::Start { waiting: vec![reply], alone: false }
                }
                Some(ServerActorMsg::Launch) => ActorStep::Start { waiting: Vec::new(), alone: true },
                Some(ServerActorMsg::Stop(reply)) => {
                    self.finish_stop(vec![reply]);
                    ActorStep::Idle
                }
            },
            () = time => ActorStep::Start { waiting: Vec::new(), alone: true },
            changed = self.config.changed() => match (changed.is_ok(), until) {
                (false, _) => ActorStep::Exit,
                (true, Some(_)) if !self.config.borrow_and_update().enabled => {
                    self.finish_stop(Vec::new());
                    ActorStep::Idle
                }
                // The new configuration may fix the failure.
                (true, Some(_)) => ActorStep::Start { waiting: Vec::new(), alone: true },
                (true, None) => ActorStep::Idle,
            },
        }
    }

    async fn start(&mut self, mut waiting: Vec<ServerMsgReply>, mut alone: bool) -> ActorStep {
        let config = self.config.borrow_and_update().clone();
        let (surroundings, shared) = (self.deps.clone(), self.shared.clone());
        let (quit, wanted) = StartCanceller::new();
        let opening = open::open(&config, &surroundings, &shared, &wanted);
        tokio::pin!(opening);
        // The step that replaces the start when it is interrupted.
        let instead = loop {
            tokio::select! {
                opened = &mut opening => break Err(opened),
                order = self.orders.recv() => match order {
                    None => break Ok(StartInterruption::Exit),
                    Some(ServerActorMsg::Launch) => alone = true,
                    Some(ServerActorMsg::Start(reply)) => waiting.push(reply),
                    Some(ServerActorMsg::Restart(reply)) => {
                        waiting.push(reply);
                        break Ok(StartInterruption::Restart);
                    }
                    Some(ServerActorMsg::Stop(reply)) => break Ok(StartInterruption::Stop(Some(reply))),
                },
                changed = self.config.changed() => {
                    // A waiting caller keeps the order channel open, so a deleted server is detected here.
                    if changed.is_err() {
                        break Ok(StartInterruption::Exit);
                    }
                    let newer = self.config.borrow_and_update().clone();
                    if !newer.enabled {
                        break Ok(StartInterruption::Stop(None));
                    }
                    if !newer.launches_like(&config) {
                        break Ok(StartInterruption::Restart);
                    }
                }
            }
        };
        let opened = match instead {
            Err(opened) => opened,
            Ok(instead) => {
                // Replies only after the started processes have ended.
                self.shared.set(ServerRunState::Stopping);
                quit.cancel();
                if let Ok(connection) = opening.await {
                    self.end(Box::new(connection), &config).await;
                }
                return self.handle_order_during_start(instead, waiting, alone, &config);
            }
        };
        match opened {
            Ok(connection) => {
                self.restarts.record_start(Instant::now());
                self.shared.set(ServerRunState::Connected(connection.session.clone()));
                reply_all(waiting, &Ok(()));
                ActorStep::Serve(Box::new(connection))
            }
            Err(refusal) => self.fail_start(refusal, waiting, alone),
        }
    }

    fn handle_order_during_start(
        &mut self,
        instead: StartInterruption,
        waiting: Vec<ServerMsgReply>,
        alone: bool,
        config: &ManagedServerConfig,
    ) -> ActorStep {
        match instead {
            StartInterruption::Exit => ActorStep::Exit,
            StartInterruption::Restart => ActorStep::Start { waiting, alone },
            StartInterruption::Stop(reply) => {
                let message = format!("{} was stopped before it was ready", config.name);
                reply_all(waiting, &Err(Refusal::conflict(message)));
                self.finish_stop(reply.into_iter().collect());
                ActorStep::Idle
            }
        }
    }

    fn fail_start(&mut self, refusal: StartFailure, waiting: Vec<ServerMsgReply>, alone: bool) -> ActorStep {
        let (failure, passing) = match refusal {
            StartFailure::Credentials { missing, failure } => {
                self.shared.set(ServerRunState::NeedsCredentials { missing, failure: failure.clone() });
                reply_all(waiting, &Err(failure));
                return ActorStep::Idle;
            }
            StartFailure::Transient(failure) | StartFailure::Exited(failure) => (failure, true),
            // Not reached: a cancelled start is handled by its caller.
            StartFailure::Cancelled => (Refusal::conflict("It was stopped before it was ready"), false),
            StartFailure::Permanent(failure) => (failure, false),
        };
        self.shared.log.push(&format!("Draftboard: {}", failure.message));
        let by_itself = alone && waiting.is_empty() && passing;
        let next = if by_itself {
            self.back_off(failure.clone())
        } else {
            self.shared.set(ServerRunState::Failed(failure.clone()));
            ActorStep::Idle
        };
        reply_all(waiting, &Err(failure));
        next
    }

    fn back_off(&mut self, failure: Refusal) -> ActorStep {
        let now = Instant::now();
        match self.restarts.record_failure(now) {
            RestartDecision::RestartAfter { attempt, delay } => {
                let retry_at = now + delay;
                self.shared.set(ServerRunState::Backoff { attempt, retry_at, failure });
                ActorStep::Wait(retry_at)
            }
            RestartDecision::GiveUp => {
                let tries = self.deps.backoff.max_restarts;
                let message =
                    format!("{} Gave up after {tries} attempts: start the server manually.", failure.message);
                self.shared.set(ServerRunState::Failed(Refusal { message, ..failure }));
                ActorStep::Idle
            }
        }
    }

    async fn serve(&mut self, mut connection: Box<ServerConnection>) -> ActorStep {
        let started_with = self.config.borrow_and_update().clone();
        let since = self.shared.log.line_count();
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    None => {
                        self.end(connection, &started_with).await;
                        return ActorStep::Exit;
                    }
                    Some(ServerActorMsg::Start(reply)) => reply_all(vec![reply], &Ok(())),
                    Some(ServerActorMsg::Launch) => {}
                    Some(ServerActorMsg::Stop(reply)) => {
                        self.end(connection, &started_with).await;
                        self.finish_stop(vec![reply]);
                        return ActorStep::Idle;
                    }
                    Some(ServerActorMsg::Restart(reply)) => {
                        self.end(connection, &started_with).await;
                        self.restarts.reset();
                        return ActorStep::Start { waiting: vec![reply], alone: false };
                    }
                },
                changed = self.config.changed() => {
                    let newer = self.config.borrow_and_update().clone();
                    if changed.is_err() || !newer.enabled || !newer.launches_like(&started_with) {
                        self.end(connection, &started_with).await;
                        if changed.is_err() {
                            return ActorStep::Exit;
                        }
                        if newer.enabled {
                            return ActorStep::Start { waiting: Vec::new(), alone: true };
                        }
                        self.finish_stop(Vec::new());
                        return ActorStep::Idle;
                    }
                }
                () = connection.wait_closed() => {
                    let failure = self.handle_connection_lost(connection, &started_with, since).await;
                    return self.back_off(failure);
                }
            }
        }
    }

    async fn handle_connection_lost(
        &mut self,
        connection: Box<ServerConnection>,
        config: &ManagedServerConfig,
        since: u64,
    ) -> Refusal {
        let name = &config.name;
        let failure = match self.end(connection, config).await {
            Some(how) => {
                let words = self.shared.log.last_lines_text(since);
                Refusal::unavailable(format!("{name} {how} while running.{words}"))
            }
            None => Refusal::network(format!("The connection to {name} was lost.")),
        };
        self.shared.log.push(&format!("Draftboard: {}", failure.message));
        failure
    }

    /// Refuses further calls and ends the connection. Returns how the process ended, if there is one.
    async fn end(&self, connection: Box<ServerConnection>, config: &ManagedServerConfig) -> Option<String> {
        self.shared.set(ServerRunState::Stopping);
        let exit = connection.end(config.limits.grace()).await?;
        if let Ok(exit) = exit {
            self.shared.record_exit(exit);
        }
        Some(exit.map_or_else(|error| format!("could not be stopped: {error}"), |exit| exit.describe()))
    }

    fn finish_stop(&mut self, waiting: Vec<ServerMsgReply>) {
        self.restarts.reset();
        self.shared.set(ServerRunState::Stopped);
        reply_all(waiting, &Ok(()));
    }
}

fn reply_all(waiting: Vec<ServerMsgReply>, result: &Result<(), Refusal>) {
    for reply in waiting {
        // Sending fails when the caller is gone.
        let _ = reply.send(result.clone());
    }
}
