//! Edits a document in place: only the text of changed values is replaced, so comments, order, quotes and flow style of
//! everything else are preserved.
//!
//! The result is read again and compared with the wanted value. If they differ (because of an anchor whose aliases
//! would change too, for example), the whole document is rewritten: correctness before style.

use super::{
    read,
    read::YamlError,
    scalar::{double_quoted, is_safe_plain, single_quoted},
    tree::{YamlEntry, YamlNode, YamlNodeKind, tree},
    write,
    write::{YamlValueText, after_dash, after_key, entry, item, key as written_key, one_line},
};
use saphyr_parser::ScalarStyle;
use shared_protocol::OrderedValue;

/// Returns the text of `source` changed to contain `wanted`.
pub(crate) fn rewrite(source: &str, wanted: &OrderedValue) -> Result<String, YamlError> {
    let (mark, text) = match source.strip_prefix('\u{feff}') {
        Some(text) => ("\u{feff}", text),
        None => ("", source),
    };
    let current = read(text)?;
    if current == *wanted {
        return Ok(source.to_owned());
    }
    let mut editor =
        YamlEditor { text, newline: if text.contains("\r\n") { "\r\n" } else { "\n" }, edits: Vec::new() };
    let done =
        editor.reconcile(&tree(text)?, &YamlValueContext::Root, &current, wanted).map(|()| editor.finish());
    Ok(match done {
        Some(edited) if read(&edited).as_ref() == Ok(wanted) => format!("{mark}{edited}"),
        _ => format!(
            "{mark}{}",
            write(wanted).replace('\n', if text.contains("\r\n") { "\r\n" } else { "\n" })
        ),
    })
}

/// The syntactic context of a value. `after`: the offset after the colon or dash; `indent`: the column of the key or
/// dash.
enum YamlValueContext {
    Root,
    Key { after: usize, indent: usize },
    Dash { after: usize, indent: usize },
    Flow,
}

struct YamlTextEdit {
    start: usize,
    end: usize,
    text: String,
}

struct YamlEditor<'a> {
    text: &'a str,
    newline: &'static str,
    edits: Vec<YamlTextEdit>,
}

