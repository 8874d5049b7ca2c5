//! The audit in the window: newest first, in words, filtered, checked, exported, and a way to the proposal.

use crate::shop::Shop;
use egui::Theme;
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    ProposalId, Revision,
    decisions::{OpenProposal, ReviewRequest, WindowRequest},
    messages::FromRenderer,
    proposal::Proposer,
    requests::{ExportAudit, WorkbenchRequest},
    review::{AuditEntry, AuditEvent, AuditLine, AuditView, AuditedProposal},
};
use test_support::requirements::NO_DESKTOP_SESSION;

fn now() -> u64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as u64
}

fn entry(event: AuditEvent, by: Option<&str>, way: &str, reason: Option<&str>) -> AuditEntry {
    let proposer = Proposer { key: "k".into(), name: "claude-code".into(), version: "2.1".into() };
    let id = ProposalId::from_bits(17);
    let about = !matches!(event, AuditEvent::CodeShown | AuditEvent::WrongCode | AuditEvent::Call);
    AuditEntry {
        time: now() - 600_000,
        event,
        by: by.map(Into::into),
        way: way.into(),
        proposal: about.then_some(AuditedProposal { id, number: 17, version: 1, hash: None, proposer }),
        reason: reason.map(Into::into),
        revision: (event == AuditEvent::Accept).then_some(Revision(41)),
        approval: None,
        grant: None,
        elements: Vec::new(),
    }
}

/// Newest first, so many lines before these.
fn audit(before: u64) -> AuditView {
    let mut entries = vec![entry(AuditEvent::Comment, Some("ada"), "window", None); before as usize];
    entries.extend([
        entry(AuditEvent::Begin, None, "agent", None),
        entry(AuditEvent::Submit, None, "agent", None),
        entry(AuditEvent::Reject, Some("ada"), "window", Some("too many replicas")),
        entry(AuditEvent::WrongCode, Some("ada"), "terminal", Some("the code was wrong, 2 tries are left")),
        entry(AuditEvent::Accept, Some("grace"), "terminal", None),
        entry(AuditEvent::Call, Some("claude-code"), "agent", Some("shop__list: done")),
    ]);
    let line = |(number, entry): (u64, &AuditEntry)| AuditLine {
        number,
        previous: String::new(),
        hash: String::new(),
        text: serde_json::to_string(entry).unwrap(),
        signature: None,
    };
    let mut lines: Vec<AuditLine> = (1..).zip(&entries).map(line).collect();
    lines.reverse();
    AuditView { total: lines.len() as u64, lines, broken: None }
}

fn showing(view: AuditView) -> Shop {
    showing_as((1440.0, 900.0), Theme::Light, view)
}

fn showing_as(size: (f32, f32), theme: Theme, view: AuditView) -> Shop {
    let mut shop = Shop::open_as(size, theme, |main| main.audit = view);
    shop.settle();
    shop.press_with(egui::Modifiers::COMMAND, egui::Key::Num3);
    shop.settle();
    shop.window.get_by_label("Audit").click();
    shop.settle();
    shop
}

fn top(shop: &Shop, name: &str) -> f32 {
    shop.rect_of(name).top()
}

#[test]
fn lines_are_told_newest_first_and_lead_to_the_proposal() {
    let mut shop = showing(audit(0));
    assert!(shop.shows("Verified: 6 lines, hash chain intact"));
    assert!(
        top(&shop, "Line 6: claude-code called a tool") < top(&shop, "Line 5: grace accepted proposal 17")
    );
    assert!(shop.shows("Line 3: ada rejected proposal 17, version 1"));
    shop.retype("Filter the audit", "started");
    shop.settle();
    assert!(shop.shows("Line 1: claude-code 2.1 (unverified) started proposal 17, version 1"));
    shop.window.get_by_label("Clear Filter the audit").click();
    shop.settle();
    shop.main.reviews.silent = true;
    shop.window.get_by_label_contains("Line 5: grace accepted").click();
    shop.window.run();
    let opens = shop.main.heard().into_iter().any(|message| {
        let open = ReviewRequest::from(OpenProposal { proposal: ProposalId::from_bits(17) });
        matches!(message, FromRenderer::Request { request: WindowRequest::Review(request), .. } if request == open)
    });
    assert!(opens);
}

#[test]
fn a_filter_finds_words_and_kinds() {
    let mut shop = showing(audit(0));
    shop.retype("Filter the audit", "REPLICAS");
    shop.settle();
    assert!(shop.shows("Line 3: ada rejected") && !shop.shows("Line 5:"));
    assert!(shop.shows("1 of the latest 6 lines"));
    shop.window.get_by_label("Clear Filter the audit").click();
    shop.settle();
    assert!(shop.shows("Line 5:"));
    shop.window.get_by_label("Filter by kind: everything").click();
    shop.window.run();
    shop.window.get_by_label("Approvals and codes").click();
    shop.settle();
    assert!(shop.shows("Line 4: ada entered a wrong code") && !shop.shows("Line 3:"));
}

#[test]
fn older_lines_are_asked_for_page_by_page() {
    let mut shop = showing(audit(500));
    assert!(shop.shows("Verified: 506 lines, hash chain intact") && shop.shows("Line 506:"));
    shop.retype("Filter the audit", "started");
    shop.settle();
    assert!(shop.shows("Line 501: claude-code 2.1 (unverified) started"));
    assert!(shop.shows("1 of the latest 200 lines"));
    shop.window.get_by_label("Load older lines").click();
    shop.settle();
    assert!(shop.shows("1 of the latest 400 lines"));
    // Something happens: what was read further back stays.
    shop.main.audit = audit(501);
    shop.main.tell_queue();
    shop.settle();
    shop.window.get_by_label("Verify again").click();
    shop.settle();
    assert!(shop.shows("Verified: 507 lines"));
}

#[test]
fn a_line_that_does_not_follow_is_named() {
    let mut broken = audit(0);
    broken.broken = Some((4, "does not match its hash".to_owned()));
    let shop = showing(broken);
    assert!(shop.shows("Line 4 does not match its hash. The log was edited or the disk failed"));
    assert!(!shop.shows("hash chain intact"));
}

#[test]
fn an_empty_audit_says_what_will_stand_there() {
    let shop = showing(AuditView::default());
    assert!(shop.shows("No audit entries yet"));
    assert!(shop.window.query_by_label("Export…").is_none());
}

#[test]
fn the_audit_is_exported_to_a_path_that_a_person_chooses() {
    if !NO_DESKTOP_SESSION.is_available() {
        return;
    }
    let mut shop = showing(audit(0));
    shop.window.get_by_label("Export…").click();
    shop.settle();
    shop.window.get_by_label("Export audit");
    shop.window.get_by_label("Export").click();
    let asked = shop.settle();
    assert_eq!(
        asked,
        [WorkbenchRequest::ExportAudit(ExportAudit { path: "/home/ada/shop/audit.jsonl".into() })]
    );
    assert!(shop.shows("Exported the audit"));
}

#[test]
fn draws_the_audit_in_both_themes_and_a_narrow_dock() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut view = audit(30);
        view.broken = (word == "dark").then(|| (33, "does not match its hash".to_owned()));
        let mut shop = showing_as((1440.0, 900.0), theme, view.clone());
        shop.picture(&format!("audit-{word}"));
        let mut narrow = showing_as((700.0, 700.0), theme, view);
        narrow.picture(&format!("audit-narrow-{word}"));
    }
}
