//! What the tests of the executable share: folders of their own, running it, talking to it, looking at its processes.
#![allow(dead_code, reason = "each test file uses its part")]

pub(crate) mod client;
pub(crate) mod designer;
pub(crate) mod home;
pub(crate) mod mcp;
pub(crate) mod over_http;
pub(crate) mod review_fixture;
pub(crate) mod screen;
pub(crate) mod terminal;
