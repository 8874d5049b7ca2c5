//! Spec bundles follow every operation of the workspace, and what changes them is an operation.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use journal::WorkspacePath;
use serde_json::json;
use shared_protocol::{
    Actor, ActorKind, BoardId, NodeId, Refusal, RefusalCode,
    bundle::{BundlesView, EntityRef},
    messages::AppliedCommand,
    requests::{ChangeBundle, CheckedBundle, DrawMap},
};
use std::{fs, path::Path};
use workspace_fixture::WorkspaceFixture;

const THREAT: &str = "specs/parcel/bundle/threats/THR-jam.yaml";

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).map(drop).unwrap();
        }
    }
}

fn put(root: &Path, fixture: &str, at: &str) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bundles/tests/fixtures/bundles");
    copy(&fixtures.join(fixture), &root.join(at));
}

fn parcel() -> WorkspaceFixture {
    WorkspaceFixture::with_files(|root| put(root, "parcel", "specs/parcel"))
}

fn view(bench: &WorkspaceFixture) -> BundlesView {
    bench.ws().bundles().view()
}

fn generation(bench: &WorkspaceFixture, id: &str) -> u64 {
    view(bench).bundles.iter().find(|bundle| bundle.id == id).unwrap().generation
}

fn title(bench: &WorkspaceFixture, kind: &str, id: &str) -> Option<String> {
    let entity = bench.ws().bundles().bundles().get("parcel")?.entity(kind, id)?;
    entity.title().map(str::to_owned)
}

fn change(bench: &mut WorkspaceFixture, changes: &serde_json::Value) -> Result<AppliedCommand, Refusal> {
    let (actor, moment) = (Actor::new(ActorKind::Window, "ada"), bench.moment());
    let request = ChangeBundle { bundle: "parcel".to_owned(), changes: changes.to_string() };
    bench.workspace().change_bundle(&request, &actor, moment).map(|(applied, _)| applied)
}

fn retitle(id: &str, title: &str) -> serde_json::Value {
    json!([{ "operation": "update", "entityType": "Threat", "entityId": id, "fieldPath": "title", "value": title }])
}

fn look(bench: &mut WorkspaceFixture, file: &str) {
    let moment = bench.moment();
    bench.workspace().file_changed(&WorkspacePath::parse(file).unwrap(), moment);
}

fn file(bench: &WorkspaceFixture, path: &str) -> String {
    fs::read_to_string(bench.root().join(path)).unwrap()
}

#[test]
fn what_is_shown_names_types_and_counts() {
    let bench = parcel();
    let view = view(&bench);
    let [bundle] = &view.bundles[..] else { panic!("{view:?}") };
    assert_eq!((bundle.id.as_str(), bundle.folder.as_str()), ("parcel", "specs/parcel"));
    // Two rules of profiles name requirements that are not there.
    assert_eq!((bundle.errors, bundle.has_knowledge), (2, true));
    let types: Vec<(&str, u64)> = bundle.types.iter().map(|t| (t.name.as_str(), t.count)).collect();
    assert!(types.contains(&("Requirement", 5)), "{types:?}");
    assert!(bench.ws().status().notices.is_empty(), "{:?}", bench.ws().status().notices);
}

#[test]
fn a_change_is_one_operation_on_the_disk_and_undo_takes_it_back() {
    let mut bench = parcel();
    let before = file(&bench, THREAT);
    let first = generation(&bench, "parcel");
    let applied = change(&mut bench, &retitle("THR-jam", "Stuck")).unwrap();
    assert_eq!(applied.summary, "Change Threat THR-jam");
    assert_eq!(title(&bench, "Threat", "THR-jam").as_deref(), Some("Stuck"));
    assert!(file(&bench, THREAT).contains("Stuck") && bench.is_saved());
    let second = generation(&bench, "parcel");
    assert!(second > first);
    bench.undo();
    assert_eq!(file(&bench, THREAT), before);
    assert_ne!(title(&bench, "Threat", "THR-jam").as_deref(), Some("Stuck"));
    assert!(generation(&bench, "parcel") > second, "an undo changes it too");
    bench.redo();
    assert_eq!(title(&bench, "Threat", "THR-jam").as_deref(), Some("Stuck"));
    bench.reopen();
    assert_eq!(title(&bench, "Threat", "THR-jam").as_deref(), Some("Stuck"));
}

