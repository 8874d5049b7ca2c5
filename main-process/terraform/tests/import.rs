//! Imports of TerraStudio projects and Terraform files: nothing is lost silently, and the result is valid
//! Terraform.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may panic")]

mod common;

use authority::Snapshot;
use common::{program, reader, registry};
use shared_protocol::{Node, PropValue, messages::ProblemSeverity};
use std::{collections::BTreeMap, fs, path::Path};
use terraform::{
    GenerateInput, GeneratedHcl, HclGenerator,
    import::{ImportedBoard, read_terraform, read_terrastudio},
};

struct Board {
    snapshot: Snapshot,
    imported: ImportedBoard,
    generated: GeneratedHcl,
}

fn draw(imported: ImportedBoard) -> Board {
    let mut snapshot = Snapshot::new(registry());
    snapshot.apply(snapshot.revision().next(), &imported.changes).unwrap();
    let board = snapshot.boards().next().unwrap().id;
    let input = GenerateInput { snapshot: &snapshot, board, settings: &imported.settings };
    let generated = HclGenerator::new().generate(&input);
    Board { snapshot, imported, generated }
}

impl Board {
    fn node(&self, name: &str) -> &Node {
        let mut nodes = self.snapshot.nodes();
        nodes.find(|node| node.name.as_str() == name).unwrap_or_else(|| panic!("no {name}"))
    }

    fn main(&self) -> &str {
        &self.generated.files["main.tf"]
    }

    fn errors(&self) -> Vec<&str> {
        let errors =
            self.generated.findings.iter().filter(|finding| finding.severity == ProblemSeverity::Error);
        errors.map(|finding| finding.message.as_str()).collect()
    }

    /// Parses every file and checks it against the schemas and `fmt`.
    fn check(&self) {
        for (file, text) in self.generated.files.iter().filter(|(file, _)| file.ends_with(".tf")) {
            assert_eq!(reader::check(text), Vec::<String>::new(), "{file}:\n{text}");
        }
        let folder = tempfile::tempdir().unwrap();
        program::write(folder.path(), &self.generated);
        program::assert_formatted(folder.path());
    }
}

fn fixtures() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/terrastudio"))
}

fn project(name: &str) -> Board {
    let folder = fixtures().join(name);
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    let snapshot = Snapshot::new(registry());
    let board = "imported".parse().unwrap();
    draw(read_terrastudio(&snapshot, &read("project.tstudio"), &read("main.json"), board, 7).unwrap())
}

#[test]
fn every_project_becomes_valid_terraform() {
    let mut count = 0;
    for entry in fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let board = project(&name);
        board.check();
        assert_eq!(board.errors(), Vec::<&str>::new(), "{name}: {:?}", board.imported.notes);
        count += 1;
    }
    assert_eq!(count, 12);
}

/// Switches and keys that are translated differently or reported in a note.
const SAID_OTHERWISE: [&str; 22] = [
    "nsg_enabled",
    "route_table_enabled",
    "nat_gateway_enabled",
    "delegation_enabled",
    "delegation_service",
    "identity_enabled",
    "identity_type",
    "pip_enabled",
    "public_ip_enabled",
    "boot_diagnostics_enabled",
    "sg_enabled",
    "oms_agent_enabled",
    "http_application_routing_enabled",
    "runtime_stack",
    "runtime_version",
    "enabled",
    "os_type",
    "access_model",
    "image_publisher",
    "image_offer",
    "image_sku",
    "access_logs_enabled",
];

#[test]
fn nothing_of_a_project_is_lost() {
    for entry in fs::read_dir(fixtures()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let board = project(&name);
        let text = fs::read_to_string(fixtures().join(&name).join("main.json")).unwrap();
        let diagram: serde_json::Value = serde_json::from_str(&text).unwrap();
        for old in diagram["nodes"].as_array().unwrap() {
            if old["data"]["typeId"].as_str().unwrap().starts_with("_terrastudio/") {
                continue;
            }
            let node = board.node(old["data"]["terraformName"].as_str().unwrap());
            let kept: Vec<String> = node.props.values().map(ToString::to_string).collect();
            for (key, json) in old["data"]["properties"].as_object().unwrap() {
                let value = PropValue::from_json(json).unwrap();
                let is_kept = kept.iter().any(|kept| kept.contains(&value.to_string()))
                    || matches!(&value, PropValue::List(items) if items.iter().all(|item| kept.iter().any(|kept| kept.contains(&item.to_string()))));
                // Defaults of the type need not be on the node, and values that do not apply are removed.
                let def = board.snapshot.type_of(node).unwrap();
                let implied = def.props.iter().any(|prop| prop.default.as_ref() == Some(&value));
                assert!(
                    is_kept || implied || SAID_OTHERWISE.contains(&key.as_str()),
                    "{name}: {key} of {} is lost: {:?}",
                    node.name,
                    node.props
                );
            }
        }
    }
}

