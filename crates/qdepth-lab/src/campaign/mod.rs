//! Campaigns: runs that answer one question. Defines the columns, their order, and the position of
//! each run. Each run stores everything needed to resume its campaign.

pub mod repeat;

use anyhow::Context;
use qdepth_linux::EngineChoice;
use qdepth_logbook::Logbook;
use qdepth_measure::Seed;
use qdepth_record::{Observation, RunHeadline, RunRecord, RunState};
use serde::{Deserialize, Serialize};

use crate::campaign::repeat::Repeat;
use crate::request::PlanRequest;

/// Subject of the facts that store a campaign.
const SUBJECT: &str = RunRecord::CAMPAIGN_REQUEST.0;
const ID: &str = "campaign";
const INDEX: &str = "campaign_place";
const COLUMN: &str = "campaign_column";

/// A campaign.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// UUID, in its usual text form.
    pub id: String,
    /// Request of the campaign.
    pub request: CampaignRequest,
}

/// Complete request of a campaign. No file is read again after the start, because it may have been
/// edited. Consent is not part of the request. Unknown fields are refused, because they would
/// change the measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignRequest {
    /// Number of measurements of each column.
    pub repeat: Repeat,
    /// Seed of the order and of each block.
    pub seed: u64,
    /// Columns that each block measures once, in random order.
    pub columns: Vec<CampaignColumn>,
    /// Kernel interface that issues the I/Os.
    pub engine: EngineChoice,
    /// Emulated device whose results are shown next to each point.
    pub expect: Option<String>,
}

/// A column of a campaign, measured once per block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CampaignColumn {
    /// Name for the user: the given name, the target, or the plan.
    pub name: String,
    /// The plan and its targets; each block has its own seed.
    pub plan: PlanRequest,
    /// Command line that requests the same run, without the seed.
    pub command: Vec<String>,
}

impl CampaignColumn {
    /// Request of a run in a block with this seed.
    pub fn plan_with(&self, seed: u64) -> PlanRequest {
        let mut plan = self.plan.clone();
        plan.choices.seed = Some(seed);
        plan
    }
}

/// Position of a run in a campaign.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The campaign.
    pub campaign: &'a Campaign,
    /// Position in the order of measurement, from 0.
    pub index: u32,
    /// Index of the column.
    pub column: u32,
}

/// A run of a campaign, as stored in the logbook.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// UUID of the run.
    pub run: String,
    /// Position in the order of measurement, from 0.
    pub index: u32,
    /// Index of the column.
    pub column: u32,
    /// True if all of its points were measured.
    pub whole: bool,
}

impl Campaign {
    /// Indices of the columns of a block, in the order of measurement.
    pub fn order(&self, block: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.request.columns.len() as u32).collect();
        for index in (1..order.len()).rev() {
            let draw = Seed(self.request.seed).derive(&format!("order {block} {index}")).0;
            order.swap(index, (draw % (index as u64 + 1)) as usize);
        }
        order
    }

    /// Seed of a block: all of its columns get the same requests.
    pub fn seed_of(&self, block: u32) -> u64 {
        // A seed that people type has no sign and few digits.
        Seed(self.request.seed).derive(&format!("block {block}")).0 >> 32
    }

    /// The runs of the campaign in the logbook, in the order of measurement.
    pub fn stored_runs(&self, logbook: &Logbook) -> anyhow::Result<Vec<StoredRun>> {
        let mut all = Vec::new();
        for headline in logbook.listed(usize::MAX, 0, |_| true)? {
            let run = logbook.run(&headline.id)?;
            if value(&run, ID) != Some(&self.id) {
                continue;
            }
            let number = |key| value(&run, key).and_then(|text| text.parse::<u32>().ok());
            let (Some(index), Some(column)) = (number(INDEX), number(COLUMN)) else { continue };
            let found = logbook.read_each(&[&headline])?;
            let whole = run.state == RunState::Complete && found.iter().all(RunHeadline::is_whole);
            all.push(StoredRun { run: run.id, index, column, whole });
            if index == 0 {
                break;
            }
        }
        all.sort_by_key(|kept| kept.index);
        Ok(all)
    }

    /// The campaign that a run belongs to.
    ///
    /// # Errors
    /// If the stored request cannot be read, because another version began the campaign.
    pub fn from_run(run: &RunRecord) -> Option<anyhow::Result<Self>> {
        let id = value(run, ID)?.to_owned();
        let request = value(run, RunRecord::CAMPAIGN_REQUEST.1).unwrap_or_default();
        let request = serde_json::from_str(request).with_context(|| {
            format!(
                "campaign {id} was started by qdepth {}, which stored its request in a different \
                 format: start a new campaign",
                run.qdepth_version
            )
        });
        Some(request.map(|request| Self { id, request }))
    }
}

