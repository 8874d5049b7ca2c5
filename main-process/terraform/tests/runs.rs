//! The full life cycle of real resources with the real program: the built-in `terraform_data` needs no cloud.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may panic")]

mod common;

use common::{HclFixture, program};
use processes::ProcessGroupSpawner;
use shared_protocol::{
    NodeId, PropValue,
    terraform::{DeploymentState, PlanChange, PlannedAction, TerraformOperation},
};
use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use terraform::{
    GeneratedHcl,
    run::{
        ResourceAction, RunError, RunEvent, RunNodeTracker, RunRequest, TerraformProgram, TerraformRun,
        TerraformRunner,
    },
};
use test_support::{PATIENCE, processes as process_table, requirements::TERRAFORM, wait_until};

struct Site {
    folder: tempfile::TempDir,
    runs: TerraformRunner,
    program: TerraformProgram,
    bench: HclFixture,
}

impl Site {
    fn new() -> Option<Self> {
        let path = std::env::var_os("PATH");
        let program = match TerraformProgram::find(&ProcessGroupSpawner, None, path.as_deref()) {
            Ok(program) => program,
            Err(error) => {
                TERRAFORM.skip(&error.to_string());
                return None;
            }
        };
        let folder = tempfile::tempdir().unwrap();
        let runs = TerraformRunner::new(Arc::new(ProcessGroupSpawner), &folder.path().join(".draftboard"));
        Some(Self { folder, runs, program, bench: HclFixture::new() })
    }

    fn files(&self) -> std::path::PathBuf {
        self.folder.path().join("terraform/main")
    }

    fn write(&mut self) -> GeneratedHcl {
        let generated = self.bench.generate();
        std::fs::create_dir_all(self.files()).unwrap();
        program::write(&self.files(), &generated);
        generated
    }

    fn start(&self, operation: TerraformOperation) -> TerraformRun {
        let mut request = RunRequest::new(operation, "main", self.files());
        if operation.needs_confirmation() {
            request = request.with_confirmation();
        }
        self.runs.start(&self.program, &request).unwrap()
    }

    /// Runs to the end and returns the events and the status of each node.
    fn run(&mut self, operation: TerraformOperation) -> (Vec<RunEvent>, RunNodeTracker) {
        let generated = self.write();
        let run = self.start(operation);
        let mut tracker = RunNodeTracker::default();
        let mut events = Vec::new();
        loop {
            let event = run.events.recv_timeout(PATIENCE).unwrap();
            tracker.apply_event(&event, &generated, &self.bench.snapshot);
            let is_last = matches!(event, RunEvent::Ended { .. });
            events.push(event);
            if is_last {
                return (events, tracker);
            }
        }
    }

    fn succeed(&mut self, operation: TerraformOperation) -> (Vec<RunEvent>, RunNodeTracker) {
        let (events, tracker) = self.run(operation);
        assert!(
            matches!(events.last(), Some(RunEvent::Ended { success: true, .. })),
            "{operation:?}: {events:#?}"
        );
        (events, tracker)
    }
}

fn action_of(plan: &[PlanChange], node: NodeId) -> Option<PlannedAction> {
    plan.iter().find(|change| change.node == Some(node)).map(|change| change.action)
}

fn statuses(tracker: &RunNodeTracker, nodes: &[NodeId]) -> Vec<Option<DeploymentState>> {
    nodes.iter().map(|node| tracker.status(*node)).collect()
}