impl YamlEditor<'_> {
    /// Adds the edits that change a node from `old` to `new`. Returns `None` if that is impossible in place.
    fn reconcile(
        &mut self,
        node: &YamlNode,
        place: &YamlValueContext,
        old: &OrderedValue,
        new: &OrderedValue,
    ) -> Option<()> {
        if old == new {
            return Some(());
        }
        if !node.decorated {
            match (&node.kind, old, new) {
                (
                    YamlNodeKind::Map { flow, entries },
                    OrderedValue::Map(before),
                    OrderedValue::Map(after),
                ) => {
                    let same_keys =
                        before.len() == after.len() && after.iter().all(|(key, _)| before.get(key).is_some());
                    let some_stay = entries.iter().any(|entry| after.get(&entry.key_text).is_some());
                    let none_goes = before.iter().all(|(key, _)| after.get(key).is_some());
                    if same_keys || (some_stay && (!flow || none_goes)) {
                        return self.reconcile_map(*flow, entries, old, new);
                    }
                }
                (
                    YamlNodeKind::List { flow, items },
                    OrderedValue::List(before),
                    OrderedValue::List(after),
                ) => {
                    if *flow && before.len() == after.len() {
                        return self.reconcile_pairs(items, before, after);
                    }
                    if !flow && !after.is_empty() {
                        return self.reconcile_list(items, before, after);
                    }
                }
                _ => {}
            }
        }
        self.replace(node, place, new)
    }

    fn reconcile_pairs(
        &mut self,
        items: &[YamlNode],
        old: &[OrderedValue],
        new: &[OrderedValue],
    ) -> Option<()> {
        items
            .iter()
            .zip(old.iter().zip(new))
            .try_for_each(|(node, (old, new))| self.reconcile(node, &YamlValueContext::Flow, old, new))
    }

    fn reconcile_map(
        &mut self,
        flow: bool,
        entries: &[YamlEntry],
        old: &OrderedValue,
        new: &OrderedValue,
    ) -> Option<()> {
        let mut last_kept = None;
        for (index, entry) in entries.iter().enumerate() {
            let Some(wanted) = new.get(&entry.key_text) else {
                self.remove_entry(entry, entries.get(index + 1))?;
                continue;
            };
            let place = if flow {
                YamlValueContext::Flow
            } else {
                YamlValueContext::Key {
                    after: self.after_colon(entry)?,
                    indent: self.column(entry.key.start),
                }
            };
            self.reconcile(&entry.value, &place, old.get(&entry.key_text)?, wanted)?;
            last_kept = Some(entry);
        }
        let added = new.as_map()?.iter().filter(|(key, _)| old.get(key).is_none());
        for (key, value) in added {
            let last = last_kept?;
            if flow {
                let at = last.value.end;
                self.edit(at, at, format!(", {}: {}", written_key(key), one_line(value, true)));
                continue;
            }
            let indent = self.column(last.key.start);
            let text = format!("{}{}", self.newline, entry(key, value, indent, self.newline));
            let at = self.line_end(last.value.end);
            self.edit(at, at, text);
        }
        Some(())
    }

    fn remove_entry(&mut self, entry: &YamlEntry, next: Option<&YamlEntry>) -> Option<()> {
        let line = self.line_start(entry.key.start);
        if self.text[line..entry.key.start].trim().is_empty() {
            let end = self.next_line_start(entry.value.end);
            self.edit(line, end, String::new());
        } else {
            // The first entry of a mapping that starts after a dash.
            self.edit(entry.key.start, next?.key.start, String::new());
        }
        Some(())
    }

    /// Keeps the equal items at both ends, pairs those between, and removes or adds the rest.
    fn reconcile_list(
        &mut self,
        items: &[YamlNode],
        old: &[OrderedValue],
        new: &[OrderedValue],
    ) -> Option<()> {
        let same_front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let shorter = old.len().min(new.len()) - same_front;
        let same_back =
            old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(a, b)| a == b).count();
        let (old_end, new_end) = (old.len() - same_back, new.len() - same_back);
        let paired_end = old_end.min(new_end);
        for index in same_front..paired_end {
            let (after, indent) = self.after_dash_and_column(&items[index])?;
            self.reconcile(
                &items[index],
                &YamlValueContext::Dash { after, indent },
                &old[index],
                &new[index],
            )?;
        }
        for node in &items[paired_end..old_end.max(paired_end)] {
            let (after, _) = self.after_dash_and_column(node)?;
            let line = self.line_start(after);
            if self.text[line..after].trim() != "-" {
                return None;
            }
            let end = self.next_line_start(node.end.max(after));
            self.edit(line, end, String::new());
        }
        let added = &new[paired_end..new_end.max(paired_end)];
        if added.is_empty() {
            return Some(());
        }
        let (at, indent, before) = match paired_end.checked_sub(1).map(|index| &items[index]) {
            Some(previous) => {
                let (after, indent) = self.after_dash_and_column(previous)?;
                (self.line_end(previous.end.max(after)), indent, false)
            }
            None => {
                let (after, indent) = self.after_dash_and_column(items.first()?)?;
                (self.line_start(after), indent, true)
            }
        };
        // The first item of a list that itself starts after a dash has no line of its own.
        if self.text[self.line_start(at)..at].trim_start_matches([' ', '-']).is_empty() && !before {
            return None;
        }
        for value in added {
            let line = item(value, indent, self.newline);
            let newline = self.newline;
            self.edit(at, at, if before { format!("{line}{newline}") } else { format!("{newline}{line}") });
        }
        Some(())
    }

    fn replace(&mut self, node: &YamlNode, place: &YamlValueContext, new: &OrderedValue) -> Option<()> {
        let (written, after) = match place {
            YamlValueContext::Root => return None,
            YamlValueContext::Flow => {
                let text = self.flow_text(node, new);
                self.edit(node.start, node.end, text);
                return Some(());
            }
            YamlValueContext::Key { after, indent } => {
                (self.text_in_old_style(node, new, after_key(new, *indent, self.newline)), *after)
            }
            YamlValueContext::Dash { after, indent } => {
                (self.text_in_old_style(node, new, after_dash(new, *indent, self.newline)), *after)
            }
        };
        let start = after;
        let mut end = node.end.max(after);
        let mut text = written.head;
        if let Some(body) = written.body {
            // A comment after the old value moves to the line above the new one.
            let rest = self.text[end..self.line_end(end)].trim();
            if rest.starts_with('#') {
                text = format!("{text} {rest}");
                end = self.line_end(end);
            }
            text = format!("{text}{}{body}", self.newline);
        }
        let was_block = matches!(
            node.kind,
            YamlNodeKind::List { flow: false, .. } | YamlNodeKind::Map { flow: false, .. }
        );
        if was_block && self.text[start..node.start].contains('#') {
            let kept = self.text[start..self.line_end(start)].trim_end();
            text = if text.starts_with(self.newline) {
                format!("{kept}{text}")
            } else {
                format!("{text}{kept}")
            };
        } else if !was_block && node.start > start && !text.starts_with(self.newline) {
            // Preserves the space between colon and value.
            let between = &self.text[start..node.start];
            if between.trim_matches(' ').is_empty() && !between.is_empty() {
                text = format!("{between}{}", text.trim_start_matches(' '));
            }
        }
        self.edit(start, end, text);
        Some(())
    }

    /// Returns the new value in the style of the old one, where possible.
    fn text_in_old_style(&self, node: &YamlNode, new: &OrderedValue, block: YamlValueText) -> YamlValueText {
        let same_line = |text: String| YamlValueText { head: format!(" {text}"), body: None };
        match (&node.kind, new) {
            (YamlNodeKind::List { flow: true, .. }, OrderedValue::List(_))
            | (YamlNodeKind::Map { flow: true, .. }, OrderedValue::Map(_)) => same_line(one_line(new, true)),
            (YamlNodeKind::Scalar(ScalarStyle::DoubleQuoted), OrderedValue::Text(text))
                if block.body.is_none() =>
            {
                same_line(double_quoted(text))
            }
            (YamlNodeKind::Scalar(ScalarStyle::SingleQuoted), OrderedValue::Text(text))
                if block.body.is_none() =>
            {
                single_quoted(text).map_or(block, same_line)
            }
            _ => block,
        }
    }

    fn flow_text(&self, node: &YamlNode, new: &OrderedValue) -> String {
        match (&node.kind, new) {
            (YamlNodeKind::Scalar(ScalarStyle::DoubleQuoted), OrderedValue::Text(text)) => {
                double_quoted(text)
            }
            (YamlNodeKind::Scalar(ScalarStyle::SingleQuoted), OrderedValue::Text(text)) => {
                single_quoted(text).unwrap_or_else(|| double_quoted(text))
            }
            (_, OrderedValue::Text(text)) if is_safe_plain(text, true) => text.to_string(),
            _ => one_line(new, true),
        }
    }

    fn edit(&mut self, start: usize, end: usize, text: String) {
        self.edits.push(YamlTextEdit { start, end, text });
    }

    /// Returns the offset after the colon of an entry.
    fn after_colon(&self, entry: &YamlEntry) -> Option<usize> {
        let gap = self.text.get(entry.key.end..)?;
        let colon = gap.find(|c: char| !c.is_whitespace())?;
        gap[colon..].starts_with(':').then_some(entry.key.end + colon + 1)
    }

    /// Returns the offset after the dash of an item, and the dash's column.
    fn after_dash_and_column(&self, node: &YamlNode) -> Option<(usize, usize)> {
        let before = self.text.get(..node.start)?.trim_end();
        before.ends_with('-').then(|| (before.len(), self.column(before.len() - 1)))
    }

    fn column(&self, offset: usize) -> usize {
        self.text[self.line_start(offset)..offset].chars().count()
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Returns the end of the line, before its line break.
    fn line_end(&self, offset: usize) -> usize {
        let end = self.text[offset..].find('\n').map_or(self.text.len(), |newline| offset + newline);
        if self.text[offset..end].ends_with('\r') { end - 1 } else { end }
    }

    /// Returns the start of the next line.
    fn next_line_start(&self, offset: usize) -> usize {
        self.text[offset..].find('\n').map_or(self.text.len(), |newline| offset + newline + 1)
    }

    /// Returns the text with all edits applied. Edits do not overlap; at the same offset the earlier one comes first.
    fn finish(mut self) -> String {
        self.edits.sort_by_key(|edit| edit.start);
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut done = 0;
        for edit in &self.edits {
            text.push_str(self.text.get(done..edit.start).unwrap_or_default());
            text.push_str(&edit.text);
            done = done.max(edit.end);
        }
        text.push_str(&self.text[done..]);
        text
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;
    use shared_protocol::OrderedMembers;

    fn edited(source: &str, change: impl FnOnce(&mut OrderedValue)) -> String {
        let mut data = read(source).unwrap();
        change(&mut data);
        let text = rewrite(source, &data).unwrap();
        assert_eq!(read(&text).unwrap(), data, "{text}");
        text
    }

    #[test]
    fn what_is_added_between_braces_leaves_quotes_and_comments() {
        let source = "a:\n  - { x: \"1\", y: [2] } # kept\n  - { z: 3 }\n";
        let text = edited(source, |data| {
            let OrderedValue::Map(members) = data else { panic!() };
            let Some(OrderedValue::List(items)) = members.get_mut("a") else { panic!() };
            let OrderedValue::Map(first) = &mut items[0] else { panic!() };
            first.set("w", OrderedValue::from(&serde_json::json!({ "v": "4" })));
        });
        assert_eq!(text, "a:\n  - { x: \"1\", y: [2], w: { v: \"4\" } } # kept\n  - { z: 3 }\n");
    }

    fn set(key: &'static str, value: &'static str) -> impl FnOnce(&mut OrderedValue) {
        move |data| match data {
            OrderedValue::Map(members) => members.set(key, read(value).unwrap()),
            _ => unreachable!(),
        }
    }

    const SOURCE: &str = "# top\nid: A   # the id\nlist:   # all\n  - one  # first\n  - two\n# between\nquoted: 'x'\nflow: [a, b]\nmap:\n  k: v # in\ntext: |\n  old\n\nempty:\nlast: 1";

    #[test]
    fn scalars_keep_comments_quotes_and_the_rest() {
        assert_eq!(edited(SOURCE, set("id", "B")), SOURCE.replace("id: A", "id: B"));
        assert_eq!(edited(SOURCE, set("quoted", "it's")), SOURCE.replace("'x'", "'it''s'"));
        assert_eq!(edited(SOURCE, set("last", "'2'")), SOURCE.replace("last: 1", "last: \"2\""));
        assert_eq!(edited(SOURCE, set("empty", "x")), SOURCE.replace("empty:", "empty: x"));
        assert_eq!(edited(SOURCE, set("text", "new")), SOURCE.replace("text: |\n  old", "text: new"));
        assert_eq!(edited(SOURCE, set("new", "[x]")), format!("{SOURCE}\nnew:\n  - x"));
    }

    #[test]
    fn lists_and_maps_change_where_they_differ() {
        assert_eq!(edited(SOURCE, set("list", "[one, three]")), SOURCE.replace("- two", "- three"));
        assert_eq!(
            edited(SOURCE, set("list", "[one, two, three]")),
            SOURCE.replace("- two", "- two\n  - three")
        );
        assert_eq!(edited(SOURCE, set("list", "[two]")), SOURCE.replace("  - one  # first\n", ""));
        assert_eq!(
            edited(SOURCE, set("list", "[zero, one, two]")),
            SOURCE.replace("  - one", "  - zero\n  - one")
        );
        assert_eq!(edited(SOURCE, set("flow", "[a, c]")), SOURCE.replace("[a, b]", "[a, c]"));
        assert_eq!(edited(SOURCE, set("flow", "[a]")), SOURCE.replace("[a, b]", "[a]"));
        assert_eq!(edited(SOURCE, set("map", "{k: v, l: w}")), SOURCE.replace("v # in", "v # in\n  l: w"));
        assert_eq!(
            edited(SOURCE, set("map", "{k: {z: 1}}")),
            SOURCE.replace("k: v # in", "k: # in\n    z: 1")
        );
        let removed = edited(SOURCE, |data| {
            if let OrderedValue::Map(members) = data {
                members.remove("quoted");
                members.remove("last");
            }
        });
        assert_eq!(removed, SOURCE.replace("quoted: 'x'\n", "").replace("last: 1", ""));
    }

    #[test]
    fn line_breaks_and_marks_stay() {
        let source = "\u{feff}a: ü # ü\r\nb:\r\n- 1\r\n";
        assert_eq!(edited(source, set("a", "ö")), source.replacen("ü", "ö", 1));
        assert_eq!(edited(source, set("b", "[1, 2]")), "\u{feff}a: ü # ü\r\nb:\r\n- 1\r\n- 2\r\n");
    }

    #[test]
    fn aliases_never_change_behind_ones_back() {
        let source = "base: &b { k: v } # c\nother: *b\n";
        let text = edited(source, set("base", "{ k: w }"));
        assert_eq!(read(&text).unwrap().get("other").unwrap().text("k"), Some("v"));
        assert_eq!(edited(source, set("other", "x")), "base: &b { k: v } # c\nother: x\n");
    }

    pub(in crate::yaml) fn any_data() -> impl Strategy<Value = OrderedValue> {
        let text = prop_oneof![
            "[a-z]{0,6}",
            "[ -~]{0,12}",
            "[a-z\n ]{0,12}",
            "\\PC{0,6}",
            Just("true".to_owned()),
            Just("- x".to_owned()),
            Just("a: b".to_owned()),
        ];
        let leaf = prop_oneof![
            Just(OrderedValue::Null),
            any::<bool>().prop_map(OrderedValue::from),
            any::<i32>().prop_map(|n| OrderedValue::Number(n.into())),
            text.prop_map(OrderedValue::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(OrderedValue::List),
                prop::collection::btree_map("[a-e]{1,2}|[ -~]{1,4}", inner, 0..4).prop_map(|map| {
                    let mut members = OrderedMembers::default();
                    map.into_iter().for_each(|(key, value)| members.set(&key, value));
                    OrderedValue::Map(members)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_document_becomes_any_other(from in any_data(), to in any_data(), flow in any::<bool>()) {
            let source = if flow { format!("value: {} # c\nz: 1\n", one_line(&from, true)) }
                else { write(&OrderedValue::map([("value", from), ("z", OrderedValue::from(1_usize))])) };
            let wanted = OrderedValue::map([("value", to), ("z", OrderedValue::from(1_usize))]);
            prop_assert_eq!(read(&rewrite(&source, &wanted).unwrap()).unwrap(), wanted);
        }
    }
}
