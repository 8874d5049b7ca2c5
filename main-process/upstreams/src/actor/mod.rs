//! One actor per server. It alone starts, watches and stops the server's process, and no server can block another.
//! Calls do not pass through it: they use its [`Link`], so a hanging call blocks nothing either.

mod connection;
mod era;
mod handshake;
mod host;
mod link;
mod open;
mod quit;
mod state;

pub use host::Progress;
pub(crate) use link::{Definitions, Link};
pub(crate) use quit::{Quit, Wanted};
pub use state::Phase;
pub(crate) use state::{Shared, State};

use crate::{config::McpConfig, failure::Failure, secrets::SecretStore};
use connection::Connection;
use handshake::Refusal;
use processes::{Backoff, ProgramSpawner, RestartDecision, RestartPolicy};
use std::{ffi::OsString, path::PathBuf, sync::Arc, time::Instant};
use tokio::{
    runtime::Handle as Runtime,
    sync::{mpsc, oneshot, watch},
    task::JoinHandle,
};

/// The dependencies that all servers share.
pub(crate) struct Surroundings {
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) data: PathBuf,
    pub(crate) spawner: Arc<dyn ProgramSpawner>,
    pub(crate) secrets: Arc<dyn SecretStore>,
    pub(crate) backoff: Backoff,
}

type Reply = oneshot::Sender<Result<(), Failure>>;

pub(crate) enum Order {
    /// Started by a person, who receives the result and decides about a retry.
    Start(Reply),
    /// Started by Draftboard, which retries by itself.
    Launch,
    Stop(Reply),
    Restart(Reply),
}

/// The handle to an actor. Dropping it stops the server.
pub(crate) struct Handle {
    pub(crate) orders: mpsc::Sender<Order>,
    pub(crate) config: watch::Sender<Arc<McpConfig>>,
    pub(crate) shared: Arc<Shared>,
    task: JoinHandle<()>,
}

const WAITING_ORDERS: usize = 16;

impl Handle {
    pub(crate) fn new(
        config: Arc<McpConfig>,
        surroundings: Arc<Surroundings>,
        changed: watch::Sender<u64>,
        runtime: &Runtime,
    ) -> Self {
        let (orders, receiver) = mpsc::channel(WAITING_ORDERS);
        let (config, current) = watch::channel(config);
        let shared = Arc::new(Shared::new(changed));
        let restarts = RestartPolicy::new(surroundings.backoff);
        let actor =
            Actor { config: current, orders: receiver, shared: shared.clone(), surroundings, restarts };
        Self { orders, config, shared, task: runtime.spawn(actor.run()) }
    }

    /// Stops the server and returns the task to await.
    pub(crate) fn leave(self) -> JoinHandle<()> {
        self.task
    }
}

struct Actor {
    config: watch::Receiver<Arc<McpConfig>>,
    orders: mpsc::Receiver<Order>,
    shared: Arc<Shared>,
    surroundings: Arc<Surroundings>,
    restarts: RestartPolicy,
}

/// The next step of an actor.
enum Next {
    Rest,
    Start { waiting: Vec<Reply>, alone: bool },
    Wait(Instant),
    Serve(Box<Connection>),
    Leave,
}

/// The step that follows an interrupted start.
enum Instead {
    Leave,
    Again,
    Stop(Option<Reply>),
}

impl Actor {
    async fn run(mut self) {
        let mut next = Next::Rest;
        loop {
            next = match next {
                Next::Rest => self.rest(None).await,
                Next::Wait(until) => self.rest(Some(until)).await,
                Next::Start { waiting, alone } => self.start(waiting, alone).await,
                Next::Serve(connection) => self.serve(connection).await,
                Next::Leave => break,
            };
        }
    }

