//! Tests of secrets in a real GNOME keyring on a separate bus.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod common;

use common::{McpServiceFixture, fixture};
use mcp_client::{EnvVarConfig, Keyring, Secret, SecretStore as _};
use serde_json::json;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, Stdio},
    sync::Arc,
};
use test_support::{KilledOnDrop, requirements::KEYRING, wait_until};

const BUS: &str = r#"<busconfig><type>session</type><listen>unix:dir=FOLDER</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"#;

/// A bus with an unlocked keyring. Both end when dropped.
struct Desktop {
    // Dropped before the bus that it is on.
    _keyring: KilledOnDrop,
    _bus: KilledOnDrop,
    address: String,
    _home: tempfile::TempDir,
}

/// Returns `None` and reports the skip when this machine has no keyring.
fn desktop() -> Option<Desktop> {
    if !KEYRING.is_available() {
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    // The bus starts no services itself, so this keyring is the only one.
    let bus_config = home.path().join("bus.conf");
    std::fs::write(&bus_config, BUS.replace("FOLDER", home.path().to_str().unwrap())).unwrap();
    let bus = Command::new("dbus-daemon")
        .arg(format!("--config-file={}", bus_config.display()))
        .args(["--nofork", "--print-address"])
        .stdout(Stdio::piped())
        .spawn();
    let mut bus = KilledOnDrop(bus.unwrap());
    let mut address = String::new();
    BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let address = address.trim().to_owned();
    let mut keyring = Command::new("gnome-keyring-daemon")
        .args(["--foreground", "--unlock", "--components=secrets"])
        .env("DBUS_SESSION_BUS_ADDRESS", &address)
        .env("HOME", home.path())
        .env("XDG_RUNTIME_DIR", home.path())
        .env("XDG_DATA_HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    keyring.stdin.take().unwrap().write_all(b"password").unwrap();
    let desktop = Desktop { _keyring: KilledOnDrop(keyring), _bus: bus, address, _home: home };
    // The keyring is ready when its name is on the bus; connecting fails before.
    wait_until("the keyring", || Keyring::connect(Some(&desktop.address)).is_ok());
    Some(desktop)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_kept_replaced_used_and_removed() {
    let Some(desktop) = tokio::task::spawn_blocking(desktop).await.unwrap() else { return };
    let address = desktop.address.clone();
    let keyring = tokio::task::spawn_blocking(move || {
        let keyring = Keyring::connect(Some(&address)).unwrap();
        assert_eq!(keyring.get("other"), Ok(None));
        keyring.set("other", &Secret::new("first-value").unwrap()).unwrap();
        keyring.set("other", &Secret::new("second-value").unwrap()).unwrap();
        // Another connection sees it.
        let again = Keyring::connect(Some(&address)).unwrap();
        assert_eq!(again.get("other"), Ok(Some(Secret::new("second-value").unwrap())));
        again.remove("other").unwrap();
        again.remove("other").unwrap();
        assert_eq!(keyring.get("other"), Ok(None));
        keyring
    });
    let keyring = Arc::new(keyring.await.unwrap());
    let bench = McpServiceFixture::with(|setup| setup.secrets = keyring.clone());
    let mut config = fixture("plain");
    config.env_vars.insert("API_KEY".to_owned(), EnvVarConfig::secret("API_KEY", "later"));
    let id = bench.add(config);
    bench.service.set_secret(id, "API_KEY", &Secret::new("hunter2-hunter2").unwrap()).unwrap();
    bench.service.start(id).await.unwrap();
    bench.service.approve_all(id).unwrap();
    assert_eq!(bench.text(id, "env", json!({"name": "API_KEY"})).await, "[redacted]");
    assert!(!bench.folder.path().join("config/secrets.json").exists());
    bench.ends_clean().await;
}

#[test]
fn without_a_keyring_it_says_so() {
    let failure = Keyring::connect(Some("unix:path=/no/such/bus")).err().unwrap();
    assert!(failure.message.starts_with("The keyring cannot be used"), "{failure}");
}
