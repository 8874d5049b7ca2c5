//! A board as a Markdown document: its nodes, nested, and its connections.

use authority::Snapshot;
use shared_protocol::text::{count_noun, truncate_chars};
use shared_protocol::{BoardId, Node, NodeId, PropKey, PropValue, TypeDef};
use std::fmt::Write;

/// The placeholder for a sensitive value.
const MASK: &str = "••••";
const MAX_VALUE_CHARS: usize = 400;
/// More than the nesting limit of the model; ends the walk of a cycle in a broken snapshot.
const MAX_WALK_DEPTH: usize = 64;

/// Returns the board as Markdown, or an empty text when the board does not exist.
pub fn to_markdown(snapshot: &Snapshot, board: BoardId) -> String {
    let mut out = String::new();
    let Some(found) = snapshot.board(board) else { return out };
    let nodes = snapshot.nodes_on(board).count();
    let mut edges: Vec<_> = snapshot.edges_on(board).collect();
    edges.sort_by_key(|edge| {
        let label = |id: NodeId| snapshot.node(id).map(|node| node.label.clone());
        (label(edge.source.node), label(edge.target.node), edge.id)
    });
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# {}\n", escape(&found.title));
    let _ = writeln!(
        out,
        "Board `{}`, kind {}. {}, {}.\n",
        found.name,
        found.kind.as_str(),
        count_noun(nodes, "node"),
        count_noun(edges.len(), "connection")
    );
    if nodes > 0 {
        out.push_str("## Nodes\n\n");
        write_children(&mut out, snapshot, board, None, 0);
        out.push('\n');
    }
    if !edges.is_empty() {
        out.push_str("## Connections\n\n| From | To | Label |\n|---|---|---|\n");
        for edge in edges {
            let end = |id: NodeId, port: &str| match snapshot.node(id) {
                Some(node) => {
                    format!("{} · {}", escape(&node.label), escape(&port_label(snapshot, node, port)))
                }
                None => "?".to_owned(),
            };
            let _ = writeln!(
                out,
                "| {} | {} | {} |",
                end(edge.source.node, edge.source.port.as_str()),
                end(edge.target.node, edge.target.port.as_str()),
                escape(&edge.label)
            );
        }
    }
    out
}

fn port_label(snapshot: &Snapshot, node: &Node, port: &str) -> String {
    let known = snapshot.type_of(node).and_then(|def| def.port(port));
    known.map_or_else(|| port.to_owned(), |port| port.label.clone())
}

fn write_children(
    out: &mut String,
    snapshot: &Snapshot,
    board: BoardId,
    parent: Option<NodeId>,
    depth: usize,
) {
    if depth >= MAX_WALK_DEPTH {
        return;
    }
    // In reading order: top to bottom, then left to right.
    let mut children: Vec<NodeId> = snapshot.children(board, parent).collect();
    children.sort_by_key(|id| (snapshot.placement(*id).map(|place| (place.y, place.x)), *id));
    for node in children.into_iter().filter_map(|id| snapshot.node(id)) {
        let indent = "  ".repeat(depth);
        let def = snapshot.type_of(node);
        let kind = def.map_or_else(|| format!("`{}`", node.type_id), |def| escape(def.kind_label(node)));
        let _ = writeln!(out, "{indent}- **{}** (`{}`) – {kind}", escape(&node.label), node.name);
        write_props(out, node, def, &indent);
        write_references(out, snapshot, node, def, &indent);
        write_children(out, snapshot, board, Some(node.id), depth + 1);
    }
}

fn write_props(out: &mut String, node: &Node, def: Option<&TypeDef>, indent: &str) {
    for key in sorted_keys(node.props.keys(), def) {
        let Some(value) = node.props.get(key) else { continue };
        let prop = def.and_then(|def| def.prop(key.as_str()));
        let label = prop.map_or(key.as_str(), |prop| prop.label.as_str());
        // The property of an unknown type may be sensitive.
        let shown = match prop {
            Some(prop) if !prop.sensitive => {
                let unit =
                    if prop.unit.is_empty() { String::new() } else { format!(" {}", escape(&prop.unit)) };
                format!("{}{unit}", value_text(value))
            }
            _ => MASK.to_owned(),
        };
        let _ = writeln!(out, "{indent}  - {}: {shown}", escape(label));
    }
}

fn write_references(out: &mut String, snapshot: &Snapshot, node: &Node, def: Option<&TypeDef>, indent: &str) {
    for key in sorted_keys(node.references.keys(), def) {
        let Some(targets) = node.references.get(key) else { continue };
        let label =
            def.and_then(|def| def.prop(key.as_str())).map_or(key.as_str(), |prop| prop.label.as_str());
        let names: Vec<String> = targets
            .iter()
            .map(|id| snapshot.node(*id).map_or("?".to_owned(), |node| escape(&node.label)))
            .collect();
        let _ = writeln!(out, "{indent}  - {} → {}", escape(label), names.join(", "));
    }
}

/// Sorts keys in the order of the type; unknown keys come last.
fn sorted_keys<'a>(keys: impl Iterator<Item = &'a PropKey>, def: Option<&TypeDef>) -> Vec<&'a PropKey> {
    let place = |key: &PropKey| {
        def.and_then(|def| def.props.iter().position(|prop| prop.key == *key)).unwrap_or(usize::MAX)
    };
    let mut keys: Vec<&PropKey> = keys.collect();
    keys.sort_by_key(|key| (place(key), *key));
    keys
}

fn value_text(value: &PropValue) -> String {
    let text = match value {
        PropValue::Text(text) => text.to_string(),
        PropValue::Bool(true) => "yes".to_owned(),
        PropValue::Bool(false) => "no".to_owned(),
        other => other.to_json(),
    };
    escape(&truncate_chars(&text, MAX_VALUE_CHARS))
}

/// Escapes text for a line of Markdown or a table cell.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '(' | ')' | '#' | '+' | '!' | '|' | '~'
            | '$' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escape;

    #[test]
    fn nothing_in_a_text_becomes_markup() {
        assert_eq!(escape("a|b\n# *x* <img> [l](u)"), r"a\|b \# \*x\* &lt;img&gt; \[l\]\(u\)");
        assert_eq!(escape("plain words, 10.0.0.0/16"), "plain words, 10.0.0.0/16");
    }
}
