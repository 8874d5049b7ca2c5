//! Diagnostics of Terraform, and the node and property that they concern.

use crate::generate::GeneratedHcl;
use authority::Snapshot;
use serde_json::Value as Json;
use shared_protocol::{
    NodeId,
    messages::ProblemSeverity,
    registry::{PropDef, PropRole},
    terraform::TerraformFindingView,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerraformDiagnostic {
    pub is_error: bool,
    pub summary: String,
    pub detail: String,
    pub address: Option<String>,
    /// The file and the line number, counted from one.
    pub place: Option<(String, u32)>,
    /// The source line.
    pub code: String,
}

impl TerraformDiagnostic {
    pub(crate) fn from_json(json: &Json) -> Option<Self> {
        let text = |part: &Json| part.as_str().map(str::to_owned);
        let line = json["range"]["start"]["line"].as_u64().and_then(|line| u32::try_from(line).ok());
        Some(Self {
            is_error: json["severity"].as_str()? == "error",
            summary: text(&json["summary"])?,
            detail: text(&json["detail"]).unwrap_or_default(),
            address: text(&json["address"]),
            place: text(&json["range"]["filename"]).zip(line),
            code: text(&json["snippet"]["code"]).unwrap_or_default(),
        })
    }

    /// Returns the display text: summary, location, address and detail, each on its own line.
    pub(crate) fn to_text(&self) -> String {
        let word = if self.is_error { "Error" } else { "Warning" };
        let mut text = format!("{word}: {}", self.summary);
        let address = self.address.as_ref().map(|address| format!("with {address}"));
        let place = self.place.as_ref().map(|(file, line)| format!("on {file} line {line}"));
        let place: Vec<String> = place.into_iter().chain(address).collect();
        if !place.is_empty() {
            text.push_str(&format!("\n  {}", place.join(", ")));
        }
        for line in self.detail.trim_end().lines() {
            text.push_str(&format!("\n  {line}"));
        }
        text
    }

    /// Finds the node and property: by address, by the block at the line, by the argument in the line.
    pub fn locate(self, generated: &GeneratedHcl, snapshot: &Snapshot) -> TerraformFindingView {
        let by_address = self.address.as_deref().and_then(|address| node_of(generated, address));
        let by_place = self.place.as_ref().and_then(|(file, line)| generated.node_at(file, *line));
        let node = by_address.or(by_place);
        let argument = self.place.as_ref().and_then(|(file, line)| {
            let text = generated.files.get(file)?.lines().nth(line.checked_sub(1)? as usize)?;
            argument_of(text).map(str::to_owned)
        });
        let argument = argument.or_else(|| argument_of(&self.code).map(str::to_owned));
        let prop = node.and_then(|node| {
            let def = snapshot.type_of(snapshot.node(node)?)?;
            let argument = argument?;
            let is_it = |prop: &&PropDef| {
                let path = prop.argument().trim_end_matches("[]");
                prop.role == PropRole::Argument && path.rsplit('.').next() == Some(argument.as_str())
            };
            def.props.iter().find(is_it).map(|prop| prop.key.clone())
        });
        let severity = if self.is_error { ProblemSeverity::Error } else { ProblemSeverity::Warning };
        TerraformFindingView { severity, node, prop, message: self.summary, detail: self.detail }
    }
}

/// Returns the node of an address, ignoring the index.
pub(crate) fn node_of(generated: &GeneratedHcl, address: &str) -> Option<NodeId> {
    generated.addresses.get(address).or_else(|| generated.addresses.get(address.split('[').next()?)).copied()
}

fn argument_of(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('=').or_else(|| line.split_once('{'))?;
    let name = name.trim();
    crate::hcl::is_identifier(name).then_some(name)
}