#[test]
fn a_dry_run_changes_nothing_and_what_is_wrong_is_refused() {
    let mut bench = parcel();
    let gone = json!([{ "operation": "delete", "entityType": "Feature", "entityId": "FEAT-pickup" }]);
    let CheckedBundle { possible, diagnostics, .. } =
        bench.ws().bundles().check("parcel", &gone.to_string()).unwrap();
    assert!(!possible && diagnostics.iter().any(|found| found.code.as_deref() == Some("DELETE_BLOCKED")));
    assert_eq!(change(&mut bench, &gone).unwrap_err().code, RefusalCode::ReferenceError);
    assert_eq!(change(&mut bench, &json!("no list")).unwrap_err().code, RefusalCode::BadRequest);
    assert!(bench.log().is_empty());
}

#[test]
fn an_edit_by_another_program_is_followed_and_touches_that_file_alone() {
    let mut bench = WorkspaceFixture::with_files(|root| {
        put(root, "parcel", "specs/parcel");
        put(root, "minimal", "specs/minimal");
    });
    let other = generation(&bench, "minimal");
    let entity = |bench: &WorkspaceFixture| {
        std::ptr::from_ref(
            bench.ws().bundles().bundles().get("parcel").unwrap().entity_by_id("ACT-courier").unwrap(),
        )
    };
    let untouched = entity(&bench);
    let text = file(&bench, THREAT).replace("title:", "title: Theirs #");
    fs::write(bench.root().join(THREAT), text).unwrap();
    look(&mut bench, THREAT);
    assert_eq!(title(&bench, "Threat", "THR-jam").as_deref(), Some("Theirs"));
    assert_eq!(entity(&bench), untouched, "nothing else was read again");
    assert_eq!(generation(&bench, "minimal"), other);
    bench.undo();
    assert_ne!(title(&bench, "Threat", "THR-jam").as_deref(), Some("Theirs"));
}

#[test]
fn what_is_broken_disables_itself_and_is_a_notice() {
    let mut bench = parcel();
    let notices = |bench: &WorkspaceFixture| -> Vec<String> {
        bench.ws().status().notices.into_iter().map(|notice| notice.message).collect()
    };
    let good = file(&bench, THREAT);
    fs::write(bench.root().join(THREAT), "id: [\n").unwrap();
    look(&mut bench, THREAT);
    assert_eq!(title(&bench, "Threat", "THR-jam"), None);
    assert!(title(&bench, "Actor", "ACT-courier").is_some());
    assert!(notices(&bench).iter().any(|text| text.contains("loaded only in part")), "{:?}", notices(&bench));
    fs::write(bench.root().join(THREAT), good).unwrap();
    look(&mut bench, THREAT);
    assert!(notices(&bench).is_empty(), "{:?}", notices(&bench));

    let manifest = "specs/parcel/sdd-bundle.yaml";
    let good = file(&bench, manifest);
    fs::write(bench.root().join(manifest), "- no\n").unwrap();
    look(&mut bench, manifest);
    let shown = view(&bench);
    assert!(shown.bundles.is_empty() && shown.failed[0].0 == "specs/parcel", "{shown:?}");
    assert!(notices(&bench)[0].contains("cannot be used as a bundle"), "{:?}", notices(&bench));
    fs::write(bench.root().join(manifest), good).unwrap();
    look(&mut bench, manifest);
    assert!(title(&bench, "Threat", "THR-jam").is_some() && notices(&bench).is_empty());
}

