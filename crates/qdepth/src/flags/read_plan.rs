//! From the words of the command line to a plan file, choices and targets.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use qdepth_files::{Input, limit, shell_word};
use qdepth_host::system::System;
use qdepth_measure::Nanos;
use qdepth_media::{TargetExpression, is_emulated, several};
use qdepth_papers::Reference;
use qdepth_papers::drive;
use qdepth_workload::{
    Choices, PlanFile, Stairs, alike_profile, published_name, shipped_plan_names,
    shipped_plan_text, shipped_profile_names,
};

use crate::flags::needed::is_plan;
use crate::flags::{Load, Numbers, WearFlag};
use qdepth_lab::failure::Usage;
use qdepth_lab::request::PlanRequest;

/// The word that names the plan, and the words after it.
pub(crate) fn plan_word(load: &Load) -> (&str, &[String]) {
    match load.words.split_first() {
        Some((first, rest)) if is_plan(first) => (first, rest),
        _ => (load.needed.default_plan(), &load.words),
    }
}

/// Words after `qdepth run`.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(flatten)]
    load: Load,
}

/// Reads the words after `qdepth run` in a document.
///
/// # Errors
/// If they do not name an existing plan and valid options.
pub(crate) fn read_words(words: &[String]) -> Result<PlanRequest> {
    read(&Words::try_parse_from(words)?.load)
}

/// Gives the limits of `--at` to a plan that searches for a rate.
fn answer_at(load: &Load, file: &mut PlanFile) -> Result<(), Usage> {
    if file.answer.is_empty() && (load.at.is_some() || load.within.is_some()) {
        return Err(Usage(format!(
            "--at and --within apply only to plans that search for the highest rate, and `{}` does \
             not. Try `qdepth answer {} --at p99.9=1ms`",
            file.name,
            plan_word(load).1.first().map_or(".".to_owned(), |target| shell_word(target))
        )));
    }
    if load.within == Some(Nanos::ZERO) {
        return Err(Usage("--within 0s: must be above 0. Try --within 30min".to_owned()));
    }
    if let Some(limits) = &load.at {
        file.answer.clone_from(limits);
    }
    Ok(())
}

/// Reads the plan's file, and checks the options that it limits.
fn plan_file(load: &Load, origin: &str) -> Result<PlanFile> {
    let text = match shipped_plan_text(origin) {
        Some(text) => text.to_owned(),
        None => Input::file(origin, limit::PLAN).text()?,
    };
    let mut file: PlanFile = text.parse().map_err(|error| Usage(format!("{origin}: {error}")))?;
    load.needed.check(&file, &load.words)?;
    load.bandwidth.decide(&mut file)?;
    answer_at(load, &mut file)?;
    if load.round.is_some() && !load.precondition.is_some_and(WearFlag::has_rounds) {
        return Err(Usage(
            "--round applies only to rounds until steady. Try --precondition until-steady --round \
             10s"
            .to_owned(),
        )
        .into());
    }
    Ok(file)
}

/// Reads the words: the first is a plan if it is the name of one or a TOML file.
pub(crate) fn read(load: &Load) -> Result<PlanRequest> {
    let (origin, targets) = plan_word(load);
    let file = plan_file(load, origin)?;
    let (published, targets): (Vec<&String>, Vec<&String>) =
        targets.iter().partition(|word| published_name(word).is_some());
    let published = self::published(&published)?;
    let targets = targets
        .into_iter()
        .map(|word| Ok(several(word)?.unwrap_or_else(|| vec![word.clone()])))
        .collect::<Result<Vec<Vec<String>>>>()?;
    let mut targets: Vec<PathBuf> = targets.concat().into_iter().map(PathBuf::from).collect();
    if !file.variants.is_empty() && !targets.is_empty() {
        return Err(Usage(format!(
            "{origin}: its variants name their own targets. Remove the targets from the command \
             line"
        ))
        .into());
    }
    if targets.is_empty() {
        targets = own_targets(&file, origin)?;
    }
    if targets.is_empty() && file.variants.is_empty() {
        targets.push(PathBuf::from("."));
    }
    targets.extend(load.array.iter().map(PathBuf::from));
    // Targets that a preparation creates do not exist yet.
    if file.host_steps().is_empty() {
        for target in &targets {
            must_exist(target, &load.words)?;
        }
    }
    let choices = Choices {
        profiles: load.profile.clone(),
        within: load.within,
        queue_depth: load.queue_depth.as_deref().map(Numbers::all),
        duration: load.duration,
        warm_up: load.warm_up,
        file_size: load.file_size,
        until: load.until,
        area: load.area.clone(),
        block_size: load.block_size,
        stairs: Stairs {
            from: load.step_from,
            to: load.step_to,
            by: load.step_by,
            reader_rate: load.reader_rate,
        },
        until_credible: load.until_credible,
        seed: load.seed,
        precondition: load.precondition.map(|wear| wear.wanted(load.round)),
        read_only: load.read_only,
        variants: load.variants.clone(),
        base: load.base.clone(),
        processes: load.processes.as_deref().map(Numbers::all),
        arrays: load.array.len(),
        published,
    };
    let mut request = PlanRequest { file, choices, targets };
    request.vary_cpu_settings(&System::real())?;
    Ok(request)
}