impl Member<'_> {
    /// Facts stored with the run.
    ///
    /// # Errors
    /// If a target's name is not text.
    pub fn facts(self) -> anyhow::Result<Vec<Observation>> {
        let Self { campaign, index, column } = self;
        let fact = |key: &str, value: String| {
            Observation::new((SUBJECT, key), Ok(value), "qdepth run --repeat")
        };
        Ok(vec![
            fact(ID, campaign.id.clone()),
            fact(INDEX, index.to_string()),
            fact(COLUMN, column.to_string()),
            fact(RunRecord::CAMPAIGN_REQUEST.1, serde_json::to_string(&campaign.request)?),
        ])
    }
}

fn value<'a>(run: &'a RunRecord, key: &str) -> Option<&'a str> {
    Observation::value_in(&run.environment, (SUBJECT, key))
}

#[cfg(test)]
mod tests {
    use qdepth_workload::{Choices, shipped_plan_names, shipped_plan_text};

    use super::*;

    /// A stored fact of a run of the campaign.
    fn kept(key: &str, value: &str) -> Observation {
        Observation {
            subject: SUBJECT.to_owned(),
            key: key.to_owned(),
            value: Ok(value.to_owned()),
            source: String::new(),
        }
    }

    #[test]
    fn request_round_trips_and_newer_versions_are_refused() {
        let column = |name: &str| CampaignColumn {
            name: name.to_owned(),
            plan: PlanRequest {
                file: shipped_plan_text(name).unwrap().parse().unwrap(),
                choices: Choices {
                    until_credible: "99.99".parse().ok(),
                    until: "±2.5%".parse().ok(),
                    ..Choices::default()
                },
                targets: vec!["a b".into()],
            },
            command: vec!["qdepth".to_owned(), "run".to_owned()],
        };
        let request = CampaignRequest {
            repeat: "until=3%".parse().unwrap(),
            seed: u64::MAX,
            columns: shipped_plan_names().map(column).collect(),
            engine: EngineChoice::from_name("sync").unwrap(),
            expect: Some("media:null".to_owned()),
        };
        let campaign = Campaign { id: "7".to_owned(), request };
        let member = Member { campaign: &campaign, index: 0, column: 0 };
        let run = RunRecord { environment: member.facts().unwrap(), ..RunRecord::default() };
        assert_eq!(Campaign::from_run(&run).unwrap().unwrap().request, campaign.request);
        assert!(Campaign::from_run(&RunRecord::default()).is_none());
        let text = serde_json::to_string(&campaign.request).unwrap();
        for (was, is) in [
            ("\"seed\":18446744073709551615", "\"seed\":1,\"pause\":\"1s\""),
            ("\"read_only\":false", "\"read_only\":false,\"write_only\":true"),
            ("\"engine\":\"sync\"", "\"engine\":\"of-tomorrow\""),
            ("\"repeat\":\"until=±3%\"", "\"repeat\":\"0\""),
        ] {
            let other = text.replace(was, is);
            assert_ne!(other, text, "{was}");
            let facts = [kept(ID, "7"), kept(RunRecord::CAMPAIGN_REQUEST.1, &other)];
            let run = RunRecord { environment: facts.to_vec(), ..RunRecord::default() };
            let why = format!("{:#}", Campaign::from_run(&run).unwrap().unwrap_err());
            assert!(why.contains("start a new campaign"), "{is}: {why}");
        }
    }

    #[test]
    fn each_block_has_every_variant_in_random_order() {
        let column = CampaignColumn {
            name: "a".to_owned(),
            plan: PlanRequest {
                file: Default::default(),
                choices: Default::default(),
                targets: vec!["a".into()],
            },
            command: vec!["qdepth".to_owned()],
        };
        let request = CampaignRequest {
            repeat: Repeat::Times(200),
            seed: 7,
            columns: vec![column; 3],
            engine: EngineChoice::Auto,
            expect: None,
        };
        let campaign = Campaign { id: String::new(), request };
        let orders: Vec<Vec<u32>> = (0..600).map(|block| campaign.order(block)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        // Each of the three is first equally often: 200 times; five standard errors are 58.
        for column in 0..3 {
            let first = orders.iter().filter(|order| order[0] == column).count();
            assert!(first.abs_diff(200) < 58, "{column}: {first}");
        }
        let mut other = campaign.clone();
        other.request.seed = 8;
        assert!((0..60).any(|block| other.order(block) != campaign.order(block)));
        assert_ne!(campaign.seed_of(0), campaign.seed_of(1));
    }
}
