//! Costs: known costs are summed, missing prices are reported, and an unknown cost never counts as zero.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may panic")]

mod common;

use common::HclFixture;
use shared_protocol::{
    NodeId, PropValue,
    terraform::{CostBasis, NodeCost},
};
use terraform::cost::{BoardCostEstimate, PriceBook, describe_missing, estimate};

const BOOK: &str = r#"{"format":1,"currency":"EUR","prices":[
  {"provider":"azurerm","region":"westeurope","service":"Virtual Machines","sku":"Standard_B2s/Linux","unit":"hour","price":0.05,"source":"a made-up list","date":"2026-01-31"},
  {"provider":"azurerm","region":"*","service":"Managed Disks","sku":"StandardSSD_LRS","unit":"GB-month","price":0.1,"source":"a made-up list","date":"2026-01-31"},
  {"provider":"azurerm","region":"*","service":"Storage","sku":"Standard LRS Hot","unit":"GB-month","price":0.02,"source":"a made-up list","date":"2026-01-31"}
]}"#;

fn costs(bench: &HclFixture, book: &PriceBook) -> BoardCostEstimate {
    estimate(&bench.snapshot, bench.board, &bench.settings, book)
}

fn of(estimates: &BoardCostEstimate, node: NodeId) -> &NodeCost {
    estimates.view.nodes.iter().find(|estimate| estimate.node == node).unwrap()
}

#[test]
fn what_is_known_is_summed_and_the_rest_is_said() {
    let mut book = PriceBook::new();
    book.add("prices.json", BOOK).unwrap();
    let mut bench = HclFixture::new();
    let group =
        bench.add("azurerm/core/resource_group", "rg", None, r#"{"name":"rg","location":"westeurope"}"#);
    let machine = bench.add(
        "azurerm/compute/virtual_machine",
        "vm",
        Some(group),
        r#"{"name":"vm","os_disk_size_gb":100}"#,
    );
    let store = bench.add(
        "azurerm/storage/storage_account",
        "st",
        Some(group),
        r#"{"name":"stshop","account_tier":"Standard","account_replication_type":"LRS"}"#,
    );
    let vault = bench.add("azurerm/networking/firewall", "fw", Some(group), r#"{"name":"fw"}"#);

    let found = costs(&bench, &book);
    assert_eq!(found.view.currency.as_deref(), Some("EUR"));
    assert_eq!(of(&found, group).basis, CostBasis::Free);
    let vm = of(&found, machine);
    assert_eq!(vm.basis, CostBasis::Priced);
    assert!((vm.monthly.unwrap() - (0.05 * 730.0 + 10.0)).abs() < 1e-9);
    assert_eq!(vm.components[0].source.as_deref(), Some("a made-up list, 2026-01-31"));
    assert_eq!((of(&found, store).basis, of(&found, store).monthly), (CostBasis::UsageBased, None));
    assert_eq!((of(&found, vault).basis, of(&found, vault).monthly), (CostBasis::Unknown, None));
    assert_eq!(
        (found.view.priced, found.view.free, found.view.usage_based, found.view.unknown),
        (1, 1, 1, 1)
    );

    bench.set(store, "usage_storage_gb", PropValue::from(1000));
    let found = costs(&bench, &book);
    // The number of operations is still unknown, so the total is not final; the known part is reported.
    assert_eq!(of(&found, store).basis, CostBasis::UsageBased);
    assert!((of(&found, store).monthly.unwrap() - 20.0).abs() < 1e-9);

    bench.set(machine, "vm_size", PropValue::text("Standard_D2s_v5"));
    let found = costs(&bench, &book);
    assert_eq!(of(&found, machine).basis, CostBasis::Unknown);
    assert!(describe_missing(&found).contains("Standard_D2s_v5/Linux"));
}

#[test]
fn a_template_lists_what_is_missing_and_can_be_filled_in() {
    let mut bench = HclFixture::new();
    bench
        .settings
        .providers
        .entry("aws".to_owned())
        .or_default()
        .insert("region".to_owned(), PropValue::text("eu-west-1"));
    let address = bench.add("aws/compute/eip", "ip", None, "{}");
    let found = costs(&bench, &PriceBook::new());
    assert_eq!(of(&found, address).basis, CostBasis::Unknown);
    let filled = describe_missing(&found)
        .replace("\"price\": null", "\"price\": 0.005")
        .replace("\"source\": \"\"", "\"source\": \"a list\"")
        .replace("\"date\": \"\"", "\"date\": \"2026-02-01\"");
    let mut book = PriceBook::new();
    book.add("prices.json", &filled).unwrap();
    assert_eq!(of(&costs(&bench, &book), address).basis, CostBasis::Priced);
}

#[test]
fn a_price_without_a_source_is_refused() {
    let mut book = PriceBook::new();
    let error = book.add("prices.json", &BOOK.replace("a made-up list", " ")).unwrap_err().to_string();
    assert!(error.contains("source"), "{error}");
    book.add("one.json", BOOK).unwrap();
    let error = book.add("two.json", &BOOK.replace("EUR", "USD")).unwrap_err().to_string();
    assert!(error.contains("currency"), "{error}");
    assert!(book.add("x.json", "{").is_err());
}
