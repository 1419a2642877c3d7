//! Published results of drives as plain data, passed in by the caller.

/// A drive of which results were published.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedDrive {
    /// By which a run names it, as `p3700-800gb`.
    pub name: String,
    /// The source's name for it.
    pub title: String,
    /// Source document.
    pub document: String,
    /// Largest value of each load over all numbers of outstanding I/Os.
    pub maxima: Vec<PublishedValue>,
    /// Values at numbers of outstanding I/Os.
    pub points: Vec<(u32, PublishedValue)>,
}

/// A published value.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedValue {
    /// The load profile.
    pub load: String,
    /// Quantity.
    pub quantity: PublishedQuantity,
    /// In the unit of that.
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
    /// The largest value of a load, in the unit of the quantity.
    pub fn maximum(&self, load: &str, quantity: PublishedQuantity) -> Option<f64> {
        let wanted = |value: &&PublishedValue| value.load == load && value.quantity == quantity;
        self.maxima.iter().find(wanted).map(|value| value.value)
    }

    /// The value of a load at a number of outstanding I/Os, in the unit of the quantity.
    pub fn at(&self, load: &str, outstanding: u32, quantity: PublishedQuantity) -> Option<f64> {
        let wanted = |(at, value): &&(u32, PublishedValue)| {
            *at == outstanding && value.load == load && value.quantity == quantity
        };
        self.points.iter().find(wanted).map(|(_, value)| value.value)
    }
}
