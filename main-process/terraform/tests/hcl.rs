//! Generated files: names, tags, modules, providers, endpoints, secrets, and protection against injected HCL.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may panic")]

mod common;

use common::{HclFixture, program, reader};
use shared_protocol::{PropValue, messages::ProblemSeverity};
use terraform::TerraformProjectSettings;
use test_support::requirements::{TERRAFORM, terraform_program};

const GROUP: &str = r#"{"name":"rg-shop","location":"westeurope"}"#;

/// Parses every file and checks it against the schemas and `fmt`.
fn check(bench: &mut HclFixture) -> terraform::GeneratedHcl {
    let generated = bench.generate();
    for (file, text) in generated.files.iter().filter(|(file, _)| file.ends_with(".tf")) {
        assert_eq!(reader::check(text), Vec::<String>::new(), "{file}:\n{text}");
    }
    let folder = tempfile::tempdir().unwrap();
    program::write(folder.path(), &generated);
    program::assert_formatted(folder.path());
    generated
}

fn error_messages(generated: &terraform::GeneratedHcl) -> Vec<&str> {
    let errors = generated.findings.iter().filter(|finding| finding.severity == ProblemSeverity::Error);
    errors.map(|finding| finding.message.as_str()).collect()
}

const NASTY: [&str; 24] = [
    "${aws_vpc.main.id}",
    "$${kept}",
    "$$${three}",
    "$$$${four}",
    "%{ if true }x%{ endif }",
    "%%{x}",
    "%%%{x}",
    "$%{x}",
    "%${x}",
    "a\"b",
    "\"\n}\nresource \"x\" \"y\" {",
    "back\\slash",
    "\\${x}",
    "\\\\",
    "<<EOT\ntext\nEOT\n",
    "line\nline\r\nline\ttab",
    "nul\u{0}bell\u{7}escape\u{1b}",
    "ünïcödé 日本語 🦀 e\u{301}",
    "right\u{202e}left",
    "zero\u{200b}width\u{feff}",
    "# not a comment",
    "/* nor this */ // or this",
    "${",
    "$ { % { ~}",
];

/// Returns the value of an expression as evaluated by an independent parser.
fn evaluated(text: &str) -> hcl::Value {
    use hcl::eval::{Context, Evaluate};
    let body: hcl::Body = hcl::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let attribute = body.attributes().next().unwrap().expr().clone();
    attribute.evaluate(&Context::new()).unwrap()
}

#[test]
fn texts_come_back_as_they_were_given() {
    for text in NASTY {
        let line = format!("x = {}\n", terraform::hcl::quote(text));
        assert!(!line.trim_end().contains('\n'), "{line}");
        assert_eq!(evaluated(&line), hcl::Value::from(text), "{line}");
    }
}

