//! The life of a key: made, lost, restored, replaced, and refused where others could read it.
#![allow(clippy::unwrap_used, reason = "a test")]

use device_key::{
    DeviceKeys, KeyError, KeyId, KeyStore, PublicKey, SignatureCheck, SignedPurpose, Zeroizing,
};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

const PASSPHRASE: &str = "correct horse battery";

fn keys(folder: &Path) -> DeviceKeys {
    DeviceKeys::new(folder, None)
}

fn secret_files(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    all.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("device-key-")).collect()
}

#[test]
fn a_key_is_made_once_and_stays_private() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(keys(folder.path()).load(), Err(KeyError::NoKey)));
    let made = keys(folder.path()).load_or_create("desk", 1).unwrap();
    let again = keys(folder.path()).load_or_create("desk", 2).unwrap();
    assert_eq!(made.id(), again.id());
    for file in [folder.path().join("keys.json"), secret_files(folder.path()).pop().unwrap()] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let known = keys(folder.path()).known().unwrap();
    let signature = made.sign(SignedPurpose::AuditLine, b"x");
    assert!(matches!(known.check(SignedPurpose::AuditLine, b"x", &signature), SignatureCheck::Valid(_)));
    assert_eq!(known.check(SignedPurpose::AuditLine, b"y", &signature), SignatureCheck::Wrong);
}

#[test]
fn a_secret_that_others_may_read_or_that_is_a_link_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    keys(folder.path()).load_or_create("desk", 1).unwrap();
    let secret = secret_files(folder.path()).pop().unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(keys(folder.path()).load().unwrap_err().to_string().contains("0600"));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&secret, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &secret).unwrap();
    assert!(matches!(keys(folder.path()).load(), Err(KeyError::Unreadable { .. })));
    let list = folder.path().join("keys.json");
    fs::set_permissions(&list, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(keys(folder.path()).known().unwrap_err().to_string().contains("keys.json"));
}

#[test]
fn a_lost_key_is_named_and_restored_from_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let made = keys(folder.path()).load_or_create("desk", 1).unwrap();
    let backup = keys(folder.path()).export(PASSPHRASE).unwrap();
    assert!(matches!(keys(folder.path()).export("short"), Err(KeyError::ShortPassphrase(_))));
    fs::remove_file(secret_files(folder.path()).pop().unwrap()).unwrap();
    let lost = keys(folder.path()).load_or_create("desk", 2).unwrap_err().to_string();
    assert!(lost.contains("key import") && lost.contains("rotate --lost"), "{lost}");

    let wrong = keys(folder.path()).import(&backup, "another passphrase", false, ("desk", 3));
    assert!(matches!(wrong, Err(KeyError::WrongPassphrase)));
    let meddled = backup.replace("600000", "600001");
    assert!(matches!(
        keys(folder.path()).import(&meddled, PASSPHRASE, false, ("desk", 3)),
        Err(KeyError::WrongPassphrase)
    ));
    let restored = keys(folder.path()).import(&backup, PASSPHRASE, false, ("desk", 3)).unwrap();
    assert_eq!(restored.id(), made.id());
    assert_eq!(keys(folder.path()).load().unwrap().key.id(), made.id());

    // Another device asks before its own key is replaced.
    let other = tempfile::tempdir().unwrap();
    let own = keys(other.path()).load_or_create("laptop", 4).unwrap();
    let refused = keys(other.path()).import(&backup, PASSPHRASE, false, ("laptop", 5));
    assert!(matches!(refused, Err(KeyError::HasKey(id)) if id == *own.id()));
    keys(other.path()).import(&backup, PASSPHRASE, true, ("laptop", 5)).unwrap();
    let known = keys(other.path()).known().unwrap();
    assert_eq!((known.current.as_ref(), known.is_own(own.id())), (Some(made.id()), true));
    assert_eq!(secret_files(other.path()).len(), 1, "the secret of the replaced key is removed");
}

