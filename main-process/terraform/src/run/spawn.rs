//! The launch of a Terraform program, and reading all of its output.

use super::{environment::environment, runner::RunError};
use processes::{Environment, ProgramLaunch, ProgramSpawner, StdStream};
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::Duration,
};

/// Terraform finishes the current operation and writes its state when it is asked to end; a cloud can be slow. Also the
/// time that it gets when this process is gone.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_secs(120);

/// The program reads nothing and writes to two pipes. `secrets` are values of sensitive variables.
pub(crate) fn terraform_launch(
    program: &Path,
    arguments: Vec<String>,
    folder: impl Into<PathBuf>,
    secrets: &BTreeMap<String, String>,
) -> ProgramLaunch {
    ProgramLaunch {
        environment: Environment::exactly(environment(std::env::vars_os(), secrets)),
        folder: Some(folder.into()),
        stdout: StdStream::Pipe,
        stderr: StdStream::Pipe,
        grace_period: GRACE_PERIOD,
        ..ProgramLaunch::new(program, arguments)
    }
}

/// Runs a program to its end and returns what it printed, up to `max_bytes` bytes, within `limit`.
pub(crate) fn capture(
    spawner: &dyn ProgramSpawner,
    launch: &ProgramLaunch,
    max_bytes: u64,
    limit: Duration,
) -> Result<(bool, Vec<u8>), RunError> {
    let failed = |source| RunError::Start { program: launch.program.clone(), source };
    let mut running = spawner.spawn(launch).map_err(failed)?;
    let stdout = running.take_stdout().map(File::from);
    let stderr = running.take_stderr().map(File::from);
    let reading = std::thread::Builder::new()
        .name("terraform-capture".to_owned())
        .spawn(move || {
            // Drains stderr so that the pipe does not fill up; its content is not needed.
            let errors =
                std::thread::spawn(move || stderr.map(|mut pipe| io::copy(&mut pipe, &mut io::sink())));
            let mut bytes = Vec::new();
            let read = stdout.map(|pipe| pipe.take(max_bytes + 1).read_to_end(&mut bytes));
            drop(errors);
            read.transpose().map(|_| bytes)
        })
        .map_err(failed)?;
    let Some(status) = running.wait(Some(limit)).map_err(failed)? else {
        running.kill().map_err(failed)?;
        return Err(RunError::TooSlow { program: launch.program.clone(), limit });
    };
    let bytes = match reading.join() {
        Ok(bytes) => bytes.map_err(failed)?,
        Err(_) => return Err(failed(io::Error::other("cannot read its output"))),
    };
    if bytes.len() as u64 > max_bytes {
        return Err(RunError::TooMuch { program: launch.program.clone(), most: max_bytes });
    }
    Ok((status.success(), bytes))
}
