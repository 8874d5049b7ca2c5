//! The Terraform panel: what can be run and what not, what is asked before, what is shown of it.

use crate::{
    dock::run_command,
    shop::Shop,
    terraform_answers::{COUNTS, applying, hcl, line, plan, planned, run, tell, told},
};
use egui::{Key, Theme};
use egui_kittest::kittest::{NodeT, Queryable};
use shared_protocol::{
    messages::ToRenderer,
    requests::{CancelRun, StartRun, WorkbenchRequest},
    terraform::{PlanState, TerraformOperation, TerraformRunState, TerraformView},
};

fn with(prepare: impl FnOnce(&mut Shop)) -> Shop {
    let mut shop = Shop::open_as((1440.0, 1300.0), Theme::Light, |_| {});
    shop.main.terraform.hcl = Some(hcl(&shop));
    prepare(&mut shop);
    run_command(&mut shop, "Terraform");
    shop.settle();
    shop
}

fn button<'a>(shop: &'a Shop, name: &'a str) -> egui_kittest::Node<'a> {
    shop.window.get_by_role_and_label(egui::accesskit::Role::Button, name)
}

fn press(shop: &mut Shop, name: &str) -> Vec<WorkbenchRequest> {
    button(shop, name).click();
    asked(shop)
}

fn asked(shop: &mut Shop) -> Vec<WorkbenchRequest> {
    // What a dialog needs to know is asked for when it is there.
    [shop.settle(), shop.settle()].into_iter().flatten().collect()
}

fn started(shop: &Shop, operation: TerraformOperation, secrets: &[(&str, &str)]) -> WorkbenchRequest {
    WorkbenchRequest::StartRun(StartRun {
        board: shop.infrastructure,
        operation,
        confirmed: operation.needs_confirmation(),
        secrets: secrets.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
    })
}

#[test]
fn what_changes_nothing_is_run_at_once() {
    let mut shop = with(|shop| tell(shop, told(shop.infrastructure)));
    assert!(shop.shows("No runs yet") && shop.shows("Terraform 1.11.0"));
    for (name, operation) in [
        ("Init", TerraformOperation::Init),
        ("Validate", TerraformOperation::Validate),
        ("Plan", TerraformOperation::Plan),
        ("Check drift", TerraformOperation::Drift),
    ] {
        assert_eq!(press(&mut shop, name), [started(&shop, operation, &[])], "{name}");
    }
    assert!(shop.window.query_by_label("Apply plan…").is_none(), "none is kept");
}

#[test]
fn without_a_program_every_button_says_what_to_do() {
    let mut shop = with(|shop| {
        let why = "Neither terraform nor tofu is on the path. Install one, or set `program`.".to_owned();
        let view = TerraformView { program: Some(Err(why)), ..TerraformView::default() };
        shop.main.send(ToRenderer::Terraform(Box::new(view)));
    });
    assert!(shop.shows("Install one, or set"));
    for name in ["Init", "Validate", "Plan", "Apply…", "Check drift", "Destroy…"] {
        assert!(button(&shop, name).accesskit_node().is_disabled(), "{name}");
    }
    run_command(&mut shop, "Terraform plan");
    assert!(asked(&mut shop).is_empty(), "a command is not a way around it");
}

#[test]
fn while_a_run_goes_on_it_can_be_followed_and_cancelled_and_nothing_else_starts() {
    let mut shop = with(|shop| {
        let told = applying(shop);
        tell(shop, told);
    });
    assert!(shop.shows("Apply is running") && shop.shows("Progress 3 of 12"));
    assert!(button(&shop, "Plan").accesskit_node().is_disabled());
    let lines = vec![line("aws_vpc.shop_network: Creating...", false), line("bucket taken", true)];
    shop.main.send(ToRenderer::RunLines { run: 4, first: 0, lines });
    shop.window.run();
    assert!(shop.window.query_by_label("Error").is_some(), "not by colour alone");
    assert!(shop.shows("aws_vpc.shop_network: Creating...") && shop.shows("bucket taken"));
    assert_eq!(press(&mut shop, "Cancel the run"), [WorkbenchRequest::CancelRun(CancelRun { run: 4 })]);
    let mut stopping = applying(&shop);
    stopping.run.as_mut().unwrap().state = TerraformRunState::Cancelling;
    tell(&mut shop, stopping);
    assert!(button(&shop, "Cancelling… the run").accesskit_node().is_disabled());
}

