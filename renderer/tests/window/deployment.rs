//! How nodes stand in the real world, what they cost, and what runs say about them: on the canvas, in the inspector, in
//! the problems and in the status bar.

use crate::{
    dock::run_command,
    shop::{Shop, response},
    terraform_answers::{applying, cost, hcl, planned, tell, told},
};
use egui::Theme;
use egui_kittest::kittest::Queryable;
use shared_protocol::{
    BoardKind, ElementId, PropKey,
    messages::{ProblemSeverity, ToRenderer},
    requests::{ImportBoard, ImportedBoard, ListMissingPrices, WorkbenchRequest},
    terraform::{CostView, TerraformFindingView},
};

fn finding(shop: &Shop, prop: Option<&str>, message: &str) -> TerraformFindingView {
    TerraformFindingView {
        severity: ProblemSeverity::Error,
        node: Some(shop.bucket),
        prop: prop.map(|prop| PropKey::parse(prop).unwrap()),
        message: message.to_owned(),
        detail: "creating S3 Bucket: BucketAlreadyExists".to_owned(),
    }
}

#[test]
fn nodes_say_how_they_stand() {
    let mut shop = Shop::open();
    let known = planned(&shop);
    tell(&mut shop, known);
    for name in [
        "VPC Shop network, will be created",
        "EC2 instance Web, 1 problem, will be updated, created",
        "S3 bucket Pictures, 1 problem, will be replaced, created, drifted",
    ] {
        assert!(shop.shows(name), "{name}");
    }
    let known = applying(&shop);
    tell(&mut shop, known);
    assert!(shop.shows("EC2 instance Worker, 1 problem, pending") && !shop.shows("will be created"));
    let nothing = told(shop.infrastructure);
    tell(&mut shop, nothing);
    assert!(!shop.shows("pending"));
}

#[test]
fn the_inspector_tells_the_standing_and_the_cost_of_a_node() {
    let mut shop = Shop::open();
    shop.main.terraform.cost = Some(cost(&shop));
    let known = planned(&shop);
    tell(&mut shop, known);
    shop.settle();
    shop.select("EC2 instance Web");
    for text in ["Deployment and cost", "Will be updated", "$312 a month", "Instance, 730 h · $312"] {
        assert!(shop.shows(text), "{text}");
    }
    assert!(shop.shows("aws.amazon.com/ec2/pricing, 2026-01-31"), "the source");
    shop.select("S3 bucket Pictures");
    assert!(shop.shows("Drifted from the applied state") && shop.shows("Unpriced"));
}

#[test]
fn the_status_bar_tells_the_cost_and_what_it_is_made_of() {
    let mut shop = Shop::open();
    shop.main.terraform.cost = Some(cost(&shop));
    shop.settle();
    shop.window.get_by_label("$312/mo · 2 unpriced").click();
    shop.window.run();
    for text in ["1 priced, 1 free, 2 unknown", "Web costs $312", "Pictures costs unknown"] {
        assert!(shop.shows(text), "{text}");
    }
    assert!(!shop.shows("$0"), "nothing unknown is zero");
    shop.picture("cost-light");
    shop.window.get_by_label("Copy missing prices").click();
    let asked = shop.settle();
    let board = shop.infrastructure;
    assert_eq!(asked, [WorkbenchRequest::ListMissingPrices(ListMissingPrices { board })]);
    assert!(shop.shows("Copied the missing prices"));
    let row = shop.rect_of("Web costs $312").center();
    shop.click_at(row);
    assert_eq!(shop.selected(), [ElementId::Node(shop.web)].into());
    shop.window.get_by_label("Shop front").click();
    shop.settle();
    assert!(!shop.shows("$312/mo"), "an interface costs nothing");
}

#[test]
fn where_nothing_is_known_no_sum_is_told() {
    let mut shop = Shop::open();
    let known = CostView { monthly: None, currency: None, priced: 0, unknown: 5, ..cost(&shop) };
    shop.main.terraform.cost = Some(known);
    shop.settle();
    assert!(shop.shows("Cost: 5 unpriced") && !shop.shows("/mo"));
}

