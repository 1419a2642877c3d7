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
    pub fn fixed(bytes: u32) -> Self {
        Self { sizes: vec![(bytes, 1)] }
    }
    /// The only size; `None` if there are several.
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
    /// Mix of these sizes for a share of the requests, 0..=1, followed by the other's for the rest.
    #[must_use]
    pub fn beside(&self, share: f64, other: &Self) -> Self {
        const WHOLE: f64 = 1e6;
        let scaled = |mix: &Self, share: f64| -> Vec<(u32, u32)> {
            let total: f64 = mix.sizes.iter().map(|s| f64::from(s.1)).sum();
            let weight = |weight: u32| f64::from(weight) / total * share * WHOLE;
            mix.sizes.iter().map(|s| (s.0, (weight(s.1).round() as u32).max(1))).collect()
        };
        let mut sizes = scaled(self, share);
        sizes.extend(scaled(other, 1.0 - share));
        let common = sizes.iter().fold(0, |common, (_, weight)| divisor(common, *weight));
        sizes.iter_mut().for_each(|(_, weight)| *weight /= common.max(1));
        Self { sizes }
    }
    /// Text as written: `8KiB` or `4KiB:60,64KiB:40`.
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

/// Greatest common divisor.
fn divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { divisor(b, a % b) }
}
