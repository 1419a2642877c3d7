//! Finding about a target that can no longer be measured.

use qdepth_engine::{Absence, Cause, Fault, TargetFailure};
use qdepth_linux::errno_name;
use qdepth_measure::{Code, Finding, label};
use qdepth_workload::Direction;

/// The failure as codes, names and figures.
pub(super) fn failure(failure: &TargetFailure) -> Finding {
    match failure.cause() {
        Cause::Gone(absence) => gone(absence),
        Cause::Broken(fault) => broken(fault),
    }
}

fn gone(absence: &Absence) -> Finding {
    let finding = Finding::invalid(Code::DeviceGone);
    match absence {
        Absence::NothingMoved { direction, size, offset } => {
            let [read, write, trim] = label::DIRECTIONS;
            let direction = match direction {
                Direction::Write => write,
                Direction::Trim => trim,
                Direction::Read | Direction::Sync => read,
            };
            finding
                .label("evidence", label::NOTHING_MOVED)
                .label("direction", direction)
                .value("size_bytes", f64::from(*size))
                .value("offset_bytes", *offset as f64)
        }
        Absence::NotThere(identity) => {
            finding.label("evidence", label::NOT_THERE).label("device", identity)
        }
    }
}

fn broken(fault: &Fault) -> Finding {
    let finding = Finding::invalid(Code::TargetFailed);
    match fault {
        Fault::Call { call, errno } => finding
            .label("why", label::CALL_FAILED)
            .label("call", call)
            .label("error", errno_name(*errno)),
        Fault::ThreadsEnded => finding.label("why", label::THREADS_ENDED),
        Fault::RankLost { rank, cause, message } => {
            let finding = finding.label("why", cause).label("lost_rank", rank.to_string());
            if message.is_empty() { finding } else { finding.label("message", message) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_failure_has_codes_instead_of_sentences() {
        let nothing =
            Absence::NothingMoved { direction: Direction::Write, size: 4096, offset: 1 << 20 };
        let call = Fault::Call { call: "io_uring_enter".to_owned(), errno: 5 };
        let lost = |message: &str| Fault::RankLost {
            rank: 3,
            cause: label::RANK_FAILED.to_owned(),
            message: message.to_owned(),
        };
        for (why, labels) in [
            (TargetFailure::from(nothing), "direction=write evidence=nothing-moved"),
            (Absence::NotThere("sda:1:2".to_owned()).into(), "device=sda:1:2 evidence=not-there"),
            (call.into(), "call=io_uring_enter error=EIO why=call-failed"),
            (Fault::ThreadsEnded.into(), "why=threads-ended"),
            (lost("").into(), "lost_rank=3 why=rank-failed"),
            (lost("no").into(), "lost_rank=3 message=no why=rank-failed"),
        ] {
            let found = failure(&why);
            assert_eq!(found.check(false), Ok(()));
            let kept = found.labels.iter().map(|(name, text)| format!("{name}={text}"));
            assert_eq!(kept.collect::<Vec<_>>().join(" "), labels);
            assert_eq!(found.values.is_empty(), !labels.contains("nothing-moved"));
        }
    }
}
