//! Terminals: other processes of the same user that talk to a running Draftboard over its named socket, in JSON.

mod client;
mod server;

pub(crate) use client::Client;
pub(crate) use server::Server;
