//! The window as a person meets it, by accessible names, without a GPU or a socket. The main process on the other end
//! is a few lines around the real authority (`shop.rs`).

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail by panicking, too"
)]

mod agents;
mod audit;
mod canvas_area;
mod consequences;
mod controls;
mod deployment;
mod dock;
mod hcl;
mod inspector;
mod link;
mod links;
mod looks;
mod managed_servers;
mod managed_servers_answers;
mod overrides;
mod panels;
mod parcels;
mod previews;
mod proposals;
mod remember;
mod request_plan;
mod review;
mod shop;
mod shortcuts;
mod specs;
mod terraform;
mod terraform_answers;
mod tour;
mod welcome;
