//! A process of a server as its actor uses it: its pipes and its shutdown.

use crate::log::ServerLog;
use processes::{ProgramLaunch, ProgramSpawner, RunningProgram};
use shared_protocol::managed_servers::ServerExit;
use std::{
    io,
    os::{fd::AsFd as _, unix::process::ExitStatusExt as _},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, ReadBuf},
    net::unix::pipe,
    task::JoinHandle,
};

/// The maximum bytes of a message. A longer message closes the connection, so that no caller waits for a dropped
/// answer.
const MAX_STDIO_MESSAGE_BYTES: usize = 16 << 20;
/// The time a server has to exit after its input closes; most servers do.
const MAX_EXIT_WAIT: Duration = Duration::from_secs(1);
/// The time limit for reading remaining output, in case a detached process still holds the pipe.
const MAX_DRAIN_TIME: Duration = Duration::from_millis(500);
const MAX_CLEANUP_TIME: Duration = Duration::from_secs(10);

/// A running process. Dropping it kills the process and its children without waiting.
pub(crate) struct ServerProcess {
    running: Option<RunningProgram>,
    ended: pipe::Receiver,
    /// Reads standard error until the last process that holds it ends.
    listener: JoinHandle<()>,
    after: Option<CleanupCommand>,
}

/// A cleanup command for after the end, because a container outlives the program that started it.
struct CleanupCommand {
    launch: ProgramLaunch,
    spawner: Arc<dyn ProgramSpawner>,
    log: Arc<ServerLog>,
}

pub(crate) type ServerPipes = (BoundedLines, pipe::Sender);

impl ServerProcess {
    /// Starts the process. Its standard error goes to `log`.
    pub(crate) async fn start(
        spawner: &Arc<dyn ProgramSpawner>,
        launch: &ProgramLaunch,
        log: &Arc<ServerLog>,
    ) -> io::Result<(Self, ServerPipes)> {
        // Spawns on a blocking thread, because starting blocks until the program runs. If the caller is gone by then,
        // the process is dropped and killed.
        let (spawner, launch) = (spawner.clone(), launch.clone());
        let spawned = tokio::task::spawn_blocking(move || spawner.spawn(&launch)).await;
        let mut running = spawned.map_err(io::Error::other)??;
        // The descriptor is not a pipe and is never read; it is only polled for readiness.
        let ended = pipe::Receiver::from_owned_fd_unchecked(running.as_fd().try_clone_to_owned()?)?;
        let absent = || io::Error::other("the process was started without its pipes");
        let output = pipe::Receiver::from_owned_fd(running.take_stdout().ok_or_else(absent)?)?;
        let errors = pipe::Receiver::from_owned_fd(running.take_stderr().ok_or_else(absent)?)?;
        let input = pipe::Sender::from_owned_fd(running.take_stdin().ok_or_else(absent)?)?;
        let log = log.clone();
        let listener = tokio::spawn(async move { log.read_pipe(errors).await });
        Ok((
            Self { running: Some(running), ended, listener, after: None },
            (BoundedLines::new(output), input),
        ))
    }

    /// Registers `launch` to run after this process ended in any way.
    pub(crate) fn run_after_exit(
        &mut self,
        launch: ProgramLaunch,
        spawner: Arc<dyn ProgramSpawner>,
        log: Arc<ServerLog>,
    ) {
        self.after = Some(CleanupCommand { launch, spawner, log });
    }

    /// Waits until the program exits by itself.
    pub(crate) async fn wait_ended(&self) {
        // Treats an error as an exit, because the exit can no longer be observed.
        let _ = self.ended.readable().await;
    }

    /// Waits for the process to exit, then sends TERM, then kills it and all its children. Its input must already be
    /// closed.
    pub(crate) async fn end(mut self, grace: Duration) -> io::Result<ServerExit> {
        let patience = MAX_EXIT_WAIT.min(grace / 4);
        if tokio::time::timeout(patience, self.wait_ended()).await.is_err() {
            if let Some(running) = &mut self.running {
                running.request_stop();
            }
            let _ = tokio::time::timeout(grace - patience, self.wait_ended()).await;
        }
        self.finish().await
    }

    /// Kills the remaining processes.
    pub(crate) async fn finish(mut self) -> io::Result<ServerExit> {
        let Some(mut running) = self.running.take() else {
            return Err(io::Error::other("the process has already ended"));
        };
        let finished = tokio::task::spawn_blocking(move || running.kill()).await.map_err(io::Error::other)?;
        // The last output often explains the exit.
        let _ = tokio::time::timeout(MAX_DRAIN_TIME, &mut self.listener).await;
        if let Some(after) = self.after.take() {
            after.run().await;
        }
        finished.map(|status| ServerExit { code: status.code(), signal: status.signal() })
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.running.take());
        if let (Some(after), Ok(runtime)) = (self.after.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(after.run());
        }
    }
}

impl CleanupCommand {
    async fn run(self) {
        match ServerProcess::start(&self.spawner, &self.launch, &self.log).await {
            Ok((process, (_, input))) => {
                drop(input);
                // The process has exited or is killed next.
                let _ = tokio::time::timeout(MAX_CLEANUP_TIME, process.wait_ended()).await;
                let _ = Box::pin(process.finish()).await;
            }
            Err(error) => self.log.push(&format!("Draftboard: cleanup failed: {error}")),
        }
    }
}

/// The output of a server with a limit on each line.
pub(crate) struct BoundedLines {
    pipe: pipe::Receiver,
    since_line_break: usize,
}

impl BoundedLines {
    fn new(pipe: pipe::Receiver) -> Self {
        Self { pipe, since_line_break: 0 }
    }
}

impl AsyncRead for BoundedLines {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.pipe).poll_read(context, buffer))?;
        let fresh = buffer.filled().get(before..).unwrap_or_default();
        self.since_line_break = match fresh.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => fresh.len() - last - 1,
            None => self.since_line_break + fresh.len(),
        };
        if self.since_line_break > MAX_STDIO_MESSAGE_BYTES {
            let message = format!("a message is longer than {MAX_STDIO_MESSAGE_BYTES} bytes");
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        Poll::Ready(Ok(()))
    }
}