#[test]
fn no_value_gets_out_of_its_quotes() {
    for text in NASTY {
        let mut bench = HclFixture::new();
        bench.settings.tags.insert(text.to_owned(), text.to_owned());
        let bucket = bench.add("aws/storage/s3_bucket", "bucket", None, r#"{"bucket":"shop"}"#);
        let tags = std::collections::BTreeMap::from([(std::sync::Arc::from(text), PropValue::text(text))]);
        bench.set(bucket, "tags", PropValue::Object(tags.clone()));
        let data = bench.add("terraform/core/terraform_data", "data", None, "{}");
        bench.set(data, "input", PropValue::List(vec![PropValue::text(text), PropValue::Object(tags)]));
        let generated = check(&mut bench);
        assert!(error_messages(&generated).is_empty(), "{:?}", generated.findings);
        let body: hcl::Body = hcl::parse(&generated.files["main.tf"]).unwrap();
        assert_eq!(body.blocks().count(), 2, "{text:?} made a block:\n{}", generated.files["main.tf"]);
    }
}

/// Checks quoting with the real Terraform.
#[test]
fn terraform_reads_every_text_as_it_was_given() {
    if !TERRAFORM.is_available() {
        return;
    }
    let program = terraform_program().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<PropValue> =
        NASTY.iter().filter(|text| !text.contains('\0')).map(|text| PropValue::text(*text)).collect();
    let mut bench = HclFixture::new();
    bench.add("terraform/core/local", "texts", None, "{}");
    let local = bench.snapshot.nodes().next().unwrap().id;
    bench.set(local, "value", PropValue::List(texts.clone()));
    bench.add("terraform/core/output", "shown", None, r#"{"value":{"$hcl":"local.texts"}}"#);
    program::write(folder.path(), &bench.generate());
    let init = program::run(program, folder.path(), &["init", "-input=false", "-no-color"]);
    assert!(init.status.success(), "{}", String::from_utf8_lossy(&init.stderr));
    let apply =
        program::run(program, folder.path(), &["apply", "-auto-approve", "-input=false", "-no-color"]);
    assert!(apply.status.success(), "{}", String::from_utf8_lossy(&apply.stderr));
    let output = program::run(program, folder.path(), &["output", "-json", "shown"]);
    let read: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (given, read) in texts.iter().zip(read.as_array().unwrap()) {
        // Terraform normalizes text to NFC, as documented.
        let normal = given.as_text().unwrap().replace("e\u{301}", "\u{e9}");
        assert_eq!(read.as_str().unwrap(), normal, "{given:?}");
    }
}

#[test]
fn an_expression_within_a_value_orders_and_is_checked() {
    let mut bench = HclFixture::new();
    let reader = bench.add("terraform/core/terraform_data", "a_reader", None, "{}");
    bench.add("terraform/core/terraform_data", "b_source", None, "{}");
    let reads = |text: &str| {
        let inner = PropValue::of_expression(text);
        PropValue::List(vec![PropValue::Object([("source".into(), inner)].into_iter().collect())])
    };
    bench.set(reader, "input", reads("terraform_data.b_source.id"));
    let main = check(&mut bench).files["main.tf"].clone();
    assert!(main.contains("source = terraform_data.b_source.id"), "{main}");
    assert!(main.find("\"b_source\" {").unwrap() < main.find("\"a_reader\" {").unwrap(), "{main}");
    bench.set(reader, "input", reads("1\n}\nresource \"x\" \"y\" {"));
    let generated = bench.generate();
    assert!(error_messages(&generated)[0].starts_with("invalid expression"), "{:?}", generated.findings);
    assert!(!generated.files["main.tf"].contains("\"x\" \"y\""), "{}", generated.files["main.tf"]);
}

#[test]
fn edges_of_a_load_balancer_make_what_it_needs() {
    let mut bench = HclFixture::new();
    let net = bench.add("aws/networking/vpc", "net", None, "{}");
    let zone = bench.add("aws/networking/subnet", "zone", Some(net), "{}");
    let image = bench.add("aws/data/ami", "image", None, "{}");
    let web = bench.add("aws/compute/instance", "web", Some(zone), "{}");
    bench.refer(web, "image_id", &[image]);
    bench.add("aws/networking/internet_gateway", "gateway", Some(net), "{}");
    let entry = bench.add("aws/compute/alb", "entry", Some(net), r#"{"name":"entry"}"#);
    bench.refer(entry, "subnet_ids", &[zone]);
    bench.add("aws/compute/lb_listener", "http", Some(net), "{}");
    bench.add("aws/compute/lb_target_group", "targets", Some(net), r#"{"name":"web"}"#);
    let outer = bench.add("aws/compute/security_group", "outer", Some(net), r#"{"name":"outer"}"#);
    let inner = bench.add(
        "aws/compute/security_group",
        "inner",
        Some(net),
        r#"{"name":"inner","ingress":[{"from_port":22,"to_port":22,"protocol":"tcp","self":true}]}"#,
    );
    bench.refer(inner, "source_group_ids", &[outer]);
    for (from, to) in [
        (("gateway", "gateway-out"), ("entry", "gateway")),
        (("entry", "listeners"), ("http", "balancer")),
        (("http", "forward"), ("targets", "listeners")),
        (("targets", "targets"), ("web", "in")),
    ] {
        let end = |(node, port): (&str, &str)| format!(r#"{{"node":"{node}","port":"{port}"}}"#);
        bench.json(&format!(r#"{{"connect":{{"source":{},"target":{}}}}}"#, end(from), end(to)));
    }
    let main = check(&mut bench).files["main.tf"].clone();
    for line in [
        "depends_on = [aws_internet_gateway.gateway]",
        "load_balancer_arn = aws_lb.entry.arn",
        "target_group_arn = aws_lb_target_group.targets.arn",
        "target_id        = aws_instance.web.id",
        "ami                     = data.aws_ami.image.id",
        "security_groups = [aws_security_group.outer.id]",
    ] {
        assert!(main.contains(line), "{line}\n{main}");
    }
    assert!(!main.contains("associate_public_ip_address"), "the subnet decides: {main}");
    assert_eq!(main.matches("  ingress {").count(), 2, "{main}");
}

#[test]
fn what_terraform_data_needs_replaces_it() {
    let mut bench = HclFixture::new();
    bench.add("terraform/core/terraform_data", "store", None, "{}");
    bench.add("terraform/core/terraform_data", "web", None, "{}");
    bench.json(
        r#"{"connect":{"source":{"node":"store","port":"out"},"target":{"node":"web","port":"needs"}}}"#,
    );
    let main = check(&mut bench).files["main.tf"].clone();
    assert!(main.contains("triggers_replace = [terraform_data.store.id]"), "{main}");
}

#[test]
fn an_expression_is_one_expression_or_nothing() {
    let mut bench = HclFixture::new();
    let data = bench.add("terraform/core/terraform_data", "data", None, "{}");
    bench.set(data, "input", PropValue::of_expression("var.size * 2"));
    assert!(check(&mut bench).files["main.tf"].contains("input = var.size * 2"));
    bench.set(data, "input", PropValue::of_expression("1\n}\nresource \"x\" \"y\" {"));
    let generated = check(&mut bench);
    assert!(!generated.files["main.tf"].contains("\"x\""), "{}", generated.files["main.tf"]);
    assert!(error_messages(&generated)[0].starts_with("invalid expression"), "{:?}", generated.findings);
}

#[test]
fn location_and_group_come_from_the_containers_around() {
    let mut bench = HclFixture::new();
    let group = bench.add("azurerm/core/resource_group", "rg", None, GROUP);
    let network = bench.add("azurerm/networking/virtual_network", "net", Some(group), r#"{"name":"vnet"}"#);
    bench.add("azurerm/networking/subnet", "web", Some(network), r#"{"name":"snet"}"#);
    let main = check(&mut bench).files["main.tf"].to_string();
    insta::assert_snapshot!(main);
}

#[test]
fn what_stands_in_a_subnet_gets_a_private_endpoint() {
    let mut bench = HclFixture::new();
    let group = bench.add("azurerm/core/resource_group", "rg", None, GROUP);
    let network = bench.add("azurerm/networking/virtual_network", "net", Some(group), r#"{"name":"vnet"}"#);
    let subnet = bench.add("azurerm/networking/subnet", "data", Some(network), r#"{"name":"snet"}"#);
    let zone = bench.add(
        "azurerm/networking/private_dns_zone",
        "zone",
        Some(group),
        r#"{"name":"privatelink.blob.core.windows.net"}"#,
    );
    let account = bench.add(
        "azurerm/storage/storage_account",
        "files",
        Some(subnet),
        r#"{"name":"stshop","account_tier":"Standard","account_replication_type":"LRS","pe_subresources":["blob","file"]}"#,
    );
    bench.refer(account, "pe_dns_zone_ids", &[zone]);
    let generated = check(&mut bench);
    assert!(error_messages(&generated).is_empty(), "{:?}", generated.findings);
    let main = &generated.files["main.tf"];
    assert_eq!(main.matches("resource \"azurerm_private_endpoint\"").count(), 2, "{main}");
    assert!(main.contains("subnet_id           = azurerm_subnet.data.id"), "{main}");
    assert!(main.contains("private_dns_zone_ids = [azurerm_private_dns_zone.zone.id]"), "{main}");
    assert_eq!(generated.addresses["azurerm_private_endpoint.files_blob_endpoint"], account);
}

#[test]
fn a_module_takes_and_gives_what_crosses_its_border() {
    let mut bench = HclFixture::new();
    bench.settings.tags.insert("team".to_owned(), "shop".to_owned());
    let group = bench.add("azurerm/core/resource_group", "rg", None, GROUP);
    let inner = bench.add("terraform/core/group", "networking", Some(group), "{}");
    let network = bench.add("azurerm/networking/virtual_network", "net", Some(inner), r#"{"name":"vnet"}"#);
    let subnet = bench.add("azurerm/networking/subnet", "web", Some(network), r#"{"name":"snet"}"#);
    let other = bench.add("terraform/core/group", "machines", Some(group), "{}");
    let nic = bench.add("azurerm/networking/network_interface", "nic", Some(subnet), r#"{"name":"nic"}"#);
    let vm = bench.add(
        "azurerm/compute/virtual_machine",
        "vm",
        Some(other),
        r#"{"name":"vm","ssh_public_key":"ssh-ed25519 AAAA"}"#,
    );
    bench.refer(vm, "network_interface_ids", &[nic]);
    bench.vary(vm, "vm_size");
    let generated = check(&mut bench);
    assert!(error_messages(&generated).is_empty(), "{:?}", generated.findings);
    let all: String = generated.files.iter().map(|(file, text)| format!("=== {file}\n{text}")).collect();
    insta::assert_snapshot!(all);
}

#[test]
fn several_subscriptions_each_have_a_provider() {
    let mut bench = HclFixture::new();
    for (name, number) in [("live", 1), ("test", 2)] {
        let props = format!(
            r#"{{"display_name":"{name}","subscription_id":"00000000-0000-0000-0000-00000000000{number}"}}"#
        );
        let subscription = bench.add("azurerm/core/subscription", name, None, &props);
        let group =
            bench.add("azurerm/core/resource_group", &format!("rg_{name}"), Some(subscription), GROUP);
        bench.add("azurerm/security/key_vault", &format!("kv_{name}"), Some(group), r#"{"name":"kv-shop"}"#);
    }
    let generated = check(&mut bench);
    assert!(error_messages(&generated).is_empty(), "{:?}", generated.findings);
    insta::assert_snapshot!(format!("{}\n{}", generated.files["providers.tf"], generated.files["main.tf"]));
}

#[test]
fn sensitive_values_are_in_no_file() {
    let mut bench = HclFixture::new();
    let group = bench.add("azurerm/core/resource_group", "rg", None, GROUP);
    let secret = "correct-horse-battery";
    let props = format!(
        r#"{{"name":"sql-shop","administrator_login":"admin1","administrator_login_password":"{secret}"}}"#
    );
    let server = bench.add("azurerm/database/mssql_server", "sql", Some(group), &props);
    bench.vary(server, "administrator_login_password");
    bench.settings.values.insert("sql_administrator_login_password".to_owned(), PropValue::text(secret));
    let generated = check(&mut bench);
    for (file, text) in &generated.files {
        assert!(!text.contains(secret), "{file}");
    }
    assert!(generated.files["main.tf"].contains("var.sql_administrator_login_password"));
    assert!(generated.files["variables.tf"].contains("sensitive   = true"));
    assert!(generated.findings.iter().any(|finding| finding.message.contains("TF_VAR_")));
}

#[test]
fn an_output_of_one_resource_can_be_the_secret_of_another() {
    let mut bench = HclFixture::new();
    let group = bench.add("azurerm/core/resource_group", "rg", None, GROUP);
    let vault = bench.add("azurerm/security/key_vault", "kv", Some(group), r#"{"name":"kv-shop"}"#);
    let account = bench.add(
        "azurerm/storage/storage_account",
        "st",
        Some(group),
        r#"{"name":"stshop","account_tier":"Standard","account_replication_type":"LRS"}"#,
    );
    let secret = bench.add(
        "azurerm/security/key_vault_secret",
        "key",
        Some(vault),
        r#"{"name":"storage-key","source_output":"primary_access_key"}"#,
    );
    bench.refer(secret, "source_id", &[account]);
    let output =
        bench.add("terraform/core/output", "endpoint", None, r#"{"source_output":"primary_blob_endpoint"}"#);
    bench.refer(output, "source_id", &[account]);
    let generated = check(&mut bench);
    assert!(error_messages(&generated).is_empty(), "{:?}", generated.findings);
    assert!(generated.files["main.tf"].contains("azurerm_storage_account.st.primary_access_key"));
    assert!(generated.files["outputs.tf"].contains("azurerm_storage_account.st.primary_blob_endpoint"));
    assert!(!generated.files.contains_key("variables.tf"));
    bench.set(secret, "source_output", PropValue::text("no_such_output"));
    assert!(!error_messages(&bench.generate()).is_empty());
}

#[test]
fn variables_have_the_value_as_their_default_and_the_project_gives_others() {
    let mut bench = HclFixture::new();
    bench.settings =
        TerraformProjectSettings::read("[infrastructure.values]\nbucket_bucket = \"given\"").unwrap();
    let bucket =
        bench.add("aws/storage/s3_bucket", "bucket", None, r#"{"bucket":"drawn","force_destroy":true}"#);
    for key in ["bucket", "force_destroy"] {
        bench.vary(bucket, key);
    }
    let generated = check(&mut bench);
    let shown = ["main.tf", "variables.tf", "terraform.tfvars", "terraform.tfvars.example"];
    insta::assert_snapshot!(shown.map(|file| format!("=== {file}\n{}", generated.files[file])).concat());
}

#[test]
fn names_follow_the_convention() {
    let mut bench = HclFixture::new();
    bench.settings = TerraformProjectSettings::read(
        "[infrastructure.naming]\ntemplate = \"{org}-{type}-{env}-{region}-{name}\"\nenv = \"dev\"\norg = \"contoso\"",
    )
    .unwrap();
    let group = bench.add(
        "azurerm/core/resource_group",
        "rg",
        None,
        r#"{"slug":"core","location":"westeurope","naming_env":"prod"}"#,
    );
    bench.add(
        "azurerm/storage/storage_account",
        "st",
        Some(group),
        r#"{"slug":"Data-Lake","account_tier":"Standard","account_replication_type":"LRS"}"#,
    );
    bench.add("azurerm/networking/virtual_network", "net", Some(group), r#"{"name":"as-it-is"}"#);
    let main = check(&mut bench).files["main.tf"].to_string();
    for name in ["\"contoso-rg-prod-core\"", "\"contosostproddatalake\"", "\"as-it-is\""] {
        assert!(main.contains(name), "{name}\n{main}");
    }
}

#[test]
fn a_registry_lets_a_cluster_pull_images() {
    let mut bench = HclFixture::new();
    let group = bench.add("azurerm/core/resource_group", "rg", None, GROUP);
    let registry = bench.add(
        "azurerm/containers/container_registry",
        "acr",
        Some(group),
        r#"{"name":"acrshop","sku":"Basic"}"#,
    );
    let cluster = bench.add(
        "azurerm/containers/kubernetes_cluster",
        "aks",
        Some(group),
        r#"{"name":"aks","dns_prefix":"aks"}"#,
    );
    bench.refer(cluster, "acr_ids", &[registry]);
    let main = check(&mut bench).files["main.tf"].to_string();
    assert!(main.contains("azurerm_kubernetes_cluster.aks.kubelet_identity[0].object_id"), "{main}");
    assert!(main.contains("\"AcrPull\""), "{main}");
}

#[test]
fn what_comes_before_stands_before_and_is_waited_for() {
    let mut bench = HclFixture::new();
    let second = bench.add("terraform/core/terraform_data", "a_second", None, "{}");
    let first = bench.add("terraform/core/terraform_data", "b_first", None, "{}");
    bench.json(&format!(r#"{{"connect":{{"source":{{"node":"{first}","port":"out"}},"target":{{"node":"{second}","port":"in"}}}}}}"#));
    let main = check(&mut bench).files["main.tf"].to_string();
    assert!(main.find("b_first").unwrap() < main.find("a_second").unwrap(), "{main}");
    assert!(main.contains("depends_on = [terraform_data.b_first]"), "{main}");
}

#[test]
fn a_change_touches_only_what_it_must() {
    let mut bench = HclFixture::new();
    let group = bench.add("azurerm/core/resource_group", "rg", None, GROUP);
    let mut networks = Vec::new();
    for number in 0..20 {
        let props = format!(r#"{{"name":"vnet-{number}"}}"#);
        networks.push(bench.add(
            "azurerm/networking/virtual_network",
            &format!("net_{number}"),
            Some(group),
            &props,
        ));
    }
    bench.generate();
    assert_eq!(bench.generator.rendered_count(), 21);
    bench.generate();
    assert_eq!(bench.generator.rendered_count(), 0);
    bench.set(networks[3], "name", PropValue::text("other"));
    let generated = bench.generate();
    assert_eq!(bench.generator.rendered_count(), 1);
    // A rename updates every node that refers to it.
    bench.json(&format!(r#"{{"updateNode":{{"node":"{group}","name":"group"}}}}"#));
    let renamed = bench.generate();
    assert_eq!(bench.generator.rendered_count(), 21);
    assert_ne!(generated.files["main.tf"], renamed.files["main.tf"]);
    let mut fresh = terraform::HclGenerator::new();
    let input =
        terraform::GenerateInput { snapshot: &bench.snapshot, board: bench.board, settings: &bench.settings };
    assert_eq!(fresh.generate(&input).files, renamed.files);
}

#[test]
fn backends_and_provider_settings_are_written() {
    let mut bench = HclFixture::new();
    bench.settings = TerraformProjectSettings::read(
        "[infrastructure.backend]\ntype = \"azurerm\"\nconfig = { key = \"a\\\"b\", container_name = \"state\" }\n[infrastructure.providers.aws]\nregion = \"eu-west-1\"\nversion = \"~> 5.0\"",
    )
    .unwrap();
    bench.add("aws/storage/s3_bucket", "bucket", None, r#"{"bucket":"shop"}"#);
    let generated = check(&mut bench);
    insta::assert_snapshot!(format!(
        "{}\n{}",
        generated.files["terraform.tf"], generated.files["providers.tf"]
    ));
}