#[test]
fn apply_shows_what_would_change_with_what_destroys_first_and_needs_a_press() {
    let mut shop = with(|shop| {
        shop.main.terraform.plan = Some(plan(shop, false));
        let told = planned(shop);
        tell(shop, told);
    });
    assert!(press(&mut shop, "Apply plan…").is_empty(), "asked first");
    assert!(shop.shows("1 to add, 1 to change, 1 to destroy."));
    let names = ["aws_sqs_queue.old", "aws_s3_bucket.pictures", "aws_instance.web", "aws_vpc.shop_network"];
    let tops = names.map(|name| shop.window.get_by_label(name).rect().top());
    assert!(tops.is_sorted(), "{tops:?}");
    shop.picture("terraform-apply-light");
    shop.press(Key::Enter);
    assert!(asked(&mut shop).is_empty(), "a key that was meant for something else agrees to nothing");
    assert_eq!(press(&mut shop, "Apply plan"), [started(&shop, TerraformOperation::ApplyPlan, &[])]);
    assert!(!shop.shows("1 to add, 1 to change, 1 to destroy."), "the question is answered");
}

#[test]
fn an_apply_that_nobody_has_planned_offers_to_plan_first() {
    let mut shop = with(|shop| tell(shop, told(shop.infrastructure)));
    press(&mut shop, "Apply…");
    assert!(shop.shows("so the changes are unknown"));
    assert_eq!(press(&mut shop, "Plan first"), [started(&shop, TerraformOperation::Plan, &[])]);
    press(&mut shop, "Apply…");
    assert_eq!(press(&mut shop, "Apply"), [started(&shop, TerraformOperation::Apply, &[])]);
}

#[test]
fn a_plan_of_an_older_board_cannot_be_applied() {
    let shop = with(|shop| {
        shop.main.terraform.plan = Some(plan(shop, true));
        let mut told = planned(shop);
        told.plan = PlanState::Outdated(COUNTS);
        tell(shop, told);
    });
    assert!(button(&shop, "Apply plan…").accesskit_node().is_disabled());
}

#[test]
fn destroy_needs_the_exact_name_of_the_board() {
    let mut shop = with(|shop| {
        let told = planned(shop);
        tell(shop, told);
    });
    press(&mut shop, "Destroy…");
    assert!(shop.shows("2 resources and all other resources created from “Production”"));
    for wrong in ["", "Production", "productio", "production ", "other"] {
        shop.retype("Type production to confirm", wrong);
        assert!(button(&shop, "Destroy").accesskit_node().is_disabled(), "{wrong:?}");
        shop.press(Key::Enter);
        assert!(asked(&mut shop).is_empty(), "{wrong:?}");
    }
    assert!(shop.shows("This is not the name of the board."));
    shop.picture("terraform-destroy-light");
    shop.retype("Type production to confirm", "production");
    assert_eq!(press(&mut shop, "Destroy"), [started(&shop, TerraformOperation::Destroy, &[])]);
    press(&mut shop, "Destroy…");
    assert_eq!(
        press(&mut shop, "Plan destroy first"),
        [started(&shop, TerraformOperation::PlanDestroy, &[])]
    );
}

#[test]
fn sensitive_values_are_asked_for_once_masked_and_never_told() {
    let mut shop = with(|shop| {
        let secrets = vec!["db_password".to_owned(), "api_key".to_owned()];
        shop.main.terraform.hcl = Some(shared_protocol::terraform::HclView { secrets, ..hcl(shop) });
        tell(shop, told(shop.infrastructure));
    });
    assert_eq!(
        press(&mut shop, "Validate"),
        [started(&shop, TerraformOperation::Validate, &[])],
        "needs none"
    );
    assert!(press(&mut shop, "Plan").is_empty(), "asked first");
    let role = egui::accesskit::Role::PasswordInput;
    for (name, value) in [("db_password", "hunter2"), ("api_key", "swordfish")] {
        shop.window.get_by_role_and_label(role, name).focus();
        shop.window.run();
        shop.window.get_by_role_and_label(role, name).type_text(value);
        shop.window.run();
        assert!(!shop.says(value), "{name} is masked");
        let mut all = shop.window.query_all_by(|_| true);
        assert!(all.all(|node| node.value().is_none_or(|told| !told.contains(value))), "{name}");
    }
    shop.picture("terraform-values-light");
    let plans = shop.window.query_all_by_role_and_label(egui::accesskit::Role::Button, "Plan");
    plans.max_by(|a, b| a.rect().top().total_cmp(&b.rect().top()).reverse()).unwrap().click();
    let secrets = [("db_password", "hunter2"), ("api_key", "swordfish")];
    assert_eq!(asked(&mut shop), [started(&shop, TerraformOperation::Plan, &secrets)]);
    assert_eq!(press(&mut shop, "Plan"), [started(&shop, TerraformOperation::Plan, &[])], "main has them");
}

