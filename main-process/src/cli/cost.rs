//! `draftboard cost`: the monthly cost of a board, from the known prices.

use super::{WorkspaceArguments, board_at::ReachedBoard, format};
use serde_json::json;
use shared_protocol::{
    Refusal,
    requests::{EstimateCost, ListMissingPrices},
    terraform::{CostBasis, CostView},
};
use std::{collections::BTreeSet, process::ExitCode};

pub(super) const HELP: &str = "PriceFileCache come from the price books in prices/, each with its source and date.\n\n\
    Examples:\n  draftboard cost\n  draftboard cost network --missing > prices/network.json   # then fill it in";

#[derive(Debug, clap::Args)]
pub(super) struct CostArguments {
    /// The board [default: the only infrastructure board]
    board: Option<String>,
    /// Prints a price book template of the missing prices
    #[arg(long)]
    missing: bool,
    #[command(flatten)]
    at: WorkspaceArguments,
}

pub(super) fn run(asked: &CostArguments) -> ExitCode {
    format::exit(answer(asked), asked.at.json)
}

fn answer(asked: &CostArguments) -> Result<ExitCode, Refusal> {
    let mut at = ReachedBoard::find(&asked.at, asked.board.as_deref())?;
    let board = at.board.id;
    if asked.missing {
        if at.request(EstimateCost { board })?.unknown == 0 {
            format::print_warning("no prices are missing");
        }
        // The template is JSON, with or without --json.
        format::print(&at.request(ListMissingPrices { board })?);
        return Ok(ExitCode::SUCCESS);
    }
    let view = at.request(EstimateCost { board })?;
    if asked.at.json {
        format::print_json(&json!({ "ok": true, "data": view }));
    } else {
        format::print_visible(&format_cost(&at, &view));
    }
    Ok(ExitCode::SUCCESS)
}

fn format_cost(at: &ReachedBoard, view: &CostView) -> String {
    let amount =
        |monthly: Option<f64>| monthly.map_or_else(|| "-".to_owned(), |monthly| format!("{monthly:.2}"));
    let mut rows: Vec<[String; 3]> = view
        .nodes
        .iter()
        .map(|node| [at.name(node.node), amount(node.monthly), basis(node.basis).to_owned()])
        .collect();
    rows.sort();
    rows.push([
        "total of known prices".to_owned(),
        amount(view.monthly.filter(|_| view.priced > 0 || view.unknown == 0)),
        format!(
            "{}; {} priced, {} free, {} usage-based, {} unpriced",
            view.currency
                .as_ref()
                .map_or_else(|| "per month".to_owned(), |currency| format!("{currency} per month")),
            view.priced,
            view.free,
            view.usage_based,
            view.unknown
        ),
    ]);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (first, second) = (width(0), width(1));
    let mut text: String = rows
        .iter()
        .map(|[name, amount, basis]| format!("{name:<first$}  {amount:>second$}  {basis}\n"))
        .collect();
    for source in sources(view) {
        text.push_str(&format!("Prices: {source}\n"));
    }
    if view.unknown > 0 {
        text.push_str("Some prices are missing. `draftboard cost --missing` prints a template to fill in.\n");
    }
    text
}

/// Where the prices are from, each source with its date once.
fn sources(view: &CostView) -> BTreeSet<&str> {
    let parts = view.nodes.iter().flat_map(|node| &node.components);
    parts.filter_map(|part| part.source.as_deref()).collect()
}

fn basis(basis: CostBasis) -> &'static str {
    match basis {
        CostBasis::Priced => "priced",
        CostBasis::Free => "free",
        CostBasis::UsageBased => "usage-based",
        CostBasis::Unknown => "unpriced",
    }
}