#[test]
fn bundles_come_and_go_with_their_folders_in_a_stable_order() {
    let mut bench = parcel();
    put(bench.root(), "minimal", "specs/a");
    let moment = bench.moment();
    bench.workspace().everything_changed(moment);
    let ids =
        |bench: &WorkspaceFixture| -> Vec<String> { view(bench).bundles.into_iter().map(|b| b.id).collect() };
    assert_eq!(ids(&bench), ["a", "parcel"]);
    let toml = file(&bench, "draftboard.toml").replace("specs/*", "specs/p*");
    fs::write(bench.root().join("draftboard.toml"), toml).unwrap();
    look(&mut bench, "draftboard.toml");
    assert_eq!(ids(&bench), ["parcel"]);
}

#[test]
fn what_was_planned_on_an_older_file_is_refused() {
    let mut bench = parcel();
    let arguments = json!({ "bundleId": "parcel", "changes": retitle("THR-jam", "Late"), "dryRun": false });
    let plan = bundles::plan(bench.ws().bundles().bundles(), &arguments).unwrap();
    change(&mut bench, &retitle("THR-jam", "Early")).unwrap();
    let (actor, moment) = (Actor::new(ActorKind::Window, "ada"), bench.moment());
    let refusal = bench.workspace().apply(&plan, &actor, moment).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Stale);
    // On the disk, and not yet looked at.
    fs::write(bench.root().join(THREAT), "id: THR-jam\ntitle: Theirs\n").unwrap();
    assert_eq!(change(&mut bench, &retitle("THR-jam", "Mine")).unwrap_err().code, RefusalCode::Conflict);
}

#[test]
fn questions_are_answered() {
    let bench = parcel();
    let bundle = "parcel".to_owned();
    let threat = EntityRef { bundle: bundle.clone(), entity_type: "Threat".into(), id: "THR-jam".into() };
    let bundles = bench.ws().bundles();
    let entity = bundles.show_entity(&threat).unwrap();
    assert_eq!(entity.file, "bundle/threats/THR-jam.yaml");
    assert!(entity.data.starts_with("{\"id\"") && !entity.schema.references.is_empty(), "{entity:?}");
    assert_eq!(bundles.list_entities(&bundle).unwrap().len(), 24);
    assert_eq!(bundles.search(None, "jam", 5).unwrap()[0].entity.id, "THR-jam");
    let coverage = bundles.measure_coverage(&bundle).unwrap();
    assert!(
        coverage.iter().all(|relation| relation.covered + relation.uncovered.len() as u64 == relation.total)
    );
    assert!(bundles.read_knowledge(&bundle).unwrap().starts_with('#'));
    let unknown = bundles.list_diagnostics("parcle").unwrap_err();
    assert_eq!((unknown.code, unknown.suggestions), (RefusalCode::NotFound, vec![bundle]));
}

fn draw(bench: &mut WorkspaceFixture, around: Option<(&str, &str)>, depth: u32) -> Result<BoardId, Refusal> {
    let bundle = "parcel".to_owned();
    let entity = |(kind, id): (&str, &str)| EntityRef {
        bundle: "parcel".into(),
        entity_type: kind.into(),
        id: id.into(),
    };
    let (actor, moment) = (Actor::new(ActorKind::Window, "ada"), bench.moment());
    let request = DrawMap { bundle, around: around.map(entity), depth };
    bench.workspace().draw_map(&request, &actor, moment).map(|(drawn, _)| drawn.board)
}

/// The labels of a map's nodes, and its edges as `from -label-> to`, by entity id.
fn shown(bench: &WorkspaceFixture, board: BoardId) -> (Vec<String>, Vec<String>) {
    let snapshot = bench.ws().snapshot();
    let id = |node: NodeId| {
        let node = snapshot.node(node).unwrap();
        node.props.iter().find(|(key, _)| key.as_str() == "entityId").unwrap().1.as_text().unwrap().to_owned()
    };
    let mut labels: Vec<String> = snapshot.nodes_on(board).map(|node| node.label.clone()).collect();
    let mut edges: Vec<String> = snapshot
        .edges_on(board)
        .map(|edge| format!("{} -{}-> {}", id(edge.source.node), edge.label, id(edge.target.node)))
        .collect();
    labels.sort();
    edges.sort();
    (labels, edges)
}

