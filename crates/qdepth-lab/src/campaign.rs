//! Runs that answer one question: which columns, in what order, and where each run stands among
//! them. Everything that takes a campaign up again is kept beside each of its runs.

use qdepth_logbook::Logbook;
use qdepth_measure::Seed;
use qdepth_record::{Observation, RunHeadline, RunRecord, RunState};

/// Of the facts of a run.
const SUBJECT: &str = "run";
const ID: &str = "campaign";
const INDEX: &str = "campaign_place";
const COLUMN: &str = "campaign_column";
const WORDS: &str = "campaign_words";

/// A campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// UUID, in its usual text form.
    pub id: String,
    /// The command line that asks for it, its seed in it; JSON.
    pub words: String,
    /// Of the order and of each block's draws.
    pub seed: u64,
    /// How many columns a block has.
    pub columns: u32,
}

/// Where a run stands in a campaign.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The campaign that it is of.
    pub campaign: &'a Campaign,
    /// From 0, in the order of measuring.
    pub index: u32,
    /// Which target.
    pub column: u32,
}

/// A run of a campaign, as the logbook has it.
#[derive(Clone, Debug)]
pub struct Kept {
    /// UUID of the run.
    pub run: String,
    /// From 0, in the order of measuring.
    pub index: u32,
    /// Which target.
    pub column: u32,
    /// All its points are there.
    pub whole: bool,
}

impl Campaign {
    /// The columns of a block in the order in which they are measured.
    pub fn order(&self, block: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.columns).collect();
        for index in (1..order.len()).rev() {
            let draw = Seed(self.seed).derive(&format!("order {block} {index}")).0;
            order.swap(index, (draw % (index as u64 + 1)) as usize);
        }
        order
    }

    /// The seed of a block's requests: all its columns are asked the same.
    pub fn seed_of(&self, block: u32) -> u64 {
        // What a person types has no sign and few digits.
        Seed(self.seed).derive(&format!("block {block}")).0 >> 32
    }

    /// Its runs, in the order of measuring.
    pub fn kept(&self, logbook: &Logbook) -> anyhow::Result<Vec<Kept>> {
        let mut all = Vec::new();
        for headline in logbook.listed(usize::MAX, 0, |_| true)? {
            let run = logbook.run(&headline.id)?;
            if value(&run, ID) != Some(&self.id) {
                continue;
            }
            let number = |key| value(&run, key).and_then(|text| text.parse::<u32>().ok());
            let (Some(index), Some(column)) = (number(INDEX), number(COLUMN)) else { continue };
            let found = logbook.read_each(&[&headline])?;
            let whole = run.state == RunState::Sealed && found.iter().all(RunHeadline::is_whole);
            all.push(Kept { run: run.id, index, column, whole });
            if index == 0 {
                break;
            }
        }
        all.sort_by_key(|kept| kept.index);
        Ok(all)
    }

    /// The id and the command line of the campaign that a run is part of.
    pub fn of_run(run: &RunRecord) -> Option<(&str, &str)> {
        Some((value(run, ID)?, value(run, WORDS)?))
    }
}

impl Member<'_> {
    /// What is kept beside the run.
    pub fn facts(self) -> Vec<Observation> {
        let Self { campaign, index, column } = self;
        let fact = |key: &str, value: String| Observation {
            subject: SUBJECT.to_owned(),
            key: key.to_owned(),
            value: Ok(value),
            source: "qdepth run --repeat".to_owned(),
        };
        vec![
            fact(ID, campaign.id.clone()),
            fact(INDEX, index.to_string()),
            fact(COLUMN, column.to_string()),
            fact(WORDS, campaign.words.clone()),
        ]
    }
}

fn value<'a>(run: &'a RunRecord, key: &str) -> Option<&'a str> {
    let is_it = |seen: &&Observation| seen.subject == SUBJECT && seen.key == key;
    run.environment.iter().find(is_it).and_then(|seen| seen.value.as_deref().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_has_every_column_once_in_an_order_of_its_own() {
        let campaign = Campaign { id: String::new(), words: String::new(), seed: 7, columns: 3 };
        let orders: Vec<Vec<u32>> = (0..600).map(|block| campaign.order(block)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        // Each of the three is as often the first: 200, and five standard errors are 58.
        for column in 0..3 {
            let first = orders.iter().filter(|order| order[0] == column).count();
            assert!(first.abs_diff(200) < 58, "{column}: {first}");
        }
        let other = Campaign { seed: 8, ..campaign.clone() };
        assert!((0..60).any(|block| other.order(block) != campaign.order(block)));
        assert_ne!(campaign.seed_of(0), campaign.seed_of(1));
    }
}
