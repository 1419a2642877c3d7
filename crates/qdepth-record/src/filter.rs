//! Filters for lists of runs.

use crate::headline::RunHeadline;

/// Filter for runs; empty fields match everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Words, each of which must occur in the id, plan, host, time, notes or a target;
    /// case-insensitive.
    pub words: Vec<String>,
    /// Words, each of which must occur in a note; case-insensitive.
    pub notes: Vec<String>,
    /// Part of the name of a target; case-insensitive.
    pub target: Option<String>,
    /// Name of the plan.
    pub plan: Option<String>,
    /// Name of the machine.
    pub host: Option<String>,
    /// State, as in [`RunHeadline::state`].
    pub state: Option<String>,
    /// First day, YYYY-MM-DD (UTC).
    pub since: Option<String>,
    /// Last day, YYYY-MM-DD (UTC).
    pub until: Option<String>,
}

impl RunFilter {
    /// True if the run matches.
    pub fn fits(&self, run: &RunHeadline) -> bool {
        let has = |text: &str, part: &str| text.to_lowercase().contains(&part.to_lowercase());
        let in_a_target = |part: &str| run.targets.iter().any(|target| has(target, part));
        let in_a_note = |word: &str| run.notes.iter().any(|note| has(note, word));
        let own = [&run.id, &run.plan, &run.host, &run.started_at];
        let anywhere = |word: &String| {
            own.iter().any(|text| has(text, word)) || in_a_target(word) || in_a_note(word)
        };
        let is =
            |asked: &Option<String>, text: &str| asked.as_deref().is_none_or(|asked| asked == text);
        // The day of an RFC 3339 time; days sort like their texts.
        let day = run.started_at.get(..10).unwrap_or_default();
        self.words.iter().all(anywhere)
            && self.notes.iter().all(|word| in_a_note(word))
            && self.target.as_deref().is_none_or(in_a_target)
            && is(&self.plan, &run.plan)
            && is(&self.host, &run.host)
            && is(&self.state, run.state.as_str())
            && self.since.as_deref().is_none_or(|since| day >= since)
            && self.until.as_deref().is_none_or(|until| day <= until)
    }
}
