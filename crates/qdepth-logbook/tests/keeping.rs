//! Notes, retractions, merging, pruning, and live events of a run.

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use qdepth_logbook::{Logbook, LogbookError};
    use qdepth_measure::{Code, Finding};
    use qdepth_record::{PointRecord, RunHeadline, RunRecord, RunState};

    use crate::common::{point, run, trimming};

    const AT: &str = "2026-11-22T16:00:00Z";

    fn id(number: u32) -> String {
        format!("01890000-0000-7000-8000-{number:012}")
    }

    /// A logbook of complete runs with these numbers, each with all of its points.
    fn logbook_of(folder: &Path, name: &str, numbers: &[u32]) -> PathBuf {
        let file = folder.join(name);
        let mut logbook = Logbook::open(&file).unwrap();
        for number in numbers {
            let id = id(*number);
            logbook.begin_run(&run(&id)).unwrap();
            for index in 0..4 {
                logbook.add_point(&id, &point(index)).unwrap();
            }
            logbook.end_run(&id, RunState::Complete, AT, &[]).unwrap();
        }
        file
    }

    fn read(file: &Path, number: u32) -> (RunRecord, Vec<PointRecord>) {
        Logbook::open_read_only(file).unwrap().measured(&id(number)).unwrap()
    }

    fn is_whole(file: &Path) -> bool {
        Logbook::open_read_only(file).unwrap().check().unwrap().is_whole()
    }

    fn ids(file: &Path) -> Vec<String> {
        let runs = Logbook::open_read_only(file).unwrap().runs().unwrap();
        runs.into_iter().map(|run| run.id).collect()
    }

    #[test]
    fn newest_runs_query_reads_only_requested_runs() {
        let folder = tempfile::tempdir().unwrap();
        let file = logbook_of(folder.path(), "long.db", &[1, 2, 3, 4, 5]);
        let looked = std::cell::RefCell::new(Vec::new());
        let opened = Logbook::open_read_only(&file).unwrap();
        let newest = |most: usize, wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
            looked.borrow_mut().clear();
            let runs = opened.newest_runs(most, |run| {
                looked.borrow_mut().push(run.id.clone());
                wanted(&run.id)
            });
            runs.unwrap().into_iter().map(|run| run.id).collect()
        };
        assert_eq!(newest(2, &|_| true), [id(5), id(4)]);
        assert_eq!(looked.borrow().len(), 2);
        assert_eq!(newest(2, &|found| found != id(5) && found != id(3)), [id(4), id(2)]);
        assert_eq!(looked.borrow().len(), 4);
        assert_eq!(newest(usize::MAX, &|_| true).len(), 5);
        assert!(newest(0, &|_| true).is_empty() && looked.borrow().is_empty());
        assert_eq!(opened.runs_kept().unwrap(), 5);
        assert_eq!(opened.runs().unwrap()[0].id, id(1));
    }

    /// Compares the stored list of runs with the runs themselves, and returns it.
    fn lines_are_right(file: &Path) -> Vec<RunHeadline> {
        let opened = Logbook::open_read_only(file).unwrap();
        let mut lines = opened.listed(usize::MAX, 0, |_| true).unwrap();
        lines.reverse();
        assert_eq!(lines, opened.runs().unwrap());
        assert!(is_whole(file));
        lines
    }

    #[test]
    fn run_list_entry_follows_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("life.db");
        let mut logbook = Logbook::open(&file).unwrap();
        logbook.begin_run(&run(&id(1))).unwrap();
        let last = || lines_are_right(&file).pop().unwrap();
        assert_eq!((last().points_done, last().points_planned), (0, 4));
        let cut = PointRecord { findings: vec![Finding::invalid(Code::Interrupted)], ..point(0) };
        logbook.add_point(&id(1), &cut).unwrap();
        assert_eq!(last().points_done, 0);
        logbook.add_point(&id(1), &point(0)).unwrap();
        assert_eq!(last().points_done, 1);
        logbook.end_run(&id(1), RunState::Interrupted, AT, &[]).unwrap();
        assert_eq!(last().state.as_str(), "interrupted");
        logbook.reopen(&id(1)).unwrap();
        assert_eq!((last().state, last().ended_at), (RunState::Killed, None));
        logbook.plan_points(&id(1), 1).unwrap();
        logbook.end_run(&id(1), RunState::Complete, AT, &[]).unwrap();
        assert!(last().is_whole());
        logbook.note(&id(1), "warm", AT).unwrap();
        logbook.retract(&id(1), "loose", AT).unwrap();
        assert_eq!((last().notes, last().retracted), (vec!["warm".into()], Some("loose".into())));
        let other = logbook_of(folder.path(), "more.db", &[2, 3]);
        logbook.merge(&Logbook::open_read_only(&other).unwrap()).unwrap();
        assert_eq!(lines_are_right(&file).len(), 3);
        logbook.prune(&[id(2)]).unwrap();
        assert_eq!(lines_are_right(&file).len(), 2);
    }

    #[test]
    fn runs_with_extreme_numbers_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let file = logbook_of(folder.path(), "old.db", &[1, 2]);
        let by_hand = rusqlite::Connection::open(&file).unwrap();
        let most = "DROP TRIGGER direction_is_final;
             UPDATE direction SET completed = 9223372036854775807;
             DELETE FROM headline";
        by_hand.execute_batch(most).unwrap();
        drop(by_hand);
        let opened = Logbook::open_read_only(&file).unwrap();
        assert_eq!(opened.listed(usize::MAX, 1, |_| true).unwrap().len(), 2);
    }

    #[test]
    fn damaged_run_list_entries_fall_back_to_runs() {
        let folder = tempfile::tempdir().unwrap();
        let file = logbook_of(folder.path(), "old.db", &[1, 2, 3]);
        let by_hand = rusqlite::Connection::open(&file).unwrap();
        by_hand.execute_batch("DROP TRIGGER run_is_complete").unwrap();
        by_hand.execute("UPDATE run SET plan_name = 'other' WHERE sequence = 1", []).unwrap();
        let nine =
            "UPDATE headline SET line = replace(line, '_done\":4', '_done\":9') WHERE run = 2";
        assert_eq!(by_hand.execute(nine, []).unwrap(), 1);
        drop(by_hand);
        let opened = Logbook::open_read_only(&file).unwrap();
        let lines = opened.listed(usize::MAX, 1, |_| true).unwrap();
        let plan = run(&id(1)).plan_name;
        assert_eq!((&lines[2].plan, lines[2].damaged), (&plan, false), "as it was written");
        assert_eq!(lines[1].points_done, 4, "read whole, since its line is not what was written");
        let found = opened.read_each(&lines.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(found.iter().map(|run| run.damaged).collect::<Vec<_>>(), [false, false, true]);
        // The filter sees the stored headlines; the runs that it returns are read and show their
        // damage.
        assert!(opened.newest_runs(9, |run| run.plan == plan && !run.damaged).unwrap().len() == 2);
        let damaged: Vec<String> = opened
            .check()
            .unwrap()
            .damaged
            .into_iter()
            .map(|damage| damage.record.to_string())
            .collect();
        assert_eq!(damaged, ["run", "line of the list of runs"]);
    }

    #[test]
    fn complete_run_accepts_notes_and_retraction() {
        let folder = tempfile::tempdir().unwrap();
        let file = logbook_of(folder.path(), "a.db", &[1, 2]);
        let mut logbook = Logbook::open(&file).unwrap();
        assert_eq!(logbook.note(&id(1), "the old firmware", AT).unwrap(), id(1));
        logbook.note(&id(1), "and warm", AT).unwrap();
        logbook.retract(&id(1), "the cable was loose", AT).unwrap();
        let unknown = logbook.note("99", "x", AT);
        assert!(matches!(unknown, Err(LogbookError::NoSuchRun { .. })));
        let comparable = logbook.newest_runs(9, RunHeadline::is_comparable).unwrap();
        drop(logbook);
        assert!(is_whole(&file));
        let (noted, points) = read(&file, 1);
        assert_eq!(noted.notes().collect::<Vec<_>>(), ["the old firmware", "and warm"]);
        assert_eq!(noted.retracted(), Some("the cable was loose"));
        assert!(points == [0, 1, 2, 3].map(point));
        let runs = Logbook::open_read_only(&file).unwrap().runs().unwrap();
        assert_eq!(runs[0].retracted.as_deref(), Some("the cable was loose"));
        assert_eq!((runs[0].notes.len(), runs[1].retracted.is_none()), (2, true));
        assert!(runs[0].is_whole() && !runs[0].is_comparable() && runs[1].is_comparable());
        let comparable: Vec<String> = comparable.into_iter().map(|run| run.id).collect();
        assert_eq!(comparable, [id(2)], "left out of comparisons");
    }

    #[test]
    fn merge_adds_unknown_runs_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (
            logbook_of(folder.path(), "a.db", &[1, 2]),
            logbook_of(folder.path(), "b.db", &[2, 3, 4]),
        );
        Logbook::open(&other).unwrap().note(&id(3), "from b", AT).unwrap();
        let before = std::fs::read(&other).unwrap();
        let from = Logbook::open_read_only(&other).unwrap();
        let merged = Logbook::open(&own).unwrap().merge(&from).unwrap();
        assert_eq!((merged.added, merged.known), (vec![id(3), id(4)], 1));
        assert!(merged.damaged.is_empty() && merged.running.is_empty());
        assert_eq!(ids(&own), [1, 2, 3, 4].map(id));
        assert!(is_whole(&own));
        for number in [3, 4] {
            assert!(read(&own, number) == read(&other, number), "{number}");
        }
        drop(from);
        assert!(std::fs::read(&other).unwrap() == before, "the other one is only read");
        let from = Logbook::open_read_only(&other).unwrap();
        let again = Logbook::open(&own).unwrap().merge(&from).unwrap();
        assert_eq!((again.added.len(), again.known), (0, 3));
    }

    #[test]
    fn newest_run_is_determined_by_start_time() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, numbers: &[u32]| {
            let file = folder.path().join(name);
            let mut logbook = Logbook::open(&file).unwrap();
            for number in numbers {
                logbook.begin_run(&run(&id(*number))).unwrap();
                logbook.end_run(&id(*number), RunState::Interrupted, AT, &[]).unwrap();
            }
            file
        };
        let (own, older) = (file("own.db", &[3, 4]), file("older.db", &[2, 1]));
        let mut logbook = Logbook::open(&own).unwrap();
        logbook.merge(&Logbook::open_read_only(&older).unwrap()).unwrap();
        assert_eq!(logbook.run("latest").unwrap().id, id(4));
        assert_eq!(ids(&own), [1, 2, 3, 4].map(id));
        let newest = logbook.newest_runs(2, |_| true).unwrap();
        assert_eq!(newest.into_iter().map(|run| run.id).collect::<Vec<_>>(), [4, 3].map(id));
        assert_eq!(logbook.hold_unfinished().unwrap().unwrap().id, id(4));
        assert!(is_whole(&own));
    }

    #[test]
    fn notes_of_known_runs_are_merged_once() {
        let folder = tempfile::tempdir().unwrap();
        let own = logbook_of(folder.path(), "own.db", &[1, 2]);
        let other = logbook_of(folder.path(), "other.db", &[1, 2]);
        Logbook::open(&own).unwrap().note(&id(1), "warm", AT).unwrap();
        let mut there = Logbook::open(&other).unwrap();
        there.note(&id(1), "seen by others", AT).unwrap();
        there.retract(&id(1), "loose", AT).unwrap();
        drop(there);
        let merge = || {
            let from = Logbook::open_read_only(&other).unwrap();
            let merged = Logbook::open(&own).unwrap().merge(&from).unwrap();
            (merged.added.len(), merged.known, merged.remarks)
        };
        assert_eq!(merge(), (0, 2, 2));
        assert_eq!(merge(), (0, 2, 0));
        let (run, _) = read(&own, 1);
        assert_eq!(run.notes().collect::<Vec<_>>(), ["warm", "seen by others"]);
        assert_eq!(run.retracted(), Some("loose"));
        assert_eq!(lines_are_right(&own)[0].retracted.as_deref(), Some("loose"));
    }

    /// A run whose logbook failed, and that was continued in another file.
    #[test]
    fn points_of_an_incomplete_run_are_merged() {
        let folder = tempfile::tempdir().unwrap();
        let [own, other] = [("own.db", [0, 1]), ("other.db", [1, 2])].map(|(name, points)| {
            let file = logbook_of(folder.path(), name, &[]);
            let mut logbook = Logbook::open(&file).unwrap();
            logbook.begin_run(&run(&id(1))).unwrap();
            for index in points {
                logbook.add_point(&id(1), &trimming(index)).unwrap();
            }
            file
        });
        let merge = || {
            let from = Logbook::open_read_only(&other).unwrap();
            Logbook::open(&own).unwrap().merge(&from).unwrap().points
        };
        assert_eq!((merge(), merge()), (1, 0), "only what is missing, and once");
        let indices: Vec<u32> = read(&own, 1).1.iter().map(|point| point.index).collect();
        assert_eq!(indices, [0, 1, 2]);
        assert!(is_whole(&own));
        let mut logbook = Logbook::open(&own).unwrap();
        logbook.end_run(&id(1), RunState::Complete, AT, &[]).unwrap();
        let mut there = Logbook::open(&other).unwrap();
        there.add_point(&id(1), &trimming(3)).unwrap();
        drop(there);
        assert_eq!(merge(), 0, "a complete run does not change");
    }

    #[test]
    fn pruned_run_leaves_no_rows() {
        let folder = tempfile::tempdir().unwrap();
        let file = logbook_of(folder.path(), "own.db", &[]);
        let mut logbook = Logbook::open(&file).unwrap();
        logbook.begin_run(&run(&id(1))).unwrap();
        logbook.add_point(&id(1), &trimming(0)).unwrap();
        logbook.note(&id(1), "warm", AT).unwrap();
        let tables = || {
            let connection = rusqlite::Connection::open(&file).unwrap();
            let text = "SELECT name FROM sqlite_schema WHERE type = 'table'";
            let mut query = connection.prepare(text).unwrap();
            let names = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
            let rows = |name: &String| -> i64 {
                let count = format!("SELECT count(*) FROM {name}");
                connection.query_row(&count, [], |row| row.get(0)).unwrap()
            };
            let filled = names.map(Result::unwrap).filter(|name| rows(name) > 0);
            filled.collect::<Vec<_>>()
        };
        for name in ["io_error", "sample", "direction", "observation", "headline"] {
            assert!(tables().iter().any(|filled| filled == name), "{name}: {:?}", tables());
        }
        logbook.prune(&[id(1)]).unwrap();
        // The list of runs has no digest any more.
        assert_eq!(tables(), ["digest"]);
    }

    #[test]
    fn merge_omits_damaged_and_active_runs() {
        let folder = tempfile::tempdir().unwrap();
        let own = logbook_of(folder.path(), "a.db", &[]);
        let other = logbook_of(folder.path(), "b.db", &[1, 2]);
        let connection = rusqlite::Connection::open(&other).unwrap();
        let change = "DROP TRIGGER direction_is_final;
                      UPDATE direction SET completed = completed + 1 WHERE point = 1";
        connection.execute_batch(change).unwrap();
        drop(connection);
        let mut measuring = Logbook::open(&other).unwrap();
        measuring.hold(&id(3)).unwrap();
        measuring.begin_run(&run(&id(3))).unwrap();
        let merged =
            Logbook::open(&own).unwrap().merge(&Logbook::open_read_only(&other).unwrap()).unwrap();
        assert_eq!((merged.added, merged.running), (vec![id(2)], vec![id(3)]));
        assert_eq!((merged.damaged.len(), &merged.damaged[0].run), (1, &id(1)));
        assert!(is_whole(&own));
    }

    #[test]
    fn prune_deletes_only_the_selected_runs() {
        let folder = tempfile::tempdir().unwrap();
        let file = logbook_of(folder.path(), "a.db", &[1, 2, 3]);
        let kept = read(&file, 2);
        let before = std::fs::metadata(&file).unwrap().len();
        let mut logbook = Logbook::open(&file).unwrap();
        logbook.prune(&[id(1), id(3)]).unwrap();
        drop(logbook);
        assert_eq!(ids(&file), [id(2)]);
        assert!(is_whole(&file) && read(&file, 2) == kept);
        assert!(std::fs::metadata(&file).unwrap().len() < before, "the room is given back");
        let mut logbook = Logbook::open(&file).unwrap();
        logbook.begin_run(&run(&id(5))).unwrap();
        logbook.add_point(&id(5), &point(0)).unwrap();
        drop(logbook);
        assert!(is_whole(&file), "and it can be written on");
    }

    #[test]
    fn live_events_are_read_during_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let mut measuring = Logbook::open(&file).unwrap();
        assert!(measuring.live(&id(1)).is_none());
        measuring.hold(&id(1)).unwrap();
        measuring.begin_run(&run(&id(1))).unwrap();
        measuring.event_file().publish("first", true);
        let reader = Logbook::open_read_only(&file).unwrap();
        assert_eq!(reader.alive(), [id(1)].into());
        assert!(reader.live(&id(2)).is_none());
        let mut live = reader.live(&id(1)).unwrap();
        assert_eq!(live.more().unwrap(), ["first"]);
        assert_eq!(live.more().unwrap(), [""; 0]);
        measuring.event_file().publish("second", false);
        assert_eq!(live.more().unwrap(), ["second"]);
        // Days later the file starts again, and repeats the start of the run.
        let long = "x".repeat(1 << 20);
        for _ in 0..4 {
            measuring.event_file().publish(&long, false);
            assert_eq!(live.more().unwrap().len(), 1);
        }
        measuring.event_file().publish(&long, false);
        let size = std::fs::metadata(folder.path().join(format!("a.db.running-{}", id(1))));
        assert!(size.unwrap().len() < 6 << 20, "it does not grow for ever");
        assert_eq!(live.more().unwrap()[0], "first");
        assert_eq!(measuring.runs().unwrap()[0].state.as_str(), "running");
        drop(measuring);
        assert!(live.more().is_none(), "nothing follows");
        assert_eq!(reader.runs().unwrap()[0].state.as_str(), "killed");
        assert!(reader.alive().is_empty());
    }
}
