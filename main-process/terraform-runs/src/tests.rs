//! Real runs, as window and terminals request them. Terraform's own `terraform_data` needs no cloud.

use super::{
    TerraformEvent, TerraformEvents, TerraformHandle, TerraformRequest, TerraformUserFiles,
    request_plan::PlanFile, site::WorkspaceTerraform, start, workspace_inputs::TerraformWorkspaceInputs,
};
use authority::Snapshot;
use crossbeam_channel::{Receiver, Sender, bounded};
use journal::Journal;
use shared_protocol::{
    Actor, ActorKind, BoardId, Command, ElementId, GraphDocument, NodeId, ProposalId, Refusal, RefusalCode,
    messages::AppliedCommand,
    request::{Request, Responder},
    requests::{
        CancelRun, EstimateCost, GenerateHcl, ImportBoard, ImportedBoard, ListRuns, ReadPlan, ReadRunLines,
        StartRun, WriteHcl,
    },
    terraform::{
        BoardTerraformView, CostView, DeploymentState, HclView, PlanCounts, PlanState, PlanView,
        PlannedAction, TerraformOperation, TerraformRunId, TerraformRunLine, TerraformRunState,
        TerraformRunView, TerraformView,
    },
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use test_support::{PATIENCE, requirements::TERRAFORM};
use workspace::{Mutation, Workspace, WorkspaceTemplate, create, time_and_seed};

/// Stands in for the writer: it owns the workspace, and shows it after each change.
struct WriterFixture {
    /// Taken when the test closes the workspace.
    workspace: Mutex<Option<Workspace>>,
    handle: TerraformHandle,
    published: Sender<TerraformEvent>,
}

impl TerraformEvents for WriterFixture {
    fn publish(&self, told: TerraformEvent) {
        // A test that has ended takes nothing any more.
        let _ = self.published.send(told);
    }

    fn apply(&self, mutation: Mutation, actor: Actor) -> Result<AppliedCommand, Refusal> {
        let mut workspace = self.workspace.lock().unwrap();
        let workspace = workspace.as_mut().unwrap();
        let (applied, _) = workspace.execute(&mutation, &actor, time_and_seed())?;
        self.handle.show(workspace);
        Ok(applied)
    }
}

/// The Terraform of a workspace with one blank board, and the events that its window receives.
struct TerraformRunsFixture {
    writer: Arc<WriterFixture>,
    worker: Option<JoinHandle<()>>,
    root: PathBuf,
    _folder: tempfile::TempDir,
    published: Receiver<TerraformEvent>,
    board: BoardId,
    view: TerraformView,
    lines: Vec<(TerraformRunId, u64, TerraformRunLine, Instant)>,
}

impl Drop for TerraformRunsFixture {
    fn drop(&mut self) {
        self.writer.handle.stop();
        drop(self.worker.take().map(JoinHandle::join));
    }
}

impl TerraformRunsFixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("workspace");
        let board = BoardId::from_bits(7);
        create(&root, WorkspaceTemplate::Blank, board).unwrap();
        let workspace = Workspace::open(&root, time_and_seed()).unwrap();
        let (handle, orders) = TerraformHandle::new();
        handle.show(&workspace);
        let (publish, published) = bounded(10_000);
        let workspace = Mutex::new(Some(workspace));
        let writer = Arc::new(WriterFixture { workspace, handle: handle.clone(), published: publish });
        let events: Arc<dyn TerraformEvents> = Arc::<WriterFixture>::clone(&writer);
        let worker =
            start(handle, orders, events, Arc::new(processes::ProcessGroupSpawner), user(folder.path()))
                .unwrap();
        let (view, lines) = (TerraformView::default(), Vec::new());
        Self { writer, worker: Some(worker), root, _folder: folder, published, board, view, lines }
    }

    /// Ends the worker and proves that what it leaves is whole: it did not panic, the graph loads, the chain holds.
    fn finish(mut self) {
        let document = self.document();
        self.writer.handle.stop();
        self.worker.take().unwrap().join().expect("the worker did not panic");
        self.writer.workspace.lock().unwrap().take().unwrap().close();
        Snapshot::from_document(document, Arc::default()).expect("the graph is whole");
        Journal::open(&self.root.join(".draftboard")).unwrap().verify().expect("the chain holds");
    }

    fn mutate(&self, mutation: Mutation) -> AppliedCommand {
        self.writer.apply(mutation, actor()).unwrap()
    }

    fn edit(&self, command: &str) -> Vec<ElementId> {
        let command: Command = serde_json::from_str(command).expect(command);
        self.mutate(Mutation::Run(Box::new(command))).created
    }

    fn document(&self) -> GraphDocument {
        self.writer.workspace.lock().unwrap().as_ref().unwrap().snapshot().to_document()
    }

    fn send<R: Request>(&self, request: R) -> Receiver<Result<R::Response, Refusal>>
    where
        TerraformRequest: From<(R, Responder<R::Response>)>,
    {
        let (done, responses) = bounded(1);
        let responder = Responder::new(move |result| drop(done.send(result)));
        self.writer.handle.request(request, actor(), responder);
        responses
    }

    fn add(&self, name: &str, props: &str) -> NodeId {
        let command = format!(
            r#"{{"addNode":{{"board":"infrastructure","type":"terraform/core/terraform_data","name":"{name}","props":{props}}}}}"#
        );
        match self.edit(&command)[0] {
            ElementId::Node(id) => id,
            other => panic!("{other:?}"),
        }
    }

    fn set(&self, node: NodeId, key: &str, value: &str) {
        self.edit(&format!(r#"{{"updateNode":{{"node":"{node}","set":{{"{key}":{value}}}}}}}"#));
    }

    fn request<R: Request>(&self, request: R) -> Result<R::Response, Refusal>
    where
        TerraformRequest: From<(R, Responder<R::Response>)>,
    {
        self.send(request).recv_timeout(PATIENCE).unwrap()
    }

    fn start(&self, operation: TerraformOperation) -> Result<TerraformRunId, Refusal> {
        let (board, confirmed) = (self.board, operation.needs_confirmation());
        self.request(StartRun { board, operation, confirmed, secrets: Vec::new() })
    }

    /// Takes in what the window hears until it is so.
    fn until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            let left = PATIENCE.saturating_sub(start.elapsed());
            match self.published.recv_timeout(left) {
                Ok(TerraformEvent::View(view)) => self.view = *view,
                Ok(TerraformEvent::Lines { run, first, lines }) => {
                    let now = Instant::now();
                    self.lines.extend((first..).zip(lines).map(|(number, line)| (run, number, line, now)));
                }
                Err(error) => panic!("{what}: {error}; {:#?}", self.view),
            }
        }
    }

    fn seen(&self) -> Option<&BoardTerraformView> {
        self.view.boards.iter().find(|board| board.board == self.board)
    }

    fn last_run(&self) -> Option<&TerraformRunView> {
        self.seen()?.run.as_ref()
    }

    fn status(&self, node: NodeId) -> Option<DeploymentState> {
        self.seen()?.statuses.iter().find(|(id, _)| *id == node).map(|(_, status)| *status)
    }

    fn run_to_end(&mut self, operation: TerraformOperation) -> TerraformRunView {
        let run = self.start(operation).unwrap();
        self.until("the end of a run", |bench| {
            bench.last_run().is_some_and(|last| {
                last.id == run
                    && !matches!(last.state, TerraformRunState::Running | TerraformRunState::Cancelling)
            })
        });
        self.last_run().unwrap().clone()
    }

    fn succeed(&mut self, operation: TerraformOperation) -> TerraformRunView {
        let run = self.run_to_end(operation);
        assert!(matches!(run.state, TerraformRunState::Succeeded { .. }), "{run:?} {:#?}", self.lines);
        run
    }

    fn hcl(&self) -> HclView {
        self.request(GenerateHcl { board: self.board }).unwrap()
    }

    fn plan(&self) -> Option<PlanView> {
        self.request(ReadPlan { board: self.board }).unwrap()
    }
}

