//! Script tools: one process per call with its own environment, one JSON object as input, one JSON value as output.

use super::{format::ScriptImplementationSpec, template::ArgumentTemplate};
use crate::{
    launch::{find_program, piped_launch},
    log::ServerLog,
    process::ServerProcess,
};
use processes::{ProgramLaunch, ProgramSpawner};
use serde_json::{Value, json};
use shared_protocol::{Refusal, RefusalCode};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];
pub(super) const RUNTIMES: [&str; 6] = ["bash", "sh", "python3", "node", "ruby", "custom"];
const DEFAULT_TIMEOUT: u64 = 60_000;

/// Returns the path of the program: absolute, in the home folder, or beside the manifest.
pub(super) fn entrypoint(script: &ScriptImplementationSpec, manifest: &Path, home: Option<&Path>) -> PathBuf {
    match script.entrypoint.strip_prefix("~/").zip(home) {
        Some((rest, home)) => home.join(rest),
        None => manifest.parent().unwrap_or(Path::new("/")).join(&script.entrypoint),
    }
}

pub(super) struct ScriptRun<'a> {
    pub(super) script: &'a ScriptImplementationSpec,
    pub(super) entrypoint: &'a Path,
    pub(super) tool: &'a str,
    pub(super) environment: &'a [(OsString, OsString)],
    pub(super) spawner: &'a Arc<dyn ProgramSpawner>,
    pub(super) most: usize,
}

impl ScriptRun<'_> {
    pub(super) async fn run(&self, template: &ArgumentTemplate<'_>) -> Result<Value, Refusal> {
        let launch = self.launch(template)?;
        let action = self.script.tool_bindings.get(self.tool).map(|binding| binding.action.as_str());
        let input = json!({"tool": self.tool, "action": action, "params": template.arguments}).to_string();
        let log = Arc::new(ServerLog::default());
        log.set_redactor(template.credentials.redactor());
        let limit = Duration::from_millis(self.script.timeout_ms.unwrap_or(DEFAULT_TIMEOUT));
        let started = ServerProcess::start(self.spawner, &launch, &log).await;
        let (process, (mut output, mut pipe)) = started.map_err(|error| {
            Refusal::unavailable(format!("{} failed to start: {error}", launch.program.display()))
        })?;
        let give = async move {
            // A program that does not read its input may still answer.
            let _ = pipe.write_all(input.as_bytes()).await;
            drop(pipe);
        };
        let take = async {
            let mut bytes = Vec::new();
            let mut bounded = (&mut output).take(self.most as u64 + 1);
            let read = bounded.read_to_end(&mut bytes).await;
            if bytes.len() <= self.most {
                process.wait_ended().await;
            }
            read.map(|_| bytes)
        };
        // Writes and reads concurrently; otherwise a program that answers while it reads would deadlock.
        let talk = async {
            tokio::pin!(give, take);
            tokio::select! {
                taken = &mut take => taken,
                () = &mut give => take.await,
            }
        };
        let talked = tokio::time::timeout(limit, talk).await;
        let exit = process.finish().await;
        let Ok(bytes) = talked else {
            let message = format!(
                "{} took longer than {} ms and was stopped with all its child processes",
                self.tool,
                limit.as_millis()
            );
            return Err(Refusal::network(message));
        };
        let failed =
            |why: String| Refusal::unavailable(format!("{} {why}.{}", self.tool, log.last_lines_text(0)));
        let bytes = bytes.map_err(|error| failed(format!("output cannot be read: {error}")))?;
        if bytes.len() > self.most {
            let message = format!("The answer of {} is larger than {} bytes", self.tool, self.most);
            return Err(Refusal::new(RefusalCode::LimitExceeded, message));
        }
        let exit = exit.map_err(|error| failed(error.to_string()))?;
        if exit.code != Some(0) {
            return Err(failed(exit.describe()));
        }
        serde_json::from_slice(&bytes).map_err(|error| failed(format!("did not return JSON: {error}")))
    }

    fn launch(&self, template: &ArgumentTemplate<'_>) -> Result<ProgramLaunch, Refusal> {
        let inherited =
            self.environment.iter().filter(|(name, _)| INHERITED.iter().any(|inherited| name == inherited));
        let mut environment: Vec<(OsString, OsString)> = inherited.cloned().collect();
        for (name, value) in &self.script.env {
            let missing =
                || Refusal::validation(name, format!("The environment variable {name} has no value"));
            let value = template.text(value, str::to_owned)?.ok_or_else(missing)?;
            environment.push((name.into(), value.into()));
        }
        let action = self
            .script
            .tool_bindings
            .get(self.tool)
            .map(|binding| binding.action.clone())
            .unwrap_or_default();
        environment.push(("DRAFTBOARD_TOOL".into(), self.tool.into()));
        environment.push(("DRAFTBOARD_ACTION".into(), action.into()));
        let mut arguments = self.script.args.clone();
        let program = if self.script.runtime == "custom" {
            self.entrypoint.to_owned()
        } else {
            arguments.insert(0, self.entrypoint.to_string_lossy().into_owned());
            find_program(&self.script.runtime, self.environment)?
        };
        let folder = self.entrypoint.parent().unwrap_or(Path::new("/")).to_owned();
        Ok(piped_launch(&program, arguments, folder, environment))
    }
}
