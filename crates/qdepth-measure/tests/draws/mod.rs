//! Random numbers for the processes of these tests.

use std::f64::consts::TAU;

use qdepth_measure::SplitMix;

/// Uniform random numbers, and normal ones by the Box–Muller method.
pub(crate) struct Draws(pub(crate) SplitMix);

impl Draws {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.share()
    }
    pub(crate) fn normal(&mut self) -> f64 {
        let (a, b) = (self.uniform().max(1e-300), self.uniform());
        (-2.0 * a.ln()).sqrt() * (TAU * b).cos()
    }
}
