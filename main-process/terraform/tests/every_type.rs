//! Checks every catalogue type, with required values only and with all values, with a parser, the provider schemas,
//! `terraform fmt` and, where the provider is installed, `terraform validate`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may panic")]

mod common;

use common::{HclFixture, program, reader};
use shared_protocol::{
    PropValue, TypeDef,
    registry::{PropKind, TerraformBlockKind},
};
use std::sync::Arc;
use test_support::requirements::{AWS_PROVIDER, TERRAFORM, provider_mirror, terraform_program};

fn types(prefix: &str) -> Vec<Arc<TypeDef>> {
    let registry = common::registry();
    let all = registry.types().filter(|def| {
        def.id.as_str().starts_with(prefix)
            && matches!(def.block, TerraformBlockKind::Resource | TerraformBlockKind::Data)
            && def.terraform_types().next().is_some()
    });
    all.cloned().collect()
}

/// Returns every choice of a property that other properties depend on.
fn choices(def: &TypeDef) -> Vec<Vec<(&str, PropValue)>> {
    let steering = def.props.iter().filter(|prop| {
        let mut others = def.props.iter().flat_map(|other| other.visible_when.iter().chain(&other.also_when));
        let by = def.terraform_by.as_ref().is_some_and(|by| by.prop == prop.key);
        by || others.any(|condition| condition.prop == prop.key)
    });
    let mut all = vec![Vec::new()];
    for prop in steering {
        let key = prop.key.as_str();
        match prop.kind {
            PropKind::Select => {
                all.extend(
                    prop.options.iter().map(|choice| vec![(key, PropValue::text(choice.value.clone()))]),
                );
            }
            PropKind::Boolean => all.extend([true, false].map(|value| vec![(key, PropValue::Bool(value))])),
            _ => {}
        }
    }
    all
}

fn name_of(def: &TypeDef, number: usize) -> String {
    let parts: Vec<&str> = def.id.as_str().split('/').collect();
    let last = parts.last().unwrap();
    let last: String = last.chars().take(50).collect();
    if number == 0 { format!("x_{last}") } else { format!("x_{last}_{number}") }
}

#[test]
fn every_type_is_understood_by_its_provider_and_formatted() {
    let folder = tempfile::tempdir().unwrap();
    let mut problems = Vec::new();
    let mut count = 0;
    for def in types("") {
        for (number, choice) in choices(&def).into_iter().enumerate() {
            for full in [false, true] {
                let mut bench = HclFixture::new();
                if full {
                    bench.settings.tags.insert("managed_by".to_owned(), "draftboard".to_owned());
                }
                let node = bench.stage(&def, &name_of(&def, 0), &choice, full);
                let generated = bench.generate();
                let what = format!("{} {choice:?} full={full}", def.id);
                for finding in &generated.findings {
                    problems.push(format!("{what}: {}", finding.message));
                }
                for (file, text) in &generated.files {
                    if file.ends_with(".tf") {
                        problems.extend(
                            reader::check(text).into_iter().map(|finding| format!("{what}: {finding}")),
                        );
                    }
                }
                assert!(generated.spans.iter().any(|span| span.node == node), "{what}: nothing was written");
                let place =
                    folder.path().join(format!("{}-{number}-{full}", def.id.as_str().replace('/', "-")));
                std::fs::create_dir_all(&place).unwrap();
                program::write(&place, &generated);
                count += 1;
            }
        }
    }
    problems.sort();
    problems.dedup();
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    assert!(count > 500, "only {count} cases");
    program::assert_formatted(folder.path());
}

/// Adds all types of a provider to one board.
fn all_on_one_board(prefix: &str, full: bool) -> HclFixture {
    let mut bench = HclFixture::new();
    for def in types(prefix) {
        for (number, choice) in choices(&def).into_iter().enumerate() {
            if full || number == 0 {
                bench.stage(&def, &name_of(&def, number), &choice, full);
            }
        }
    }
    bench
}

#[test]
fn aws_types_pass_the_real_provider() {
    if !TERRAFORM.is_available() || !AWS_PROVIDER.is_available() {
        return;
    }
    let (program, mirror) = (terraform_program().unwrap(), provider_mirror("aws").unwrap());
    let mirror = format!("-plugin-dir={}", mirror.display());
    for full in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let mut bench = all_on_one_board("aws/", full);
        bench.settings.providers.entry("aws".to_owned()).or_default().extend([
            ("version".to_owned(), PropValue::text(">= 5.0")),
            ("region".to_owned(), PropValue::text("eu-west-1")),
        ]);
        let generated = bench.generate();
        program::write(folder.path(), &generated);
        let output = program::run(program, folder.path(), &["init", "-no-color", "-input=false", &mirror]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = program::run(program, folder.path(), &["validate", "-json"]);
        let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut errors = Vec::new();
        for diagnostic in result["diagnostics"].as_array().unwrap() {
            if diagnostic["severity"] == "error" {
                let line = diagnostic["range"]["start"]["line"].as_u64().unwrap_or(0) as u32;
                let text = generated.files["main.tf"]
                    .lines()
                    .nth(line.saturating_sub(1) as usize)
                    .unwrap_or_default();
                let node = generated.node_at("main.tf", line).and_then(|id| bench.snapshot.node(id));
                let name = node.map(|node| format!("{} ({})", node.type_id, node.name)).unwrap_or_default();
                errors.push(format!("{name}: {text} {} {}", diagnostic["summary"], diagnostic["detail"]));
            }
        }
        assert!(errors.is_empty(), "full={full}: {} errors\n{}", errors.len(), errors.join("\n"));
    }
}
