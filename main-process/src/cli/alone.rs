//! Terraform for a command that has the workspace to itself, because no Draftboard is running.

use crate::{
    host::{terraform_responder, terraform_user},
    terraform_worker::{self, Around, Link, Told, Wardens},
};
use crossbeam_channel::bounded;
use shared_protocol::{
    Actor, Code, Refusal,
    messages::{Answer, Applied},
    terraform::TerraformRequest,
};
use std::{path::Path, sync::Arc, thread::JoinHandle, time::Duration};
use user_folders as paths;
use workspace::now;
use workspace::{Mutation, Workspace};

const LIMIT: Duration = Duration::from_secs(150);

/// The part that runs Terraform, for as long as the command takes.
pub(super) struct Alone {
    link: Link,
    worker: Option<JoinHandle<()>>,
}

impl Alone {
    fn start() -> Result<Self, Refusal> {
        let failed = |error: std::io::Error| Refusal::new(Code::Internal, error.to_string());
        let exe = std::env::current_exe().map_err(failed)?;
        let (link, questions) = Link::new();
        let (spawner, user) =
            (Arc::new(Wardens::new(exe)), terraform_user(paths::settings(), paths::plans()));
        let worker = terraform_worker::start(link.clone(), questions, Arc::new(Nobody), spawner, user);
        Ok(Self { link, worker: Some(worker.map_err(failed)?) })
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        self.link.stop();
        if self.worker.take().is_some_and(|worker| worker.join().is_err()) {
            tracing::error!("the part that runs Terraform ended with a fault");
        }
    }
}

/// There is no window, and whoever asks has the workspace.
struct Nobody;

impl Around for Nobody {
    fn tell(&self, _: Told) {}

    fn apply(&self, _: Mutation, _: Actor) -> Result<Applied, Refusal> {
        Err(Refusal::new(Code::Internal, "nobody is there to change the workspace"))
    }
}

pub(super) fn ask(
    workspace: &mut Workspace,
    alone: &mut Option<Alone>,
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
    let alone = match alone {
        Some(alone) => alone,
        None => alone.insert(Alone::start()?),
    };
    alone.link.show(workspace);
    let (done, answered) = bounded(1);
    let responder = terraform_responder(Box::new(move |result| drop(done.send(result))));
    alone.link.request(request, actor.clone(), responder);
    answered.recv_timeout(LIMIT).unwrap_or_else(|_| Err(Refusal::new(Code::Timeout, "no answer in time")))
}
