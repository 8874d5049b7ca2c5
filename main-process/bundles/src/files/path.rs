//! Paths inside a bundle. A value of this type can never refer to a file outside the bundle.

use super::FileProblem;
use std::fmt;

const LONGEST: usize = 1024;

/// A path relative to the bundle's root: no `..`, no absolute path. Drops `./` and repeated slashes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BundlePath(String);

impl BundlePath {
    pub(crate) fn parse(text: &str) -> Result<Self, FileProblem> {
        let outside = || FileProblem::Outside { path: text.chars().take(120).collect() };
        let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let fits = |part: &&str| *part != ".." && part.len() <= 255;
        if text.starts_with('/')
            || text.len() > LONGEST
            || text.contains(['\0', '\\'])
            || !parts.iter().all(fits)
        {
            return Err(outside());
        }
        Ok(Self(parts.join("/")))
    }

    /// Returns the path of a name in this folder.
    pub(crate) fn join(&self, name: &str) -> Result<Self, FileProblem> {
        if self.0.is_empty() { Self::parse(name) } else { Self::parse(&format!("{}/{name}", self.0)) }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn parts(&self) -> Vec<&str> {
        self.0.split('/').filter(|part| !part.is_empty()).collect()
    }

    /// Returns the parent folders and the file name.
    pub(crate) fn split(&self) -> (Vec<&str>, &str) {
        match self.0.rsplit_once('/') {
            Some((folders, name)) => (folders.split('/').collect(), name),
            None => (Vec::new(), &self.0),
        }
    }
}

impl fmt::Display for BundlePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_can_be_named() {
        for text in ["/etc/passwd", "..", "../x", "a/../../x", "a\0b", "a\\..\\b", &"a".repeat(256)] {
            assert!(matches!(BundlePath::parse(text), Err(FileProblem::Outside { .. })), "{text:?}");
        }
        for (text, path) in [("./a//b", "a/b"), ("a/..x", "a/..x"), ("", ""), (".", "")] {
            assert_eq!(BundlePath::parse(text).unwrap().as_str(), path);
        }
    }
}
