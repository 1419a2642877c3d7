//! Findings of other ranks about their machines. The counts of all ranks are merged; findings stay
//! separate, and the point has the worst grade of all.

use anyhow::{Context, Result};
use qdepth_measure::{Finding, RANK};
use qdepth_record::{FindingEntry, finding_entry};

use crate::monitor::progress::hostname;

/// Results of the other ranks for a point, collected by the leader.
#[derive(Clone, Debug, Default)]
pub(crate) struct OtherRanks {
    /// Findings, each with its rank.
    pub(crate) findings: Vec<Finding>,
    /// True if a rank measured on another host. Counters, link and ceiling of a single host then do
    /// not cover the whole load.
    pub(crate) on_other_hosts: bool,
}

impl OtherRanks {
    /// Adds what the ranks found in a later segment.
    pub(crate) fn append(&mut self, later: Self) {
        let Self { findings, on_other_hosts } = later;
        self.findings.extend(findings);
        self.on_other_hosts |= on_other_hosts;
    }

    /// Findings that the leader does not have: the most severe one of each code, from the first
    /// rank that has it.
    pub(crate) fn not_found_by(&self, own: &[Finding]) -> Vec<Finding> {
        let mut added: Vec<Finding> = Vec::new();
        for finding in &self.findings {
            let weight = |known: &Finding| known.code == finding.code;
            let is_known = |known: &Finding| weight(known) && known.severity >= finding.severity;
            if own.iter().chain(&added).any(is_known) {
                continue;
            }
            added.retain(|known| known.code != finding.code);
            added.push(finding.clone());
        }
        added
    }
}

/// This rank's findings for each point of a group, encoded as a message.
///
/// # Errors
/// If they cannot be encoded.
pub(crate) fn write(findings: &[Vec<Finding>]) -> Result<Vec<u8>> {
    let entries: Vec<Vec<FindingEntry>> =
        findings.iter().map(|point| point.iter().map(finding_entry).collect()).collect();
    serde_json::to_vec(&(hostname(), entries)).context("cannot send the findings of a rank")
}

/// Decodes the findings of the rank with this number.
///
/// # Errors
/// If the message is something else.
pub(crate) fn read(rank: u32, bytes: &[u8]) -> Result<Vec<Vec<Finding>>> {
    let cannot = || format!("cannot read the findings of rank {rank}");
    let (host, entries): (String, Vec<Vec<FindingEntry>>) =
        serde_json::from_slice(bytes).with_context(cannot)?;
    let who = format!("{rank} ({host})");
    let finding = |entry: &FindingEntry| Finding::from(entry).label(RANK, &who);
    Ok(entries.iter().map(|point| point.iter().map(finding).collect()).collect())
}

#[cfg(test)]
mod tests {
    use qdepth_measure::{Code, Severity};

    use super::*;

    #[test]
    fn worst_finding_of_each_rank_is_kept() {
        let steal = |severity| Finding::new(Code::Steal, severity).value("share", 0.1);
        let sent = write(&[vec![steal(Severity::Remark)], vec![steal(Severity::Invalid)]]).unwrap();
        let [first, second] = &read(3, &sent).unwrap()[..] else { panic!("two points") };
        assert_eq!(first[0].labels[RANK], format!("3 ({})", hostname()));
        assert_eq!((first[0].severity, first[0].values["share"]), (Severity::Remark, 0.1));
        let mut others = OtherRanks { findings: first.clone(), on_other_hosts: false };
        others.append(OtherRanks { findings: second.clone(), on_other_hosts: true });
        assert!(others.on_other_hosts);
        assert_eq!(others.not_found_by(&[]), *second, "the heavier of two");
        assert_eq!(others.not_found_by(&[steal(Severity::Remark)]), *second);
        assert_eq!(others.not_found_by(&[steal(Severity::Invalid)]), []);
        assert!(others.not_found_by(&[]).iter().all(|finding| finding.check(false).is_ok()));
        assert!(read(1, b"[]").is_err());
    }
}
