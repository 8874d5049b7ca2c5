//! The credentials of a manifest, resolved for one call. The secret store holds them under the manifest's own name,
//! as plain text or as a JSON object of fields.

use super::{folder::ManifestFolder, format::CredentialSpec};
use crate::secrets::{Redactor, Secret, SecretStore};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use shared_protocol::{Refusal, managed_servers::ManifestOrigin};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct ResolvedCredentials {
    by_id: BTreeMap<String, Secret>,
}

/// The storage location of a manifest's credentials. Each workspace has its own location, so that a manifest from
/// another source with the same id does not receive them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CredentialNamespace(String);

impl CredentialNamespace {
    pub(super) fn new(folder: &ManifestFolder, id: &str) -> Self {
        match folder.origin {
            ManifestOrigin::User => Self(format!("manifest/{id}")),
            ManifestOrigin::Workspace => {
                let path = folder.path.canonicalize().unwrap_or_else(|_| folder.path.clone());
                let place = Sha256::digest(path.as_os_str().as_encoded_bytes());
                let place: String = place.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                Self(format!("manifest-of-workspace/{place}/{id}"))
            }
        }
    }

    pub(crate) fn reference(&self, credential: &str) -> String {
        format!("{}/{credential}", self.0)
    }
}

impl ResolvedCredentials {
    pub(super) fn resolve(
        (manifest, keys): (&str, &CredentialNamespace),
        wanted: &[(String, bool)],
        store: &dyn SecretStore,
    ) -> Result<Self, Refusal> {
        let mut by_id = BTreeMap::new();
        for (id, optional) in wanted {
            match store.get(&keys.reference(id))? {
                Some(secret) => drop(by_id.insert(id.clone(), secret)),
                None if *optional => {}
                None => {
                    let message = format!(
                        "Missing required credentials: {id} of {manifest}. Set the credential and try again."
                    );
                    return Err(Refusal::validation(id, message));
                }
            }
        }
        Ok(Self { by_id })
    }

    pub(super) fn field(&self, id: &str, field: &str) -> Result<String, Refusal> {
        let missing = || Refusal::validation(id, format!("The credential {id} has no field {field}"));
        let secret = self.by_id.get(id).ok_or_else(missing)?;
        match serde_json::from_str::<Value>(secret.reveal()) {
            Ok(Value::Object(fields)) => {
                fields.get(field).and_then(Value::as_str).map(str::to_owned).ok_or_else(missing)
            }
            // Plain text is the single value of the credential.
            _ => Ok(secret.reveal().to_owned()),
        }
    }

    /// Redacts whole credentials and each of their fields.
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

pub(super) fn merge_requirements<'a>(
    of_manifest: &'a [CredentialSpec],
    of_tools: impl IntoIterator<Item = &'a CredentialSpec>,
) -> Vec<(String, bool)> {
    let mut wanted: BTreeMap<String, bool> = BTreeMap::new();
    for credential in of_manifest.iter().chain(of_tools) {
        // A credential is optional only when every user marks it optional.
        *wanted.entry(credential.id.clone()).or_insert(true) &= credential.optional;
    }
    wanted.into_iter().collect()
}