#[test]
fn subnets_keep_what_applies_to_them() {
    let board = project("02-vnet-subnets-nsg");
    let main = board.main();
    assert!(
        main.contains("resource \"azurerm_subnet_network_security_group_association\" \"snet_web_nsg\""),
        "{main}"
    );
    assert!(main.contains("resource \"azurerm_subnet_route_table_association\" \"snet_web_rt\""));
    assert!(main.contains("resource \"azurerm_subnet_nat_gateway_association\" \"snet_web_natgw\""));
    assert_eq!(main.matches("service_delegation").count(), 1);
    assert!(main.contains("destination_port_range     = \"443\""), "{main}");
}

#[test]
fn edges_keep_their_meaning() {
    let board = project("04-app-service-edges");
    assert_eq!(board.main().matches("service_plan_id").count(), 2);
    assert!(board.main().contains("node_version = \"20-lts\""), "{}", board.main());
    assert!(board.main().contains("azurerm_storage_account.st.primary_access_key"));
    let board = project("16-aks-acr-subnet");
    assert!(board.main().contains("\"AcrPull\""), "{}", board.main());
    assert_eq!(board.main().matches("vnet_subnet_id").count(), 2);
    let board = project("24-aws-vpc-ec2");
    let main = board.main();
    assert!(main.contains("aws_subnet.sn.id, aws_subnet.sn2.id"), "{main}");
    assert!(main.contains("resource \"aws_route_table_association\" \"sn_rt\""));
    assert!(
        main.contains("instance = aws_instance.ec2.id")
            || main.contains("instance             = aws_instance.ec2.id"),
        "{main}"
    );
    assert!(main.contains("Name = \"main\""));
    assert!(board.generated.files["providers.tf"].contains("profile = \"dev\""));
}

