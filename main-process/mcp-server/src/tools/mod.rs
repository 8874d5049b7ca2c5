//! The workbench's own tools, one module per group.

mod board;
mod changes;
mod config;
mod context;
mod diagram;
mod image;
mod managed_servers;
mod proposals;
mod propose;
mod search;
pub(crate) mod shape;
pub(crate) mod terraform;
mod types;
mod validate;

use crate::SurfaceTool;

pub(crate) use config::redact;
pub(crate) use context::context;
pub(crate) use diagram::whole_board;
pub(crate) use proposals::{
    count_waiting, describe_proposal as proposal_shape, describe_queue as queue_shape,
};
pub use propose::proposal_fields;

pub(crate) fn all() -> Vec<SurfaceTool> {
    let reading = vec![
        context::tool(),
        changes::tool(),
        search::tool(),
        image::tool(),
        diagram::list_resources(),
        diagram::get_diagram(),
        types::tool(),
        config::tool(),
        terraform::generate_hcl(),
        terraform::get_deployment_status(),
        terraform::estimate_costs(),
        validate::tool(),
        proposals::list(),
        proposals::get(),
        managed_servers::tool(),
    ];
    reading.into_iter().chain(propose::all()).collect()
}
