//! The files of spec bundles are part of the state: what changes them is an operation, what others do to them is taken in,
//! and after a crash the files follow the journal.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

mod workspace_fixture;

use journal::{Journal, WorkspacePath};
use shared_protocol::{Actor, ActorKind, Change, Operation, OperationKind, RefusalCode, SourcePath};
use std::{fs, path::Path, sync::Arc};
use workspace::SourceFileEdits;
use workspace_fixture::WorkspaceFixture;

const MANIFEST: &str = "specs/shop/sdd-bundle.yaml";
const FEATURE: &str = "specs/shop/features/F-1.yaml";

fn path(text: &str) -> SourcePath {
    SourcePath::parse(text).unwrap()
}

fn write(root: &Path, file: &str, text: &str) {
    let file = root.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// A bundle of two files, opened for the first time.
fn shop() -> WorkspaceFixture {
    WorkspaceFixture::with_files(|root| {
        write(root, MANIFEST, "name: shop\n");
        write(root, FEATURE, "id: F-1 # first\n");
    })
}

fn source(bench: &WorkspaceFixture, file: &str) -> Option<String> {
    bench.ws().snapshot().source(&path(file)).map(ToString::to_string)
}

fn on_disk(bench: &WorkspaceFixture, file: &str) -> Option<String> {
    fs::read_to_string(bench.root().join(file)).ok()
}

fn edit(
    bench: &mut WorkspaceFixture,
    edits: &[(&str, Option<&str>)],
) -> Result<(), shared_protocol::Refusal> {
    let edits: SourceFileEdits = edits.iter().map(|(file, text)| (path(file), text.map(Arc::from))).collect();
    let (actor, moment) = (Actor::new(ActorKind::Terminal, "ada"), bench.moment());
    bench.workspace().edit_sources("Edit the shop".to_owned(), edits, &actor, moment).map(drop)
}

fn look(bench: &mut WorkspaceFixture, file: &str) {
    let moment = bench.moment();
    bench.workspace().file_changed(&WorkspacePath::parse(file).unwrap(), moment);
}

#[test]
fn the_first_opening_is_no_edit() {
    let bench = shop();
    assert_eq!(source(&bench, FEATURE).as_deref(), Some("id: F-1 # first\n"));
    assert!(bench.log().is_empty() && bench.is_saved());
}

#[test]
fn an_edit_is_on_the_disk_at_once_and_one_undo_takes_all_of_it_back() {
    let mut bench = shop();
    edit(&mut bench, &[(FEATURE, None), ("specs/shop/features/F-2.yaml", Some("id: F-2\n"))]).unwrap();
    assert_eq!(on_disk(&bench, FEATURE), None);
    assert_eq!(on_disk(&bench, "specs/shop/features/F-2.yaml").as_deref(), Some("id: F-2\n"));
    assert!(bench.is_saved());
    bench.undo();
    assert_eq!(on_disk(&bench, FEATURE).as_deref(), Some("id: F-1 # first\n"));
    assert_eq!(on_disk(&bench, "specs/shop/features/F-2.yaml"), None);
    bench.reopen();
    assert_eq!(source(&bench, FEATURE).as_deref(), Some("id: F-1 # first\n"));
    assert_eq!(bench.log().len(), 2, "nothing of this was taken for somebody else's edit");
}

#[test]
fn what_others_do_is_taken_in_as_one_operation_each_time() {
    let mut bench = shop();
    write(bench.root(), FEATURE, "id: F-1\ntitle: theirs\n");
    look(&mut bench, FEATURE);
    assert_eq!(source(&bench, FEATURE).as_deref(), Some("id: F-1\ntitle: theirs\n"));
    assert_eq!(bench.log()[0].actor.kind, ActorKind::External);
    // A new file, in a new bundle.
    write(bench.root(), "specs/other/sdd-bundle.yaml", "name: other\n");
    look(&mut bench, "specs/other");
    assert!(source(&bench, "specs/other/sdd-bundle.yaml").is_some());
    bench.close();
    fs::remove_file(bench.root().join(FEATURE)).unwrap();
    write(bench.root(), "specs/shop/features/F-3.yaml", "id: F-3\n");
    bench.open();
    assert_eq!((source(&bench, FEATURE), bench.log().len()), (None, 3));
    assert!(source(&bench, "specs/shop/features/F-3.yaml").is_some());
    assert!(bench.is_saved());
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let mut bench = shop();
    write(bench.root(), FEATURE, "theirs\n");
    let refusal = edit(&mut bench, &[(FEATURE, Some("mine\n")), (MANIFEST, None)]).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::Conflict);
    assert_eq!(on_disk(&bench, FEATURE).as_deref(), Some("theirs\n"));
    assert!(on_disk(&bench, MANIFEST).is_some() && bench.log().is_empty());
}

#[test]
fn after_a_crash_the_files_follow_the_journal() {
    let mut bench = shop();
    edit(&mut bench, &[("specs/shop/notes.md", Some("old\n"))]).unwrap();
    bench.close();
    // The operation is durable, and none of its files was written.
    let change = |file: &str, before: Option<&str>, after: Option<&str>| Change::Source {
        path: path(file),
        before: before.map(Arc::from),
        after: after.map(Arc::from),
    };
    let mut journal = Journal::open(&bench.root().join(".draftboard")).unwrap();
    let operation = Operation {
        revision: journal.revision().next(),
        time: 1,
        actor: Actor::new(ActorKind::Terminal, "ada"),
        kind: OperationKind::Edit,
        summary: "Interrupted".to_owned(),
        changes: vec![
            change(FEATURE, Some("id: F-1 # first\n"), None),
            change("specs/shop/features/F-2.yaml", None, Some("id: F-2\n")),
            change("specs/shop/notes.md", Some("old\n"), Some("new\n")),
        ],
    };
    journal.append(&[operation]).unwrap();
    drop(journal);
    bench.open();
    assert_eq!(on_disk(&bench, FEATURE), None);
    assert_eq!(on_disk(&bench, "specs/shop/features/F-2.yaml").as_deref(), Some("id: F-2\n"));
    assert_eq!(on_disk(&bench, "specs/shop/notes.md").as_deref(), Some("new\n"));
    assert_eq!(bench.log().len(), 2);
}

#[test]
fn links_and_binary_files_are_named_and_left_alone() {
    let mut bench = WorkspaceFixture::closed();
    write(bench.root(), MANIFEST, "name: shop\n");
    std::os::unix::fs::symlink("/etc/hostname", bench.root().join("specs/shop/out.yaml")).unwrap();
    fs::write(bench.root().join("specs/shop/bad.yaml"), b"\xff\xfe").unwrap();
    bench.open();
    let sources: Vec<String> = bench.ws().snapshot().sources().map(|(path, _)| path.to_string()).collect();
    assert_eq!(sources, [MANIFEST]);
    let notices = bench.notices().join("\n");
    assert!(notices.contains("out.yaml") && notices.contains("bad.yaml"), "{notices}");
}
