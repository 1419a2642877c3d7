//! Distribution of random accesses: uniform, each position once, or with popular positions. Popular
//! positions are scattered over the area, like hot data.

use qdepth_measure::SplitMix;
use rand_xoshiro::rand_core::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Zone of the area with its share of the accesses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Share of the accesses, in per cent.
    pub access: f64,
    /// Share of the area, in per cent.
    pub area: f64,
}

/// Distribution of random accesses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum Distribution {
    /// Uniform and independent; places repeat.
    #[default]
    Uniform,
    /// Each place once, in random order; then again in another order. Requests of several sizes
    /// end before a block that is already covered.
    EachOnce,
    /// Zipf: the place of rank k has a weight of 1/k^exponent.
    Zipf {
        /// Above 0, below 10.
        exponent: f64,
    },
    /// Self-similar: a share of 1 − power of the accesses goes to a share of power of the places
    /// (Gray et al., SIGMOD 1994, 3.3).
    Pareto {
        /// Above 0 and below 1; 0.2 is the 80:20 rule.
        power: f64,
    },
    /// These places in this order, again and again.
    Sequence {
        /// Numbers of the places, from 0.
        places: Vec<u64>,
        /// True if each repetition begins after the places of the previous one.
        advances: bool,
    },
    /// Consecutive zones from the beginning of the area, each with its share of the accesses,
    /// uniform within each.
    Zones {
        /// Zones; their accesses and their areas each add up to 100 %.
        zones: Vec<Zone>,
    },
}

/// Maximum number of places in a sequence, as in fio.
const SEQUENCE_MAX: usize = 64;
/// Maximum number of zones, as in fio.
const ZONES_MAX: usize = 256;

impl Distribution {
    /// Checks the values; the error is for the user. `has_own` is true if reads and writes have
    /// places of their own.
    pub(crate) fn check(&self, has_own: bool) -> Result<(), String> {
        match self {
            Self::EachOnce if has_own => {
                Err("distribution each-once needs a single block_size".to_owned())
            }
            Self::Zipf { exponent } if !(*exponent > 0.0 && *exponent < 10.0) => {
                Err(format!("zipf exponent {exponent}: must be above 0 and below 10"))
            }
            Self::Pareto { power } if !(*power > 0.0 && *power < 1.0) => {
                Err(format!("pareto power {power}: must be above 0 and below 1"))
            }
            Self::Sequence { places, .. } if !(1..=SEQUENCE_MAX).contains(&places.len()) => {
                Err(format!("a sequence of {} places: must be 1 to {SEQUENCE_MAX}", places.len()))
            }
            Self::Zones { zones } => check_zones(zones),
            _ => Ok(()),
        }
    }
}

fn check_zones(zones: &[Zone]) -> Result<(), String> {
    let share = |value: f64| (0.0..=100.0).contains(&value);
    let good = |zone: &Zone| share(zone.access) && share(zone.area) && zone.area > 0.0;
    let sum = |field: fn(&Zone) -> f64| zones.iter().map(field).sum::<f64>();
    let (access, area) = (sum(|zone| zone.access), sum(|zone| zone.area));
    // Thirds are written with a few digits.
    let whole = |sum: f64| (sum - 100.0).abs() < 0.01;
    match zones.len() {
        1..=ZONES_MAX if zones.iter().all(good) && whole(access) && whole(area) => Ok(()),
        1..=ZONES_MAX => Err(format!(
            "zones with {access} % of the accesses on {area} % of the area: both sums must be 100, \
             and no zone may have 0 % of the area"
        )),
        count => Err(format!("{count} zones: must be between 1 and {ZONES_MAX}")),
    }
}

/// Zones as places: for each the upper bound of its accesses, 0..=1, its first place and their
/// number.
#[derive(Clone, Debug)]
struct Map(Vec<(f64, u64, u64)>);

impl Map {
    fn new(zones: &[Zone], positions: u64) -> Self {
        let (mut access, mut area) = (0.0, 0.0);
        let zone = |zone: &Zone| {
            let first = ((positions as f64 * area / 100.0) as u64).min(positions - 1);
            access += zone.access;
            area += zone.area;
            let end = ((positions as f64 * area / 100.0) as u64).clamp(first + 1, positions);
            (access / 100.0, first, end - first)
        };
        Self(zones.iter().map(zone).collect())
    }

    fn draw(&self, random: &mut impl Rng) -> u64 {
        let (which, where_in) = (unit(random), unit(random));
        let zone = self.0.iter().find(|(bound, ..)| which < *bound).or(self.0.last());
        zone.map_or(0, |(_, first, count)| first + (*count as f64 * where_in) as u64)
    }
}

