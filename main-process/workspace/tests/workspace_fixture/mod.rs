//! A workspace in a folder of its own, a person at the workbench and another program at the files. Times and ids come from a
//! counter, so that every run is the same.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each test uses a part of it; a test may unwrap"
)]

use journal::{WorkspacePath, read_board, write_board};
use shared_protocol::{
    Actor, ActorKind, BoardId, BoardName, Command, GraphDocument, Node, NodeId, Placement, Refusal, Revision,
    TypeId,
    messages::{AppliedCommand, ConflictResolution, HeldReason, OperationLogEntry},
};
use std::{
    fs,
    path::{Path, PathBuf},
};
use tempfile::TempDir;
use workspace::{Mutation, OpenWorkspaceError, TimeAndSeed, Workspace, WorkspaceTemplate, create};

pub(crate) const START: u64 = 1_700_000_000_000;

pub(crate) struct WorkspaceFixture {
    folder: TempDir,
    root: PathBuf,
    workspace: Option<Workspace>,
    clock: u64,
}

impl WorkspaceFixture {
    /// One empty board named `main`.
    pub(crate) fn new() -> Self {
        Self::with_files(|_| {})
    }

    /// The same, with something done to the files before they are opened for the first time.
    pub(crate) fn with_files(prepare: impl FnOnce(&Path)) -> Self {
        let mut bench = Self::closed();
        prepare(&bench.root);
        bench.open();
        bench
    }

