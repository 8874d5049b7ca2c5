//! One process of a server, seen from its actor: its pipes, its end, and how it is brought about.

use crate::{log::Log, status::ServerProcessExit};
use processes::{ProgramLaunch, ProgramSpawner, RunningProgram};
use std::{
    io,
    os::fd::AsFd as _,
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

/// A message that is longer ends the connection: nobody should have to wait for an answer that was thrown away.
const LONGEST_MESSAGE: usize = 16 << 20;
/// Most servers end by themselves when their input does.
const PATIENCE: Duration = Duration::from_secs(1);
/// Nobody writes any more; what has been written is read in no time, unless somebody got away with the pipe.
const LAST_WORDS: Duration = Duration::from_millis(500);
const AFTERMATH: Duration = Duration::from_secs(10);

/// Dropping it kills it and all that it has started, without waiting.
pub(crate) struct Process {
    running: Option<RunningProgram>,
    ended: pipe::Receiver,
    /// Reads its standard error, until the last process that holds it has ended.
    listener: JoinHandle<()>,
    after: Option<After>,
}

/// What is run once it has ended: a container outlives the program that started it.
struct After {
    launch: ProgramLaunch,
    spawner: Arc<dyn ProgramSpawner>,
    log: Arc<Log>,
}

pub(crate) type Pipes = (Lines, pipe::Sender);

impl Process {
    /// Starts it. What it says on standard error goes to `log` until it ends.
    pub(crate) async fn start(
        spawner: &Arc<dyn ProgramSpawner>,
        launch: &ProgramLaunch,
        log: &Arc<Log>,
    ) -> io::Result<(Self, Pipes)> {
        // Starting waits until the program is there; whoever is waited for must not hold up the others. When nobody wants it
        // any more by then, it is dropped, and ends.
        let (spawner, launch) = (spawner.clone(), launch.clone());
        let spawned = tokio::task::spawn_blocking(move || spawner.spawn(&launch)).await;
        let mut running = spawned.map_err(io::Error::other)??;
        // Not a pipe, and never read: only waited for, which is the same for every descriptor.
        let ended = pipe::Receiver::from_owned_fd_unchecked(running.as_fd().try_clone_to_owned()?)?;
        let absent = || io::Error::other("the process was started without its pipes");
        let output = pipe::Receiver::from_owned_fd(running.take_stdout().ok_or_else(absent)?)?;
        let errors = pipe::Receiver::from_owned_fd(running.take_stderr().ok_or_else(absent)?)?;
        let input = pipe::Sender::from_owned_fd(running.take_stdin().ok_or_else(absent)?)?;
        let log = log.clone();
        let listener = tokio::spawn(async move { log.follow(errors).await });
        Ok((Self { running: Some(running), ended, listener, after: None }, (Lines::new(output), input)))
    }

    /// Has `launch` run when this one is gone, however it goes.
    pub(crate) fn then(&mut self, launch: ProgramLaunch, spawner: Arc<dyn ProgramSpawner>, log: Arc<Log>) {
        self.after = Some(After { launch, spawner, log });
    }

    /// Waits until the program has ended by itself.
    pub(crate) async fn ended(&self) {
        // An error would mean that the end cannot be seen any more: then it is as good as one.
        let _ = self.ended.readable().await;
    }

    /// Lets it end, then asks, then kills: it and all that it has started are gone afterwards. Its input must have been
    /// closed before.
    pub(crate) async fn end(mut self, grace: Duration) -> io::Result<ServerProcessExit> {
        let patience = PATIENCE.min(grace / 4);
        if tokio::time::timeout(patience, self.ended()).await.is_err() {
            if let Some(running) = &mut self.running {
                running.request_stop();
            }
            let _ = tokio::time::timeout(grace - patience, self.ended()).await;
        }
        self.finish().await
    }

    /// Kills what is left.
    pub(crate) async fn finish(mut self) -> io::Result<ServerProcessExit> {
        let Some(mut running) = self.running.take() else {
            return Err(io::Error::other("it has ended before"));
        };
        let finished = tokio::task::spawn_blocking(move || running.kill()).await.map_err(io::Error::other)?;
        // Its last words are often the reason.
        let _ = tokio::time::timeout(LAST_WORDS, &mut self.listener).await;
        if let Some(after) = self.after.take() {
            after.run().await;
        }
        finished.map(Into::into)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.running.take());
        if let (Some(after), Ok(runtime)) = (self.after.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(after.run());
        }
    }
}

impl After {
    async fn run(self) {
        match Process::start(&self.spawner, &self.launch, &self.log).await {
            Ok((process, (_, input))) => {
                drop(input);
                // Either it has ended by then, or it is ended.
                let _ = tokio::time::timeout(AFTERMATH, process.ended()).await;
                let _ = Box::pin(process.finish()).await;
            }
            Err(error) => {
                self.log.push(&format!("Draftboard: what was left could not be cleared away: {error}"))
            }
        }
    }
}

/// The output of a server, with a bound on each line.
pub(crate) struct Lines {
    pipe: pipe::Receiver,
    since_line_break: usize,
}

impl Lines {
    fn new(pipe: pipe::Receiver) -> Self {
        Self { pipe, since_line_break: 0 }
    }
}

impl AsyncRead for Lines {
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
        if self.since_line_break > LONGEST_MESSAGE {
            let message = format!("a message is longer than {LONGEST_MESSAGE} bytes");
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        Poll::Ready(Ok(()))
    }
}
