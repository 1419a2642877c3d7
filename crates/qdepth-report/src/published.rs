//! Published results of drives as plain data, passed in by the caller.

/// A drive with published results.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedDrive {
    /// Name by which a run refers to it, for example `p3700-800gb`.
    pub name: String,
    /// The source's name for it.
    pub title: String,
    /// Source document.
    pub document: String,
    /// Largest published value of each load over all queue depths.
    pub maxima: Vec<PublishedValue>,
    /// Published values at single queue depths.
    pub points: Vec<(u32, PublishedValue)>,
}

/// A published value.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedValue {
    /// The load profile.
    pub load: String,
    /// Quantity.
    pub quantity: PublishedQuantity,
    /// Value in the unit of the quantity.
    pub value: f64,
}

/// Quantity of a published value, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishedQuantity {
    /// IOPS.
    Rate,
    /// MiB/s.
    Throughput,
    /// Mean latency in milliseconds.
    Latency,
}

impl PublishedDrive {
    /// The largest published value of a load, in the unit of the quantity.
    pub fn maximum(&self, load: &str, quantity: PublishedQuantity) -> Option<f64> {
        let wanted = |value: &&PublishedValue| value.load == load && value.quantity == quantity;
        self.maxima.iter().find(wanted).map(|value| value.value)
    }

    /// The published value of a load at a queue depth, in the unit of the quantity.
    pub fn at(&self, load: &str, queue_depth: u32, quantity: PublishedQuantity) -> Option<f64> {
        let wanted = |(at, value): &&(u32, PublishedValue)| {
            *at == queue_depth && value.load == load && value.quantity == quantity
        };
        self.points.iter().find(wanted).map(|(_, value)| value.value)
    }
}
