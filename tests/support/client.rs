//! A terminal of its own making: it knows the documented wire form and shares no code with the product.

use super::home::HomeFixture;
use serde_json::{Value, json};
use std::{
    fs,
    io::{self, Read, Write},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::{Path, PathBuf},
};
use test_support::PATIENCE;

/// The connection is gone, and with it whatever was not answered; and where that showed.
#[derive(Debug)]
pub(crate) struct ConnectionLost(pub(crate) String);

pub(crate) struct Client {
    stream: UnixStream,
}

/// The record by which others find whoever serves a workspace.
pub(crate) fn record_of(home: &HomeFixture, workspace: &Path) -> Option<PathBuf> {
    let records = fs::read_dir(home.runtime()).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut records = records.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    let shown = workspace.canonicalize().unwrap();
    records.find(|path| {
        let text = fs::read_to_string(path).unwrap_or_default();
        serde_json::from_str::<Value>(&text)
            .is_ok_and(|record| record["workspace"] == shown.to_str().unwrap())
    })
}

impl Client {
    /// Finds whoever serves the workspace and is let in.
    pub(crate) fn connect(home: &HomeFixture, workspace: &Path) -> Result<Self, ConnectionLost> {
        let path = record_of(home, workspace).ok_or_else(|| ConnectionLost("no record".to_owned()))?;
        let text = fs::read_to_string(&path).map_err(gone)?;
        let record: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            fs::metadata(&path).map_err(gone)?.permissions().mode() & 0o777,
            0o600,
            "it holds a secret"
        );
        let stream = UnixStream::connect(record["socket"].as_str().unwrap()).map_err(gone)?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let mut client = Self { stream };
        let welcome = client.exchange(&json!({"hello": {"protocol": shared_protocol::messages::PROTOCOL_VERSION, "token": record["token"]}}))?;
        assert!(welcome["welcome"].is_object(), "{welcome}");
        Ok(client)
    }

    /// The response, or the refusal as an error.
    pub(crate) fn request(&mut self, request: Value) -> Result<Result<Value, Value>, ConnectionLost> {
        let said = self.exchange(&json!({ "request": request }))?;
        Ok(match said.get("response") {
            Some(response) => Ok(response.clone()),
            None => Err(said["refused"].clone()),
        })
    }

    /// Says something without waiting for what comes of it.
    pub(crate) fn say(&mut self, message: &Value) -> Result<(), ConnectionLost> {
        let text = serde_json::to_vec(message).unwrap();
        let mut framed = (text.len() as u32).to_be_bytes().to_vec();
        framed.extend(text);
        self.stream.write_all(&framed).map_err(gone)
    }

    fn exchange(&mut self, message: &Value) -> Result<Value, ConnectionLost> {
        self.say(message)?;
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).map_err(gone)?;
        let mut text = vec![0; u32::from_be_bytes(length) as usize];
        self.stream.read_exact(&mut text).map_err(gone)?;
        Ok(serde_json::from_slice(&text).unwrap())
    }
}

fn gone(error: io::Error) -> ConnectionLost {
    assert_ne!(error.kind(), io::ErrorKind::WouldBlock, "neither an answer nor an end");
    ConnectionLost(error.to_string())
}
