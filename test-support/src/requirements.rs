//! The programs and rights that tests need beyond the Rust toolchain. A test that lacks one asks here, so that its skip is reported
//! in one form, and `tests/requirements.rs` lists every skip. A requirement whose variable is set must be met: `.ci/run` sets the
//! variable of everything that it installs.

use crate::TmpfsFixture;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

pub struct TestRequirement {
    pub name: &'static str,
    /// The environment variable that makes a missing requirement a failure.
    pub variable: &'static str,
    pub skipped_tests: &'static str,
    pub install: &'static str,
    /// Returns `None` when only the test itself can tell.
    pub check: fn() -> Option<bool>,
}

impl TestRequirement {
    /// Returns `false` and reports the skip when the requirement is missing. Fails when its variable is set.
    #[track_caller]
    pub fn is_available(&self) -> bool {
        let is_available = (self.check)() != Some(false);
        if !is_available {
            self.skip("it was not found");
        }
        is_available
    }

    /// Reports a skip that only the test could discover. Fails when the requirement's variable is set.
    #[track_caller]
    pub fn skip(&self, reason: &str) {
        let Self { name, variable, install, .. } = self;
        assert!(std::env::var_os(variable).is_none(), "{name} is required by {variable}: {reason}");
        println!("SKIPPED: {name} is missing: {reason}. Install: {install}");
    }
}

pub const TERRAFORM: TestRequirement = TestRequirement {
    name: "Terraform or OpenTofu",
    variable: "DRAFTBOARD_REQUIRE_TERRAFORM",
    skipped_tests: "runs, plans, formatting and validation of generated files",
    install: "scripts/install-tofu",
    check: || Some(terraform_program().is_some()),
};

pub const AWS_PROVIDER: TestRequirement = TestRequirement {
    name: "the AWS provider",
    variable: "DRAFTBOARD_REQUIRE_PROVIDERS",
    skipped_tests: "validation of every AWS type, deployment of the example",
    install: "put it into a folder and name that in DRAFTBOARD_TEST_PROVIDERS",
    check: || Some(provider_mirror("aws").is_some()),
};

pub const MOTO: TestRequirement = TestRequirement {
    name: "moto",
    variable: "DRAFTBOARD_REQUIRE_MOTO",
    skipped_tests: "deployment of the example",
    install: "scripts/install-moto",
    check: || Some(moto_program().is_file()),
};

pub const SCREEN: TestRequirement = TestRequirement {
    name: "a display, a mouse and a camera",
    variable: "DRAFTBOARD_REQUIRE_SCREEN",
    skipped_tests: "the real window",
    install: "the packages xvfb, xdotool and imagemagick",
    check: || Some(are_on_path(&["Xvfb", "xdotool", "import"])),
};

pub const FONTS: TestRequirement = TestRequirement {
    name: "fonts of other scripts",
    variable: "DRAFTBOARD_REQUIRE_FONTS",
    skipped_tests: "Chinese and Arabic text in the window, in exports and in previews",
    install: "the packages fonts-noto-core and fonts-noto-cjk",
    check: || None,
};

pub const MCP_CLIENTS: TestRequirement = TestRequirement {
    name: "MCP clients",
    variable: "DRAFTBOARD_REQUIRE_MCP_CLIENTS",
    skipped_tests: "the Python and TypeScript SDKs, the protocol's conformance suite",
    install: "scripts/install-mcp-clients",
    check: || Some(is_installed("DRAFTBOARD_MCP_CLIENTS", "target/mcp-clients")),
};

pub const MCP_SERVERS: TestRequirement = TestRequirement {
    name: "MCP servers",
    variable: "DRAFTBOARD_REQUIRE_UPSTREAM_SERVERS",
    skipped_tests: "managed servers from npm and PyPI",
    install: "scripts/install-managed-servers",
    check: || Some(is_installed("DRAFTBOARD_UPSTREAM_SERVERS", "target/upstream-servers")),
};

pub const PACKAGES: TestRequirement = TestRequirement {
    name: "packages that can be fetched",
    variable: "DRAFTBOARD_REQUIRE_UPSTREAM_SERVERS",
    skipped_tests: "managed servers that npx and uvx fetch",
    install: "a connection to the registries of npm and PyPI",
    check: || None,
};

pub const KEYRING: TestRequirement = TestRequirement {
    name: "a keyring",
    variable: "DRAFTBOARD_REQUIRE_KEYRING",
    skipped_tests: "secrets in the desktop's keyring",
    install: "the packages dbus and gnome-keyring",
    check: || Some(are_on_path(&["dbus-daemon", "gnome-keyring-daemon"])),
};

pub const MESSAGE_BUS: TestRequirement = TestRequirement {
    name: "a message bus",
    variable: "DRAFTBOARD_REQUIRE_MESSAGE_BUS",
    skipped_tests: "desktop notifications",
    install: "the package dbus",
    check: || Some(are_on_path(&["dbus-daemon", "dbus-monitor"])),
};

