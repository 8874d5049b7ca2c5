//! Overrides in the inspector and below the preview: laid over, shown, taken back, saved.

use crate::{previews::session, shop::Shop};
use egui::Key;
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    Command, NodeId, OverrideKey, OverrideScope, OverrideSelector, PropValue, SetOverride,
    decisions::WindowRequest,
    messages::{FromRenderer, ToRenderer},
    preview_sessions::{
        PreviewGesture, PreviewSessionStatus, PreviewsView, SelectedInstance, TransientPropValue,
    },
    requests::{RunCommand, WorkbenchRequest},
    v0::JsonPointer,
};

/// The button of the shop's front page, with its page in the preview.
fn previewing() -> (Shop, NodeId) {
    let mut shop = Shop::open();
    shop.window.get_by_label("Shop front").click();
    shop.settle();
    shop.press_with(egui::Modifiers::COMMAND | egui::Modifiers::SHIFT, Key::V);
    let view = session(&shop.main, PreviewSessionStatus::Ready);
    show(&mut shop, view.selected.clone());
    shop.select("Button Buy");
    shop.settle();
    let button = shop
        .main
        .snapshot
        .boards()
        .find_map(|board| shop.main.snapshot.nodes_on(board.id).find(|node| node.label == "Buy"))
        .unwrap()
        .id;
    (shop, button)
}

fn show(shop: &mut Shop, selected: Option<SelectedInstance>) {
    let view = shared_protocol::preview_sessions::PreviewSessionView {
        selected,
        ..session(&shop.main, PreviewSessionStatus::Ready)
    };
    let view = PreviewsView { sessions: vec![view], ..PreviewsView::default() };
    shop.main.send(ToRenderer::Previews(Box::new(view)));
    shop.window.run();
}

fn key(instance: impl ToString, path: &str) -> OverrideKey {
    OverrideKey::new(OverrideScope::App, instance.to_string(), JsonPointer::parse(path).unwrap())
}

fn lay(shop: &mut Shop, instance: impl ToString, path: &str, value: PropValue) {
    let OverrideKey { scope, instance, path } = key(instance, path);
    let one = SetOverride { scope, instance, path, value, component: None, locator: None };
    shop.main.run(Command::SetOverrides { set: vec![one] });
    shop.settle();
}

fn commands(requests: &[WorkbenchRequest]) -> Vec<&Command> {
    let mut all = Vec::new();
    for request in requests {
        if let WorkbenchRequest::RunCommand(RunCommand { command }) = request {
            all.push(command);
        }
    }
    all
}

#[test]
fn a_value_is_laid_over_and_the_board_stays() {
    let (mut shop, button) = previewing();
    let label = "Label";
    shop.window.get_by_label("Set overrides").click();
    shop.settle();
    let before = shop.main.snapshot.node(button).unwrap().clone();
    let fields: Vec<_> = shop
        .window
        .query_all_by_role_and_label(egui::accesskit::Role::TextInput, label)
        .map(|node| node.rect().center())
        .collect();
    // The first is the node's own label, which is no prop.
    shop.click_at(fields[1]);
    shop.press_with(egui::Modifiers::COMMAND, Key::A);
    shop.type_keys("Buy now");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [Command::SetOverrides { set }] = commands(&requests)[..] else { panic!("{requests:?}") };
    assert_eq!((set[0].key(), &set[0].value), (key(button, "/label"), &PropValue::text("Buy now")));
    assert_eq!(*shop.main.snapshot.node(button).unwrap(), before);
    assert!(shop.shows("Overridden"));
    shop.window.get_by_label("Reset the override of Label").click();
    let requests = shop.settle();
    let clear = Command::ClearOverrides(OverrideSelector::These(vec![key(button, "/label")]));
    assert_eq!(commands(&requests), [&clear]);
    assert!(!shop.shows("Overridden"));
}

