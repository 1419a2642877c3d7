//! `qdepth serve-medium`: serves an emulated device in real time to any NBD client.

use std::path::Path;

use anyhow::Result;
use qdepth_files::{Folder, Socket};
use qdepth_linux::{allowed_cpus, pin};
use qdepth_measure::{LatencyHistogram, Nanos};
use qdepth_media::TargetExpression;
use qdepth_nbd::{Outlook, ServeError, Served, Server, TransportLatency};

use crate::exit_status::Status;
use crate::flags::ServeMediumOptions;
use crate::screen::Screen;
use crate::terminal::{print, print_raw};
use qdepth_lab::events::signals::Signals;
use qdepth_lab::failure::Usage;
use qdepth_lab::target::prepare::target_expression;

pub(crate) fn serve_medium(options: &ServeMediumOptions) -> Result<Status> {
    let (screen, signals) = (Screen::new(), Signals::watch()?);
    let medium = target_expression(&options.medium)?;
    let folder = options.data.as_deref().or(options.socket.parent());
    let folder = folder.filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (socket_file, listener) = Socket::listen(&options.socket)?;
    let folder = Folder::open(folder)?;
    let transport =
        TransportLatency::measured(folder.nameless()?, options.busy_poll).map_err(usage)?;
    let lead = options.lead.unwrap_or(transport.lead());
    let outlook = transport.outlook(&medium)?;
    let data = folder.nameless()?;
    let server = Server::new(&medium, listener, data, lead).map_err(usage)?;
    let server = server.busy_polling(options.busy_poll);
    let socket = options.socket.display();
    screen.print_line(&before(&transport, &outlook, lead));
    screen.print_line(&format!(
        "EMULATED: serving {}, {} bytes; clients connect to nbd+unix:///?socket={socket}",
        medium.text(),
        server.capacity()
    ));
    // Pins last, because threads inherit the affinity: the test client's thread must not share the
    // server's CPU.
    if let Some(cpu) = options.cpu {
        stay_on(cpu)?;
    }
    let served = server.serve(signals.stop(), options.once);
    if let Err(error) = socket_file.remove() {
        screen.print_line(&format!("the socket could not be removed: {error}"));
    }
    let served = served?;
    if options.json {
        print_raw(&json(&medium, &served, &transport, &outlook, lead))?;
    } else {
        print(&words(&medium, &served))?;
    }
    Ok(if served.is_faithful() == Some(false) { Status::Invalid } else { Status::Valid })
}

fn stay_on(cpu: u32) -> Result<()> {
    let refusal = |error| {
        let allowed: Vec<String> = allowed_cpus().iter().map(u32::to_string).collect();
        let allowed = allowed.join(", ");
        Usage(format!("--cpu {cpu}: {error}; this program may run on CPU {allowed}"))
    };
    Ok(pin(&[cpu]).map_err(refusal)?)
}

/// Converts an error of the server to one with an exit status.
fn usage(error: ServeError) -> anyhow::Error {
    match error {
        ServeError::Medium(error) => error.into(),
        ServeError::Store { .. } | ServeError::Wait(_) => error.into(),
    }
}

/// Text printed before the first client connects: round-trip time, and whether real time can be
/// kept.
fn before(transport: &TransportLatency, outlook: &Outlook, lead: Nanos) -> String {
    let (round_trip, medium) = (transport.lead().as_micros_f64(), outlook.medium.as_micros_f64());
    let fits = if outlook.fits {
        format!("can be served faithfully, up to about {:.0} IOPS", transport.keeps_up_to())
    } else {
        "CANNOT BE FAITHFUL: the round trip alone takes longer. Use `qdepth run`, in virtual time, \
         instead"
            .to_owned()
    };
    format!(
        "before     round trip of an I/O without device time: {round_trip:.1} µs (p99 {:.1} µs), \
         {:.0} IOPS with 32 in flight; replies are sent {:.1} µs early. A single 8 KiB read takes \
         the device {medium:.1} µs: {fits}",
        micros(transport.alone.quantile(0.99)),
        transport.requests_per_s,
        lead.as_micros_f64(),
    )
}

fn micros(time: Option<Nanos>) -> f64 {
    time.map_or(0.0, Nanos::as_micros_f64)
}

fn words(medium: &TargetExpression, served: &Served) -> String {
    let late = &served.late;
    let faithful = match served.is_faithful() {
        None => "no I/Os were received",
        Some(true) => "faithful",
        Some(false) => {
            "NOT FAITHFUL: 99 % of the replies must be late by at most 5 % of the mean time, or 5 \
             µs. Reduce the load, or reserve a CPU for this program (--cpu)"
        }
    };
    format!(
        "EMULATED {}: {} reads ({} bytes), {} writes ({} bytes), {} errors, {} clients{}\nmean \
         time of the device {:.1} µs; replies late by {:.1} µs (median), {:.1} µs (p99), {:.1} µs \
         (maximum): {faithful}",
        medium.text(),
        served.reads,
        served.read_bytes,
        served.writes,
        served.written_bytes,
        served.errors,
        served.clients,
        match served.turned_away {
            0 => String::new(),
            more => format!(" ({more} rejected: too many clients)"),
        },
        served.latency.mean().unwrap_or(0.0) / 1e3,
        micros(late.quantile(0.5)),
        micros(late.quantile(0.99)),
        micros(late.max()),
    )
}

fn json(
    medium: &TargetExpression,
    served: &Served,
    transport: &TransportLatency,
    outlook: &Outlook,
    lead: Nanos,
) -> String {
    let times = |h: &LatencyHistogram| {
        serde_json::json!({
            "count": h.count(),
            "mean": h.mean(),
            "p50": h.quantile(0.5).map(|n| n.0),
            "p99": h.quantile(0.99).map(|n| n.0),
            "max": h.max().map(|n| n.0),
        })
    };
    serde_json::json!({
        "schema": "qdepth-served/1",
        "emulated": true,
        "medium": medium.text(),
        "lead_ns": lead.0,
        "way_ns": times(&transport.alone),
        "way_requests_per_s": transport.requests_per_s,
        "medium_read_8k_ns": outlook.medium.0,
        "can_be_faithful": outlook.fits,
        "clients": served.clients,
        "turned_away": served.turned_away,
        "reads": served.reads,
        "read_bytes": served.read_bytes,
        "writes": served.writes,
        "written_bytes": served.written_bytes,
        "errors": served.errors,
        "latency_ns": times(&served.latency),
        "late_ns": times(&served.late),
        "faithful": served.is_faithful(),
    })
    .to_string()
}
