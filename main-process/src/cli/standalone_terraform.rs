//! Terraform for a command that has the workspace to itself, because no Draftboard is running.

use crate::{responses::wait_for, writer::terraform_user};
use processes::WardenCommandLine;
use shared_protocol::{
    Actor, Refusal, RefusalCode,
    messages::AppliedCommand,
    request::{Request, Responder},
    requests::{ImportBoard, ImportedBoard},
};
use std::{path::Path, sync::Arc, thread::JoinHandle, time::Duration};
use terraform_runs::{TerraformEvent, TerraformEvents, TerraformHandle, TerraformRequest};
use user_folders as paths;
use workspace::time_and_seed;
use workspace::{Mutation, Workspace};

const RESPONSE_LIMIT: Duration = Duration::from_secs(150);

/// Runs Terraform while the command runs; starts with the first request.
#[derive(Default)]
pub(super) struct StandaloneTerraform {
    started: Option<(TerraformHandle, JoinHandle<()>)>,
}

impl StandaloneTerraform {
    fn link(&mut self) -> Result<TerraformHandle, Refusal> {
        if let Some((link, _)) = &self.started {
            return Ok(link.clone());
        }
        let failed = |error: std::io::Error| Refusal::new(RefusalCode::Internal, error.to_string());
        let exe = std::env::current_exe().map_err(failed)?;
        let (link, questions) = TerraformHandle::new();
        let (spawner, user) =
            (Arc::new(WardenCommandLine::new(exe)), terraform_user(paths::settings(), paths::plans()));
        let worker =
            terraform_runs::start(link.clone(), questions, Arc::new(NoTerraformListener), spawner, user);
        self.started = Some((link.clone(), worker.map_err(failed)?));
        Ok(link)
    }

    pub(super) fn request<R: Request>(
        &mut self,
        workspace: &Workspace,
        request: R,
        actor: Actor,
    ) -> Result<R::Response, Refusal>
    where
        TerraformRequest: From<(R, Responder<R::Response>)>,
    {
        let link = self.link()?;
        link.show(workspace);
        wait_for(RESPONSE_LIMIT, |responder| link.request(request, actor, responder))
    }
}

/// Imports a folder into the workspace of the command.
pub(super) fn import(
    workspace: &mut Workspace,
    request: &ImportBoard,
    actor: &Actor,
) -> Result<ImportedBoard, Refusal> {
    let ImportBoard { path, name } = request;
    let (files, snapshot) = (Arc::clone(workspace.files()), workspace.snapshot().clone());
    let apply = |mutation| workspace.execute(&mutation, actor, time_and_seed()).map(|(applied, _)| applied);
    terraform_runs::import(&files, &snapshot, Path::new(path), name.as_deref(), time_and_seed(), apply)
}

impl Drop for StandaloneTerraform {
    fn drop(&mut self) {
        if let Some((link, worker)) = self.started.take() {
            link.stop();
            if worker.join().is_err() {
                tracing::error!("the thread that runs Terraform ended with a fault");
            }
        }
    }
}

/// There is no window, and the command itself changes the workspace.
struct NoTerraformListener;

impl TerraformEvents for NoTerraformListener {
    fn publish(&self, _: TerraformEvent) {}

    fn apply(&self, _: Mutation, _: Actor) -> Result<AppliedCommand, Refusal> {
        Err(Refusal::new(RefusalCode::Internal, "the command line changes the workspace itself"))
    }
}
