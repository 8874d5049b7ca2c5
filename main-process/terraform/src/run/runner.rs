//! Starts runs and follows them to their end.

use super::{
    command::{DRIFT_PLAN_FILE, PLAN_FILE, RunConfirmation, RunRequest, arguments, prints_json},
    event::{OutputStream, RunEvent, read_line},
    links,
    lock::{self, InterruptedRun, RunLock},
    logs,
    mask::SecretMask,
    plan::read_changes,
    program::TerraformProgram,
    spawn::{GRACE_PERIOD, capture, terraform_launch},
};
use crate::generate::GeneratedHcl;
use processes::{ProgramSpawner, RunningProgram};
use rustix::fs::FileType;
use safe_fs::{PathError, PathProblem, SafeFolder};
use shared_protocol::terraform::{PlanChange, TerraformOperation};
use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

/// The capacity of the event queue. The run blocks while it is full.
const EVENT_QUEUE_LEN: usize = 4096;
const MAX_LINE_BYTES: u64 = 1 << 20;
const MAX_VALIDATE_BYTES: usize = 64 << 20;
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const MAX_SHOW_BYTES: u64 = 256 << 20;
const SHOW_TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(
        "{names} was not found on the PATH: install it, or set `program` under [terraform] in your settings.toml"
    )]
    NotFound { names: String },
    #[error("{} is not an executable Terraform or OpenTofu program: set its absolute path as `program` under [terraform] in your settings.toml", .path.display())]
    NotAProgram { path: PathBuf },
    #[error("{} could not be started: {source}", .program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("{} did not respond within {limit:?}", .program.display())]
    TooSlow { program: PathBuf, limit: Duration },
    #[error("{} printed more than {most} bytes", .program.display())]
    TooMuch { program: PathBuf, most: u64 },
    #[error("a run is in progress for {board}: wait for it to finish, or cancel it")]
    Busy { board: String },
    #[error("{operation} changes real resources: a person must confirm it")]
    ConfirmationRequired { operation: &'static str },
    #[error("there is no plan to apply: run plan first")]
    NoPlan,
    #[error("{}: {source}", .path.display())]
    Files { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("the plan could not be read: {0}")]
    Plan(String),
    #[error(
        "this proposal cannot be planned outside the folder of the board because {0}: accept it, run a plan, and undo it if needed"
    )]
    NoTrial(String),
}

/// The folder of locks and logs, in the state folder of a workspace.
const RUNS_FOLDER: &str = "terraform";
/// Files that Terraform writes in the folder of a board, through a link if there is one.
const WRITTEN_BY_TERRAFORM: [&str; 7] = [
    PLAN_FILE,
    DRIFT_PLAN_FILE,
    "terraform.tfstate",
    "terraform.tfstate.backup",
    ".terraform.tfstate.lock.info",
    ".terraform.lock.hcl",
    ".terraform",
];

/// Starts runs and keeps their locks and logs in `.draftboard/terraform` of a workspace.
#[derive(Clone)]
pub struct TerraformRunner {
    spawner: Arc<dyn ProgramSpawner>,
    state_folder: PathBuf,
}

/// An active run. Dropping it cancels it.
pub struct TerraformRun {
    pub events: Receiver<RunEvent>,
    pub log: PathBuf,
    cancel: Arc<AtomicBool>,
}

impl TerraformRun {
    /// Requests the run to stop, and kills it after a grace period. The last event reports how it ended.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Release);
    }
}

impl Drop for TerraformRun {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl TerraformRunner {
    pub fn new(spawner: Arc<dyn ProgramSpawner>, state_folder: &Path) -> Self {
        Self { spawner, state_folder: state_folder.to_owned() }
    }

    /// Returns runs that were interrupted by a crash or a power loss. Each is returned once.
    pub fn take_interrupted(&self) -> Vec<InterruptedRun> {
        match SafeFolder::open(&self.state_folder).and_then(|folder| folder.folder(RUNS_FOLDER)) {
            Ok(folder) => lock::interrupted_runs(&folder),
            Err(error) => {
                if !error.problem.is_missing() {
                    tracing::warn!(%error, "cannot check for interrupted runs");
                }
                Vec::new()
            }
        }
    }

    /// Returns the logs of the runs of a board, oldest first.
    pub fn logs(&self, board: &str) -> Vec<PathBuf> {
        let folder = SafeFolder::open(&self.state_folder)
            .and_then(|folder| folder.folder(RUNS_FOLDER))
            .and_then(|folder| folder.folder(board));
        match folder {
            Ok(folder) => logs::list(&folder).into_iter().map(|(_, name)| folder.path().join(name)).collect(),
            Err(error) => {
                if !error.problem.is_missing() {
                    tracing::warn!(%error, "cannot read the run history");
                }
                Vec::new()
            }
        }
    }

