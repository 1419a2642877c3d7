//! `qdepth certify`: proofs that the instrument measures rightly on this machine.

use anyhow::Result;

use crate::ended::Status;
use crate::flags::CertifyOptions;
use crate::lab::certify::{Outcome, certify as prove};
use crate::screen::Screen;
use crate::terminal::{print, print_document};

pub(crate) fn certify(options: &CertifyOptions) -> Result<Status> {
    let certificate = prove(&Screen::new(), options.duration)?;
    if options.json {
        print_document(&certificate.json())?;
    } else {
        print(&certificate.text())?;
    }
    Ok(match certificate.worst() {
        Outcome::Failed => Status::Invalid,
        Outcome::NotTried => Status::CannotTell,
        Outcome::Passed => Status::Valid,
    })
}