#[test]
fn all_overrides_are_listed_with_why_some_apply_to_nothing() {
    let (mut shop, button) = previewing();
    lay(&mut shop, button, "/label", PropValue::text("Tried"));
    let gone = shop.main.add(
        shop.main.snapshot.node(button).unwrap().board,
        "ui.button",
        "Gone soon",
        shop.main.snapshot.node(button).unwrap().parent,
        (24, 160),
    );
    shop.main.send_workspace();
    shop.settle();
    lay(&mut shop, gone, "/label", PropValue::text("Lost"));
    shop.main.run(Command::Remove { nodes: vec![gone.into()], edges: vec![] });
    shop.settle();
    assert_eq!(shop.main.snapshot.overrides().count(), 2, "never dropped");
    shop.window.get_by_label("Overrides (2)").click();
    shop.settle();
    assert!(shop.shows("Does not apply: the instance does not exist."));
    shop.window.get_by_label("Save all to source").click();
    let requests = shop.settle();
    let promote = Command::PromoteOverrides(OverrideSelector::These(vec![key(button, "/label")]));
    assert_eq!(commands(&requests), [&promote], "what applies is saved");
    shop.window.get_by_label("Clear 1 orphaned").click();
    let requests = shop.settle();
    assert_eq!(commands(&requests), [&Command::ClearOverrides(OverrideSelector::Orphaned)]);
}

#[test]
fn a_part_of_a_component_has_overrides_of_its_own() {
    let (mut shop, button) = previewing();
    shop.window.get_by_label("Set overrides").click();
    shop.settle();
    let part = SelectedInstance {
        instance: format!("{button}/ui.badge"),
        component: "ui.badge".into(),
        node: Some(button),
        file: "components/button.component.yaml".into(),
        line: 12,
    };
    show(&mut shop, Some(part));
    shop.settle();
    assert!(shop.shows("Part: ui.badge"));
    shop.retype("Text", "New");
    shop.press(Key::Enter);
    let requests = shop.settle();
    let [Command::SetOverrides { set }] = commands(&requests)[..] else { panic!("{requests:?}") };
    assert_eq!(set[0].key(), key(format!("{button}/ui.badge"), "/text"));
    assert_eq!(set[0].component.as_deref(), Some("ui.badge"));
}

/// The preview is killed while a slider is dragged: what is let go is kept all the same.
#[test]
fn a_preview_that_ends_during_a_drag_takes_nothing_along() {
    use egui::{Event, Modifiers, PointerButton};
    let (mut shop, _) = previewing();
    shop.select("Page Home");
    shop.window.get_by_label("Set overrides").click();
    shop.settle();
    let shared_protocol::preview_sessions::PreviewTarget::Route(page) =
        session(&shop.main, PreviewSessionStatus::Ready).shows
    else {
        panic!("a page is shown")
    };
    let selected = SelectedInstance {
        instance: page.to_string(),
        component: "ui.route".into(),
        node: Some(page),
        file: "components/page.component.yaml".into(),
        line: 1,
    };
    show(&mut shop, Some(selected));
    let slider = shop.window.get_by_label("Greatest width slider").rect();
    let press = |at, pressed| Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let (from, to) = (slider.left_center() + egui::vec2(10.0, 0.0), slider.center());
    shop.window.hover_at(from);
    shop.window.run();
    shop.window.event(press(from, true));
    shop.window.event(Event::PointerMoved(to));
    shop.window.run();
    // The process is gone, and with it what was selected in it.
    let failed = shared_protocol::preview_sessions::PreviewFailure {
        what: "killed".into(),
        detail: vec![],
        again_at: None,
    };
    let view = session(&shop.main, PreviewSessionStatus::Failed(failed));
    let view = PreviewsView { sessions: vec![view], ..PreviewsView::default() };
    shop.main.send(ToRenderer::Previews(Box::new(view)));
    shop.window.run();
    shop.main.heard();
    shop.window.event(press(to, false));
    shop.window.run();
    let requests = shop.settle();
    assert!(matches!(commands(&requests)[..], [Command::SetOverrides { .. }]), "{requests:?}");
    assert_eq!(shop.main.snapshot.overrides().count(), 1);
}