/// Generates places with a distribution that is not uniform.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    distribution: Distribution,
    shuffle: Shuffle,
    law: Option<Zipf>,
    map: Option<Map>,
    /// Places generated in this pass.
    drawn: u64,
}

impl Placement {
    /// Generator over `places` (above 0) places.
    pub(crate) fn new(distribution: Distribution, positions: u64, random: &mut impl Rng) -> Self {
        let law = match distribution {
            Distribution::Zipf { exponent } => Some(Zipf::new(positions as f64, exponent)),
            _ => None,
        };
        let map = match &distribution {
            Distribution::Zones { zones } => Some(Map::new(zones, positions)),
            _ => None,
        };
        Self { distribution, shuffle: Shuffle::new(positions, random), law, map, drawn: 0 }
    }

    /// Begins a new pass over the places in another order.
    pub(crate) fn restart(&mut self, random: &mut impl Rng) {
        self.shuffle = Shuffle::new(self.shuffle.positions, random);
        self.drawn = 0;
    }

    pub(crate) fn draw(&mut self, random: &mut impl Rng) -> u64 {
        let positions = self.shuffle.positions;
        if let Some(map) = &self.map {
            return map.draw(random).min(positions - 1);
        }
        if let Distribution::Sequence { places, advances } = &self.distribution {
            let length = places.len() as u64;
            let (round, index) = (self.drawn / length, (self.drawn % length) as usize);
            self.drawn += 1;
            let first = if *advances { round * length } else { 0 };
            return first.wrapping_add(places[index]) % positions;
        }
        let rank = match (&self.distribution, &self.law) {
            (Distribution::Zipf { .. }, Some(law)) => law.draw(random) as u64 - 1,
            (Distribution::Pareto { power }, _) => {
                let exponent = power.ln() / (1.0 - power).ln();
                (positions as f64 * unit(random).powf(exponent)) as u64
            }
            _ => {
                if self.drawn == positions {
                    self.shuffle = Shuffle::new(positions, random);
                    self.drawn = 0;
                }
                self.drawn += 1;
                self.drawn - 1
            }
        };
        self.shuffle.position(rank.min(positions - 1))
    }
}

