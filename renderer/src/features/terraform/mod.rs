//! The Terraform of infrastructure boards: runs and their output, plans, the files of a board, findings, costs, and the
//! questions before a run.
//!
//! Must not know: how HCL is made, how Terraform runs. Values of sensitive variables pass through and are not kept.

mod cost;
pub(crate) mod findings;
mod hcl;
mod messages;
pub(crate) mod money;
mod obstacle;
mod panel;
mod run_dialog;
pub(crate) mod words;

pub(crate) use cost::{amount_or_word, cost_ui};
pub(crate) use messages::{TerraformContext, TerraformMessage, TerraformVisibility};
pub(crate) use panel::rank;

use hcl::HclPanel;
use panel::TerraformPanel;
use run_dialog::RunDialog;
use shared_protocol::{BoardId, terraform::TerraformOperation};
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) struct TerraformFeature {
    pub(crate) panel: TerraformPanel,
    pub(crate) hcl: HclPanel,
    dialog: Option<RunDialog>,
    /// A run that starts when the files, and so the values that it needs, are known.
    queued_run: Option<TerraformOperation>,
    /// Sensitive variables that main has a value for. Only the names: main has the values.
    stored_secrets: BTreeSet<(BoardId, String)>,
    /// The variables whose values went out with the last run.
    sent_secrets: Vec<(BoardId, String)>,
}

impl TerraformFeature {
    /// Forgets the runs of the last workspace and the values that they were given.
    pub(crate) fn reset(&mut self) {
        (self.queued_run, self.panel.chosen_run) = (None, None);
        self.stored_secrets.clear();
        self.sent_secrets.clear();
    }

    /// A question before a run has the keyboard.
    pub(crate) fn is_dialog_open(&self) -> bool {
        self.dialog.is_some()
    }
}
