//! Query part of a URL.

use http::Uri;

/// Names and values in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn from_uri(uri: &Uri) -> Self {
        let text = uri.query().unwrap_or_default();
        Self(form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// First non-empty value of a name.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        let is_it = |(known, value): &&(String, String)| known == name && !value.is_empty();
        self.0.iter().find(is_it).map(|(_, value)| value.as_str())
    }

    /// All values of a name.
    pub(crate) fn all<'q>(&'q self, name: &'q str) -> impl Iterator<Item = &'q str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All names in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    pub(crate) fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(known, _)| known != name).cloned().collect())
    }

    pub(crate) fn with(&self, name: &str, value: impl Into<String>) -> Self {
        let mut all = self.without(name);
        all.0.push((name.to_owned(), value.into()));
        all
    }

    /// Adds a value, keeping other values of the same name.
    pub(crate) fn and(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((name.to_owned(), value.into()));
        self
    }

    /// Address: the path with this query appended.
    pub(crate) fn address(&self, path: &str) -> String {
        if self.0.is_empty() {
            return path.to_owned();
        }
        let text = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish();
        format!("{path}?{text}")
    }
}
