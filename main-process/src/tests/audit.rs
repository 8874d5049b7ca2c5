//! The audit as the window reads and exports it.

use super::{
    Agents,
    review::{guarded, id_of, ok},
};
use serde_json::json;
use shared_protocol::{
    RefusalCode,
    decisions::{AcceptProposal, RejectProposal},
    requests::{ExportAudit, ReadAuditPage},
    review::{AuditEntry, AuditEvent, AuditLine, AuditView},
};

impl Agents {
    fn audit_view(&self, before: Option<u64>, limit: u32) -> AuditView {
        self.request(ReadAuditPage { before, limit })
    }
}

#[test]
fn the_audit_is_read_newest_first_checked_and_exported_whole() {
    let agents = guarded();
    assert_eq!(agents.audit_view(None, 10), AuditView::default());
    let (stream, _) = agents.bridge();
    let note = json!({ "typeId": "notes/sticky", "submit": true, "title": "A note" });
    let ids = [0, 1].map(|_| id_of(&ok(&stream, "add_resource", note.clone())));
    agents.decide(AcceptProposal { verdict: agents.yes(ids[0]) }).unwrap();
    let version = agents.opened(ids[1]).brief.version;
    agents.decide(RejectProposal { proposal: ids[1], version, reason: "too many".into() }).unwrap();

    let all = agents.audit_view(None, 100);
    assert_eq!((all.total, all.broken.clone()), (all.lines.len() as u64, None));
    let numbers: Vec<u64> = all.lines.iter().map(|line| line.number).collect();
    assert_eq!(numbers, (1..=all.total).rev().collect::<Vec<_>>());
    let newest: AuditEntry = serde_json::from_str(&all.lines[0].text).unwrap();
    assert_eq!((newest.event, newest.by.as_deref()), (AuditEvent::Reject, Some("ada")));

    let page = agents.audit_view(Some(all.total - 1), 2);
    assert_eq!(page.lines, all.lines[2..4], "the two before");
    assert_eq!(page.total, all.total);

    let path = agents.running().root.join("kept.jsonl");
    let export = |path: &std::path::Path| ExportAudit { path: path.display().to_string() };
    let bytes = agents.request(export(&path)).bytes;
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.len() as u64, bytes);
    let lines: Vec<AuditLine> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(journal::check_audit(None, &lines).unwrap().unwrap().0, all.total);
    let link = agents.running().root.join("link.jsonl");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let refused = agents.running().request(export(&link)).unwrap_err();
    assert!(refused.message.contains("symbolic link"), "{refused}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    let nowhere = agents.running().root.join("no/such/folder/kept.jsonl");
    assert_eq!(agents.running().request(export(&nowhere)).unwrap_err().code, RefusalCode::StorageError);
}
