//! One agent on standard input and output. Nothing but MCP goes to standard output.

use super::{StandaloneBundles, runtime};
use shared_protocol::{Refusal, RefusalCode};
use std::{
    io::{self, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    time::Duration,
};

const STOP_LIMIT: Duration = Duration::from_secs(1);

/// Serves until the client closes its side and has its answers.
pub fn serve_stdio(what: StandaloneBundles, report: impl Fn(&str)) -> Result<(), Refusal> {
    let running = runtime::start(what, report)?;
    let failed =
        |error: io::Error| Refusal::new(RefusalCode::Internal, format!("the server did not start: {error}"));
    let (ours, theirs) = UnixStream::pair().map_err(failed)?;
    let incoming = ours.try_clone().map_err(failed)?;
    // Blocking reads of standard input cannot be ended; a thread of its own ends with the process.
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || {
            copy(io::stdin().lock(), &incoming);
            drop(incoming.shutdown(Shutdown::Write));
        })
        .map_err(failed)?;
    let outgoing = std::thread::Builder::new()
        .name("stdout".to_owned())
        .spawn(move || copy(ours, &mut io::stdout().lock()))
        .map_err(failed)?;
    theirs.set_nonblocking(true).map_err(failed)?;
    let service = running.service.clone();
    running.runtime.block_on(async move {
        match tokio::net::UnixStream::from_std(theirs) {
            Ok(stream) => service.serve_bridge_stream(stream).await,
            Err(error) => tracing::error!(%error, "the conversation did not begin"),
        }
    });
    running.service.stop();
    running.runtime.shutdown_timeout(STOP_LIMIT);
    // Both ends are closed by now: what was written is passed on, then this ends.
    drop(outgoing.join());
    Ok(())
}

/// Passes bytes on as they come.
fn copy(mut from: impl Read, mut to: impl Write) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let taken = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(taken) => taken,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        };
        let passed = to.write_all(buffer.get(..taken).unwrap_or_default()).and_then(|()| to.flush());
        if passed.is_err() {
            return;
        }
    }
}