#[test]
fn a_whole_life() {
    let Some(mut site) = Site::new() else { return };
    let first = site.bench.add("terraform/core/terraform_data", "first", None, r#"{"input":"one"}"#);
    let second =
        site.bench.add("terraform/core/terraform_data", "second", None, r#"{"triggers_replace":["a"]}"#);
    let nodes = [first, second];

    site.succeed(TerraformOperation::Init);
    let (_, tracker) = site.succeed(TerraformOperation::Validate);
    assert!(tracker.diagnostics.is_empty());
    let (_, tracker) = site.succeed(TerraformOperation::Plan);
    assert_eq!(tracker.planned.len(), 2);
    assert_eq!(statuses(&tracker, &nodes), [Some(DeploymentState::Pending); 2]);
    let generated = site.write();
    let plan = site.runs.read_plan(&site.program, &site.files(), &generated).unwrap();
    assert_eq!(action_of(&plan, first), Some(PlannedAction::Create));

    let (events, tracker) = site.succeed(TerraformOperation::ApplyPlan);
    assert_eq!(statuses(&tracker, &nodes), [Some(DeploymentState::Created); 2]);
    assert!(
        events.iter().any(|event| matches!(event, RunEvent::Started { action: ResourceAction::Create, .. }))
    );
    assert_eq!(tracker.summary.unwrap().add, 2);
    let again = RunRequest::new(TerraformOperation::ApplyPlan, "main", site.files()).with_confirmation();
    assert!(matches!(site.runs.start(&site.program, &again), Err(RunError::NoPlan)));

    site.bench.set(first, "input", PropValue::text("two"));
    site.bench.set(second, "triggers_replace", PropValue::List(vec![PropValue::text("b")]));
    site.succeed(TerraformOperation::Plan);
    let generated = site.write();
    let plan = site.runs.read_plan(&site.program, &site.files(), &generated).unwrap();
    assert_eq!(action_of(&plan, first), Some(PlannedAction::Update));
    assert_eq!(action_of(&plan, second), Some(PlannedAction::Replace));
    let change = plan.iter().find(|change| change.node == Some(first)).unwrap();
    let input = change.attributes.iter().find(|attribute| attribute.path == "input").unwrap();
    assert_eq!((input.before.as_deref(), input.after.as_deref()), (Some("one"), Some("two")));
    let change = plan.iter().find(|change| change.node == Some(second)).unwrap();
    assert!(change.attributes.iter().any(|attribute| attribute.forces_replacement), "{change:?}");

    site.succeed(TerraformOperation::Apply);
    let state = site.runs.read_state(&site.program, &site.files()).unwrap();
    let mut tracker = RunNodeTracker::default();
    tracker.load_state(&state, &generated);
    assert_eq!(statuses(&tracker, &nodes), [Some(DeploymentState::Created); 2]);
    site.succeed(TerraformOperation::Drift);

    let (_, tracker) = site.succeed(TerraformOperation::Destroy);
    assert_eq!(statuses(&tracker, &nodes), [Some(DeploymentState::Destroyed); 2]);
    assert_eq!(site.runs.logs("main").len(), 8);
    let log = std::fs::read_to_string(site.runs.logs("main").last().unwrap()).unwrap();
    assert!(log.contains("Destruction complete"), "{log}");
    assert_eq!(site.runs.take_interrupted(), []);
}

#[test]
fn lines_arrive_as_they_are_printed() {
    let Some(mut site) = Site::new() else { return };
    let slow = "provisioner \"local-exec\" {\n  command = \"echo one; sleep 1; echo two\"\n}\n";
    let node = site.bench.add("terraform/core/terraform_data", "slow", None, "{}");
    site.bench.set(node, "extra", PropValue::text(slow));
    site.succeed(TerraformOperation::Init);
    site.write();
    let run = site.start(TerraformOperation::Apply);
    let (mut one, mut ended) = (None, None);
    while ended.is_none() {
        match run.events.recv_timeout(PATIENCE).unwrap() {
            RunEvent::Line { text, .. } if text.contains("one") && one.is_none() => {
                one = Some(Instant::now())
            }
            RunEvent::Ended { success, .. } => {
                assert!(success);
                ended = Some(Instant::now());
            }
            _ => {}
        }
    }
    // The first line arrives while the program still sleeps, not with everything at the end.
    assert!(ended.unwrap() - one.unwrap() > Duration::from_millis(700));
}

#[test]
fn a_cancelled_run_leaves_nothing_behind() {
    let Some(mut site) = Site::new() else { return };
    let marker = format!("{}", 7_000_000 + std::process::id());
    let node = site.bench.add("terraform/core/terraform_data", "slow", None, "{}");
    let slow =
        format!("provisioner \"local-exec\" {{\n  command = \"echo started; exec sleep {marker}\"\n}}\n");
    site.bench.set(node, "extra", PropValue::text(slow));
    site.succeed(TerraformOperation::Init);
    let generated = site.write();
    let run = site.start(TerraformOperation::Apply);
    let busy = RunRequest::new(TerraformOperation::Plan, "main", site.files());
    assert!(matches!(site.runs.start(&site.program, &busy), Err(RunError::Busy { .. })));
    let mut tracker = RunNodeTracker::default();
    loop {
        let event = run.events.recv_timeout(PATIENCE).unwrap();
        tracker.apply_event(&event, &generated, &site.bench.snapshot);
        match event {
            // The command is printed before it runs; its output follows.
            RunEvent::Line { text, .. } if text.contains("started") && !text.contains("sleep") => {
                assert_eq!(tracker.status(node), Some(DeploymentState::Creating));
                wait_until("the program's own child", || is_running(&marker));
                run.cancel();
            }
            RunEvent::Ended { cancelled, success, .. } => {
                assert!(cancelled && !success);
                break;
            }
            _ => {}
        }
    }
    assert!(!is_running(&marker), "the program's own child is still there");
    assert_eq!(tracker.status(node), Some(DeploymentState::Failed));
    site.bench.set(node, "extra", PropValue::text("# nothing\n"));
    site.succeed(TerraformOperation::Destroy);
}

fn is_running(word: &str) -> bool {
    process_table::all().into_iter().any(|pid| {
        let arguments = process_table::command_line(pid);
        arguments.first().is_some_and(|first| first.ends_with("sleep"))
            && arguments.iter().any(|argument| argument == word)
    })
}

#[test]
fn what_is_wrong_lands_on_the_node_and_the_property() {
    let Some(mut site) = Site::new() else { return };
    let node = site.bench.add("terraform/core/terraform_data", "wrong", None, "{}");
    site.bench.set(node, "input", PropValue::of_expression("var.nowhere"));
    site.succeed(TerraformOperation::Init);
    let (events, tracker) = site.run(TerraformOperation::Validate);
    assert!(matches!(events.last(), Some(RunEvent::Ended { success: false, .. })));
    let found = &tracker.diagnostics[0];
    assert_eq!(found.node, Some(node));
    assert_eq!(found.prop.as_ref().unwrap().as_str(), "input");
}

#[test]
fn secrets_go_by_the_environment_and_are_masked() {
    let Some(mut site) = Site::new() else { return };
    site.bench.add("terraform/core/variable", "token", None, r#"{"type":"string","sensitive":true}"#);
    let node = site.bench.add("terraform/core/terraform_data", "holder", None, "{}");
    site.bench.set(node, "input", PropValue::of_expression("var.token"));
    site.succeed(TerraformOperation::Init);
    let generated = site.write();
    let mut request = RunRequest::new(TerraformOperation::Plan, "main", site.files());
    request.secrets.insert("token".to_owned(), "hush-hush".to_owned());
    let run = site.runs.start(&site.program, &request).unwrap();
    let events: Vec<RunEvent> = run.events.iter().collect();
    assert!(matches!(events.last(), Some(RunEvent::Ended { success: true, .. })), "{events:?}");
    assert!(!format!("{events:?}").contains("hush-hush"));
    let plan = site.runs.read_plan(&site.program, &site.files(), &generated).unwrap();
    let input = plan[0].attributes.iter().find(|attribute| attribute.path == "input").unwrap();
    assert_eq!(input.after.as_deref(), Some("(sensitive)"));
    assert!(!format!("{plan:?}").contains("hush-hush"));
    assert!(!std::fs::read_to_string(&run.log).unwrap().contains("hush-hush"));
}

#[test]
fn nothing_real_changes_without_a_word() {
    let Some(site) = Site::new() else { return };
    for operation in [TerraformOperation::Apply, TerraformOperation::Destroy, TerraformOperation::ApplyPlan] {
        let request = RunRequest::new(operation, "main", site.files());
        let refused = site.runs.start(&site.program, &request).map(|_| ()).unwrap_err();
        assert!(matches!(refused, RunError::ConfirmationRequired { .. }), "{refused}");
    }
}

#[test]
fn a_missing_program_is_explained() {
    let error = TerraformProgram::find(&ProcessGroupSpawner, None, Some("/nowhere".as_ref()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("terraform or tofu") && error.contains("settings.toml"), "{error}");
    let error = TerraformProgram::find(&ProcessGroupSpawner, Some("/nowhere/terraform"), None)
        .unwrap_err()
        .to_string();
    assert!(error.contains("/nowhere/terraform"), "{error}");
}

#[test]
fn a_run_that_was_cut_off_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("terraform");
    std::fs::create_dir_all(&state).unwrap();
    let record = r#"{"board":"main","operation":"apply","log":"x.log"}"#;
    std::fs::write(state.join("main.lock"), record).unwrap();
    let runs = TerraformRunner::new(Arc::new(ProcessGroupSpawner), folder.path());
    let told = runs.take_interrupted();
    assert_eq!(told[0].operation, "apply");
    assert_eq!(runs.take_interrupted(), []);
    assert!(is_empty(&state.join("main.lock")));
}

fn is_empty(path: &Path) -> bool {
    std::fs::metadata(path).unwrap().len() == 0
}
