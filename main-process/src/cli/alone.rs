//! Terraform for a command that has the workspace to itself, because no Draftboard is running.

use crate::{
    host::{terraform_answer, terraform_user},
    responses::wait_for,
    terraform_worker::{self, Around, Link, Told},
};
use processes::WardenCommand;
use shared_protocol::{
    Actor, Code, Refusal,
    messages::{Answer, Applied},
    terraform::TerraformRequest,
};
use std::{path::Path, sync::Arc, thread::JoinHandle, time::Duration};
use user_folders as paths;
use workspace::now;
use workspace::{Mutation, Workspace};

const RESPONSE_LIMIT: Duration = Duration::from_secs(150);

/// Runs Terraform while the command runs; starts with the first request.
#[derive(Default)]
pub(super) struct StandaloneTerraform {
    started: Option<(Link, JoinHandle<()>)>,
}

impl StandaloneTerraform {
    fn link(&mut self) -> Result<Link, Refusal> {
        if let Some((link, _)) = &self.started {
            return Ok(link.clone());
        }
        let failed = |error: std::io::Error| Refusal::new(Code::Internal, error.to_string());
        let exe = std::env::current_exe().map_err(failed)?;
        let (link, questions) = Link::new();
        let (spawner, user) =
            (Arc::new(WardenCommand::new(exe)), terraform_user(paths::settings(), paths::plans()));
        let worker = terraform_worker::start(link.clone(), questions, Arc::new(NoListener), spawner, user);
        self.started = Some((link.clone(), worker.map_err(failed)?));
        Ok(link)
    }

    pub(super) fn request(
        &mut self,
        workspace: &mut Workspace,
        request: TerraformRequest,
        actor: &Actor,
    ) -> Result<Answer, Refusal> {
        if let TerraformRequest::Import { path, name } = &request {
            let (files, snapshot) = (Arc::clone(workspace.files()), workspace.snapshot().clone());
            let apply = |mutation| workspace.execute(&mutation, actor, now()).map(|(applied, _)| applied);
            let imported =
                terraform_worker::import(&files, &snapshot, Path::new(path), name.as_deref(), now(), apply);
            return imported.map(Answer::Terraform);
        }
        let link = self.link()?;
        link.show(workspace);
        wait_for(RESPONSE_LIMIT, |responder| {
            link.request(request, actor.clone(), responder.map(terraform_answer));
        })
    }
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
struct NoListener;

impl Around for NoListener {
    fn tell(&self, _: Told) {}

    fn apply(&self, _: Mutation, _: Actor) -> Result<Applied, Refusal> {
        Err(Refusal::new(Code::Internal, "the command line changes the workspace itself"))
    }
}
