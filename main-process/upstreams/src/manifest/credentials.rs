//! The credentials that a manifest asks for, resolved for one call. In the secret store they are `manifest/<manifest>/<id>`:
//! plain text, or a JSON object of fields.

use super::format::Credential;
use crate::{
    failure::Failure,
    secrets::{Redactor, Secret, SecretStore},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct Credentials {
    by_id: BTreeMap<String, Secret>,
}

/// Where a credential of a manifest is kept.
pub(crate) fn reference(manifest: &str, credential: &str) -> String {
    format!("manifest/{manifest}/{credential}")
}

impl Credentials {
    pub(super) fn resolve(
        manifest: &str,
        wanted: &[(String, bool)],
        store: &dyn SecretStore,
    ) -> Result<Self, Failure> {
        let mut by_id = BTreeMap::new();
        for (id, optional) in wanted {
            match store.get(&reference(manifest, id))? {
                Some(secret) => drop(by_id.insert(id.clone(), secret)),
                None if *optional => {}
                None => {
                    let message =
                        format!("Missing required credentials: {id} of {manifest}. Set it, then try again.");
                    return Err(Failure::validation(id, message));
                }
            }
        }
        Ok(Self { by_id })
    }

    pub(super) fn field(&self, id: &str, field: &str) -> Result<String, Failure> {
        let missing = || Failure::validation(id, format!("The credential {id} has no {field}"));
        let secret = self.by_id.get(id).ok_or_else(missing)?;
        match serde_json::from_str::<Value>(secret.reveal()) {
            Ok(Value::Object(fields)) => {
                fields.get(field).and_then(Value::as_str).map(str::to_owned).ok_or_else(missing)
            }
            // Text that is no object is the one value there is.
            _ => Ok(secret.reveal().to_owned()),
        }
    }

    /// Hides whole credentials and each of their fields.
    pub(super) fn redactor(&self) -> Redactor {
        let mut secrets: Vec<Secret> = self.by_id.values().cloned().collect();
        for secret in self.by_id.values() {
            if let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(secret.reveal()) {
                if let (Some(user), Some(password)) = (fields.get("username"), fields.get("password")) {
                    let both = format!(
                        "{}:{}",
                        user.as_str().unwrap_or_default(),
                        password.as_str().unwrap_or_default()
                    );
                    secrets.extend(Secret::new(&BASE64_STANDARD.encode(both)));
                }
                secrets.extend(
                    fields.values().filter_map(Value::as_str).filter_map(|field| Secret::new(field).ok()),
                );
            }
        }
        Redactor::new(secrets.iter())
    }
}

pub(super) fn wanted<'a>(
    of_manifest: &'a [Credential],
    of_tools: impl IntoIterator<Item = &'a Credential>,
) -> Vec<(String, bool)> {
    let mut wanted: BTreeMap<String, bool> = BTreeMap::new();
    for credential in of_manifest.iter().chain(of_tools) {
        // Needed by one is needed.
        *wanted.entry(credential.id.clone()).or_insert(true) &= credential.optional;
    }
    wanted.into_iter().collect()
}
