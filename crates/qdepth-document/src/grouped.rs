//! Lists in the order of first appearance.

/// Entry with this key, which is appended if it is new.
pub fn entry<K: PartialEq, V: Default>(all: &mut Vec<(K, V)>, key: K) -> &mut V {
    entry_or(all, key, V::default)
}

/// Entry with this key; if it is new, this value is appended.
pub fn entry_or<K: PartialEq, V>(all: &mut Vec<(K, V)>, key: K, new: impl FnOnce() -> V) -> &mut V {
    let index = all.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        all.push((key, new()));
        all.len() - 1
    });
    &mut all[index].1
}

/// Items by key.
pub fn grouped<K: PartialEq, V>(items: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut all: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in items {
        entry(&mut all, key).push(value);
    }
    all
}

/// Each item once.
pub fn unique<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    grouped(items.into_iter().map(|item| (item, ()))).into_iter().map(|(item, _)| item).collect()
}
