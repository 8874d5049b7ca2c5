//! Lists the requirements of tests, and the tests that are skipped without them. It has a `main` of its own, so that its lines are
//! visible under plain `cargo test`. The list is `test_support::requirements`; this also fails when a test skips by another way.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test; the list is its purpose")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};
use system_fonts::SystemFontList;
use test_support::requirements::{ALL, FONTS, TestRequirement};

fn main() -> ExitCode {
    let (mut met, mut unknown, mut skipped, mut failed) = (0, 0, 0, 0);
    for requirement in ALL {
        let TestRequirement { name, variable, skipped_tests, install, .. } = requirement;
        match is_met(requirement) {
            Some(true) => met += 1,
            None => {
                unknown += 1;
                println!(
                    "MAY BE SKIPPED: {skipped_tests}. Only the tests can tell: {name}. Install: {install}"
                );
            }
            Some(false) if std::env::var_os(variable).is_some() => {
                failed += 1;
                println!("FAILED: {name} is missing, although {variable} is set. Install: {install}");
            }
            Some(false) => {
                skipped += 1;
                println!("SKIPPED: {skipped_tests}. Missing: {name}. Install: {install}");
            }
        }
    }
    let findings = unlisted_skips();
    findings.iter().for_each(|finding| println!("FAILED: {finding}"));
    failed += findings.len();
    println!("{met} passed, {failed} failed, {skipped} skipped, {unknown} unknown");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Answers for the fonts, which the list cannot, because it knows none of our crates.
fn is_met(requirement: &TestRequirement) -> Option<bool> {
    match requirement.name == FONTS.name {
        true => Some(['中', 'ع'].into_iter().all(|letter| SystemFontList::of_system().covers(letter))),
        false => (requirement.check)(),
    }
}

/// Returns the places at which a test skips or requires something without the list, and what CI sets and the list lacks.
fn unlisted_skips() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_exempt = |path: &Path| path.ends_with(file!()) || path.starts_with(root.join("test-support"));
    let mut findings = Vec::new();
    for path in rust_files(root).into_iter().filter(|path| !is_exempt(path)) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if line.contains("SKIPPED") || line.contains("DRAFTBOARD_REQUIRE_") {
                let place = path.strip_prefix(root).unwrap_or(&path).display();
                findings.push(format!("{place}:{}: report it with test_support::requirements", number + 1));
            }
        }
    }
    let ci = fs::read_to_string(root.join(".ci/run")).unwrap();
    let words = ci.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let unknown = |word: &&str| !ALL.iter().any(|requirement| requirement.variable == *word);
    let unknown = words.filter(|word| word.starts_with("DRAFTBOARD_REQUIRE_")).filter(unknown);
    findings.extend(unknown.map(|word| format!(".ci/run sets {word}, which no requirement has")));
    findings
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !is_hidden && entry.file_name() != "target" {
            found.extend(rust_files(&path));
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}
