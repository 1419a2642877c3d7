//! `qdepth serve`: serves the logbook as web pages.

use anyhow::Result;
use qdepth_logbook::{Logbook, LogbookError};
use qdepth_papers::Reference;
use qdepth_web::{Options, Server};

use crate::exit_status::Status;
use crate::flags::ServeOptions;
use crate::screen::Screen;
use crate::terminal::print;
use qdepth_lab::events::signals::Signals;

pub(crate) fn serve(options: &ServeOptions) -> Result<Status> {
    let (screen, signals) = (Screen::new(), Signals::watch()?);
    let logbook = &options.logbook.logbook;
    match Logbook::open_read_only(logbook).and_then(|logbook| logbook.lists_all_runs()) {
        Ok(true) => {}
        Ok(false) => screen.print_line(&format!(
            "runs may be missing from the pages; `qdepth logbook check {}` lists what is damaged",
            logbook.display()
        )),
        Err(error) if may_become_a_logbook(&error) => {
            screen.print_line(&format!(
                "qdepth: {error}; the pages will show runs as soon as there are some"
            ));
        }
        Err(error) => return Err(error.into()),
    }
    let (address, port) = (options.address, options.port);
    let published = qdepth_papers::drives(&Reference::shipped()?);
    let server = Server::bind(Options { logbook: logbook.clone(), published, address, port })?;
    print(&server.access().address())?;
    screen.print_line(&if server.access().is_open() {
        "Anyone with this address, including its token, can read the logbook from other machines. \
         The connection is not encrypted. Stop with Ctrl-C"
            .to_owned()
    } else {
        format!("serving {} as web pages on this machine only. Stop with Ctrl-C", logbook.display())
    });
    server.serve(signals.stop())?;
    Ok(Status::Valid)
}

/// True if the file may still become a readable logbook, so that the server starts; foreign files
/// are refused.
fn may_become_a_logbook(error: &LogbookError) -> bool {
    use LogbookError::{File, Newer, NotALogbook};
    error.is_absent() || !matches!(error, NotALogbook { .. } | Newer { .. } | File { .. })
}
