//! Request sizes: one, or a weighted mix drawn without division.

use serde::{Deserialize, Serialize};

/// Sizes with their weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeMix {
    /// (bytes, weight); at least one, weights above 0.
    pub sizes: Vec<(u32, u32)>,
}

impl SizeMix {
    /// One size.
    pub fn one(bytes: u32) -> Self {
        Self { sizes: vec![(bytes, 1)] }
    }
    /// The only size, where there is one.
    pub fn single(&self) -> Option<u32> {
        (self.sizes.len() == 1).then(|| self.sizes[0].0)
    }
    /// Largest size in bytes.
    pub fn max(&self) -> u32 {
        self.sizes.iter().map(|s| s.0).max().unwrap_or(0)
    }
    /// Mean size in bytes.
    pub fn mean(&self) -> f64 {
        let total: f64 = self.sizes.iter().map(|s| f64::from(s.1)).sum();
        self.sizes.iter().map(|s| f64::from(s.0) * f64::from(s.1)).sum::<f64>() / total
    }
    /// As written: `8KiB` or `4KiB:60,64KiB:40`.
    pub fn text(&self) -> String {
        let name = |bytes: u32| qdepth_measure::Bytes(u64::from(bytes)).to_string();
        match self.single() {
            Some(bytes) => name(bytes),
            None => {
                let parts: Vec<String> =
                    self.sizes.iter().map(|(b, w)| format!("{}:{w}", name(*b))).collect();
                parts.join(",")
            }
        }
    }
}