    /// Waits for an order or for the retry time while nothing runs.
    async fn rest(&mut self, until: Option<Instant>) -> Next {
        let time = async {
            match until {
                Some(until) => tokio::time::sleep_until(until.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            order = self.orders.recv() => match order {
                None => Next::Leave,
                Some(Order::Start(reply) | Order::Restart(reply)) => {
                    self.restarts.reset();
                    Next::Start { waiting: vec![reply], alone: false }
                }
                Some(Order::Launch) => Next::Start { waiting: Vec::new(), alone: true },
                Some(Order::Stop(reply)) => {
                    self.stopped(vec![reply]);
                    Next::Rest
                }
            },
            () = time => Next::Start { waiting: Vec::new(), alone: true },
            changed = self.config.changed() => match (changed.is_ok(), until) {
                (false, _) => Next::Leave,
                (true, Some(_)) if !self.config.borrow_and_update().enabled => {
                    self.stopped(Vec::new());
                    Next::Rest
                }
                // The new configuration may fix the failure.
                (true, Some(_)) => Next::Start { waiting: Vec::new(), alone: true },
                (true, None) => Next::Rest,
            },
        }
    }

    async fn start(&mut self, mut waiting: Vec<Reply>, mut alone: bool) -> Next {
        let config = self.config.borrow_and_update().clone();
        let (surroundings, shared) = (self.surroundings.clone(), self.shared.clone());
        let (quit, wanted) = Quit::new();
        let opening = open::open(&config, &surroundings, &shared, &wanted);
        tokio::pin!(opening);
        // The step that replaces the start when it is interrupted.
        let instead = loop {
            tokio::select! {
                opened = &mut opening => break Err(opened),
                order = self.orders.recv() => match order {
                    None => break Ok(Instead::Leave),
                    Some(Order::Launch) => alone = true,
                    Some(Order::Start(reply)) => waiting.push(reply),
                    Some(Order::Restart(reply)) => {
                        waiting.push(reply);
                        break Ok(Instead::Again);
                    }
                    Some(Order::Stop(reply)) => break Ok(Instead::Stop(Some(reply))),
                },
                changed = self.config.changed() => {
                    // A waiting caller keeps the order channel open, so a deleted server is detected here.
                    if changed.is_err() {
                        break Ok(Instead::Leave);
                    }
                    let newer = self.config.borrow_and_update().clone();
                    if !newer.enabled {
                        break Ok(Instead::Stop(None));
                    }
                    if !newer.launches_like(&config) {
                        break Ok(Instead::Again);
                    }
                }
            }
        };
        let opened = match instead {
            Err(opened) => opened,
            Ok(instead) => {
                // Replies only after the started processes have ended.
                self.shared.set(State::Stopping);
                quit.now();
                if let Ok(connection) = opening.await {
                    self.end(Box::new(connection), &config).await;
                }
                return self.instead(instead, waiting, alone, &config);
            }
        };
        match opened {
            Ok(connection) => {
                self.restarts.record_start(Instant::now());
                self.shared.set(State::Connected(connection.link.clone()));
                answer(waiting, &Ok(()));
                Next::Serve(Box::new(connection))
            }
            Err(refusal) => self.refused(refusal, waiting, alone),
        }
    }

    fn instead(&mut self, instead: Instead, waiting: Vec<Reply>, alone: bool, config: &McpConfig) -> Next {
        match instead {
            Instead::Leave => Next::Leave,
            Instead::Again => Next::Start { waiting, alone },
            Instead::Stop(reply) => {
                let message = format!("{} was stopped before it was ready", config.name);
                answer(waiting, &Err(Failure::conflict(message)));
                self.stopped(reply.into_iter().collect());
                Next::Rest
            }
        }
    }

    fn refused(&mut self, refusal: Refusal, waiting: Vec<Reply>, alone: bool) -> Next {
        let (failure, passing) = match refusal {
            Refusal::Credentials { missing, failure } => {
                self.shared.set(State::NeedsCredentials { missing, failure: failure.clone() });
                answer(waiting, &Err(failure));
                return Next::Rest;
            }
            Refusal::Passing(failure) | Refusal::Ended(failure) => (failure, true),
            // Not reached: a cancelled start is handled by its caller.
            Refusal::Quit => (Failure::conflict("It was stopped before it was ready"), false),
            Refusal::Lasting(failure) => (failure, false),
        };
        self.shared.log.push(&format!("Draftboard: {}", failure.message));
        let by_itself = alone && waiting.is_empty() && passing;
        let next = if by_itself {
            self.back_off(failure.clone())
        } else {
            self.shared.set(State::Failed(failure.clone()));
            Next::Rest
        };
        answer(waiting, &Err(failure));
        next
    }

    fn back_off(&mut self, failure: Failure) -> Next {
        let now = Instant::now();
        match self.restarts.record_failure(now) {
            RestartDecision::RestartAfter { attempt, delay } => {
                let retry_at = now + delay;
                self.shared.set(State::Backoff { attempt, retry_at, failure });
                Next::Wait(retry_at)
            }
            RestartDecision::GiveUp => {
                let tries = self.surroundings.backoff.max_restarts;
                let message =
                    format!("{} Gave up after {tries} attempts: start the server manually.", failure.message);
                self.shared.set(State::Failed(Failure { message, ..failure }));
                Next::Rest
            }
        }
    }

    async fn serve(&mut self, mut connection: Box<Connection>) -> Next {
        let started_with = self.config.borrow_and_update().clone();
        let since = self.shared.log.mark();
        loop {
            tokio::select! {
                order = self.orders.recv() => match order {
                    None => {
                        self.end(connection, &started_with).await;
                        return Next::Leave;
                    }
                    Some(Order::Start(reply)) => answer(vec![reply], &Ok(())),
                    Some(Order::Launch) => {}
                    Some(Order::Stop(reply)) => {
                        self.end(connection, &started_with).await;
                        self.stopped(vec![reply]);
                        return Next::Rest;
                    }
                    Some(Order::Restart(reply)) => {
                        self.end(connection, &started_with).await;
                        self.restarts.reset();
                        return Next::Start { waiting: vec![reply], alone: false };
                    }
                },
                changed = self.config.changed() => {
                    let newer = self.config.borrow_and_update().clone();
                    if changed.is_err() || !newer.enabled || !newer.launches_like(&started_with) {
                        self.end(connection, &started_with).await;
                        if changed.is_err() {
                            return Next::Leave;
                        }
                        if newer.enabled {
                            return Next::Start { waiting: Vec::new(), alone: true };
                        }
                        self.stopped(Vec::new());
                        return Next::Rest;
                    }
                }
                () = connection.over() => {
                    let failure = self.lost(connection, &started_with, since).await;
                    return self.back_off(failure);
                }
            }
        }
    }

    async fn lost(&mut self, connection: Box<Connection>, config: &McpConfig, since: u64) -> Failure {
        let name = &config.name;
        let failure = match self.end(connection, config).await {
            Some(how) => {
                let words = self.shared.log.last_words(since);
                Failure::unavailable(format!("{name} {how} while running.{words}"))
            }
            None => Failure::network(format!("The connection to {name} was lost.")),
        };
        self.shared.log.push(&format!("Draftboard: {}", failure.message));
        failure
    }

    /// Refuses further calls and ends the connection. Returns how the process ended, if there is one.
    async fn end(&self, connection: Box<Connection>, config: &McpConfig) -> Option<String> {
        self.shared.set(State::Stopping);
        let exit = connection.end(config.limits.grace()).await?;
        if let Ok(exit) = exit {
            self.shared.ended(exit);
        }
        Some(exit.map_or_else(|error| format!("could not be stopped: {error}"), |exit| exit.to_string()))
    }

    fn stopped(&mut self, waiting: Vec<Reply>) {
        self.restarts.reset();
        self.shared.set(State::Stopped);
        answer(waiting, &Ok(()));
    }
}

fn answer(waiting: Vec<Reply>, result: &Result<(), Failure>) {
    for reply in waiting {
        // Sending fails when the caller is gone.
        let _ = reply.send(result.clone());
    }
}