#[test]
fn what_is_dragged_is_tried_and_kept_once() {
    let (mut shop, _) = previewing();
    shop.select("Page Home");
    shop.window.get_by_label("Set overrides").click();
    shop.settle();
    shop.main.heard();
    let slider = shop.window.get_by_label("Greatest width slider").rect();
    let from = slider.left_center() + egui::vec2(10.0, 0.0);
    shop.drag(from, slider.right_center() - egui::vec2(30.0, 0.0));
    let (mut tried, mut kept) = (Vec::new(), 0);
    for message in shop.main.heard() {
        match message {
            FromRenderer::Preview { gesture: PreviewGesture::Try(values), .. } => tried.push(values),
            FromRenderer::Request {
                request:
                    WindowRequest::Workbench(WorkbenchRequest::RunCommand(RunCommand {
                        command: Command::SetOverrides { .. },
                    })),
                ..
            } => kept += 1,
            _ => {}
        }
    }
    assert!(tried.len() > 2, "live while it is dragged: {tried:?}");
    assert_eq!(tried.last(), Some(&Vec::<TransientPropValue>::new()), "then what is kept counts");
    assert_eq!(kept, 1, "one command");
}

/// A component by itself has overrides of its own, in its own list; so has each of its variants.
#[test]
fn a_component_by_itself_is_overridden_from_the_inspector() {
    use shared_protocol::preview_sessions::PreviewTarget;
    let (mut shop, _) = previewing();
    for (shows, instance) in [
        (PreviewTarget::Component { component: "ui.badge".into() }, "ui.badge"),
        (PreviewTarget::Variant { component: "ui.badge".into(), variant: "late".into() }, "ui.badge@late"),
    ] {
        let selected = Some(SelectedInstance {
            instance: instance.into(),
            component: "ui.badge".into(),
            node: None,
            file: "components/badge.component.yaml".into(),
            line: 1,
        });
        let ready = session(&shop.main, PreviewSessionStatus::Ready);
        let view =
            shared_protocol::preview_sessions::PreviewSessionView { shows, selected, route: None, ..ready };
        let view = PreviewsView { sessions: vec![view], ..PreviewsView::default() };
        shop.main.send(ToRenderer::Previews(Box::new(view)));
        shop.window.run();
        shop.settle();
        assert!(shop.selected().is_empty(), "the inspector turns to what was chosen in the preview");
        shop.retype("Text", "Tried");
        shop.press(Key::Enter);
        let requests = shop.settle();
        let [Command::SetOverrides { set }] = commands(&requests)[..] else { panic!("{requests:?}") };
        let path = JsonPointer::parse("/text").unwrap();
        assert_eq!(set[0].key(), OverrideKey::new(OverrideScope::Component, instance, path));
    }
    // The variant is none that the workspace has, so that one was refused; the other is there and can be taken back.
    let ready = session(&shop.main, PreviewSessionStatus::Ready);
    let shows = PreviewTarget::Component { component: "ui.badge".into() };
    let view = shared_protocol::preview_sessions::PreviewSessionView { shows, route: None, ..ready };
    let view = PreviewsView { sessions: vec![view], ..PreviewsView::default() };
    shop.main.send(ToRenderer::Previews(Box::new(view)));
    shop.window.run();
    shop.settle();
    assert!(shop.shows("Overridden") && shop.shows("Overrides (1)"));
    shop.window.get_by_label("Reset the override of Text").click();
    shop.settle();
    assert_eq!(shop.main.snapshot.overrides().count(), 0);
}

#[test]
fn what_cannot_be_saved_says_why_at_its_place() {
    let (mut shop, button) = previewing();
    lay(&mut shop, button, "/label", PropValue::text("Tried"));
    let path = JsonPointer::parse("/text").unwrap();
    let key = OverrideKey::new(OverrideScope::Component, "ui.badge", path);
    let OverrideKey { scope, instance, path } = key;
    let one =
        SetOverride { scope, instance, path, value: PropValue::text("X"), component: None, locator: None };
    shop.main.run(Command::SetOverrides { set: vec![one] });
    shop.settle();
    shop.window.get_by_label("Overrides (2)").click();
    shop.settle();
    // What stands in for main here knows no files.
    shop.window.get_by_label("Save all to source").click();
    shop.settle();
    assert_eq!(shop.main.snapshot.overrides().count(), 2, "all or nothing");
    assert!(shop.says("Not saved to source: it is not on a board"));
}
