//! Stores secrets in the desktop keyring, over the Secret Service that GNOME, KDE and others offer on the session
//! bus.
//!
//! Secrets cross the bus unencrypted (the service's `plain` session): only processes of the same user can listen
//! there, and they can also read the environment of the servers.

use super::{Secret, SecretStore};
use shared_protocol::{Refusal, RefusalCode};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};
use zbus::{
    blocking::{Connection, Proxy, connection::Builder},
    zvariant::{ObjectPath, OwnedObjectPath, OwnedValue, Value},
};

const SERVICE: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const MAX_CALL_TIME: Duration = Duration::from_secs(20);
/// The time limit for a prompt, which waits for a person.
const MAX_PROMPT_TIME: Duration = Duration::from_secs(120);
/// The path that the service returns for "none".
const NO_OBJECT: &str = "/";

/// Session, parameters, value, content type.
type SecretOnBus = (OwnedObjectPath, Vec<u8>, Vec<u8>, String);

pub struct Keyring {
    address: Option<String>,
    open: Mutex<Option<KeyringSession>>,
}

struct KeyringSession {
    connection: Connection,
    session: OwnedObjectPath,
}

impl Keyring {
    /// Connects to the keyring on the session bus or on the given one. Fails when no keyring can store secrets.
    pub fn connect(address: Option<&str>) -> Result<Self, Refusal> {
        let keyring = Self { address: address.map(str::to_owned), open: Mutex::default() };
        keyring.with(|open| open.collection().map(drop))?;
        Ok(keyring)
    }

    /// Connects on first use and again after an error, because a keyring can restart.
    fn with<T>(&self, work: impl FnOnce(&KeyringSession) -> Result<T, KeyringError>) -> Result<T, Refusal> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let done = match open.take() {
            Some(open) => Ok(open),
            None => KeyringSession::new(self.address.as_deref()),
        }
        .and_then(|fresh| {
            let done = work(&fresh)?;
            *open = Some(fresh);
            Ok(done)
        });
        done.map_err(|trouble| {
            Refusal::new(RefusalCode::ServiceUnavailable, format!("The keyring cannot be used: {trouble}"))
        })
    }
}

impl SecretStore for Keyring {
    fn get(&self, name: &str) -> Result<Option<Secret>, Refusal> {
        let bytes = self.with(|open| match open.find(name)? {
            Some(item) => open.secret(&item).map(Some),
            None => Ok(None),
        })?;
        bytes.map(|bytes| Secret::new(&String::from_utf8_lossy(&bytes))).transpose()
    }

    fn set(&self, name: &str, secret: &Secret) -> Result<(), Refusal> {
        self.with(|open| open.create(name, secret))
    }

    fn remove(&self, name: &str) -> Result<(), Refusal> {
        self.with(|open| match open.find(name)? {
            Some(item) => {
                let prompt: OwnedObjectPath =
                    open.call(&item, "org.freedesktop.Secret.Item", "Delete", &())?;
                open.prompt(&prompt)
            }
            None => Ok(()),
        })
    }

    fn location(&self) -> String {
        "the desktop keyring".to_owned()
    }
}

