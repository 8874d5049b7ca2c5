//! A workspace with a key, and a forger who edits its journal with SQL.
#![allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "a test may unwrap")]

use authority::proposals::{AgentRequest, CallingClient, DraftSelector, ProposalInput, ProposalSubmission};
use device_key::{DeviceKeys, KeyError, KeyHolder};
use journal::{Digest, JournalCopy};
use rusqlite::Connection;
use shared_protocol::{
    Actor, ActorKind, BoardId, Command, ProposalId, Refusal,
    proposal::Proposer,
    review::{ApprovalGrant, AuditEntry, AuditEvent, AuditFindingKind, AuditReport},
};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};
use tempfile::TempDir;
use workspace::{
    Mutation, MutationGroup, ProofFiles, Reviewer, TimeAndSeed, Workspace, WorkspaceTemplate, create,
    verify_audit,
};

const START: u64 = 1_700_000_000_000;
/// Takes away what keeps the audit as it was written.
const UNGUARD: &str = "DROP TRIGGER IF EXISTS audit_stays; DROP TRIGGER IF EXISTS audit_is_as_written;";

pub(crate) struct Signed {
    folder: TempDir,
    pub(crate) root: PathBuf,
    workspace: Option<Workspace>,
    clock: u64,
    /// How often the key was loaded.
    pub(crate) loads: Arc<AtomicUsize>,
    pub(crate) keyring_is_locked: bool,
}

