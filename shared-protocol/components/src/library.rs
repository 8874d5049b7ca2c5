//! All components of a workspace, indexed by id, with every use of one component by another checked.

use crate::{
    Component, ComponentProblem, ComponentProblems, MAX_FILES, SourcePosition, ViewNode, ViewNodeKind, read,
};
use std::{collections::BTreeMap, sync::Arc};

/// The display folder of built-in components. It does not exist in a workspace.
pub const BUILT_IN_FOLDER: &str = "built-in/";

pub fn is_built_in(file: &str) -> bool {
    file.starts_with(BUILT_IN_FOLDER)
}

/// The current component files. A file that cannot be parsed keeps its problems and provides no component.
#[derive(Debug, Default)]
pub struct ComponentLibrary {
    files: BTreeMap<String, Result<Arc<Component>, ComponentProblems>>,
    /// Components by id. Of two files with the same id, the first by name is used.
    by_id: BTreeMap<String, Arc<Component>>,
    /// Problems between files.
    cross_file_problems: Vec<ComponentProblem>,
}

impl ComponentLibrary {
    /// Adds or replaces a file. A file below [`BUILT_IN_FOLDER`] yields to any other file with the same id. Call
    /// [`rebuild_index`](Self::rebuild_index) after the last of several changes.
    pub fn insert(&mut self, file: &str, text: &str) {
        let own = self.files.keys().filter(|file| !is_built_in(file)).count();
        let read = if own >= MAX_FILES && !self.files.contains_key(file) && !is_built_in(file) {
            Err(ComponentProblems(vec![problem(
                file,
                SourcePosition::START,
                format!("more than {MAX_FILES} component files"),
                "fewer files",
            )]))
        } else {
            read(file, text).map(Arc::new)
        };
        // Only the first file over the limit is reported.
        if own <= MAX_FILES {
            self.files.insert(file.to_owned(), read);
        }
    }

    pub fn remove(&mut self, file: &str) {
        self.files.remove(file);
    }

    /// Rebuilds the index by id and checks the uses between components.
    pub fn rebuild_index(&mut self) {
        self.by_id.clear();
        self.cross_file_problems.clear();
        let (built_in, own): (Vec<_>, Vec<_>) = self.files.iter().partition(|(file, _)| is_built_in(file));
        for (file, read) in own.into_iter().chain(built_in) {
            let Ok(component) = read else { continue };
            if is_built_in(file) && self.by_id.contains_key(&component.id) {
                continue;
            }
            if let Some(other) = self.by_id.get(&component.id) {
                let message = format!("`{}` is already the id of {}", component.id, other.file);
                self.cross_file_problems.push(problem(
                    file,
                    SourcePosition::START,
                    message,
                    "an id that no other component has",
                ));
                continue;
            }
            self.by_id.insert(component.id.clone(), Arc::clone(component));
        }
        let mut between = Vec::new();
        for component in self.by_id.values() {
            self.check_uses(component, &component.view, &mut between);
        }
        between.extend(self.find_cycles());
        self.cross_file_problems.append(&mut between);
    }

    pub fn get(&self, id: &str) -> Option<&Arc<Component>> {
        self.by_id.get(id)
    }

    /// All components, ordered by id.
    pub fn components(&self) -> impl Iterator<Item = &Arc<Component>> {
        self.by_id.values()
    }

    /// All problems: those within files, in file order, then those between files.
    pub fn problems(&self) -> impl Iterator<Item = &ComponentProblem> {
        let within =
            self.files.values().filter_map(|read| read.as_ref().err()).flat_map(|problems| &problems.0);
        within.chain(&self.cross_file_problems)
    }

    fn check_uses(&self, component: &Component, node: &ViewNode, problems: &mut Vec<ComponentProblem>) {
        if let ViewNodeKind::Component { component: id, props, slots, .. } = &node.kind {
            match self.by_id.get(&**id) {
                None => {
                    let ids: Vec<&str> = self.by_id.keys().map(String::as_str).take(12).collect();
                    let expected = format!("an existing component, such as {}", ids.join(", "));
                    problems.push(problem(
                        &component.file,
                        node.place,
                        format!("unknown component `{id}`"),
                        &expected,
                    ));
                }
                Some(used) => {
                    for (name, _) in props.iter().filter(|(name, _)| used.prop(name).is_none()) {
                        let names: Vec<&str> = used.props.iter().map(|prop| prop.name.as_str()).collect();
                        let expected = if names.is_empty() {
                            "no props".to_owned()
                        } else {
                            format!("one of {}", names.join(", "))
                        };
                        problems.push(problem(
                            &component.file,
                            node.place,
                            format!("`{id}` has no prop `{name}`"),
                            &expected,
                        ));
                    }
                }
            }
            for (_, nodes) in slots {
                nodes.iter().for_each(|node| self.check_uses(component, node, problems));
            }
        }
        if let ViewNodeKind::If { otherwise, .. } = &node.kind {
            otherwise.iter().for_each(|node| self.check_uses(component, node, problems));
        }
        node.children.iter().for_each(|node| self.check_uses(component, node, problems));
    }

    /// Finds components that contain themselves. Reports each cycle once, starting at its first id.
    fn find_cycles(&self) -> Vec<ComponentProblem> {
        let uses: BTreeMap<&str, Vec<(&str, SourcePosition)>> = self
            .by_id
            .values()
            .map(|component| {
                let used = component.view.uses().into_iter();
                (component.id.as_str(), used.map(|used| (&**used.component, used.place)).collect())
            })
            .collect();
        let mut problems = Vec::new();
        let mut done: BTreeMap<&str, bool> = BTreeMap::new();
        for start in uses.keys() {
            // Depth-first search with an explicit stack; the number of components bounds it.
            let mut path: Vec<(&str, usize)> = vec![(start, 0)];
            while let Some((id, next)) = path.last_mut() {
                let Some(&(used, place)) = uses.get(*id).and_then(|used| used.get(*next)) else {
                    done.insert(id, true);
                    path.pop();
                    continue;
                };
                *next += 1;
                let id = *id;
                if let Some(position) = path.iter().position(|(on_path, _)| *on_path == used) {
                    let names: Vec<&str> =
                        path.iter().skip(position).map(|(id, _)| *id).chain([used]).collect();
                    let file = self.by_id.get(id).map_or("", |component| component.file.as_str());
                    let message = format!("the component contains itself: {}", names.join(" → "));
                    problems.push(problem(file, place, message, "components without circular use"));
                } else if !done.contains_key(used) {
                    path.push((used, 0));
                }
            }
        }
        problems
    }
}

fn problem(file: &str, place: SourcePosition, message: String, expected: &str) -> ComponentProblem {
    ComponentProblem { file: file.to_owned(), place, message, expected: expected.to_owned() }
}
