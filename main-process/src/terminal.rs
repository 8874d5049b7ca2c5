//! Terminals: other processes of the same user, connected to a running Draftboard over its named socket, in JSON.

mod client;
mod server;

pub(crate) use client::TerminalClient;
pub(crate) use server::TerminalServer;
