//! Columns that are compared with a base: measured ones and published drives.

use qdepth_measure::{Estimate, quotient};
use qdepth_record::{Observation, TargetKind, TargetRecord};

use crate::published::PublishedDrive;
use crate::section::machine::value as known;
use crate::section::published::{published_maximum, published_name};
use crate::view::{Load, View};

/// Column of a comparison.
#[derive(Clone, Copy)]
pub(crate) enum ComparedColumn<'v> {
    /// A measured column.
    Column(u32),
    /// A published drive, whose figures have no interval.
    Published(&'v PublishedDrive),
}

impl ComparedColumn<'_> {
    pub(crate) fn name(self, view: &View<'_>) -> String {
        match self {
            Self::Column(column) => view.target_name(column),
            Self::Published(drive) => published_name(view, &drive.title),
        }
    }

    pub(crate) fn maximum(self, load: &Load<'_>) -> Option<Estimate> {
        match self {
            Self::Column(column) => load.maximum(column).map(|point| *point.main()),
            Self::Published(drive) => {
                let value = published_maximum(drive, load)?;
                Some(Estimate { value, interval: None, degrees: 0, autocorrelation: 0.0 })
            }
        }
    }
}

/// True if the models of all drives are known and differ.
pub(crate) fn are_unlike(targets: &[TargetRecord]) -> bool {
    let model = |target: &TargetRecord| {
        let facts: Vec<&Observation> = target.facts.iter().collect();
        let product = known(&facts, "product").map(str::to_owned);
        let is_emulated = target.kind == TargetKind::Emulated;
        product.or_else(|| is_emulated.then(|| target.expression.clone()))
    };
    let models: Option<Vec<String>> = targets.iter().map(model).collect();
    models.is_some_and(|models| models.windows(2).any(|pair| pair[0] != pair[1]))
}

/// The base: that of a comparison, or else the first target.
pub(crate) fn base(view: &View<'_>) -> Option<u32> {
    view.compared.map(|compared| compared.record.base).or(view.targets.first().copied())
}

/// True if ratios are base ÷ other.
pub(crate) fn base_is_above(view: &View<'_>) -> bool {
    view.compared.is_some_and(|compared| compared.record.base_above)
}

/// Published drives of a comparison.
pub(crate) fn published<'v>(view: &'v View<'_>) -> impl Iterator<Item = ComparedColumn<'v>> {
    let published = view.compared.iter().flat_map(|compared| compared.published.iter().copied());
    published.map(ComparedColumn::Published)
}

/// All columns other than the base.
pub(crate) fn others<'v>(view: &'v View<'_>) -> Vec<ComparedColumn<'v>> {
    let measured = view.targets.iter().copied().filter(|target| Some(*target) != base(view));
    measured.map(ComparedColumn::Column).chain(published(view)).collect()
}

/// Ratio of a value and the base's: value ÷ base, or base ÷ value.
pub(crate) fn divided(view: &View<'_>, value: &Estimate, base: &Estimate) -> Option<Estimate> {
    if base_is_above(view) { quotient(base, value) } else { quotient(value, base) }
}