#[test]
fn variables_names_modules_and_texts_are_as_they_were() {
    let board = project("06-variables-tfvars");
    assert!(board.generated.files["terraform.tfvars"].contains("st_name"), "{:?}", board.generated.files);
    assert!(board.generated.files["terraform.tfvars"].contains("vm_vm_size"));
    assert!(board.main().contains("azurerm_windows_virtual_machine"));
    assert!(board.main().contains("\"MicrosoftWindowsServer\""));

    let board = project("07-naming-convention");
    for name in ["contoso-rg-prod-eus-core", "contoso-vnet-prod-eus-hub", "\"manual-name\""] {
        assert!(board.main().contains(name), "{name}: {}", board.main());
    }

    let board = project("12-module-cross-boundary");
    let files = &board.generated.files;
    assert!(files["modules/networking/main.tf"].contains("azurerm_virtual_network"));
    assert!(files["main.tf"].contains("module.networking."), "{}", files["main.tf"]);
    assert!(files["terraform.tfvars"].contains("vnet_name = \"vnet-from-tfvars\""));

    let board = project("20-escaping");
    assert!(board.main().contains(r#""rg\"x\\y\n$${var.z}%%{if true}""#), "{}", board.main());

    let board = project("22-backend-azurerm");
    assert!(board.generated.files["terraform.tf"].contains("backend \"azurerm\""));

    let board = project("26-annotations-and-synthetic");
    assert_eq!(board.main().matches("resource \"").count(), 1);
    assert_eq!(board.node("note").type_id.as_str(), "notes/sticky");
    assert_eq!(board.snapshot.edge_count(), 1);
}

fn files(text: &str) -> Board {
    let snapshot = Snapshot::new(registry());
    let sources = [("main.tf".to_owned(), text.to_owned())];
    draw(read_terraform(&snapshot, &sources, "imported".parse().unwrap(), "Imported", 7).unwrap())
}

const CONFIGURATION: &str = r#"
terraform {
  required_version = ">= 1.6"
  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
  backend "s3" {
    bucket = "state"
    key    = "shop"
  }
}

provider "aws" {
  region = "eu-central-1"
}

provider "aws" {
  alias  = "west"
  region = "us-west-2"
}

variable "prefix" {
  type        = string
  description = "Before every name"
  default     = "shop"

  validation {
    condition     = length(var.prefix) < 10
    error_message = "Too long."
  }
}

locals {
  common = { Team = "shop", Stage = var.prefix }
}

resource "aws_vpc" "main" {
  cidr_block = "10.0.0.0/16"
  tags       = merge(local.common, { Name = "main" })
}

resource "aws_subnet" "web" {
  for_each   = toset(["a", "b"])
  vpc_id     = aws_vpc.main.id
  cidr_block = "10.0.1.0/24"
}

resource "aws_subnet" "app" {
  vpc_id            = aws_vpc.main.id
  cidr_block        = cidrsubnet(aws_vpc.main.cidr_block, 8, 2)
  availability_zone = "eu-central-1a"
}

resource "aws_security_group" "web" {
  name        = "${var.prefix}-web"
  description = "Web"
  vpc_id      = aws_vpc.main.id

  ingress {
    from_port   = 443
    to_port     = 443
    protocol    = "tcp"
    cidr_blocks = ["0.0.0.0/0"]
  }
}

resource "aws_instance" "web" {
  ami                    = "ami-0123456789abcdef0"
  instance_type          = "t3.micro"
  subnet_id              = aws_subnet.app.id
  vpc_security_group_ids = [aws_security_group.web.id]

  root_block_device {
    volume_size = 20
  }

  lifecycle {
    ignore_changes = [ami]
  }
}

resource "aws_iam_role" "lambda" {
  name = "lambda"
  assume_role_policy = jsonencode({
    Version   = "2012-10-17"
    Statement = [{ Effect = "Allow", Action = "sts:AssumeRole", Principal = { Service = "lambda.amazonaws.com" } }]
  })
}

resource "aws_cloudfront_origin_access_identity" "unknown" {
  comment = "no such type here"
}

module "queue" {
  source = "./queue"
  name   = "orders"
  vpc    = aws_vpc.main.id
}

output "address" {
  value     = aws_instance.web.private_ip
  sensitive = false
}

moved {
  from = aws_instance.old
  to   = aws_instance.web
}
"#;

#[test]
fn terraform_files_become_a_board_and_files_again() {
    let board = files(CONFIGURATION);
    assert_eq!(board.errors(), Vec::<&str>::new());
    let vpc = board.node("main").id;
    assert_eq!(board.node("app").parent, Some(vpc));
    let machine =
        board.snapshot.nodes().find(|node| node.type_id.as_str() == "aws/compute/instance").unwrap();
    assert_eq!(machine.parent, Some(board.node("app").id));
    assert!(!board.imported.notes.is_empty());
    let all: String =
        board.generated.files.iter().map(|(file, text)| format!("=== {file}\n{text}")).collect();
    for kept in [
        "for_each = toset([\"a\", \"b\"])",
        "cidrsubnet(aws_vpc.main.cidr_block, 8, 2)",
        "\"${var.prefix}-web\"",
        "merge(local.common, { Name = \"main\" })",
        "lifecycle {",
        "ignore_changes = [ami]",
        "resource \"aws_cloudfront_origin_access_identity\" \"unknown\"",
        "error_message = \"Too long.\"",
        "moved {",
        "alias  = \"west\"",
        "volume_size = 20",
        "jsonencode({",
        "vpc  = aws_vpc.main.id",
        "required_version = \">= 1.6\"",
        "backend \"s3\"",
        "= \"eu-central-1\"",
        "value = aws_instance.web.private_ip",
    ] {
        assert!(all.contains(kept), "lost: {kept}\n{all}");
    }
    for address in ["aws_subnet.web", "aws_security_group.web", "aws_instance.web"] {
        assert!(board.generated.addresses.contains_key(address), "{address} has moved");
    }
    let folder = tempfile::tempdir().unwrap();
    program::write(folder.path(), &board.generated);
    program::assert_formatted(folder.path());
    assert!(board.snapshot.nodes().all(|node| board.snapshot.placement(node.id).is_some()));
}

#[test]
fn what_was_generated_reads_back_as_the_same() {
    let mut bench = common::HclFixture::new();
    let group =
        bench.add("azurerm/core/resource_group", "rg", None, r#"{"name":"rg-shop","location":"westeurope"}"#);
    let network = bench.add("azurerm/networking/virtual_network", "net", Some(group), r#"{"name":"vnet"}"#);
    let subnet = bench.add(
        "azurerm/networking/subnet",
        "web",
        Some(network),
        r#"{"name":"snet","delegation_service":"Microsoft.Web/serverFarms"}"#,
    );
    bench.add("azurerm/networking/network_interface", "nic", Some(subnet), r#"{"name":"nic"}"#);
    bench.add(
        "azurerm/storage/storage_account",
        "st",
        Some(group),
        r#"{"name":"stshop","account_tier":"Standard","account_replication_type":"LRS"}"#,
    );
    let first = bench.generate();
    let sources: Vec<(String, String)> = first
        .files
        .iter()
        .filter(|(file, _)| file.ends_with(".tf"))
        .map(|(file, text)| (file.clone(), text.to_string()))
        .collect();
    let snapshot = Snapshot::new(registry());
    let board = draw(read_terraform(&snapshot, &sources, "again".parse().unwrap(), "Again", 3).unwrap());
    assert_eq!(board.errors(), Vec::<&str>::new());
    assert_eq!(board.main(), &*first.files["main.tf"]);
    let parents: BTreeMap<&str, bool> =
        board.snapshot.nodes().map(|node| (node.name.as_str(), node.parent.is_some())).collect();
    assert_eq!(
        parents,
        BTreeMap::from([("net", true), ("nic", true), ("rg", false), ("st", true), ("web", true)])
    );
}

#[test]
fn what_cannot_be_read_is_named() {
    let snapshot = Snapshot::new(registry());
    let sources = [("broken.tf".to_owned(), "resource \"a\" {".to_owned())];
    let error = read_terraform(&snapshot, &sources, "x".parse().unwrap(), "X", 1).unwrap_err().to_string();
    assert!(error.contains("broken.tf"), "{error}");
    let error = read_terrastudio(&snapshot, "{}", "[", "x".parse().unwrap(), 1).unwrap_err().to_string();
    assert!(error.contains("main.json"), "{error}");
}