#[test]
fn a_replaced_key_stays_known_and_signs_the_replacement() {
    let folder = tempfile::tempdir().unwrap();
    let old = keys(folder.path()).load_or_create("desk", 1).unwrap();
    let signature = old.sign(SignedPurpose::AuditLine, b"x");
    let new = keys(folder.path()).rotate(false, ("desk", 2)).unwrap();
    let known = keys(folder.path()).known().unwrap();
    assert_eq!(known.current.as_ref(), Some(new.id()));
    assert!(matches!(known.check(SignedPurpose::AuditLine, b"x", &signature), SignatureCheck::Valid(_)));
    let rotation = known.get(new.id()).unwrap().replaces.clone().unwrap();
    assert_eq!(rotation.key, *old.id());
    assert!(known.confirms(&new.public(), &rotation));
    assert!(!known.confirms(&old.public(), &rotation));

    // Another device that trusts the old key takes the new one with this signature, and no other.
    let other = tempfile::tempdir().unwrap();
    keys(other.path()).trust(old.public(), None, ("desk", 3)).unwrap();
    let mut forged = rotation.clone();
    forged.time += 1;
    let refused = keys(other.path()).trust(new.public(), Some(forged), ("desk", 4));
    assert!(matches!(refused, Err(KeyError::WrongRotation(_))));
    keys(other.path()).trust(new.public(), Some(rotation), ("desk", 4)).unwrap();

    // After a loss nothing confirms the next key.
    fs::remove_file(secret_files(folder.path()).pop().unwrap()).unwrap();
    assert!(matches!(keys(folder.path()).rotate(false, ("desk", 5)), Err(KeyError::Lost { .. })));
    let third = keys(folder.path()).rotate(true, ("desk", 5)).unwrap();
    let known = keys(folder.path()).known().unwrap();
    assert_eq!(known.get(third.id()).unwrap().replaces.as_ref().unwrap().signature, None);
    assert_eq!(known.keys.iter().filter(|key| key.own).count(), 3);
}

#[test]
fn keys_of_others_are_trusted_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let own = keys(folder.path()).load_or_create("desk", 1).unwrap();
    let other = device_key::DeviceKey::generate().unwrap();
    let signature = other.sign(SignedPurpose::AuditLine, b"x");
    let check = |expected: bool| {
        let known = keys(folder.path()).known().unwrap();
        let found = known.check(SignedPurpose::AuditLine, b"x", &signature);
        assert_eq!(matches!(found, SignatureCheck::Valid(_)), expected);
        assert_eq!(found == SignatureCheck::UnknownKey, !expected);
    };
    check(false);
    let key = PublicKey::parse(&other.public().to_text()).unwrap();
    keys(folder.path()).trust(key, None, ("lap\u{7}top", 2)).unwrap();
    assert_eq!(keys(folder.path()).known().unwrap().get(other.id()).unwrap().name, "laptop");
    check(true);
    keys(folder.path()).forget(other.id().as_str()).unwrap();
    check(false);
    assert!(matches!(keys(folder.path()).forget(own.id().as_str()), Err(KeyError::InUse(_))));
    assert!(matches!(keys(folder.path()).forget("0000"), Err(KeyError::Unknown(_))));
}

/// A keyring in memory, which can be taken away.
#[derive(Clone, Default)]
struct FakeKeyring(Arc<Mutex<BTreeMap<String, String>>>);

impl KeyStore for FakeKeyring {
    fn get(&self, id: &KeyId) -> Result<Option<Zeroizing<String>>, KeyError> {
        Ok(self.0.lock().unwrap().get(id.as_str()).cloned().map(Zeroizing::new))
    }

    fn set(&self, id: &KeyId, secret: &str) -> Result<(), KeyError> {
        self.0.lock().unwrap().insert(id.to_string(), secret.to_owned());
        Ok(())
    }

    fn remove(&self, id: &KeyId) -> Result<(), KeyError> {
        self.0.lock().unwrap().remove(id.as_str());
        Ok(())
    }

    fn location(&self) -> String {
        "the desktop keyring".to_owned()
    }
}

#[test]
fn a_keyring_is_used_where_one_answers_and_missed_where_it_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let keyring = FakeKeyring::default();
    let with = || DeviceKeys::new(folder.path(), Some(Box::new(keyring.clone())));
    let made = with().load_or_create("desk", 1).unwrap();
    assert!(secret_files(folder.path()).is_empty());
    assert_eq!(with().load().unwrap().place, "the desktop keyring");
    let silent = keys(folder.path()).load_or_create("desk", 2).unwrap_err();
    assert!(matches!(silent, KeyError::NoKeyring { .. }), "no second key is made: {silent}");
    let new = with().rotate(false, ("desk", 3)).unwrap();
    let stored: Vec<String> = keyring.0.lock().unwrap().keys().cloned().collect();
    assert_eq!(stored, [new.id().to_string()]);
    assert!(keys(folder.path()).known().unwrap().is_own(made.id()));
}

#[test]
fn a_damaged_list_is_named_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("keys.json");
    for text in ["{", r#"{"version":2,"current":null,"inKeyring":false,"keys":[]}"#] {
        fs::write(&list, text).unwrap();
        fs::set_permissions(&list, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(keys(folder.path()).load_or_create("desk", 1).is_err());
        assert_eq!(fs::read_to_string(&list).unwrap(), text);
    }
}
