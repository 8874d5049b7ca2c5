//! Which pages two states of a workspace show differently, without drawing any of them.

use super::{
    ground::{Ground, PAGE},
    scene::{instances, overrides},
};
use shared_protocol::{
    BoardKind, NodeId,
    preview::{SceneInstance, SceneOverride},
    previews::Shown,
    review::TouchedPage,
};
use std::collections::{BTreeMap, BTreeSet};

/// By title, as people look for them.
pub(crate) fn pages_touched(before: &Ground, after: &Ground) -> Vec<TouchedPage> {
    let components = components_touched(before, after);
    let (laid_before, laid_after) = (laid_over(before), laid_over(after));
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
            let (ground, node) =
                [after, before].into_iter().find_map(|ground| Some((ground, ground.page(page)?)))?;
            Some(TouchedPage { page, title: ground.title_of(node) })
        })
        .collect();
    touched.sort_by(|a, b| a.title.cmp(&b.title).then(a.page.cmp(&b.page)));
    touched
}

fn pages(ground: &Ground) -> impl Iterator<Item = NodeId> {
    let boards = ground.snapshot.boards().filter(|board| board.kind == BoardKind::Interface);
    let nodes = boards.flat_map(|board| ground.snapshot.nodes_on(board.id));
    nodes.filter(|node| node.type_id.as_str() == PAGE).map(|node| node.id)
}

/// What is laid over each node and over what it shows within itself.
type Laid = BTreeMap<String, Vec<SceneOverride>>;

fn laid_over(ground: &Ground) -> Laid {
    let mut laid = Laid::new();
    // Which page is shown does not matter for what is laid over instances of the app.
    for over in overrides(&ground.snapshot, &Shown::Route(NodeId::from_bits(0)), &[]) {
        let node = over.instance.split('/').next().unwrap_or_default().to_owned();
        laid.entry(node).or_default().push(over);
    }
    laid
}

#[derive(PartialEq)]
struct Contents<'a> {
    instances: Vec<SceneInstance>,
    overrides: Vec<&'a SceneOverride>,
}

fn contents<'a>(ground: &Ground, page: NodeId, laid: &'a Laid) -> Option<Contents<'a>> {
    let node = ground.page(page)?;
    let with_page = ground.component(node.type_id.as_str()).is_some();
    let instances = instances(&ground.snapshot, node, with_page);
    let overrides = instances.iter().filter_map(|instance| laid.get(&instance.id)).flatten().collect();
    Some(Contents { instances, overrides })
}

/// Components whose files differ, and those that show one of them: whose files name it.
fn components_touched(before: &Ground, after: &Ground) -> BTreeSet<String> {
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
