//! Catalogue of plans and profiles, manual pages, and shell completions, all from the one
//! description of the command line.

use anyhow::Result;
use clap_mangen::Man;
use qdepth_report::Align;
use qdepth_workload::{
    meant, shipped_plan_names, shipped_plan_text, shipped_profile_names, shipped_profile_text,
    shipped_title,
};

use crate::commands::read::table;
use crate::exit_status::Status;
use crate::flags::completed;
use crate::flags::{CatalogueOptions, CompletionsOptions, ManOptions, with_examples};
use crate::terminal::{print, print_raw, print_table};
use qdepth_lab::failure::Usage;

pub(crate) fn plans(options: &CatalogueOptions) -> Result<Status> {
    let all = shipped_plan_names().map(|name| (name, shipped_plan_text(name)));
    let hint = "qdepth run PLAN [TARGET…] measures one; qdepth plans PLAN prints it";
    catalogue(options, "plan", all, hint)
}

pub(crate) fn profiles(options: &CatalogueOptions) -> Result<Status> {
    let all = shipped_profile_names().map(|name| (name, shipped_profile_text(name)));
    let hint = "qdepth run --profile NAME,… measures these; qdepth profiles NAME prints one";
    catalogue(options, "profile", all, hint)
}

/// Prints the text of the shipped plan or profile of this name.
pub(crate) fn shown(name: &str) -> Result<Status> {
    let text = shipped_plan_text(name).or_else(|| shipped_profile_text(name));
    let names: Vec<&str> = shipped_plan_names().chain(shipped_profile_names()).collect();
    let text = text.ok_or_else(|| {
        let meant = meant(name, &names, "`qdepth plans` and `qdepth profiles` list them");
        Usage(format!("there is no plan or profile `{name}`{meant}"))
    })?;
    print_raw(text.trim_end())?;
    Ok(Status::Valid)
}

/// Prints the named plan or profile, or a table of all names with their titles.
fn catalogue<'a>(
    options: &CatalogueOptions,
    what: &str,
    all: impl Iterator<Item = (&'a str, Option<&'a str>)>,
    hint: &str,
) -> Result<Status> {
    if let Some(name) = &options.name {
        return shown(name);
    }
    let row = |(name, text): (&str, Option<&str>)| {
        vec![name.to_owned(), shipped_title(text.unwrap_or_default()).to_owned()]
    };
    let mut table = table(&[what, "title"], all.map(row).collect());
    table.columns[1].align = Align::Text;
    print_table(&table, false)?;
    print(&format!("\n{hint}"))?;
    Ok(Status::Valid)
}

pub(crate) fn completions(options: CompletionsOptions) -> Result<Status> {
    let script = completed::script(&options.shell.to_string()).unwrap_or_default();
    print_raw(script.trim_end())?;
    Ok(Status::Valid)
}

pub(crate) fn man(options: &ManOptions) -> Result<Status> {
    let mut root = with_examples();
    root.build();
    if options.names {
        print_raw(&names(&root, "qdepth").join("\n"))?;
        return Ok(Status::Valid);
    }
    let mut command = &root;
    for word in &options.command {
        let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        command = command.find_subcommand(word).ok_or_else(|| {
            let meant = meant(word, &known, "`qdepth man --names` lists them");
            Usage(format!("there is no page `{word}`{meant}"))
        })?;
    }
    let page = std::iter::once("qdepth").chain(options.command.iter().map(String::as_str));
    let name = page.collect::<Vec<_>>().join("-");
    let mut text = Vec::new();
    Man::new(command.clone()).title(name).render(&mut text)?;
    print_raw(String::from_utf8_lossy(&text).trim_end())?;
    Ok(Status::Valid)
}

/// Names that `qdepth man` accepts, one for each manual page; a subcommand follows its parent, for
/// example `host check`.
fn names(command: &clap::Command, name: &str) -> Vec<String> {
    let mut all = vec![name.to_owned()];
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        all.extend(names(sub, &format!("{name} {}", sub.get_name())));
    }
    all
}