/// Names of published drives, as the reference spells them.
fn published(words: &[&String]) -> Result<Vec<String>> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let reference = Reference::shipped()?;
    let named = words.iter().filter_map(|word| published_name(word));
    let known = named.map(|name| drive(&reference, name).map(|drive| drive.name));
    known.collect::<Result<_, _>>().map_err(|error| Usage(error.to_string()).into())
}

/// The targets that the plan itself names.
fn own_targets(file: &PlanFile, origin: &str) -> Result<Vec<PathBuf>> {
    let spelled = file.own_targets.iter().zip(1..).map(|(target, number): (_, u32)| {
        let wrong = |why| Usage(format!("{origin}: target {number}: {why}")).into();
        target.expression().map(PathBuf::from).map_err(wrong)
    });
    spelled.collect()
}

fn must_exist(target: &Path, words: &[String]) -> Result<()> {
    let emulated = target.to_str().is_some_and(is_emulated);
    if emulated || std::fs::symlink_metadata(target).is_ok() {
        return Ok(());
    }
    let name = target.display().to_string();
    if name.contains("(media:") {
        TargetExpression::read(&name)?;
    }
    // Names of plans contain no slash.
    let what = if name.contains('/') {
        format!(
            "there is no file, directory or device {name}. Name one that exists, for example \
             qdepth run quick /tmp; `lsblk` lists the devices"
        )
    } else {
        if shipped_plan_names().any(|plan| plan == name) {
            if let Some(first) = words.first().filter(|first| shipped_plan_text(first).is_some()) {
                let why = match *first == name {
                    true => format!("the plan `{name}` is named twice: name it once"),
                    false => format!(
                        "`{first}` and `{name}` are plans, and a run measures one: name one, then \
                         start again with the other"
                    ),
                };
                return Err(Usage(why)).context("cannot start");
            }
            let others = words.iter().filter(|word| **word != name).map(|word| shell_word(word));
            let order = std::iter::once(name.clone()).chain(others).collect::<Vec<_>>().join(" ");
            let why =
                format!("{name} is a plan, and must come before the targets: qdepth run {order}");
            return Err(Usage(why)).context("cannot start");
        }
        let medium = qdepth_media::catalogue().find(|medium| *medium == name);
        let meant = match medium {
            Some(medium) => format!(" Did you mean `media:{medium}`?"),
            None if !name.is_empty() && Path::new("/dev").join(&name).exists() => {
                format!(" Did you mean `/dev/{name}`?")
            }
            None => meant_plan_or_profile(&name),
        };
        format!(
            "there is no plan, file, directory or device `{name}`.{meant} `qdepth plans` lists \
             the plans, `qdepth media` the emulated devices (media:NAME)"
        )
    };
    Err(Usage(what)).context("cannot start")
}

/// The plan or load profile that is spelled most like a word, as a question; empty if none is.
fn meant_plan_or_profile(word: &str) -> String {
    match alike_profile(word, shipped_plan_names().chain(shipped_profile_names())) {
        None => String::new(),
        Some(name) if shipped_plan_names().any(|plan| plan == name) => {
            format!(" Did you mean `{name}`?")
        }
        Some(profile) => format!(" Did you mean `--profile {profile}`?"),
    }
}
