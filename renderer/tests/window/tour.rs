//! The tour of the demo: it follows what happens, lets one go back, and can be closed for good.

use crate::shop::{Shop, response};
use egui::{Key, Modifiers, Theme};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    AddNode, BoardPoint, Command, ProposalId, ProposalState,
    messages::{Patch, ToRenderer},
    requests::{CloseTour, SaveFiles, StartedDemo, WorkbenchRequest},
};

fn click(shop: &mut Shop, label: &str) {
    shop.window.get_by_label(label).click();
    shop.settle();
}

/// The demo has been opened, with its tour.
fn touring() -> Shop {
    touring_in((1440.0, 900.0), true)
}

/// In a window of this size, as main says whether the tour was closed for good.
fn touring_in(size: (f32, f32), tour: bool) -> Shop {
    let mut shop = Shop::open_as(size, Theme::Light, |_| {});
    shop.press_with(Modifiers::COMMAND, Key::K);
    shop.window.run();
    shop.type_keys("show me a proposal");
    shop.press(Key::Enter);
    shop.window.run();
    let request = shop.main.request_id(|request| matches!(request, WorkbenchRequest::StartDemo(_)));
    let result = response(Ok(StartedDemo { shows_tour: tour }));
    shop.main.send(ToRenderer::Response { request, result });
    shop.settle();
    assert!(shop.shows("An agent is proposing a change") && shop.shows("1 of 3"));
    shop
}

fn propose(shop: &mut Shop) -> ProposalId {
    let mut add = AddNode::new(shop.infrastructure, "aws/storage/s3_bucket".parse().unwrap());
    add.label = Some("Cache".into());
    let remove = Command::Remove { nodes: vec![shop.worker.into()], edges: Vec::new() };
    let id = shop.main.propose(1, "Serve reads from a cache", &[Command::AddNode(add), remove]);
    shop.settle();
    id
}

#[test]
fn the_tour_keeps_every_ghost_in_view() {
    let mut shop = touring_in((1400.0, 900.0), true);
    let mut add = AddNode::new(shop.infrastructure, "aws/storage/s3_bucket".parse().unwrap());
    add.at = Some(BoardPoint { x: 3_000, y: 1_200 });
    let id = shop.main.propose(1, "Store reports", &[Command::AddNode(add)]);
    shop.main.change(id, |opened| opened.brief.state = ProposalState::Draft);
    shop.settle();
    let (canvas, ghost) = (shop.rect_of("Board Production"), shop.rect_of("Proposed, adds s3 bucket"));
    assert!(canvas.contains_rect(ghost), "{ghost:?} in {canvas:?}");
}

#[test]
fn it_goes_on_by_itself_with_what_happens() {
    let mut shop = touring();
    let id = propose(&mut shop);
    shop.picture("tour-1-light");
    click(&mut shop, "Open the proposal");
    assert!(shop.shows("Look at the consequences") && shop.shows("2 of 3"));
    shop.picture("tour-2-light");
    click(&mut shop, "Next");
    assert!(shop.shows("You decide") && shop.shows("3 of 3"));
    shop.picture("tour-3-light");
    click(&mut shop, "Back");
    assert!(shop.shows("2 of 3"));
    shop.main.change(id, |opened| {
        opened.brief.state = ProposalState::Rejected { reason: "Keep the worker".into(), by: "ada".into() };
    });
    shop.settle();
    assert!(shop.shows("You finished the tour"));
    shop.picture("tour-4-light");
    click(&mut shop, "Connect an agent…");
    assert!(shop.shows("Claude Desktop"));
}

#[test]
fn it_can_be_closed_for_good_and_the_demo_goes_on() {
    let mut shop = touring();
    propose(&mut shop);
    shop.window.get_by_label("Do not show again").click();
    let asked = shop.settle();
    assert!(asked.contains(&WorkbenchRequest::CloseTour(CloseTour {})), "{asked:?}");
    assert!(!shop.shows("An agent is proposing a change"));
    assert!(shop.shows("1 proposal to review"));
}

#[test]
fn the_command_brings_a_closed_tour_back() {
    let shop = touring_in((1440.0, 900.0), false);
    assert!(shop.shows("Do not show again"));
}

#[test]
fn notices_keep_clear_of_the_card() {
    for size in [(1440.0, 900.0), (1024.0, 640.0)] {
        let mut shop = touring_in(size, true);
        propose(&mut shop);
        shop.press_with(Modifiers::COMMAND, Key::S);
        let asked = shop.settle();
        assert!(asked.contains(&WorkbenchRequest::SaveFiles(SaveFiles {})), "{asked:?}");
        let notice = shop.window.get_by_label("Saved 1 file").rect().union(shop.rect_of("Dismiss"));
        for part in ["Open the proposal", "Do not show again", "Close the tour"] {
            let part = shop.rect_of(part);
            assert!(!notice.intersects(part), "{notice:?} covers {part:?} in {size:?}");
        }
        shop.picture(&format!("tour-notice-{}", size.0));
    }
}

/// A part was accepted; a notice offers to undo that.
fn accepted() -> Shop {
    let mut shop = touring();
    propose(&mut shop);
    click(&mut shop, "Open the proposal");
    click(&mut shop, "Accept 1 of 2");
    assert!(shop.shows("Accepted part of proposal 1") && has_undo(&shop));
    shop
}

/// The button of the notice; the menu is closed.
fn has_undo(shop: &Shop) -> bool {
    shop.window.query_by_label("Undo").is_some()
}

#[test]
fn a_notice_is_gone_with_its_workspace() {
    let mut shop = accepted();
    shop.main.send_workspace_at("/home/ada/other");
    shop.settle();
    assert!(!shop.shows("Accepted part of proposal 1") && !has_undo(&shop));
}

#[test]
fn a_notice_is_gone_when_its_operation_was_undone() {
    let mut shop = accepted();
    let applied = shop.main.snapshot.revision();
    let revision = applied.next();
    let actor = shared_protocol::Actor::new(shared_protocol::ActorKind::Window, "ada");
    let kind = shared_protocol::OperationKind::Undo(applied);
    let undone = Patch { revision, actor, kind, summary: "undo".into(), changes: Vec::new() };
    shop.main.snapshot.apply(revision, &[]).unwrap();
    shop.main.send(ToRenderer::Patch(undone));
    shop.settle();
    assert!(!shop.shows("Accepted part of proposal 1") && !has_undo(&shop));
}

#[test]
fn a_notice_does_not_undo_what_came_later() {
    let mut shop = accepted();
    let bucket = AddNode::new(shop.infrastructure, "aws/storage/s3_bucket".parse().unwrap());
    shop.main.run(Command::AddNode(bucket));
    let asked = shop.settle();
    assert!(shop.shows("Accepted part of proposal 1") && !has_undo(&shop), "{asked:?}");
}
