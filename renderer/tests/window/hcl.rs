//! The files of a board: jumping between lines and nodes, differences, writing.

use crate::{
    dock::run_command,
    shop::Shop,
    terraform_answers::{hcl, tell, told},
};
use egui::Theme;
use egui_kittest::kittest::{NodeT, Queryable};
use shared_protocol::{
    Command, ElementId,
    requests::{WorkbenchRequest, WriteHcl},
    terraform::HclFile,
};

fn open(size: (f32, f32), theme: Theme) -> Shop {
    let mut shop = Shop::open_as(size, theme, |_| {});
    shop.main.terraform.hcl = Some(hcl(&shop));
    let told = told(shop.infrastructure);
    tell(&mut shop, told);
    run_command(&mut shop, "HCL");
    shop.settle();
    shop
}

fn is_marked(shop: &Shop, line: &str) -> bool {
    let toggled = shop.window.get_by_label_contains(line).accesskit_node().toggled();
    toggled == Some(egui::accesskit::Toggled::True)
}

#[test]
fn a_click_on_a_line_selects_its_node_and_nothing_scrolls() {
    let mut shop = open((1440.0, 1300.0), Theme::Light);
    let line = "Line 3: resource \"aws_vpc\"";
    let before = shop.rect_of(line);
    shop.click_at(before.left_center() + egui::vec2(90.0, 0.0));
    assert_eq!(shop.selected(), [ElementId::Node(shop.network)].into());
    assert_eq!(shop.rect_of(line), before);
    assert!(is_marked(&shop, line) && !is_marked(&shop, "Line 7: resource"));
}

#[test]
fn selecting_a_node_shows_its_block() {
    let mut shop = open((1440.0, 1300.0), Theme::Light);
    shop.window.get_by_label("variables.tf not written").click();
    shop.window.run();
    assert!(shop.shows("Line 1: variable \"web_ami\""));
    shop.select("S3 bucket Pictures");
    shop.window.run();
    assert!(is_marked(&shop, "Line 16:   bucket = \"photos\""), "in another file");
    assert!(!is_marked(&shop, "Line 7: resource"));
    shop.select("EC2 instance Web");
    shop.window.run();
    assert!(is_marked(&shop, "Line 7: resource") && !is_marked(&shop, "Line 15: resource"));
}

#[test]
fn a_block_far_down_is_scrolled_to() {
    let mut shop = open((1440.0, 1300.0), Theme::Light);
    let mut view = hcl(&shop);
    let text: String = (1..=4_000).map(|number| format!("# {number}\n")).collect();
    view.files = vec![HclFile { path: "main.tf".into(), text, on_disk: None }];
    view.spans = vec![shared_protocol::terraform::HclSpan {
        file: "main.tf".into(),
        first: 3_200,
        last: 3_204,
        node: shop.worker,
    }];
    shop.main.terraform.hcl = Some(view);
    rename_board(&mut shop);
    shop.window.run_steps(4);
    shop.settle();
    assert!(shop.shows("Line 1: # 1") && !shop.shows("Line 3200: "), "only what is in view is there");
    shop.select("EC2 instance Worker");
    shop.window.run();
    assert!(is_marked(&shop, "Line 3202: ") && !shop.shows("Line 1: "));
}

fn rename_board(shop: &mut Shop) {
    let board = shop.infrastructure;
    shop.main.run(Command::UpdateBoard { board: board.into(), title: Some("Live".into()), name: None });
    shop.window.run();
}

#[test]
fn files_are_asked_for_while_they_are_looked_at_and_when_changes_have_rested() {
    let mut shop = Shop::open();
    shop.main.terraform.hcl = Some(hcl(&shop));
    shop.settle();
    assert_eq!(shop.main.terraform.hcl_asked, 0, "nobody looks");
    run_command(&mut shop, "HCL");
    shop.settle();
    assert_eq!(shop.main.terraform.hcl_asked, 1);
    for _ in 0..5 {
        rename_board(&mut shop);
    }
    shop.window.run_steps(6);
    shop.settle();
    assert_eq!(shop.main.terraform.hcl_asked, 2, "once for all of them");
    run_command(&mut shop, "Log");
    rename_board(&mut shop);
    shop.window.run_steps(6);
    shop.settle();
    assert_eq!(shop.main.terraform.hcl_asked, 2, "nobody looks any more");
}

#[test]
fn differences_are_told_and_written() {
    let mut shop = open((1440.0, 1300.0), Theme::Light);
    for text in [
        "main.tf +1 −1",
        "variables.tf not written",
        "locals.tf will be removed",
        "backend.tf blocked",
        "Removed line 9:   instance_type = \"t3.small\"",
        "New line 9:   instance_type = \"t3.large\"",
        "3 files not written",
        "Warning in HCL: Pictures: no name by convention",
    ] {
        assert!(shop.shows(text), "{text}");
    }
    shop.window.get_by_label("Write files").click();
    let written = shop.settle();
    assert_eq!(written, [WorkbenchRequest::WriteHcl(WriteHcl { board: shop.infrastructure })]);
    assert!(shop.shows("Wrote 1 file"));
    assert_eq!(shop.main.terraform.hcl_asked, 2, "what is on the disk is other now");
}

/// A copy of a workspace has boards of the same ids, and may be at the same revision.
#[test]
fn a_copy_opened_in_its_place_shows_its_own_files() {
    let mut shop = open((1440.0, 1300.0), Theme::Light);
    let mut view = hcl(&shop);
    view.files[0].text = "resource \"aws_vpc\" \"of_the_copy\" {\n}\n".into();
    view.files[0].on_disk = None;
    shop.main.terraform.hcl = Some(view);
    shop.main.send_workspace_at("/home/ada/copy");
    shop.settle();
    run_command(&mut shop, "HCL");
    shop.settle();
    shop.window.run_steps(4);
    shop.settle();
    assert!(shop.shows("of_the_copy"));
}

#[test]
fn why_there_are_no_files_is_told() {
    let mut shop = Shop::open();
    run_command(&mut shop, "HCL");
    shop.settle();
    assert!(shop.shows("nothing is known about it"));
}

#[test]
fn draws_files() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        for size in [(1440.0, 900.0), (1024.0, 700.0)] {
            let mut shop = open(size, theme);
            shop.select("EC2 instance Web");
            shop.settle();
            shop.picture(&format!("hcl-{word}-{}", size.0));
        }
    }
}
