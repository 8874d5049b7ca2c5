//! The history of the spec reader.

use shared_protocol::bundle::EntityRef;

/// The maximum number of pages.
const MAX_PAGES: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SpecPage {
    Entity(EntityRef),
    New { bundle: String, entity_type: String },
    Knowledge(String),
    Coverage(String),
}

impl SpecPage {
    pub(crate) fn bundle(&self) -> &str {
        match self {
            Self::Entity(entity) => &entity.bundle,
            Self::New { bundle, .. } | Self::Knowledge(bundle) | Self::Coverage(bundle) => bundle,
        }
    }

    pub(crate) fn entity(&self) -> Option<&EntityRef> {
        if let Self::Entity(entity) = self { Some(entity) } else { None }
    }

    pub(crate) fn title(&self) -> String {
        match self {
            Self::Entity(entity) => entity.id.clone(),
            Self::New { entity_type, .. } => format!("New {entity_type}"),
            Self::Knowledge(_) => "Domain knowledge".to_owned(),
            Self::Coverage(_) => "Coverage".to_owned(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct SpecHistory {
    pages: Vec<SpecPage>,
    /// The index after the current page; zero when there is none.
    at: usize,
}

impl SpecHistory {
    pub(crate) fn current(&self) -> Option<&SpecPage> {
        self.at.checked_sub(1).and_then(|at| self.pages.get(at))
    }

    /// Opens a page and forgets the pages ahead.
    pub(crate) fn open(&mut self, page: SpecPage) {
        if self.current() == Some(&page) {
            return;
        }
        self.pages.truncate(self.at);
        self.pages.push(page);
        let surplus = self.pages.len().saturating_sub(MAX_PAGES);
        self.pages.drain(..surplus);
        self.at = self.pages.len();
    }

    /// Replaces the current page: a created entity takes the place of its form.
    pub(crate) fn replace(&mut self, page: SpecPage) {
        if let Some(at) = self.at.checked_sub(1)
            && let Some(current) = self.pages.get_mut(at)
        {
            *current = page;
        }
    }

    pub(crate) fn can_go_back(&self) -> bool {
        self.at > 1
    }

    pub(crate) fn can_go_forward(&self) -> bool {
        self.at < self.pages.len()
    }

    pub(crate) fn go_back(&mut self) {
        if self.can_go_back() {
            self.at -= 1;
        }
    }

    pub(crate) fn forward(&mut self) {
        if self.can_go_forward() {
            self.at += 1;
        }
    }

    pub(crate) fn remove(&mut self, page: &SpecPage) {
        let before = self.pages.iter().take(self.at).filter(|known| *known != page).count();
        self.pages.retain(|known| known != page);
        self.at = before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(id: &str) -> SpecPage {
        SpecPage::Entity(EntityRef { bundle: "b".into(), entity_type: "T".into(), id: id.into() })
    }

    #[test]
    fn back_and_forward_as_in_a_browser() {
        let mut history = SpecHistory::default();
        assert!(history.current().is_none() && !history.can_go_back());
        for id in ["a", "b", "b", "c"] {
            history.open(page(id));
        }
        history.go_back();
        assert_eq!(history.current(), Some(&page("b")));
        history.go_back();
        history.go_back();
        assert_eq!(history.current(), Some(&page("a")));
        history.forward();
        history.open(page("d"));
        assert!(!history.can_go_forward(), "what lay ahead is gone");
        history.remove(&page("d"));
        assert_eq!(history.current(), Some(&page("b")));
        for id in 0..200 {
            history.open(page(&id.to_string()));
        }
        assert_eq!(history.pages.len(), MAX_PAGES);
        assert_eq!(history.current(), Some(&page("199")));
    }
}