pub const NO_DESKTOP_SESSION: TestRequirement = TestRequirement {
    name: "a shell without a desktop session",
    variable: "DRAFTBOARD_REQUIRE_NO_DESKTOP_SESSION",
    skipped_tests: "the window's own dialog for files, which a desktop's dialog replaces",
    install: "unset DBUS_SESSION_BUS_ADDRESS and XDG_RUNTIME_DIR",
    check: || Some(!has_desktop_session()),
};

pub const TERMINAL: TestRequirement = TestRequirement {
    name: "a terminal",
    variable: "DRAFTBOARD_REQUIRE_TERMINAL",
    skipped_tests: "decisions and confirmations at a terminal",
    install: "the program script, of the package bsdutils or util-linux",
    check: || Some(are_on_path(&["script"])),
};

pub const NAMESPACES: TestRequirement = TestRequirement {
    name: "user and mount namespaces",
    variable: "DRAFTBOARD_REQUIRE_NAMESPACES",
    skipped_tests: "agents whose SDK hands down a reduced environment, the namespaces of the preview",
    install: "allow unshare -rm, and keep the target folder outside /tmp",
    check: || Some(has_namespaces()),
};

pub const OTHER_USER: TestRequirement = TestRequirement {
    name: "root",
    variable: "DRAFTBOARD_REQUIRE_ROOT",
    skipped_tests: "what another user is refused, the sandbox around root",
    install: "run the tests as root in a container",
    check: || Some(rustix::process::geteuid().is_root()),
};

pub const MOUNT: TestRequirement = TestRequirement {
    name: "the right to mount",
    variable: "DRAFTBOARD_REQUIRE_MOUNT",
    skipped_tests: "full and read-only disks",
    install: "run the tests as root in a container that may mount",
    check: || Some(TmpfsFixture::try_mount(64).is_some()),
};

pub const ALL: &[TestRequirement] = &[
    TERRAFORM,
    AWS_PROVIDER,
    MOTO,
    SCREEN,
    FONTS,
    MCP_CLIENTS,
    MCP_SERVERS,
    PACKAGES,
    KEYRING,
    MESSAGE_BUS,
    NO_DESKTOP_SESSION,
    TERMINAL,
    NAMESPACES,
    OTHER_USER,
    MOUNT,
];

/// Returns `terraform` or `tofu`, when one is on the PATH.
pub fn terraform_program() -> Option<&'static str> {
    ["terraform", "tofu"].into_iter().find(|program| are_on_path(&[program]))
}

/// Returns a folder with this unpacked provider, in the layout of `terraform init -plugin-dir`.
pub fn provider_mirror(provider: &str) -> Option<PathBuf> {
    let from_variable = std::env::var_os("DRAFTBOARD_TEST_PROVIDERS").map(PathBuf::from);
    let usual = ["/opt/tf-plugins", "/usr/share/terraform/plugins", "/usr/local/share/terraform/plugins"];
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    from_variable
        .into_iter()
        .chain(usual.map(PathBuf::from))
        .chain([home.join(".terraform.d/plugins"), home.join(".terraform.d/plugin-cache")])
        .find(|folder| folder.join("registry.terraform.io/hashicorp").join(provider).is_dir())
}

/// Returns the path at which `scripts/install-moto` puts the server.
pub fn moto_program() -> PathBuf {
    folder("DRAFTBOARD_MOTO", "target/moto").join("venv/bin/moto_server")
}

/// Returns the folder of the SDKs and the conformance suite. Reports the skip when they are not installed.
pub fn mcp_clients() -> Option<PathBuf> {
    MCP_CLIENTS.is_available().then(|| folder("DRAFTBOARD_MCP_CLIENTS", "target/mcp-clients"))
}

/// Returns the folder of third-party servers. Reports the skip when they are not installed.
pub fn mcp_servers() -> Option<PathBuf> {
    MCP_SERVERS.is_available().then(|| folder("DRAFTBOARD_UPSTREAM_SERVERS", "target/upstream-servers"))
}

fn is_installed(variable: &str, usual: &str) -> bool {
    folder(variable, usual).join("installed").is_file()
}

/// Returns the folder that a variable names, or one of the repository.
fn folder(variable: &str, usual: &str) -> PathBuf {
    let folder = std::env::var_os(variable)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(usual), PathBuf::from);
    folder.canonicalize().unwrap_or(folder)
}

fn are_on_path(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain(["/usr/sbin".into()]).collect();
    programs.iter().all(|program| folders.iter().any(|folder| folder.join(program).is_file()))
}

fn has_desktop_session() -> bool {
    std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some()
        || std::env::var_os("XDG_RUNTIME_DIR").is_some_and(|folder| Path::new(&folder).join("bus").exists())
}

fn has_namespaces() -> bool {
    let mut tried = Command::new("unshare");
    tried.args(["-rm", "sh", "-c", "mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /tmp"]);
    let is_visible = std::env::current_exe().is_ok_and(|program| !program.starts_with("/tmp"));
    is_visible && tried.output().is_ok_and(|output| output.status.success())
}