impl Signed {
    pub(crate) fn closed() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("shop");
        create(&root, WorkspaceTemplate::Blank, BoardId::from_bits(77)).unwrap();
        fs::rename(root.join("boards/infrastructure.board.json"), root.join("boards/main.board.json"))
            .unwrap();
        Self { folder, root, workspace: None, clock: 0, loads: Arc::default(), keyring_is_locked: false }
    }

    pub(crate) fn new() -> Self {
        let mut signed = Self::closed();
        signed.open();
        signed
    }

    /// Ten lines: one proposal accepted, one rejected, one accepted by a standing approval.
    pub(crate) fn with_history() -> Self {
        let mut signed = Self::new();
        let one = signed.propose("one");
        signed.accept(one).unwrap();
        let two = signed.propose("two");
        signed.reject(two).unwrap();
        signed.grant("diagram").unwrap();
        signed.propose("three");
        assert_eq!(signed.ws().audit(0, 100).unwrap().len(), 10);
        signed
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn files(&self) -> ProofFiles {
        ProofFiles {
            known_keys: self.path("config/keys.json"),
            anchors: self.path("state/anchors"),
            approvals: self.path("config/approvals.json"),
        }
    }

    pub(crate) fn keys(&self) -> DeviceKeys {
        DeviceKeys::new(&self.path("config"), None)
    }

    pub(crate) fn moment(&mut self) -> TimeAndSeed {
        self.clock += 1;
        TimeAndSeed { time: START + self.clock, seed: self.clock }
    }

    pub(crate) fn open(&mut self) {
        let (config, loads, locked) = (self.path("config"), Arc::clone(&self.loads), self.keyring_is_locked);
        let key = KeyHolder::new(move || {
            loads.fetch_add(1, Ordering::SeqCst);
            match locked {
                true => Err(KeyError::Store("the keyring is locked".to_owned())),
                false => DeviceKeys::new(&config, None).load_or_create("desk", START),
            }
        });
        let moment = self.moment();
        let mut workspace = Workspace::open_signed(&self.root, moment, &self.files(), key).unwrap();
        workspace.keep_approvals_in(self.files().approvals);
        self.workspace = Some(workspace);
    }

    pub(crate) fn close(&mut self) {
        if let Some(workspace) = self.workspace.take() {
            workspace.close();
        }
    }

    pub(crate) fn reopen(&mut self) {
        self.close();
        self.open();
    }

    pub(crate) fn ws(&self) -> &Workspace {
        self.workspace.as_ref().unwrap()
    }

    pub(crate) fn notices(&self) -> String {
        self.ws().status().notices.iter().map(|notice| format!("{}\n", notice.message)).collect()
    }

    fn step<T>(
        &mut self,
        run: impl FnOnce(&mut MutationGroup<'_>, TimeAndSeed) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let moment = self.moment();
        let mut group = self.workspace.as_mut().unwrap().begin();
        let done = run(&mut group, moment);
        group.commit().unwrap();
        done
    }

    pub(crate) fn edit(&mut self, name: &str) {
        let command: Command = serde_json::from_str(&note(name)).unwrap();
        let moment = self.moment();
        let actor = Actor::new(ActorKind::Window, "ada");
        let mutation = Mutation::Run(Box::new(command));
        self.workspace.as_mut().unwrap().execute(&mutation, &actor, moment).unwrap();
    }

    /// A proposal of an agent, submitted.
    pub(crate) fn propose(&mut self, name: &str) -> ProposalId {
        let proposer = Proposer { key: "one".to_owned(), name: "Agent".to_owned(), version: "1".to_owned() };
        let client = CallingClient { proposer, connected: true, inherited_key: None };
        let what = ProposalInput::Command(Box::new(serde_json::from_str(&note(name)).unwrap()));
        let begin = AgentRequest::Propose { draft: DraftSelector::Current, what, submit: None };
        self.step(|group, moment| group.submit(&client, &begin, moment)).unwrap();
        let submission = ProposalSubmission { title: name.to_owned(), ..ProposalSubmission::default() };
        let submit = AgentRequest::Submit { draft: None, submission };
        self.step(|group, moment| group.submit(&client, &submit, moment)).unwrap().response.proposal.id
    }

    pub(crate) fn accept(&mut self, id: ProposalId) -> Result<(), Refusal> {
        let verdict = self.ws().proposal_details(id).unwrap().verdict(None, Default::default());
        self.step(|group, moment| group.accept_verdict(&verdict, &ada(), moment)).map(drop)
    }

    pub(crate) fn reject(&mut self, id: ProposalId) -> Result<(), Refusal> {
        let version = self.ws().proposal_details(id).unwrap().brief.version;
        self.step(|group, moment| group.reject((id, version), "no", &ada(), moment)).map(drop)
    }

    pub(crate) fn grant(&mut self, scope: &str) -> Result<u64, Refusal> {
        let scope = scope.parse().unwrap();
        let grant = ApprovalGrant { client: None, scope, boards: Vec::new(), expires: None };
        self.step(|group, moment| group.grant(grant, false, &ada(), moment)).map(|granted| granted.id)
    }

    pub(crate) fn revoke(&mut self, id: u64) -> Result<(), Refusal> {
        self.step(|group, moment| group.revoke(id, &ada(), moment))
    }

    // ---- the verification ----

    /// Verifies the closed workspace.
    pub(crate) fn verify(&mut self) -> AuditReport {
        self.close();
        let copy = JournalCopy::of(&self.root.join(".draftboard")).unwrap().unwrap();
        verify_audit(&mut copy.journal(), &self.files(), &self.root).unwrap()
    }

    pub(crate) fn findings(&mut self) -> Vec<(AuditFindingKind, Option<(u64, u64)>)> {
        self.verify().findings.into_iter().map(|found| (found.kind, found.lines)).collect()
    }

    pub(crate) fn kinds(&mut self) -> Vec<AuditFindingKind> {
        self.verify().findings.into_iter().map(|found| found.kind).collect()
    }

    // ---- the forger ----

    /// Edits the closed journal.
    pub(crate) fn meddle(&mut self, work: impl FnOnce(&Connection)) {
        self.close();
        let connection = Connection::open(self.root.join(".draftboard/journal.db")).unwrap();
        connection.execute_batch(UNGUARD).unwrap();
        work(&connection);
    }
}

pub(crate) fn ada() -> Reviewer {
    Reviewer::in_window("ada".to_owned())
}

fn note(name: &str) -> String {
    format!(r#"{{"addNode":{{"board":"main","type":"notes/sticky","name":"{name}"}}}}"#)
}

pub(crate) fn sql(text: &'static str) -> impl Fn(&Connection) {
    move |connection| connection.execute_batch(text).unwrap()
}

fn line_hash(previous: &[u8], number: i64, text: &str) -> Vec<u8> {
    Digest::hash(&[previous, &number.to_be_bytes(), text.as_bytes()].concat()).as_bytes().to_vec()
}

/// Makes the chain right again from a line on, as anybody can.
pub(crate) fn rechain(connection: &Connection, from: i64) {
    let count: i64 = connection.query_row("SELECT max(number) FROM audit", [], |row| row.get(0)).unwrap();
    for number in from..=count {
        let previous: Vec<u8> = connection
            .query_row("SELECT hash FROM audit WHERE number = ?1", [number - 1], |row| row.get(0))
            .unwrap_or_else(|_| vec![0; 32]);
        let text: String = connection
            .query_row("SELECT text FROM audit WHERE number = ?1", [number], |row| row.get(0))
            .unwrap();
        connection
            .execute(
                "UPDATE audit SET previous_hash = ?2, hash = ?3 WHERE number = ?1",
                (number, &previous, line_hash(&previous, number, &text)),
            )
            .unwrap();
    }
}

/// Adds a line that follows the chain, with a signature or without. Returns its number and its hash.
pub(crate) fn append(connection: &Connection, event: AuditEvent) -> (u64, String) {
    let (number, previous): (i64, Vec<u8>) = connection
        .query_row("SELECT number + 1, hash FROM audit ORDER BY number DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    let entry: AuditEntry =
        serde_json::from_value(serde_json::json!({"time": 1, "event": event, "by": "ada", "way": "window"}))
            .unwrap();
    let text = serde_json::to_string(&entry).unwrap();
    let hash = line_hash(&previous, number, &text);
    connection
        .execute(
            "INSERT INTO audit (number, previous_hash, hash, text) VALUES (?1, ?2, ?3, ?4)",
            (number, &previous, &hash, &text),
        )
        .unwrap();
    (number.cast_unsigned(), hash.iter().map(|byte| format!("{byte:02x}")).collect())
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}