#[test]
fn a_map_is_one_operation_and_drawn_again_it_is_the_same_board() {
    let mut bench = parcel();
    let board = draw(&mut bench, None, 1).unwrap();
    let (labels, edges) = shown(&bench, board);
    assert_eq!(labels.len(), 24);
    assert!(edges.contains(&"TASK-002 -dependsOnTaskIds-> TASK-001".to_owned()), "{edges:?}");
    let snapshot = bench.ws().snapshot();
    let places: Vec<_> = snapshot.nodes_on(board).filter_map(|node| snapshot.placement(node.id)).collect();
    let overlaps = places.iter().enumerate().any(|(i, a)| places[i + 1..].iter().any(|b| a.overlaps(*b)));
    assert!(places.len() == 24 && !overlaps);
    let revision = snapshot.revision();
    assert_eq!(draw(&mut bench, None, 1).unwrap(), board);
    assert_eq!(bench.ws().snapshot().revision(), revision, "nothing to do is no operation");
    bench.undo();
    assert!(bench.ws().snapshot().board(board).is_none());
    // Around one entity, on a board of its own.
    let around = draw(&mut bench, Some(("Threat", "THR-guess")), 1).unwrap();
    let near = shown(&bench, around).0.len();
    assert!(near > 1 && near < 24, "{near}");
    assert_eq!(draw(&mut bench, Some(("Threat", "THR-none")), 1).unwrap_err().code, RefusalCode::NotFound);
}

#[test]
fn a_map_follows_its_bundle_in_the_same_operation() {
    let mut bench = parcel();
    let board = draw(&mut bench, None, 1).unwrap();
    let (before, edges_before) = shown(&bench, board);
    let unlink = json!([
        { "operation": "update", "entityType": "Threat", "entityId": "THR-guess", "fieldPath": "affectsComponents", "value": [] },
        { "operation": "update", "entityType": "Threat", "entityId": "THR-guess", "fieldPath": "title", "value": "Renamed" },
        { "operation": "delete", "entityType": "Threat", "entityId": "THR-jam" },
    ]);
    change(&mut bench, &unlink).unwrap();
    let (labels, edges) = shown(&bench, board);
    assert!(labels.contains(&"Renamed".to_owned()) && labels.len() == 23, "{labels:?}");
    assert!(!edges.iter().any(|edge| edge.starts_with("THR-guess -affectsComponents")), "{edges:?}");
    assert_eq!(bench.log().len(), 2);
    bench.undo();
    assert_eq!(shown(&bench, board), (before.clone(), edges_before), "one undo takes back both");
    assert!(title(&bench, "Threat", "THR-jam").is_some());
    // What another program does is followed too; a file that cannot be read for now is no entity that is gone.
    let file = bench.root().join(THREAT);
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replace("title:", "title: Theirs #")).unwrap();
    look(&mut bench, THREAT);
    assert!(shown(&bench, board).0.contains(&"Theirs".to_owned()));
    fs::write(&file, "id: [\n").unwrap();
    look(&mut bench, THREAT);
    assert_eq!(shown(&bench, board).0.len(), 24);
    fs::write(&file, good).unwrap();
    look(&mut bench, THREAT);
    assert_eq!(shown(&bench, board).0, before);
}

#[test]
fn a_map_that_nobody_could_read_is_refused() {
    let mut bench = WorkspaceFixture::with_files(|root| {
        put(root, "minimal", "specs/parcel");
        for number in 0..2_100 {
            let file = root.join(format!("specs/parcel/notes/m{number}.yaml"));
            fs::write(file, format!("key: M-{number}\ntext: x\n")).unwrap();
        }
    });
    let refusal = draw(&mut bench, None, 1).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::LimitExceeded, "{refusal}");
    assert!(!refusal.hints.is_empty() && bench.log().is_empty());
}