    pub(crate) fn closed() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("shop");
        create_main(&root);
        Self { folder, root, workspace: None, clock: 0 }
    }

    /// In a folder that is there already, such as a disk of its own.
    pub(crate) fn at(root: &Path) -> Self {
        create_main(root);
        let folder = tempfile::tempdir().unwrap();
        let mut bench = Self { folder, root: root.to_owned(), workspace: None, clock: 0 };
        bench.open();
        bench
    }

    pub(crate) fn moment(&mut self) -> TimeAndSeed {
        self.clock += 1;
        TimeAndSeed { time: START + self.clock, seed: self.clock }
    }

    pub(crate) fn now(&self) -> u64 {
        START + self.clock
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn workspace(&mut self) -> &mut Workspace {
        self.workspace.as_mut().unwrap()
    }

    pub(crate) fn ws(&self) -> &Workspace {
        self.workspace.as_ref().unwrap()
    }

    pub(crate) fn try_open(&mut self) -> Result<(), OpenWorkspaceError> {
        let moment = self.moment();
        let mut workspace = Workspace::open(&self.root, moment)?;
        workspace.keep_approvals_in(self.folder.path().join("approvals.json"));
        self.workspace = Some(workspace);
        Ok(())
    }

    pub(crate) fn open(&mut self) {
        self.try_open().unwrap_or_else(|error| panic!("{error}"));
    }

    pub(crate) fn close(&mut self) {
        self.workspace.take().unwrap().close();
    }

    pub(crate) fn reopen(&mut self) {
        self.close();
        self.open();
    }

    /// The power goes: nothing is closed in good order, and the next start finds the files as they were. They are copied
    /// by another process, because closing the journal's file in this one would let go of its lock.
    pub(crate) fn crash(&mut self) {
        let next = self.folder.path().join(format!("crashed-{}", self.clock));
        copy(&self.root, &next);
        drop(self.workspace.take());
        self.root = next;
    }

    pub(crate) fn crash_and_open(&mut self) {
        self.crash();
        self.open();
    }

    /// The files alone, as a colleague gets them from git, opened for the first time.
    pub(crate) fn clone_by_git(&mut self) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("clone");
        copy(&self.root, &root);
        fs::remove_dir_all(root.join(".draftboard")).unwrap();
        let mut bench = Self { folder, root, workspace: None, clock: 1_000_000 };
        bench.open();
        bench
    }

    pub(crate) fn mutate(&mut self, mutation: &Mutation) -> Result<AppliedCommand, Refusal> {
        let moment = self.moment();
        let actor = Actor::new(ActorKind::Window, "ada");
        self.workspace().execute(mutation, &actor, moment).map(|(applied, _)| applied)
    }

    pub(crate) fn try_run(&mut self, command: &str) -> Result<AppliedCommand, Refusal> {
        let command: Command = serde_json::from_str(command).unwrap();
        self.mutate(&Mutation::Run(Box::new(command)))
    }

    pub(crate) fn run(&mut self, command: &str) -> AppliedCommand {
        self.try_run(command).unwrap_or_else(|refusal| panic!("{command}: {refusal}"))
    }

    pub(crate) fn undo(&mut self) -> AppliedCommand {
        self.mutate(&Mutation::Undo).unwrap()
    }

    pub(crate) fn redo(&mut self) -> AppliedCommand {
        self.mutate(&Mutation::Redo).unwrap()
    }

    /// A note of this name on a board.
    pub(crate) fn add(&mut self, board: &str, name: &str) {
        self.run(&format!(
            r#"{{"addNode":{{"board":"{board}","type":"notes/sticky","name":"{name}","label":"{name}"}}}}"#
        ));
    }

    pub(crate) fn label(&mut self, node: &str, label: &str) {
        self.run(&format!(r#"{{"updateNode":{{"node":"{node}","label":"{label}"}}}}"#));
    }

    pub(crate) fn save(&mut self) -> Vec<String> {
        self.workspace().save().unwrap_or_else(|refusal| panic!("{refusal}")).1
    }

    pub(crate) fn resolve(
        &mut self,
        board: &str,
        keep: ConflictResolution,
    ) -> Result<AppliedCommand, Refusal> {
        let (board, moment) = (self.board(board), self.moment());
        self.workspace().resolve(board, keep, moment).map(|(applied, _)| applied)
    }

    /// The watcher tells of a board's file.
    pub(crate) fn look(&mut self, board: &str) {
        self.look_at(&format!("boards/{board}.board.json"));
    }

    pub(crate) fn look_at(&mut self, path: &str) {
        let moment = self.moment();
        self.workspace().file_changed(&WorkspacePath::parse(path).unwrap(), moment);
    }

    pub(crate) fn look_at_everything(&mut self) {
        let moment = self.moment();
        self.workspace().everything_changed(moment);
    }

    // ---- the other program ----

    pub(crate) fn file(&self, board: &str) -> PathBuf {
        self.root.join(format!("boards/{board}.board.json"))
    }

    pub(crate) fn text(&self, board: &str) -> String {
        fs::read_to_string(self.file(board)).unwrap()
    }

    pub(crate) fn write(&self, board: &str, text: impl AsRef<[u8]>) {
        fs::write(self.file(board), text).unwrap();
    }

    /// Changes a board's file as a careful program would.
    pub(crate) fn edit(&self, board: &str, edit: impl FnOnce(&mut GraphDocument)) {
        let mut document = read_board(&self.text(board), &BoardName::parse(board).unwrap()).unwrap();
        edit(&mut document);
        self.write(board, write_board(&document).unwrap());
    }

    pub(crate) fn edit_label(&self, board: &str, node: &str, label: &str) {
        self.edit(board, |document| named(document, node).label = label.to_owned());
    }

    pub(crate) fn aside(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(".draftboard/aside")) else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub(crate) fn aside_text(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(".draftboard/aside").join(name)).unwrap()
    }

    // ---- what is there ----

    pub(crate) fn board(&self, name: &str) -> BoardId {
        self.ws()
            .snapshot()
            .board_named(&BoardName::parse(name).unwrap())
            .unwrap_or_else(|| panic!("no {name}"))
            .id
    }

    pub(crate) fn boards(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.ws().snapshot().boards().map(|board| board.name.to_string()).collect();
        names.sort();
        names
    }

    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.root.join("boards"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().replace(".board.json", ""))
            .collect();
        names.sort();
        names
    }

    pub(crate) fn find(&self, name: &str) -> Option<Node> {
        self.ws().snapshot().nodes().find(|node| node.name.as_str() == name).map(|node| Node::clone(node))
    }

    pub(crate) fn label_of(&self, name: &str) -> String {
        self.find(name).unwrap_or_else(|| panic!("no {name}")).label
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.ws().snapshot().nodes().map(|node| node.name.to_string()).collect();
        names.sort();
        names
    }

    /// All content, without the revision.
    pub(crate) fn content(&self) -> GraphDocument {
        GraphDocument {
            revision: Revision::START,
            provenance: Vec::new(),
            ..self.ws().snapshot().to_document()
        }
    }

    pub(crate) fn held(&self) -> Vec<(String, HeldReason)> {
        self.ws().held_boards().into_iter().map(|held| (held.name, held.why)).collect()
    }

    pub(crate) fn notices(&self) -> Vec<String> {
        self.ws().status().notices.into_iter().map(|notice| notice.message).collect()
    }

    pub(crate) fn is_saved(&self) -> bool {
        self.ws().saved_revision() == self.ws().snapshot().revision()
    }

    pub(crate) fn log(&self) -> Vec<OperationLogEntry> {
        self.ws().log(100).unwrap()
    }

    pub(crate) fn revision(&self) -> u64 {
        self.ws().snapshot().revision().0
    }
}

fn create_main(root: &Path) {
    create(root, WorkspaceTemplate::Blank, BoardId::from_bits(77)).unwrap();
    fs::rename(root.join("boards/infrastructure.board.json"), root.join("boards/main.board.json")).unwrap();
}

pub(crate) fn copy(from: &Path, to: &Path) {
    assert!(std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

pub(crate) fn named<'d>(document: &'d mut GraphDocument, name: &str) -> &'d mut Node {
    document.nodes.iter_mut().find(|node| node.name.as_str() == name).unwrap()
}

/// A note as another program would add it.
pub(crate) fn add_note(document: &mut GraphDocument, bits: u64, name: &str) {
    let id = NodeId::from_bits(bits);
    document.nodes.push(Node {
        id,
        board: document.boards[0].id,
        type_id: TypeId::parse("notes/sticky").unwrap(),
        name: name.parse().unwrap(),
        label: name.to_owned(),
        parent: None,
        props: Default::default(),
        references: Default::default(),
        variables: std::collections::BTreeSet::new(),
    });
    document.layout.push((id, Placement { x: 0, y: 1_000 + bits as i32 * 100, w: 184, h: 64 }));
}