#[test]
fn runs_from_before_are_listed_and_their_logs_read() {
    let mut shop = with(|shop| {
        let board = shop.infrastructure;
        let mut failed = run(
            board,
            1,
            TerraformOperation::Init,
            TerraformRunState::Failed { ended: 1_000, code: Some(1) },
        );
        failed.lines = 5;
        let mut last = run(board, 2, TerraformOperation::Plan, TerraformRunState::Succeeded { ended: 2_000 });
        last.lines = 1;
        let terraform = &mut shop.main.terraform;
        terraform.history = vec![last.clone(), failed];
        terraform
            .lines
            .insert(1, (1..=5).map(|number| line(&format!("line {number}"), number == 5)).collect());
        terraform.lines.insert(2, vec![line("No changes.", false)]);
        let mut told = told(board);
        told.run = Some(last);
        tell(shop, told);
    });
    assert!(shop.shows("No changes.") && shop.shows("Plan succeeded in 2 s"));
    let row = shop.rect_of("Run Init, failed").center();
    shop.click_at(row);
    shop.settle();
    assert!(shop.shows("line 1") && shop.shows("line 5"), "read to its end, three lines at a time");
    assert!(shop.shows("Init failed with exit code 1") && !shop.shows("No changes."));
    shop.picture("terraform-history-light");
}

#[test]
fn planned_changes_are_listed_with_what_destroys_first_and_lead_to_their_node() {
    let mut shop = with(|shop| {
        shop.main.terraform.plan = Some(plan(shop, true));
        let told = planned(shop);
        tell(shop, told);
    });
    run_command(&mut shop, "Show planned changes");
    shop.settle();
    assert!(shop.shows("so it cannot be applied"));
    let order =
        ["aws_sqs_queue.old will", "aws_s3_bucket.pictures will", "aws_instance.web will", "aws_vpc.shop"];
    let tops = order.map(|name| shop.rect_of(name).top());
    assert!(tops.is_sorted(), "{tops:?}");
    assert!(shop.shows("bucket from \"pictures\" to \"photos\", forces replacement"));
    assert!(shop.shows("user_data from (sensitive) to (sensitive)"));
    assert!(!shop.shows("cidr_block becomes"), "what comes is folded");
    shop.window.get_by_label("Show attributes of aws_vpc.shop_network").click();
    shop.window.run();
    assert!(shop.shows("cidr_block becomes"));
    let row = shop.rect_of("aws_instance.web will").center();
    shop.click_at(row);
    assert_eq!(shop.selected(), [shared_protocol::ElementId::Node(shop.web)].into());
}

#[test]
fn boards_of_other_kinds_have_no_terraform() {
    let mut shop = with(|shop| tell(shop, told(shop.infrastructure)));
    shop.window.get_by_label("Shop front").click();
    shop.settle();
    assert!(shop.shows("No Terraform for this board"));
    run_command(&mut shop, "HCL");
    shop.settle();
    assert!(shop.shows("No files for this board"));
}

#[test]
fn a_run_that_was_cut_off_is_told() {
    let shop = with(|shop| {
        let mut told = told(shop.infrastructure);
        told.run =
            Some(run(shop.infrastructure, 1, TerraformOperation::Apply, TerraformRunState::Interrupted));
        told.interrupted = Some("An apply was cut off. Check for drift before the next one.".to_owned());
        tell(shop, told);
    });
    assert!(shop.shows("Check for drift before the next one."));
    assert!(shop.shows("Apply was interrupted; its progress is unknown"));
}

#[test]
fn draws_runs_and_changes() {
    for (theme, word) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        for size in [(1440.0, 900.0), (1024.0, 700.0)] {
            let mut shop = Shop::open_as(size, theme, |_| {});
            shop.main.terraform.hcl = Some(hcl(&shop));
            shop.main.terraform.plan = Some(plan(&shop, false));
            shop.main.terraform.cost = Some(crate::terraform_answers::cost(&shop));
            let mut before = run(
                shop.infrastructure,
                2,
                TerraformOperation::Plan,
                TerraformRunState::Cancelled { ended: 1 },
            );
            before.started = 1;
            shop.main.terraform.history = vec![
                before,
                run(shop.infrastructure, 1, TerraformOperation::Init, TerraformRunState::Interrupted),
            ];
            let going = applying(&shop);
            tell(&mut shop, going);
            let texts = [
                "aws_vpc.shop_network: Creation complete after 2s [id=vpc-1]",
                "aws_subnet.private_a: Creating...",
            ];
            let mut lines: Vec<_> = (0..9).flat_map(|_| texts).map(|text| line(text, false)).collect();
            lines.push(line("aws_s3_bucket.pictures: BucketAlreadyExists: the name is taken", true));
            shop.main.send(ToRenderer::RunLines { run: 4, first: 0, lines });
            run_command(&mut shop, "Terraform");
            shop.settle();
            shop.picture(&format!("terraform-runs-{word}-{}", size.0));
            let ready = planned(&shop);
            tell(&mut shop, ready);
            run_command(&mut shop, "Show planned changes");
            shop.settle();
            shop.picture(&format!("terraform-changes-{word}-{}", size.0));
        }
    }
}