#[test]
fn what_a_run_complains_about_is_a_problem_of_the_node_and_its_property() {
    let mut shop = Shop::open();
    let mut known = told(shop.infrastructure);
    known.findings = vec![finding(&shop, Some("bucket"), "the name is taken")];
    tell(&mut shop, known);
    assert!(shop.shows("S3 bucket Pictures, 1 problem, error in the last run"));
    shop.window.get_by_label("4 errors").click();
    shop.settle();
    let row = shop.rect_of("Error: the name is taken (Pictures · Production · last run)").center();
    shop.picture("problems-run-light");
    shop.click_at(row);
    assert_eq!(shop.selected(), [ElementId::Node(shop.bucket)].into());
    let said: Vec<_> = shop.window.query_all_by_label("the name is taken (last run)").collect();
    assert_eq!(said.len(), 2, "on the node and at the property");
}

#[test]
fn what_the_files_lack_is_listed_but_not_what_the_board_says_itself() {
    let mut shop = Shop::open();
    let image = PropKey::parse("ami").unwrap();
    let known = shop.main.snapshot.node(shop.worker).unwrap().id;
    let mut files = hcl(&shop);
    let about =
        |prop| TerraformFindingView { node: Some(known), prop, ..finding(&shop, None, "no image is given") };
    files.findings = vec![about(Some(image)), about(None)];
    shop.main.terraform.hcl = Some(files);
    shop.window.get_by_label("3 errors").click();
    shop.settle();
    assert!(shop.shows("Errors 4"), "one of the two is news");
    assert!(shop.shows("Error: no image is given (Worker · Production · HCL)"));
}

#[test]
fn an_imported_folder_is_opened_with_its_notes_among_the_problems() {
    let mut shop = Shop::open();
    run_command(&mut shop, "Import Terraform folder");
    shop.retype("Path", "/home/ada/old");
    shop.window.get_by_label("Import").click();
    shop.window.run();
    let import = WorkbenchRequest::from(ImportBoard { path: "/home/ada/old".into(), name: None });
    let request = shop.main.request_id(|request| *request == import);
    let board = match shop.main.run(shared_protocol::Command::AddBoard {
        kind: BoardKind::Infrastructure,
        title: "Old".into(),
        name: None,
    })[..]
    {
        [ElementId::Board(board)] => board,
        ref other => panic!("{other:?}"),
    };
    let notes = vec![TerraformFindingView {
        node: None,
        severity: ProblemSeverity::Warning,
        ..finding(&shop, None, "a block was kept as it is")
    }];
    let revision = shop.main.snapshot.revision();
    let result = response(Ok(ImportedBoard { board, revision, notes }));
    shop.main.send(ToRenderer::Response { request, result });
    shop.settle();
    assert!(shop.shows("Board Old") && shop.shows("Imported the folder as a board"));
    shop.window.get_by_label("3 errors, 1 warning").click();
    shop.settle();
    assert!(shop.shows("Warning: a block was kept as it is (Old · import)"));
}

#[test]
fn draws_how_nodes_stand() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut shop = Shop::open_as((1440.0, 900.0), theme, |_| {});
        shop.main.terraform.cost = Some(cost(&shop));
        let known = planned(&shop);
        tell(&mut shop, known);
        shop.settle();
        shop.select("S3 bucket Pictures");
        shop.picture(&format!("standing-planned-{word}"));
        let known = applying(&shop);
        tell(&mut shop, known);
        shop.settle();
        shop.picture(&format!("standing-applying-{word}"));
        let corner = shop.rect_of("S3 bucket Pictures").right_bottom();
        shop.window.hover_at(corner - egui::vec2(4.0, 4.0));
        shop.window.run_steps(8);
        assert!(shop.shows("has drifted from the applied state"), "all signs are explained");
        shop.picture(&format!("standing-legend-{word}"));
    }
}