#[test]
fn a_whole_life_as_the_window_sees_it() {
    if !TERRAFORM.is_available() {
        return;
    }
    let mut bench = TerraformRunsFixture::new();
    let first = bench.add("first", r#"{"input":"one"}"#);
    let second = bench.add("second", r#"{"triggers_replace":["a"]}"#);
    bench.succeed(TerraformOperation::Init);
    bench.succeed(TerraformOperation::Validate);
    assert!(bench.view.program.as_ref().unwrap().is_ok());

    let planned = bench.succeed(TerraformOperation::Plan);
    assert_eq!(planned.summary, Some(PlanCounts { add: 2, change: 0, remove: 0 }));
    let seen = bench.seen().unwrap();
    assert_eq!(seen.planned, sorted([(first, PlannedAction::Create), (second, PlannedAction::Create)]));
    assert_eq!(seen.plan, PlanState::Ready(PlanCounts { add: 2, change: 0, remove: 0 }));
    assert_eq!(bench.status(first), Some(DeploymentState::Pending));

    // A plan is for the board it was made of, also when that comes back.
    bench.set(first, "input", r#""two""#);
    bench.until("outdated", |bench| matches!(bench.seen().unwrap().plan, PlanState::Outdated(_)));
    assert!(bench.plan().unwrap().outdated);
    assert_eq!(bench.start(TerraformOperation::ApplyPlan).unwrap_err().code, RefusalCode::Stale);
    bench.mutate(Mutation::Undo);
    bench.until("fits again", |bench| matches!(bench.seen().unwrap().plan, PlanState::Ready(_)));

    let applied = bench.succeed(TerraformOperation::ApplyPlan);
    assert_eq!(applied.progress, Some((2, 2)));
    assert_eq!(
        (bench.status(first), bench.status(second)),
        (Some(DeploymentState::Created), Some(DeploymentState::Created))
    );
    assert_eq!(bench.seen().unwrap().plan, PlanState::None);
    assert_eq!(bench.start(TerraformOperation::ApplyPlan).unwrap_err().code, RefusalCode::NotFound);

    bench.set(first, "input", r#""two""#);
    bench.set(second, "triggers_replace", r#"["b"]"#);
    bench.succeed(TerraformOperation::Plan);
    let plan = bench.plan().unwrap();
    assert_eq!(plan.counts, PlanCounts { add: 1, change: 1, remove: 1 });
    let change = plan.changes.iter().find(|change| change.node == Some(first)).unwrap();
    let input = change.attributes.iter().find(|attribute| attribute.path == "input").unwrap();
    assert_eq!((input.before.as_deref(), input.after.as_deref()), (Some("one"), Some("two")));
    let change = plan.changes.iter().find(|change| change.node == Some(second)).unwrap();
    assert_eq!(change.action, PlannedAction::Replace);
    assert_eq!(change.reason.as_deref(), Some("it cannot be changed in place"));
    bench.succeed(TerraformOperation::Apply);

    bench.succeed(TerraformOperation::Destroy);
    assert_eq!(
        (bench.status(first), bench.status(second)),
        (Some(DeploymentState::Destroyed), Some(DeploymentState::Destroyed))
    );
    let history = bench.request(ListRuns { board: bench.board }).unwrap();
    let operations: Vec<TerraformOperation> = history.iter().rev().map(|run| run.operation).collect();
    let expected = [
        TerraformOperation::Init,
        TerraformOperation::Validate,
        TerraformOperation::Plan,
        TerraformOperation::ApplyPlan,
        TerraformOperation::Plan,
        TerraformOperation::Apply,
        TerraformOperation::Destroy,
    ];
    assert_eq!(operations, expected);
    // The pushed lines are those that can be requested; of an older run too, from its log.
    for run in &history {
        let pushed: Vec<&str> = bench
            .lines
            .iter()
            .filter(|(id, ..)| *id == run.id)
            .map(|(_, _, line, _)| line.text.as_str())
            .collect();
        let (_, lines) = bench.request(ReadRunLines { run: run.id, from: 0 }).unwrap();
        let read: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!((pushed.len() as u64, &pushed), (run.lines, &read), "{:?}", run.operation);
        assert!(bench.root.join(&run.log).is_file());
    }
    bench.finish();
}

fn actor() -> Actor {
    Actor::new(ActorKind::Terminal, "test")
}

fn user(folder: &Path) -> TerraformUserFiles {
    let (settings, plans) = (folder.join("settings.toml"), folder.join("plans"));
    TerraformUserFiles { settings, plans, read_program: |_| Ok(None) }
}

fn sorted<const N: usize>(mut all: [(NodeId, PlannedAction); N]) -> Vec<(NodeId, PlannedAction)> {
    all.sort_by_key(|(node, _)| *node);
    all.to_vec()
}

#[test]
fn each_line_reaches_the_window_soon_after_it_was_printed() {
    if !TERRAFORM.is_available() {
        return;
    }
    let mut bench = TerraformRunsFixture::new();
    let command = "for n in 1 2 3 4 5 6 7 8; do date +printed-%s%N; sleep 0.15; done";
    let extra = format!("provisioner \"local-exec\" {{\n  command = \"{command}\"\n}}\n");
    bench.add("slow", &serde_json::json!({ "extra": extra }).to_string());
    bench.succeed(TerraformOperation::Init);
    let run = bench.start(TerraformOperation::Apply).unwrap();
    // The clocks of both sides, tied to one another.
    let (at, clock) = (Instant::now(), SystemTime::now().duration_since(UNIX_EPOCH).unwrap());
    bench.until("the end", |bench| {
        bench
            .last_run()
            .is_some_and(|last| last.id == run && matches!(last.state, TerraformRunState::Succeeded { .. }))
    });
    let mut delays = Vec::new();
    for (_, _, line, heard) in &bench.lines {
        let Some((_, printed)) = line.text.split_once("printed-") else { continue };
        let Ok(nanos) = printed.trim().parse::<u64>() else { continue };
        let heard = clock + heard.duration_since(at);
        delays.push((line.text.clone(), heard.saturating_sub(Duration::from_nanos(nanos))));
    }
    assert_eq!(delays.len(), 8, "{:#?}", bench.lines);
    let worst = delays.iter().map(|(_, delay)| *delay).max().unwrap();
    eprintln!("a line reached the window's channel at worst {worst:?} after it was printed (goal 200 ms)");
    assert!(delays.is_sorted_by_key(|(text, _)| text.clone()), "{delays:?}");
    // Numbered without a gap, each once.
    let numbers: Vec<u64> =
        bench.lines.iter().filter(|(id, ..)| *id == run).map(|(_, number, ..)| *number).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
    // And they came while it ran: the first well before the last.
    assert!(delays.iter().all(|(_, delay)| *delay < Duration::from_secs(5)));
}

#[test]
fn a_run_is_alone_on_its_board_and_can_be_cancelled() {
    if !TERRAFORM.is_available() {
        return;
    }
    let mut bench = TerraformRunsFixture::new();
    let marker = 8_000_000 + u64::from(std::process::id());
    let extra =
        format!("provisioner \"local-exec\" {{\n  command = \"echo started; exec sleep {marker}\"\n}}\n");
    let node = bench.add("slow", &serde_json::json!({ "extra": extra }).to_string());
    bench.succeed(TerraformOperation::Init);
    let run = bench.start(TerraformOperation::Apply).unwrap();
    assert_eq!(bench.start(TerraformOperation::Plan).unwrap_err().code, RefusalCode::Conflict);
    bench.until("the program's own child", |bench| {
        bench.lines.iter().any(|(.., line, _)| line.text.contains("started") && !line.text.contains("sleep"))
    });
    bench.until("creating", |bench| bench.status(node) == Some(DeploymentState::Creating));
    bench.request(CancelRun { run }).unwrap();
    bench.until("cancelled", |bench| {
        bench.last_run().is_some_and(|last| matches!(last.state, TerraformRunState::Cancelled { .. }))
    });
    assert!(!is_running(&marker.to_string()), "the program's own child is still there");
    assert_eq!(bench.status(node), Some(DeploymentState::Failed));
    let refused = bench.request(CancelRun { run });
    assert_eq!(refused.unwrap_err().code, RefusalCode::Conflict);
}

fn is_running(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.into_iter().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    })
}

#[test]
fn a_renamed_board_does_not_lose_its_state() {
    if !TERRAFORM.is_available() {
        return;
    }
    let mut bench = TerraformRunsFixture::new();
    let node = bench.add("first", "{}");
    bench.succeed(TerraformOperation::Init);
    bench.succeed(TerraformOperation::Apply);
    bench.edit(r#"{"updateBoard":{"board":"infrastructure","name":"live"}}"#);
    let refused = bench.start(TerraformOperation::Plan).unwrap_err();
    assert!(refused.to_string().contains("terraform/infrastructure"), "{refused}");
    let folder = bench.root.join("terraform");
    std::fs::rename(folder.join("infrastructure"), folder.join("live")).unwrap();
    let plan = bench.succeed(TerraformOperation::Plan);
    assert_eq!(plan.summary, Some(PlanCounts::default()));
    assert_eq!(bench.status(node), Some(DeploymentState::Created));
}

#[test]
fn files_are_shown_with_their_differences_and_written() {
    let bench = TerraformRunsFixture::new();
    let node = bench.add("first", r#"{"input":"one"}"#);
    let view = bench.hcl();
    let main = view.files.iter().find(|file| file.path == "main.tf").unwrap();
    assert!(main.text.contains("\"first\"") && main.on_disk.as_deref() == Some(""));
    let span = view.spans.iter().find(|span| span.node == node).unwrap();
    assert!(main.text.lines().nth(span.first as usize - 1).unwrap().contains("first"));
    let written = bench.request(WriteHcl { board: bench.board }).unwrap().written;
    assert!(written.contains(&"terraform/infrastructure/main.tf".to_owned()), "{written:?}");
    assert!(bench.root.join("terraform/.gitignore").is_file());
    assert!(bench.hcl().files.iter().all(|file| file.on_disk.is_none()));
    bench.set(node, "input", r#""two""#);
    let main = bench.hcl().files.into_iter().find(|file| file.path == "main.tf").unwrap();
    assert!(main.on_disk.unwrap().contains("\"one\"") && main.text.contains("\"two\""));
}

#[test]
fn what_needs_a_word_is_not_done_without_one() {
    let bench = TerraformRunsFixture::new();
    bench.add("first", "{}");
    for operation in TerraformOperation::ALL.into_iter().filter(|operation| operation.needs_confirmation()) {
        let request = StartRun { board: bench.board, operation, confirmed: false, secrets: Vec::new() };
        assert_eq!(bench.request(request).unwrap_err().code, RefusalCode::ConfirmationRequired);
    }
    let secrets = vec![("a b".to_owned(), "x".to_owned())];
    let request =
        StartRun { board: bench.board, operation: TerraformOperation::Plan, confirmed: false, secrets };
    assert_eq!(bench.request(request).unwrap_err().code, RefusalCode::BadRequest);
}

#[test]
fn prices_come_from_the_workspace_and_what_is_wrong_is_named() {
    let bench = TerraformRunsFixture::new();
    bench.add("first", "{}");
    let cost = |bench: &TerraformRunsFixture| -> Result<CostView, Refusal> {
        bench.request(EstimateCost { board: bench.board })
    };
    let view = cost(&bench).unwrap();
    assert_eq!((view.nodes.len(), view.currency), (1, None));
    std::fs::create_dir(bench.root.join("prices")).unwrap();
    let book = bench.root.join("prices/own.json");
    std::fs::write(&book, r#"{"format":1,"currency":"EUR","prices":[]}"#).unwrap();
    assert_eq!(cost(&bench).unwrap().currency.as_deref(), Some("EUR"));
    std::fs::write(&book, r#"{"format":1,"currency":"euro"}"#).unwrap();
    let refused = cost(&bench).unwrap_err();
    assert!(refused.message.contains("prices/own.json"), "{refused}");
}

#[test]
fn a_folder_becomes_a_board_in_one_operation() {
    let bench = TerraformRunsFixture::new();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("Web shop");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("main.tf"), "resource \"terraform_data\" \"a\" {\n  input = \"x\"\n}\n")
        .unwrap();
    let path = source.display().to_string();
    let import =
        |name: Option<&str>| bench.request(ImportBoard { path: path.clone(), name: name.map(str::to_owned) });
    let ImportedBoard { board, .. } = import(None).unwrap();
    let document = bench.document();
    assert_eq!(document.boards.iter().find(|known| known.id == board).unwrap().name.as_str(), "web-shop");
    assert_eq!(document.nodes.iter().filter(|node| node.board == board).count(), 1);
    assert_eq!(import(Some("web-shop")).unwrap_err().code, RefusalCode::Conflict);
    let ImportedBoard { board: second, .. } = import(None).unwrap();
    let document = bench.document();
    assert_eq!(document.boards.iter().find(|known| known.id == second).unwrap().name.as_str(), "web-shop-2");
    bench.mutate(Mutation::Undo);
    bench.mutate(Mutation::Undo);
    assert_eq!(bench.document().boards.len(), 1);
    let missing = ImportBoard { path: "/nowhere".to_owned(), name: None };
    assert_eq!(bench.request(missing).unwrap_err().code, RefusalCode::NotFound);
    bench.finish();
}

#[test]
fn settings_of_an_import_join_the_projects_own() {
    let bench = TerraformRunsFixture::new();
    let folder = tempfile::tempdir().unwrap();
    let text = "terraform {\n  required_version = \">= 1.6\"\n  backend \"local\" {\n    path = \"x.tfstate\"\n  }\n}\n\
                resource \"terraform_data\" \"a\" {}\n";
    std::fs::write(folder.path().join("main.tf"), text).unwrap();
    let config = bench.root.join("draftboard.toml");
    let before = format!("{}# mine\n", std::fs::read_to_string(&config).unwrap());
    std::fs::write(&config, &before).unwrap();
    let request = ImportBoard { path: folder.path().display().to_string(), name: Some("shop".to_owned()) };
    let ImportedBoard { notes, .. } = bench.request(request).unwrap();
    let after = std::fs::read_to_string(&config).unwrap();
    assert!(after.starts_with(before.trim_end()), "{after}");
    assert!(after.contains("[infrastructure.boards.shop]"), "{after} {notes:#?}");
    assert!(notes.iter().any(|note| note.message.contains("draftboard.toml")), "{notes:#?}");
}

#[test]
fn projects_bring_their_settings_each_for_its_own_board() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../terraform/tests/fixtures/terrastudio");
    let bench = TerraformRunsFixture::new();
    let folder = tempfile::tempdir().unwrap();
    let mut with_settings = 0;
    for entry in std::fs::read_dir(&fixtures).unwrap().flatten() {
        // As such a project lies on a disk.
        let project = folder.path().join(entry.file_name());
        std::fs::create_dir_all(project.join("diagrams")).unwrap();
        std::fs::copy(entry.path().join("project.tstudio"), project.join("project.tstudio")).unwrap();
        std::fs::copy(entry.path().join("main.json"), project.join("diagrams/main.json")).unwrap();
        let request = ImportBoard { path: project.display().to_string(), name: None };
        let ImportedBoard { board, notes, .. } = bench.request(request).unwrap();
        let told = |words: &str| notes.iter().any(|note| note.message.contains(words));
        assert!(!told("were not added"), "{notes:#?}");
        with_settings += usize::from(told("are in draftboard.toml"));
        assert!(bench.request(GenerateHcl { board }).unwrap().files.len() > 2);
    }
    assert!(with_settings > 3, "{with_settings}");
    bench.finish();
}

#[test]
fn drawing_goes_on_while_a_large_board_becomes_files() {
    let bench = TerraformRunsFixture::new();
    let commands: Vec<serde_json::Value> = (0..5_000)
        .map(|number| {
            serde_json::json!({ "addNode": {
                "board": "infrastructure", "type": "terraform/core/terraform_data", "name": format!("node_{number}"),
                "at": { "x": number % 70 * 220, "y": number / 70 * 120 }
            } })
        })
        .collect();
    bench.edit(&serde_json::json!({ "batch": { "commands": commands } }).to_string());
    let files = bench.send(GenerateHcl { board: bench.board });
    bench.add("one_more", "{}");
    assert!(files.try_recv().is_err(), "the writer waited for the files");
    files.recv_timeout(PATIENCE).unwrap().unwrap();
}

#[test]
fn what_a_plan_of_a_proposal_left_is_removed_when_the_workspace_is_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("workspace");
    create(&root, WorkspaceTemplate::Blank, BoardId::from_bits(7)).unwrap();
    let left = root.join(".draftboard/trials/3/board");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("terraform.tfstate"), "secret").unwrap();
    let workspace = Workspace::open(&root, time_and_seed()).unwrap();
    let ground = TerraformWorkspaceInputs {
        files: Arc::clone(workspace.files()),
        snapshot: workspace.snapshot().clone(),
    };
    let user = user(folder.path());
    let file = PlanFile::make(&user.plans, workspace.root(), ProposalId::from_bits(3)).unwrap();
    let path = file.path().to_owned();
    // As a killed process does.
    std::mem::forget(file);
    drop(WorkspaceTerraform::open(&ground, Arc::new(processes::ProcessGroupSpawner), Arc::new(user)));
    assert!(!root.join(".draftboard/trials").exists());
    assert!(!path.exists(), "a saved plan holds secrets");
}
