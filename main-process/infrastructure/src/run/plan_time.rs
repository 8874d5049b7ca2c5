//! What is done while Terraform plans: a data source reads, and some run programs; providers and modules are fetched and run.
//! Whoever plans what an agent proposes has not accepted any of that yet, so a proposal may bring none of it that is not
//! known to be harmless.

use crate::generate::Generated;
use hcl_edit::{
    expr::Expression,
    structure::{Block, Body},
};

/// Files that are made from the project's settings, and which providers its types need.
const TERRAFORM_FILE: &str = "terraform.tf";
/// Data sources of these providers read, with a few exceptions.
const READING: [&str; 2] = ["aws_", "azurerm_"];
const CALLING: [&str; 1] = ["aws_lambda_invocation"];

/// The first block that would do more than be planned, as a person finds it in the files. Blocks that are there already are
/// the person's own.
pub fn does_more(before: Option<&Generated>, after: &Generated) -> Option<String> {
    let before = before.into_iter().flat_map(|before| &before.files);
    let known: Vec<Body> = before.filter_map(|(_, text)| text.parse().ok()).collect();
    let is_known = |block: &Block| known.iter().flat_map(Body::blocks).any(|known| known == block);
    for (file, text) in after.files.iter().filter(|(file, _)| file.ends_with(".tf")) {
        let Ok(body) = text.parse::<Body>() else { return Some(format!("{file}, which cannot be read")) };
        let found = body.blocks().find(|block| is_more(file, block) && !is_known(block));
        if let Some(block) = found {
            return Some(format!("{} in {file}", name(block)));
        }
    }
    None
}

fn name(block: &Block) -> String {
    let labels = block.labels.iter().map(|label| label.as_str());
    std::iter::once(block.ident.as_str()).chain(labels).collect::<Vec<_>>().join(" ")
}

fn is_more(file: &str, block: &Block) -> bool {
    match block.ident.as_str() {
        "resource" | "variable" | "output" | "locals" | "moved" | "removed" | "import" => false,
        "terraform" => file.rsplit('/').next().is_none_or(|name| name != TERRAFORM_FILE),
        "provider" => !is_plain(&block.body),
        "data" => {
            let kind = block.labels.first().map_or("", |label| label.as_str());
            CALLING.contains(&kind) || !READING.iter().any(|prefix| kind.starts_with(prefix))
        }
        "module" => {
            let source = block.body.get_attribute("source").map(|source| &source.value);
            !source.is_some_and(
                |source| matches!(source, Expression::String(text) if text.value().starts_with("./")),
            )
        }
        _ => true,
    }
}

/// Says nothing about where the provider goes and with whose credentials.
fn is_plain(body: &Body) -> bool {
    body.attributes().next().is_none()
        && body.blocks().all(|block| block.ident.as_str() == "features" && block.body.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{collections::BTreeMap, sync::Arc};

    fn made(files: &[(&str, &str)]) -> Generated {
        let files: BTreeMap<String, Arc<str>> =
            files.iter().map(|(name, text)| ((*name).to_owned(), Arc::from(*text))).collect();
        Generated { files, ..Generated::default() }
    }

    #[test]
    fn what_would_run_or_reach_elsewhere_is_named() {
        let main = |text: &str| does_more(None, &made(&[("main.tf", text)]));
        for (text, found) in [
            ("data \"external\" \"x\" {\n  program = [\"sh\"]\n}\n", "data external x in main.tf"),
            ("   data  \"http\" \"x\" { url = \"https://elsewhere\" }\n", "data http x in main.tf"),
            ("data \"aws_lambda_invocation\" \"x\" {}\n", "data aws_lambda_invocation x in main.tf"),
            ("module \"x\" {\n  source = \"git::https://elsewhere\"\n}\n", "module x in main.tf"),
            ("module \"x\" {\n  source = \"${var.a}./\"\n}\n", "module x in main.tf"),
            ("terraform {\n  required_providers {}\n}\n", "terraform in main.tf"),
            (
                "provider \"aws\" {\n  endpoints {\n    s3 = \"https://elsewhere\"\n  }\n}\n",
                "provider aws in main.tf",
            ),
            ("provider \"aws\" {\n  profile = \"live\"\n}\n", "provider aws in main.tf"),
            ("ephemeral \"x\" \"y\" {}\n", "ephemeral x y in main.tf"),
            ("check \"x\" {}\n", "check x in main.tf"),
            ("resource \"a\" {", "main.tf, which cannot be read"),
        ] {
            assert_eq!(main(text).as_deref(), Some(found), "{text}");
        }
    }

    #[test]
    fn what_is_only_planned_or_was_there_before_is_not() {
        let plain = "resource \"terraform_data\" \"x\" {\n  input = 1\n}\n\ndata \"aws_ami\" \"x\" {}\n\nmodule \"net\" {\n  \
            source = \"./modules/net\"\n}\n\nprovider \"azurerm\" {\n  features {}\n}\n";
        let settings = ("terraform.tf", "terraform {\n  required_version = \">= 1.5\"\n}\n");
        let module = ("modules/net/terraform.tf", "terraform {\n  required_providers {}\n}\n");
        assert_eq!(does_more(None, &made(&[("main.tf", plain), settings, module])), None);
        let own = "data \"external\" \"mine\" {\n  program = [\"sh\"]\n}\n";
        let before = made(&[("main.tf", own)]);
        let more = format!("{own}\n{plain}");
        assert_eq!(does_more(Some(&before), &made(&[("main.tf", &more)])), None);
        let other = own.replace("sh", "bash");
        assert!(does_more(Some(&before), &made(&[("main.tf", &other)])).is_some());
    }
}
