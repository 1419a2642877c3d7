//! `qdepth certify`: proves that the load generator measures correctly on this machine.

use std::path::Path;

use anyhow::{Result, bail};
use qdepth_files::shell_word;
use qdepth_host::environment;
use qdepth_host::system::System;
use qdepth_logbook::Logbook;
use qdepth_record::{CertificateRecord, ProofOutcome, export_certificate_json};
use qdepth_report::{
    certificate_head, certificate_sentence, certificate_table, compose_certificate,
};

use crate::commands::report::page;
use crate::exit_status::Status;
use crate::flags::CertifyOptions;
use crate::screen::Screen;
use crate::terminal::{print, print_raw, print_table};
use qdepth_lab::failure::Usage;
use qdepth_lab::instrument::certify::{certify as prove, machine};

pub(crate) fn certify(options: &CertifyOptions) -> Result<Status> {
    let page = options.output.as_deref().map(|output| page(output, options.lang)).transpose()?;
    let certificate = if options.show { kept(options)? } else { proved(options)? };
    let lang = options.lang;
    if options.json {
        print_raw(export_certificate_json(&certificate).trim_end())?;
    } else {
        certificate_head(&certificate, lang).iter().try_for_each(|line| print(line))?;
        print("")?;
        print_table(&certificate_table(&certificate, lang), false)?;
        print(&certificate_sentence(&certificate, lang))?;
    }
    if let Some(page) = page {
        page.write(|lang| compose_certificate(&certificate, lang))?;
    }
    Ok(match certificate.outcome {
        ProofOutcome::Failed => Status::Invalid,
        ProofOutcome::NotTried => Status::CannotTell,
        ProofOutcome::Passed => Status::Valid,
    })
}

/// Runs the proofs and stores the certificate before anything is printed.
fn proved(options: &CertifyOptions) -> Result<CertificateRecord> {
    let file = &options.logbook.logbook;
    let mut logbook = Logbook::open(file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let certificate = prove(&System::real(), &Screen::new(), options.duration, folder)?;
    logbook.keep_certificate(&certificate)?;
    Ok(certificate)
}

/// Newest stored certificate of this machine.
fn kept(options: &CertifyOptions) -> Result<CertificateRecord> {
    let file = &options.logbook.logbook;
    let [host, cpu] = machine(&environment::observe(&System::real()));
    match Logbook::open_read_only(file)?.certificate(&host, &cpu)? {
        Some(certificate) => Ok(certificate),
        None => bail!(Usage(format!(
            "{} contains no certificate of this machine ({host}, {cpu}). Create one with `qdepth \
             certify --logbook {}`",
            file.display(),
            shell_word(&file.to_string_lossy())
        ))),
    }
}
