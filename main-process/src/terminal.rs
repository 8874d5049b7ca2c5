//! Terminals: other processes of the same user, connected to a running Draftboard over its named socket, in JSON.

mod server;

pub(crate) use server::TerminalServer;
