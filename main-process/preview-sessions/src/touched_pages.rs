//! The pages that look different in two states of a workspace, found without drawing them.

use crate::{
    previewed_workspace::{PAGE_TYPE, PreviewedWorkspace},
    scene::{instances, overrides},
};
use shared_protocol::{
    BoardKind, NodeId,
    preview_sessions::PreviewTarget,
    preview_wire::{SceneInstance, SceneOverride},
    review::TouchedPage,
};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the pages that differ, by title.
pub fn pages_touched(before: &PreviewedWorkspace, after: &PreviewedWorkspace) -> Vec<TouchedPage> {
    let components = components_touched(before, after);
    let (laid_before, laid_after) = (overrides_by_node(before), overrides_by_node(after));
    let pages: BTreeSet<NodeId> = pages(before).chain(pages(after)).collect();
    let mut touched: Vec<TouchedPage> = pages
        .into_iter()
        .filter(|page| {
            let (old, new) = (contents(before, *page, &laid_before), contents(after, *page, &laid_after));
            let shows_touched =
                new.iter().flat_map(|page| &page.instances).any(|at| components.contains(&at.component));
            shows_touched || old != new
        })
        .filter_map(|page| {
            let (workspace, node) =
                [after, before].into_iter().find_map(|workspace| Some((workspace, workspace.page(page)?)))?;
            Some(TouchedPage { page, title: workspace.title_of(node) })
        })
        .collect();
    touched.sort_by(|a, b| a.title.cmp(&b.title).then(a.page.cmp(&b.page)));
    touched
}

fn pages(workspace: &PreviewedWorkspace) -> impl Iterator<Item = NodeId> {
    let boards = workspace.snapshot.boards().filter(|board| board.kind == BoardKind::Interface);
    let nodes = boards.flat_map(|board| workspace.snapshot.nodes_on(board.id));
    nodes.filter(|node| node.type_id.as_str() == PAGE_TYPE).map(|node| node.id)
}

/// The overrides of each node and of the instances within it.
type OverridesByNode = BTreeMap<String, Vec<SceneOverride>>;

fn overrides_by_node(workspace: &PreviewedWorkspace) -> OverridesByNode {
    let mut laid = OverridesByNode::new();
    // The overrides of the app are the same for every page.
    for over in overrides(&workspace.snapshot, &PreviewTarget::Route(NodeId::from_bits(0)), &[]) {
        let node = over.instance.split('/').next().unwrap_or_default().to_owned();
        laid.entry(node).or_default().push(over);
    }
    laid
}

#[derive(PartialEq)]
struct PageContents<'a> {
    instances: Vec<SceneInstance>,
    overrides: Vec<&'a SceneOverride>,
}

fn contents<'a>(
    workspace: &PreviewedWorkspace,
    page: NodeId,
    laid: &'a OverridesByNode,
) -> Option<PageContents<'a>> {
    let node = workspace.page(page)?;
    let with_page = workspace.component(node.type_id.as_str()).is_some();
    let instances = instances(&workspace.snapshot, node, with_page);
    let overrides = instances.iter().filter_map(|instance| laid.get(&instance.id)).flatten().collect();
    Some(PageContents { instances, overrides })
}

/// Components whose files differ, and those whose files name one of these.
fn components_touched(before: &PreviewedWorkspace, after: &PreviewedWorkspace) -> BTreeSet<String> {
    let (old, new) = (before.texts(), after.texts());
    let files: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differing: BTreeSet<&String> =
        files.into_iter().filter(|file| old.get(*file) != new.get(*file)).collect();
    let known = || before.components.iter().chain(after.components.iter());
    let mut touched: BTreeSet<String> =
        known().filter(|found| differing.contains(&found.file)).map(|found| found.id.clone()).collect();
    if touched.is_empty() {
        return touched;
    }
    loop {
        let names = |file: &String| {
            new.get(file).is_some_and(|text| touched.iter().any(|id| text.contains(id.as_str())))
        };
        let more: Vec<String> = after
            .components
            .iter()
            .filter(|found| !touched.contains(&found.id) && names(&found.file))
            .map(|found| found.id.clone())
            .collect();
        if more.is_empty() {
            return touched;
        }
        touched.extend(more);
    }
}
