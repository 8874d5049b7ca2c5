//! Lists the programs that tests need beyond the Rust toolchain, and the tests that are skipped without them. It has a `main` of
//! its own, so that its lines are visible under plain `cargo test`. A requirement whose variable is set must be met: `.ci/run` sets
//! the variable of everything that it installs.

#![allow(clippy::print_stdout, reason = "the list is the purpose of this test")]

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

struct TestRequirement {
    name: &'static str,
    /// The environment variable that makes a missing requirement a failure.
    variable: &'static str,
    is_met: fn() -> bool,
    skipped_tests: &'static str,
    install: &'static str,
}

const REQUIREMENTS: &[TestRequirement] = &[
    TestRequirement {
        name: "Terraform or OpenTofu",
        variable: "DRAFTBOARD_REQUIRE_TERRAFORM",
        is_met: || on_path("terraform") || on_path("tofu"),
        skipped_tests: "runs, plans, formatting and validation of generated files",
        install: "scripts/install-tofu",
    },
    TestRequirement {
        name: "the AWS provider",
        variable: "DRAFTBOARD_REQUIRE_PROVIDERS",
        is_met: || {
            // The folders that the tests of Terraform look into.
            let usual =
                ["/opt/tf-plugins", "/usr/share/terraform/plugins", "/usr/local/share/terraform/plugins"];
            std::env::var_os("DRAFTBOARD_TEST_PROVIDERS").is_some()
                || usual
                    .iter()
                    .any(|folder| Path::new(folder).join("registry.terraform.io/hashicorp/aws").is_dir())
        },
        skipped_tests: "validation of every AWS type, deployment of the example",
        install: "put it into a folder and name that in DRAFTBOARD_TEST_PROVIDERS",
    },
    TestRequirement {
        name: "moto",
        variable: "DRAFTBOARD_REQUIRE_MOTO",
        is_met: || folder("DRAFTBOARD_MOTO", "target/moto").join("venv/bin/moto_server").is_file(),
        skipped_tests: "deployment of the example",
        install: "scripts/install-moto",
    },
    TestRequirement {
        name: "a display, a mouse and a camera",
        variable: "DRAFTBOARD_REQUIRE_SCREEN",
        is_met: || ["Xvfb", "xdotool", "import"].into_iter().all(on_path),
        skipped_tests: "the real window",
        install: "the packages xvfb, xdotool and imagemagick",
    },
    TestRequirement {
        name: "MCP clients",
        variable: "DRAFTBOARD_REQUIRE_MCP_CLIENTS",
        is_met: || folder("DRAFTBOARD_MCP_CLIENTS", "target/mcp-clients").join("installed").is_file(),
        skipped_tests: "the Python and TypeScript SDKs, the protocol's conformance suite",
        install: "scripts/install-mcp-clients",
    },
    TestRequirement {
        name: "MCP servers",
        variable: "DRAFTBOARD_REQUIRE_UPSTREAM_SERVERS",
        is_met: || {
            folder("DRAFTBOARD_UPSTREAM_SERVERS", "target/upstream-servers").join("installed").is_file()
        },
        skipped_tests: "managed servers from npm and PyPI",
        install: "scripts/install-upstreams",
    },
    TestRequirement {
        name: "a keyring",
        variable: "DRAFTBOARD_REQUIRE_KEYRING",
        is_met: || ["dbus-daemon", "gnome-keyring-daemon"].into_iter().all(on_path),
        skipped_tests: "secrets in the desktop's keyring",
        install: "the packages dbus and gnome-keyring",
    },
    TestRequirement {
        name: "root",
        variable: "DRAFTBOARD_REQUIRE_ROOT",
        is_met: || rustix::process::getuid().is_root(),
        skipped_tests: "full and read-only disks, other users",
        install: "run the tests as root in a container",
    },
];

fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(["/usr/sbin".into()]).any(|folder| folder.join(program).is_file())
}

fn folder(variable: &str, usual: &str) -> PathBuf {
    std::env::var_os(variable)
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(usual), PathBuf::from)
}

fn main() -> ExitCode {
    let (mut met, mut missing, mut skipped) = (0, 0, 0);
    for requirement in REQUIREMENTS {
        let TestRequirement { name, variable, skipped_tests, install, .. } = requirement;
        if (requirement.is_met)() {
            met += 1;
        } else if std::env::var_os(variable).is_some() {
            missing += 1;
            println!("FAILED: {name} is missing, although {variable} is set. Install: {install}");
        } else {
            skipped += 1;
            println!("SKIPPED: {skipped_tests}. Missing: {name}. Install: {install}");
        }
    }
    println!("{met} passed, {missing} failed, {skipped} skipped");
    if missing == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