    pub fn start(&self, program: &TerraformProgram, request: &RunRequest) -> Result<TerraformRun, RunError> {
        let operation = request.operation;
        if operation.needs_confirmation() && request.confirmation == RunConfirmation::Missing {
            return Err(RunError::ConfirmationRequired { operation: operation.as_str() });
        }
        let board_folder = SafeFolder::open(&request.folder)?;
        refuse_links(&board_folder)?;
        // A plan outside the folder of the board is in the state folder of the user.
        let own_plan = request.plan.clone();
        let has_plan = match &own_plan {
            Some(plan) => plan.is_file(),
            None => board_folder.kind(PLAN_FILE)?.is_some(),
        };
        if operation == TerraformOperation::ApplyPlan && !has_plan {
            return Err(RunError::NoPlan);
        }
        let folder = SafeFolder::create(&self.state_folder)?.create_folder(RUNS_FOLDER)?;
        let mut lock = RunLock::acquire(&folder, &request.board)?;
        let (log, file) = logs::new_log(&folder, &request.board, operation)?;
        lock.record(&InterruptedRun {
            board: request.board.clone(),
            operation: operation.as_str().to_owned(),
            log: log.clone(),
        })?;
        let mut arguments = arguments(operation, request.plan.as_deref());
        // Options come before the plan file.
        let at =
            if operation == TerraformOperation::ApplyPlan { arguments.len() - 1 } else { arguments.len() };
        arguments.splice(at..at, request.arguments.iter().cloned());
        let launch = terraform_launch(&program.path, arguments, &request.folder, &request.secrets);
        let failed = |source| RunError::Start { program: program.path.clone(), source };
        let mut running = self.spawner.spawn(&launch).map_err(failed)?;
        let (sender, events) = sync_channel(EVENT_QUEUE_LEN);
        let log_file = Arc::new(Mutex::new(file));
        let mask = Arc::new(SecretMask::from_secrets(&request.secrets));
        let mut readers = Vec::new();
        for (stream, pipe) in
            [(OutputStream::Out, running.take_stdout()), (OutputStream::Err, running.take_stderr())]
        {
            let Some(pipe) = pipe else { continue };
            let said = RunOutput { sender: sender.clone(), log: log_file.clone(), mask: mask.clone() };
            let reader = spawn_thread(&format!("terraform-{stream:?}").to_lowercase(), move || {
                read(File::from(pipe), stream, operation, &said);
            });
            readers.push(reader.map_err(failed)?);
        }
        let cancel = Arc::new(AtomicBool::new(false));
        let flag = cancel.clone();
        spawn_thread("terraform-run", move || {
            let ended = wait_for_exit(running, &flag);
            for reader in readers {
                drop(reader.join());
            }
            if operation == TerraformOperation::ApplyPlan && ended.success {
                // A plan can be applied only once.
                match &own_plan {
                    Some(plan) => drop(std::fs::remove_file(plan)),
                    None => drop(board_folder.remove(PLAN_FILE)),
                }
            }
            // Releases the lock before the last event, so that its receiver can start the next run.
            lock.release();
            drop(sender.send(ended.into_event()));
        })
        .map_err(failed)?;
        Ok(TerraformRun { events, log, cancel })
    }

    /// Reads the saved plan.
    pub fn read_plan(
        &self,
        program: &TerraformProgram,
        folder: &Path,
        generated: &GeneratedHcl,
    ) -> Result<Vec<PlanChange>, RunError> {
        self.read_plan_at(program, folder, PLAN_FILE, generated)
    }

    /// As [`Self::read_plan`], for a plan file outside the folder of the board.
    pub fn read_plan_file(
        &self,
        program: &TerraformProgram,
        (folder, plan): (&Path, &Path),
        generated: &GeneratedHcl,
    ) -> Result<Vec<PlanChange>, RunError> {
        self.read_plan_at(program, folder, &plan.display().to_string(), generated)
    }

    fn read_plan_at(
        &self,
        program: &TerraformProgram,
        folder: &Path,
        plan: &str,
        generated: &GeneratedHcl,
    ) -> Result<Vec<PlanChange>, RunError> {
        let board_folder = SafeFolder::open(folder)?;
        refuse_links(&board_folder)?;
        // A plan with an absolute path is in the state folder of the user.
        let has_plan = match Path::new(plan) {
            own if own.is_absolute() => own.is_file(),
            name => board_folder.kind(name)?.is_some(),
        };
        if !has_plan {
            return Err(RunError::NoPlan);
        }
        read_changes(&self.show_json(program, folder, Some(plan))?, generated)
    }

    /// Reads the state with `show -json`.
    pub fn read_state(
        &self,
        program: &TerraformProgram,
        folder: &Path,
    ) -> Result<serde_json::Value, RunError> {
        let text = self.show_json(program, folder, None)?;
        serde_json::from_slice(&text).map_err(|error| RunError::Plan(error.to_string()))
    }

