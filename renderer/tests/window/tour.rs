//! The tour of the demo: it follows what happens, lets one go back, and can be closed for ever.

use crate::shop::Shop;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    AddNode, Command, ProposalId, ProposalState,
    messages::{Answer, FromRenderer, Request, ToRenderer},
};

fn click(shop: &mut Shop, label: &str) {
    shop.window.get_by_label(label).click();
    shop.settle();
}

/// The demo has been opened, with its tour.
fn touring() -> Shop {
    let mut shop = Shop::open();
    shop.press_with(Modifiers::COMMAND, Key::K);
    shop.window.run();
    shop.type_keys("show me a proposal");
    shop.press(Key::Enter);
    shop.window.run();
    let asked = shop.main.heard().into_iter().find_map(|said| match said {
        FromRenderer::Request { id, request: Request::StartDemo } => Some(id),
        _ => None,
    });
    let request = asked.expect("the demo was asked for");
    shop.main.send(ToRenderer::Answer { request, result: Ok(Answer::Demo { tour: true }) });
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
    assert!(shop.shows("That is Draftboard"));
    shop.picture("tour-4-light");
    click(&mut shop, "Connect your own agent");
    assert!(shop.shows("Claude Desktop"));
}

#[test]
fn it_can_be_closed_for_ever_and_the_demo_goes_on() {
    let mut shop = touring();
    propose(&mut shop);
    shop.window.get_by_label("Close for ever").click();
    let asked = shop.settle();
    assert!(asked.contains(&Request::CloseTour), "{asked:?}");
    assert!(!shop.shows("An agent is proposing a change"));
    assert!(shop.shows("1 to review"));
}
