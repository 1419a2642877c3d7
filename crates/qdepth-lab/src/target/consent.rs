//! The user's consent to the loss of data on a target.

use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use jiff::Timestamp;
use qdepth_files::{Input, limit};
use qdepth_host::consent::{Consent, DataAtRisk, template, tokens};
use qdepth_host::system::System;
use qdepth_host::{Guard, Refusal};
use qdepth_measure::Bytes;

use crate::events::observer::Observer;
use crate::request::ConsentWords;

/// Consent that a run with these words would have, without asking the user: the last characters,
/// which a run asks for, are taken from the words.
///
/// # Errors
/// The problem of the consent words, as a run would report it.
pub fn consent_previewed<'a>(
    system: &System,
    at_risk: impl Into<DataAtRisk<'a>>,
    words: &ConsentWords,
) -> Result<Option<Consent>> {
    consent_of(system, at_risk.into(), words, |typed| {
        let last: Vec<char> = typed.chars().collect();
        Ok(last[last.len().saturating_sub(4)..].iter().collect())
    })
}

/// The user's consent for a device or file, asked once for all runs of the command. `None` if
/// `--destroy` does not name it: then only files written by qdepth can be written.
pub(crate) fn consent_for<'a>(
    system: &System,
    at_risk: impl Into<DataAtRisk<'a>>,
    words: &ConsentWords,
    observer: &dyn Observer,
) -> Result<Option<Consent>> {
    static GIVEN: Mutex<Vec<(ConsentWords, Consent)>> = Mutex::new(Vec::new());
    let at_risk = at_risk.into();
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let by_these = |(then, consent): &&(_, Consent)| then == words && consent.is_for(at_risk);
    if let Some((_, consent)) = given.iter().find(by_these) {
        return Ok(Some(consent.clone()));
    }
    let asked = |typed: &str| asked_again(system, at_risk, typed, observer);
    let consent = consent_of(system, at_risk, words, asked)?;
    given.extend(consent.clone().map(|consent| (words.clone(), consent)));
    Ok(consent)
}

/// Consent from the words. `again` provides the last characters of the name.
fn consent_of(
    system: &System,
    at_risk: DataAtRisk<'_>,
    words: &ConsentWords,
    again: impl FnOnce(&str) -> Result<String>,
) -> Result<Option<Consent>> {
    let known = tokens(system, at_risk);
    let destroy = words.destroy.as_slice();
    let Some(typed) = destroy.iter().find(|typed| known.contains(typed)) else {
        // A file may be qdepth's own. If it is not, its refusal tells what to type.
        let DataAtRisk::Device(_) = at_risk else { return Ok(None) };
        let Some(first) = destroy.first() else { return Ok(None) };
        // Fails with the problem of this consent.
        Consent::on_terminal(system, at_risk, first, "", &[])?;
        return Ok(None);
    };
    let overwrite = words.overwrite_signature.as_slice();
    let Some(path) = &words.file else {
        let again = again(typed)?;
        return Ok(Some(Consent::on_terminal(system, at_risk, typed, &again, overwrite)?));
    };
    let text = Input::file(path, limit::CONSENT).text_of_authority()?;
    Ok(Some(Consent::from_file(system, at_risk, typed, &text, Timestamp::now(), overwrite)?))
}

/// Asks for the last characters of the name on the terminal.
fn asked_again(
    system: &System,
    at_risk: DataAtRisk<'_>,
    typed: &str,
    observer: &dyn Observer,
) -> Result<String> {
    let name = at_risk.name();
    let again = observer.ask(&format!(
        "Everything on {name} ({}) will be lost. Type the last 4 characters of `{typed}`: ",
        Bytes(at_risk.size_bytes()).for_people()
    ));
    let Some(again) = again else {
        bail!(Refusal::new(
            Guard::G9Consent,
            format!(
                "consent to the loss of {name} cannot be confirmed, because there is no terminal"
            ),
            format!(
                "Write this to a file, and add --consent FILE:\n\n{}",
                template(system, at_risk, Timestamp::now())
            ),
        ));
    };
    Ok(again)
}