#[derive(Debug, thiserror::Error)]
enum KeyringError {
    #[error(transparent)]
    Bus(#[from] zbus::Error),
    #[error(transparent)]
    Value(#[from] zbus::zvariant::Error),
    #[error("it has no default collection; create one in your desktop's password settings")]
    NoCollection,
    #[error("it is locked; unlock it and try again")]
    Locked,
}

impl KeyringSession {
    fn new(address: Option<&str>) -> Result<Self, KeyringError> {
        let builder = match address {
            Some(address) => Builder::address(address)?,
            None => Builder::session()?,
        };
        let connection = builder.method_timeout(MAX_CALL_TIME).build()?;
        let reply = connection.call_method(
            Some(SERVICE),
            ROOT,
            Some("org.freedesktop.Secret.Service"),
            "OpenSession",
            &("plain", Value::from("")),
        )?;
        let (_, session): (OwnedValue, OwnedObjectPath) = reply.body().deserialize()?;
        Ok(Self { connection, session })
    }

    fn call<B, T>(
        &self,
        path: &ObjectPath<'_>,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<T, KeyringError>
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
        T: serde::de::DeserializeOwned + zbus::zvariant::Type,
    {
        let reply = self.connection.call_method(Some(SERVICE), path, Some(interface), method, body)?;
        Ok(reply.body().deserialize()?)
    }

    fn service<B, T>(&self, method: &str, body: &B) -> Result<T, KeyringError>
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
        T: serde::de::DeserializeOwned + zbus::zvariant::Type,
    {
        self.call(&ObjectPath::try_from(ROOT)?, "org.freedesktop.Secret.Service", method, body)
    }

    fn collection(&self) -> Result<OwnedObjectPath, KeyringError> {
        let path: OwnedObjectPath = self.service("ReadAlias", &("default",))?;
        if path.as_str() == NO_OBJECT { Err(KeyringError::NoCollection) } else { Ok(path) }
    }

    /// Returns the item of this name, unlocked.
    fn find(&self, name: &str) -> Result<Option<OwnedObjectPath>, KeyringError> {
        let found: (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
            self.service("SearchItems", &(attributes(name),))?;
        match (found.0.into_iter().next(), found.1.into_iter().next()) {
            (Some(item), _) => Ok(Some(item)),
            (None, Some(item)) => self.unlock(&item).map(|()| Some(item)),
            (None, None) => Ok(None),
        }
    }

    fn unlock(&self, path: &OwnedObjectPath) -> Result<(), KeyringError> {
        let (_, prompt): (Vec<OwnedObjectPath>, OwnedObjectPath) = self.service("Unlock", &(vec![path],))?;
        self.prompt(&prompt)
    }

    /// Shows the desktop's prompt, if there is one, and waits for it.
    fn prompt(&self, prompt: &OwnedObjectPath) -> Result<(), KeyringError> {
        if prompt.as_str() == NO_OBJECT {
            return Ok(());
        }
        let proxy = Proxy::new(&self.connection, SERVICE, prompt, "org.freedesktop.Secret.Prompt")?;
        let mut completed = proxy.receive_signal("Completed")?;
        proxy.call_method("Prompt", &("",))?;
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        // Waits on a separate thread, because only that allows a timeout here; it ends with the prompt or the
        // connection.
        let waiting = std::thread::Builder::new().name("keyring-prompt".to_owned()).spawn(move || {
            let dismissed = completed.next().and_then(|signal| {
                let (dismissed, _): (bool, OwnedValue) = signal.body().deserialize().ok()?;
                Some(dismissed)
            });
            // Sending fails after a timeout.
            let _ = sender.send(dismissed);
        });
        match (waiting, receiver.recv_timeout(MAX_PROMPT_TIME)) {
            (Ok(_), Ok(Some(false))) => Ok(()),
            _ => Err(KeyringError::Locked),
        }
    }

    fn secret(&self, item: &OwnedObjectPath) -> Result<Vec<u8>, KeyringError> {
        let wire: SecretOnBus =
            self.call(item, "org.freedesktop.Secret.Item", "GetSecret", &(&self.session,))?;
        Ok(wire.2)
    }

    fn create(&self, name: &str, secret: &Secret) -> Result<(), KeyringError> {
        let collection = self.collection()?;
        self.unlock(&collection)?;
        let properties = HashMap::from([
            ("org.freedesktop.Secret.Item.Label", Value::from(format!("Draftboard: {name}"))),
            ("org.freedesktop.Secret.Item.Attributes", Value::from(attributes(name))),
        ]);
        let value = secret.reveal().as_bytes().to_vec();
        let wire: SecretOnBus = (self.session.clone(), Vec::new(), value, "text/plain".to_owned());
        let (_, prompt): (OwnedObjectPath, OwnedObjectPath) = self.call(
            &collection,
            "org.freedesktop.Secret.Collection",
            "CreateItem",
            &(properties, wire, true),
        )?;
        self.prompt(&prompt)
    }
}

fn attributes(name: &str) -> HashMap<&'static str, String> {
    HashMap::from([("application", "draftboard".to_owned()), ("name", name.to_owned())])
}