    fn show_json(
        &self,
        program: &TerraformProgram,
        folder: &Path,
        plan: Option<&str>,
    ) -> Result<Vec<u8>, RunError> {
        let mut arguments = vec!["show".to_owned(), "-json".to_owned()];
        arguments.extend(plan.map(str::to_owned));
        let launch = terraform_launch(&program.path, arguments, folder, &Default::default());
        let (success, text) = capture(&*self.spawner, &launch, MAX_SHOW_BYTES, SHOW_TIMEOUT)?;
        if success {
            Ok(text)
        } else {
            Err(RunError::Plan("`terraform show` failed; run plan again".to_owned()))
        }
    }
}

/// Refuses links, which Terraform follows: one in a cloned workspace would redirect reads and writes.
fn refuse_links(folder: &SafeFolder) -> Result<(), PathError> {
    for name in WRITTEN_BY_TERRAFORM {
        let problem = match folder.kind(name)? {
            Some(FileType::Symlink) => PathProblem::Link,
            None | Some(FileType::RegularFile | FileType::Directory) => continue,
            Some(_) => PathProblem::NotAFile,
        };
        return Err(PathError { path: folder.path().join(name), problem });
    }
    links::refuse_within(folder)
}

fn spawn_thread(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<std::thread::JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(work)
}

/// Writes the output of a run to the log and to the event channel, in the same order.
struct RunOutput {
    sender: SyncSender<RunEvent>,
    log: Arc<Mutex<File>>,
    mask: Arc<SecretMask>,
}

impl RunOutput {
    /// Every output line is one log line, so that both have the same line numbers.
    fn write_lines(&self, stream: OutputStream, text: &str) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        for line in text.split('\n') {
            let text = self.mask.mask(line.trim_end_matches('\r'));
            // A failing log does not stop the run; the lines are still sent.
            drop(writeln!(log, "{text}"));
            // Without a receiver the pipe is still drained, so that the run does not block.
            drop(self.sender.send(RunEvent::Line { stream, text }));
        }
    }

    fn send_event(&self, event: RunEvent) {
        drop(self.sender.send(event));
    }
}

/// Reads a stream line by line to its end.
fn read(pipe: File, stream: OutputStream, operation: TerraformOperation, said: &RunOutput) {
    let mut pipe = BufReader::new(pipe);
    let mut whole = String::new();
    loop {
        let mut bytes = Vec::new();
        match (&mut pipe).take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = said.mask.mask(text.trim_end_matches(['\n', '\r']));
        if stream == OutputStream::Out && operation == TerraformOperation::Validate {
            if whole.len() < MAX_VALIDATE_BYTES {
                whole.push_str(&text);
                whole.push('\n');
            }
            continue;
        }
        let (event, message) = match stream {
            OutputStream::Out if prints_json(operation) => read_line(&text),
            _ => (None, None),
        };
        said.write_lines(stream, &message.unwrap_or(text));
        if let Some(event) = event {
            said.send_event(event);
        }
    }
    if operation == TerraformOperation::Validate && stream == OutputStream::Out {
        report_validation(&whole, said);
    }
}

/// Reports the result of `validate`, which prints one JSON document at its end.
fn report_validation(text: &str, said: &RunOutput) {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else {
        return said.write_lines(OutputStream::Out, text.trim_end());
    };
    for diagnostic in json["diagnostics"].as_array().into_iter().flatten() {
        if let Some(diagnostic) = super::TerraformDiagnostic::from_json(diagnostic) {
            said.write_lines(OutputStream::Out, &diagnostic.to_text());
            said.send_event(RunEvent::Diagnostic(diagnostic));
        }
    }
    let word =
        if json["valid"] == true { "The configuration is valid." } else { "The configuration is not valid." };
    said.write_lines(OutputStream::Out, word);
}

struct RunOutcome {
    code: Option<i32>,
    success: bool,
    cancelled: bool,
}

impl RunOutcome {
    fn into_event(self) -> RunEvent {
        RunEvent::Ended { code: self.code, success: self.success, cancelled: self.cancelled }
    }
}

/// Waits for the program to end. On cancel, requests a stop, and kills the program after the grace period.
fn wait_for_exit(mut running: RunningProgram, cancel: &AtomicBool) -> RunOutcome {
    let mut asked: Option<Instant> = None;
    loop {
        match running.wait(Some(POLL_INTERVAL)) {
            Ok(Some(status)) => {
                let (code, success) = (status.code(), status.success());
                return RunOutcome { code, success, cancelled: asked.is_some() };
            }
            Ok(None) => {}
            // Waiting failed, so the program is killed.
            Err(_) => {
                drop(running.kill());
                return RunOutcome { code: None, success: false, cancelled: asked.is_some() };
            }
        }
        match asked {
            None if cancel.load(Ordering::Acquire) => {
                asked = Some(Instant::now());
                running.request_stop();
            }
            Some(since) if since.elapsed() > GRACE_PERIOD => drop(running.kill()),
            _ => {}
        }
    }
}
