//! Tests of secrets in a real GNOME keyring on a separate bus.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "a test")]

mod common;

use common::{Bench, fixture};
use serde_json::json;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, Command, Stdio},
    sync::Arc,
};
use upstreams::{EnvVarConfig, Keyring, Secret, SecretStore as _};

const BUS: &str = r#"<busconfig><type>session</type><listen>unix:dir=FOLDER</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"#;

/// A bus with an unlocked keyring. Both end when dropped.
struct Desktop {
    bus: Child,
    keyring: Child,
    address: String,
    _home: tempfile::TempDir,
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in [&mut self.keyring, &mut self.bus] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Prints a message and returns `None` when this machine has no keyring, which is a failure when CI sets
/// `DRAFTBOARD_REQUIRE_KEYRING`.
fn desktop() -> Option<Desktop> {
    let home = tempfile::tempdir().unwrap();
    // The bus starts no services itself, so this keyring is the only one.
    let bus_config = home.path().join("bus.conf");
    std::fs::write(&bus_config, BUS.replace("FOLDER", home.path().to_str().unwrap())).unwrap();
    let bus = Command::new("dbus-daemon")
        .arg(format!("--config-file={}", bus_config.display()))
        .args(["--nofork", "--print-address"])
        .stdout(Stdio::piped())
        .spawn();
    let there = Command::new("gnome-keyring-daemon").arg("--version").stdout(Stdio::null()).status();
    let (Ok(mut bus), Ok(_)) = (bus, there) else {
        let missing = "SKIPPED: dbus-daemon or gnome-keyring-daemon is not installed";
        assert!(std::env::var_os("DRAFTBOARD_REQUIRE_KEYRING").is_none(), "{missing}");
        eprintln!("{missing}");
        return None;
    };
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
    let desktop = Desktop { bus, keyring, address, _home: home };
    // The keyring is ready when its name is on the bus; connecting fails before.
    let start = std::time::Instant::now();
    while let Err(failure) = Keyring::connect(Some(&desktop.address)) {
        assert!(start.elapsed() < common::LONG, "{failure}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
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
    let bench = Bench::with(|setup| setup.secrets = keyring.clone());
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