/// Above 0 and below 1.
fn unit(random: &mut impl Rng) -> f64 {
    ((random.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A random order of places without a table: four rounds of a Feistel network over the next even
/// power of two, walked until the image lies within (Black and Rogaway, CT-RSA 2002). Fewer than
/// four walks are needed on average.
#[derive(Clone, Debug)]
struct Shuffle {
    positions: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Shuffle {
    fn new(positions: u64, random: &mut impl Rng) -> Self {
        let bits = (64 - positions.saturating_sub(1).leading_zeros()).max(2);
        Self {
            positions,
            half_bits: bits.div_ceil(2),
            keys: std::array::from_fn(|_| random.next_u64()),
        }
    }

    fn position(&self, rank: u64) -> u64 {
        let mut value = rank;
        loop {
            value = self.round(value);
            if value < self.positions {
                return value;
            }
        }
    }

    fn round(&self, value: u64) -> u64 {
        let mask = (1u64 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (SplitMix::mixed(right ^ key) & mask));
        }
        left << self.half_bits | right
    }
}

/// Zipf's law by rejection-inversion (Hörmann and Derflinger, ACM TOMACS 6:3, 1996): constant time
/// for any number of ranks, nothing approximated.
#[derive(Clone, Debug)]
struct Zipf {
    ranks: f64,
    exponent: f64,
    low: f64,
    high: f64,
    shortcut: f64,
}

impl Zipf {
    fn new(ranks: f64, exponent: f64) -> Self {
        let mut law = Self { ranks, exponent, low: 0.0, high: 0.0, shortcut: 0.0 };
        law.low = law.integral(1.5) - 1.0;
        law.high = law.integral(ranks + 0.5);
        law.shortcut = 2.0 - law.inverse(law.integral(2.5) - law.weight(2.0));
        law
    }

    /// A rank from 1.
    fn draw(&self, random: &mut impl Rng) -> f64 {
        loop {
            let u = self.high + unit(random) * (self.low - self.high);
            let x = self.inverse(u);
            let rank = (x + 0.5).floor().clamp(1.0, self.ranks);
            if rank - x <= self.shortcut || u >= self.integral(rank + 0.5) - self.weight(rank) {
                return rank;
            }
        }
    }

    fn weight(&self, x: f64) -> f64 {
        (-self.exponent * x.ln()).exp()
    }

    /// ∫ x^−s dx, taken so that it passes through 0 at 1 and has no gap at s = 1.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        let y = (1.0 - self.exponent) * log;
        if y.abs() > 1e-8 { y.exp_m1() / y * log } else { (1.0 + y / 2.0) * log }
    }

    fn inverse(&self, x: f64) -> f64 {
        let y = (x * (1.0 - self.exponent)).max(-1.0);
        let share = if y.abs() > 1e-8 { y.ln_1p() / y } else { 1.0 - y / 2.0 };
        (share * x).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng;

    fn random() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(7)
    }

    #[test]
    fn each_position_is_drawn_once_per_pass() {
        for positions in [1, 2, 3, 17, 64, 1000] {
            let mut random = random();
            let mut placement = Placement::new(Distribution::EachOnce, positions, &mut random);
            for _ in 0..3 {
                let mut pass: Vec<u64> =
                    (0..positions).map(|_| placement.draw(&mut random)).collect();
                let sorted_already = pass.is_sorted();
                pass.sort_unstable();
                assert_eq!(pass, (0..positions).collect::<Vec<_>>());
                assert!(positions < 17 || !sorted_already);
            }
        }
    }

    #[test]
    fn sequence_repeats_its_places_or_advances() {
        let drawn = |advances| {
            let sequence = Distribution::Sequence { places: vec![2, 0, 1], advances };
            let mut placement = Placement::new(sequence, 12, &mut random());
            (0..7).map(|_| placement.draw(&mut random())).collect::<Vec<_>>()
        };
        assert_eq!(drawn(false), [2, 0, 1, 2, 0, 1, 2]);
        assert_eq!(drawn(true), [2, 0, 1, 5, 3, 4, 8]);
        let none = Distribution::Sequence { places: Vec::new(), advances: true };
        assert!(none.check(false).is_err());
    }

    #[test]
    fn zipf_draws_follow_the_distribution() {
        for exponent in [0.6, 1.0, 1.2, 2.5] {
            let (ranks, draws) = (50_usize, 400_000);
            let law = Zipf::new(ranks as f64, exponent);
            let mut seen = vec![0.0; ranks];
            let mut random = random();
            for _ in 0..draws {
                seen[law.draw(&mut random) as usize - 1] += 1.0;
            }
            let weights: Vec<f64> = (1..=ranks).map(|k| (k as f64).powf(-exponent)).collect();
            let total: f64 = weights.iter().sum();
            let chi: f64 = seen
                .iter()
                .zip(&weights)
                .map(|(seen, weight)| {
                    let expected = weight / total * f64::from(draws);
                    (seen - expected) * (seen - expected) / expected
                })
                .sum();
            // The 99.99th percentile of chi-squared with 49 degrees of freedom is 94.
            assert!(chi < 94.0, "exponent {exponent}: {chi}");
        }
    }

    #[test]
    fn zones_get_their_shares_of_ios_and_area() {
        let zone = |access, area| Zone { access, area };
        let zones = vec![zone(50.0, 5.0), zone(30.0, 15.0), zone(20.0, 80.0)];
        let distribution = Distribution::Zones { zones };
        assert_eq!(distribution.check(false), Ok(()));
        let (mut random, draws) = (random(), 200_000);
        let mut placement = Placement::new(distribution, 1000, &mut random);
        let mut count = vec![0.0; 1000];
        for _ in 0..draws {
            count[placement.draw(&mut random) as usize] += 1.0;
        }
        // Each place's expected share, and chi-squared over all: 999 degrees of freedom, 99.99 %
        // below 1174.
        let share = |position: usize| match position {
            0..50 => 0.5 / 50.0,
            50..200 => 0.3 / 150.0,
            _ => 0.2 / 800.0,
        };
        let chi: f64 = count
            .iter()
            .enumerate()
            .map(|(position, seen): (usize, &f64)| {
                let expected = share(position) * f64::from(draws);
                (seen - expected).powi(2) / expected
            })
            .sum();
        assert!(chi < 1174.0, "{chi}");
        let wrong = |zones: Vec<Zone>| Distribution::Zones { zones }.check(false).is_err();
        assert!(
            wrong(Vec::new()) && wrong(vec![zone(100.0, 50.0)]) && wrong(vec![zone(90.0, 100.0)])
        );
        assert!(wrong(vec![zone(50.0, 0.0), zone(50.0, 100.0)]));
    }

    #[test]
    fn pareto_draws_follow_the_distribution() {
        let mut random = random();
        let mut placement =
            Placement::new(Distribution::Pareto { power: 0.2 }, 10_000, &mut random);
        let mut count = vec![0u64; 10_000];
        for _ in 0..200_000 {
            count[placement.draw(&mut random) as usize] += 1;
        }
        count.sort_unstable_by(|a, b| b.cmp(a));
        let hot: u64 = count[..2000].iter().sum();
        assert!((hot as f64 / 200_000.0 - 0.8).abs() < 0.02, "{hot}");
    }
}
