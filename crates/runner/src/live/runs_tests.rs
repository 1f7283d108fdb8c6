use super::super::output_tail::MAX_TAILS;
use super::super::run_description::RunKind;
use super::super::watcher_order::{WatcherInputError, WatcherOrder};
use super::super::watcher_queue::WatcherQueue;
use super::*;
use capture::OutputStream;

/// Takes the orders that wait.
fn taken(run: &LiveRun) -> Vec<WatcherOrder> {
    std::iter::from_fn(|| run.take_order()).collect()
}

fn facts(is_fed: bool) -> RunRegistration {
    RunRegistration {
        run_id: "mark".into(),
        kind: RunKind::Command,
        command: "curl -u joe:hunter2hunter2 https://x.example".into(),
        cwd: "/p".into(),
        target: None,
        actor: None,
        started_at: 1,
        limit: None,
        idle_limit: None,
        confinement: None,
        undo: false,
        is_fed,
        terminal: None,
    }
}

fn own() -> &'static LiveRuns {
    Box::leak(Box::default())
}

#[test]
fn without_a_watcher_no_end_is_kept() {
    let runs = own();
    runs.register(facts(false)).end(|| panic!("nobody watches"));
    assert!(runs.take_changes().0.is_empty() && runs.take_changes().1.is_empty());
    let watching = runs.watch();
    let shown = runs.register(facts(false));
    let key = shown.run().key();
    assert!(runs.find(&key).is_some());
    shown.end(|| RunEnding { exit_code: Some(3), ..RunEnding::with_state_only(LedgerRunState::Exited) });
    assert!(runs.find(&key).is_none());
    let (running, ended) = runs.take_changes();
    assert!(running.is_empty());
    assert_eq!(ended.iter().map(|(_, end)| (end.key.clone(), end.end.exit_code)).collect::<Vec<_>>(), [(key, Some(3))]);
    drop(runs.register(facts(false)));
    drop(watching);
    assert!(runs.take_changes().1.is_empty());
}

#[test]
fn an_ended_run_can_be_followed_for_a_moment_while_someone_watches() {
    let runs = own();
    let last = || {
        let last = WatcherQueue::new(Arc::default());
        last.set_bytes_before_watching(7);
        last.push(OutputStream::Stdout, b"last");
        last
    };
    let text =
        |tap: &WatcherQueue| (tap.take_bytes_before_watching(), tap.take(99).map(|chunk| chunk.bytes), tap.is_over());
    let unseen = runs.register(facts(false));
    let key = unseen.run().key();
    unseen.end(|| RunEnding::with_state_only(LedgerRunState::Exited));
    assert!(runs.find_recent(&key).is_none(), "nobody watched");
    let shown = runs.register(facts(false));
    let watching = runs.watch();
    let (run, key) = (Arc::clone(shown.run()), shown.run().key());
    run.on_driven();
    let late = WatcherQueue::new(Arc::default());
    run.follow(Arc::clone(&late));
    run.keep_last_output(last());
    shown.end(|| RunEnding::with_state_only(LedgerRunState::Exited));
    assert_eq!(text(&late), (7, Some(b"last".to_vec()), true), "the command ended before it took the order");
    for _ in 0..2 {
        let tap = WatcherQueue::new(Arc::default());
        runs.find_recent(&key).expect("a moment ago").follow(Arc::clone(&tap));
        assert_eq!(text(&tap), (7, Some(b"last".to_vec()), true));
    }
    (0..FOLLOWABLE_ENDED_RUNS.0).for_each(|_| drop(runs.register(facts(false))));
    assert!(runs.find_recent(&key).is_none(), "others came later");
    drop(runs.register(facts(false)));
    drop(watching);
    assert!(runs.lists().recent.is_empty());
}

#[test]
fn a_command_is_shown_without_its_secrets() {
    let runs = own();
    let shown = runs.register(facts(false));
    let shape = shown.run().describe(None);
    assert!(!shape.command.contains("hunter"), "{}", shape.command);
    assert_eq!((shape.run_id.as_str(), shape.pid), ("mark", None));
    shown.run().on_start(7);
    shown.run().set_run_id("other");
    let shape = shown.run().describe(None);
    assert_eq!((shape.run_id.as_str(), shape.pid), ("other", Some(7)));
}

#[test]
fn a_follower_gets_the_held_output_first_and_the_end_last() {
    let runs = own();
    let shown = runs.register(facts(false));
    let run = Arc::clone(shown.run());
    let early = WatcherQueue::new(Arc::default());
    run.follow(Arc::clone(&early));
    assert!(run.takes_output() && taken(&run).is_empty(), "no output is held before the start");
    run.on_driven();
    let late = WatcherQueue::new(Arc::default());
    run.follow(Arc::clone(&late));
    let [WatcherOrder::Follow(tap)] = &taken(&run)[..] else { panic!("the command is asked for the output it holds") };
    tap.push(OutputStream::Stdout, b"held ");
    run.attach(Arc::clone(tap));
    run.on_output(OutputStream::Stdout, b"new");
    let text = |tap: &WatcherQueue| tap.take(99).map(|chunk| String::from_utf8(chunk.bytes).expect("text"));
    assert_eq!((text(&early), text(&late)), (Some("new".into()), Some("held new".into())));
    run.unfollow(&early);
    run.on_output(OutputStream::Stdout, b"more");
    assert_eq!((text(&early), text(&late)), (None, Some("more".into())));
    let waits = WatcherQueue::new(Arc::default());
    run.follow(Arc::clone(&waits));
    let gone = WatcherQueue::new(Arc::default());
    run.follow(Arc::clone(&gone));
    run.unfollow(&gone);
    run.attach(Arc::clone(&gone));
    drop(shown);
    assert!(late.is_over() && waits.is_over() && !early.is_over() && !gone.is_over());
    run.follow(Arc::clone(&early));
    assert!(early.is_over(), "the run has ended");
}

/// Follows a run.
fn follow(run: &LiveRun) -> Arc<WatcherQueue> {
    let tap = WatcherQueue::new(Arc::default());
    run.follow(Arc::clone(&tap));
    tap
}

/// Returns the bytes before a tap, and its text.
fn held(tap: &WatcherQueue) -> (u64, String) {
    let chunks = std::iter::from_fn(|| tap.take(usize::MAX));
    let bytes = chunks.inspect(|chunk| assert_eq!(chunk.gap, 0)).flat_map(|chunk| chunk.bytes).collect();
    (tap.take_bytes_before_watching(), String::from_utf8(bytes).expect("text"))
}

#[test]
fn a_run_watched_from_its_start_keeps_its_output_as_written_for_later_followers() {
    let runs = own();
    let watching = runs.watch();
    let shown = runs.register(facts(false));
    let run = Arc::clone(shown.run());
    assert!(run.takes_output());
    run.on_driven();
    run.on_output(OutputStream::Stdout, b"\x1b[31mred\x1b[0m ");
    run.on_output(OutputStream::Stderr, b"error ");
    let (first, second) = (follow(&run), follow(&run));
    run.on_output(OutputStream::Stdout, b"more");
    assert!(taken(&run).is_empty(), "the command is not asked");
    let all = (0, "\x1b[31mred\x1b[0m error more".to_owned());
    assert_eq!((held(&first), held(&second)), (all.clone(), all.clone()));
    run.unfollow(&first);
    run.unfollow(&second);
    assert!(run.takes_output(), "the tail goes on");
    let key = run.key();
    shown.end(|| RunEnding::with_state_only(LedgerRunState::Exited));
    let late = follow(&runs.find_recent(&key).expect("a moment ago"));
    assert_eq!((held(&late), late.is_over()), (all, true));
    drop(watching);
}

#[test]
fn tails_live_as_long_as_someone_watches() {
    let runs = own();
    let tails = || runs.tails.load(Ordering::Relaxed);
    let unseen = runs.register(facts(false));
    assert!(!unseen.run().takes_output(), "nobody watched at its start");
    let (one, other) = (runs.watch(), runs.watch());
    let shown = runs.register(facts(false));
    let ended = runs.register(facts(false));
    let kept = Arc::clone(ended.run());
    drop(ended);
    drop(one);
    assert_eq!(tails(), 2);
    drop(other);
    assert_eq!((tails(), shown.run().takes_output()), (0, false));
    let _watching = runs.watch();
    assert_eq!(tails(), 0, "a run from before the watcher has no tail");
    shown.run().on_driven();
    let _tap = follow(shown.run());
    assert!(
        matches!(taken(shown.run())[..], [WatcherOrder::Follow(_)]),
        "the command is asked for the output it holds"
    );
    (0..=FOLLOWABLE_ENDED_RUNS.0).for_each(|_| drop(runs.register(facts(false))));
    assert_eq!(tails(), FOLLOWABLE_ENDED_RUNS.0, "a run that can no longer be followed has no tail");
    drop(kept);
}

#[test]
fn new_runs_keep_no_tail_once_a_process_has_the_most() {
    let runs = own();
    let _watching = runs.watch();
    let mut shown: Vec<_> = (0..MAX_TAILS).map(|_| runs.register(facts(false))).collect();
    assert!(shown.iter().all(|shown| shown.run().takes_output()));
    let next = runs.register(facts(false));
    assert!(!next.run().takes_output());
    next.run().on_driven();
    let _tap = follow(next.run());
    assert!(matches!(taken(next.run())[..], [WatcherOrder::Follow(_)]));
    shown.clear();
    assert!(runs.register(facts(false)).run().takes_output());
}

#[test]
fn followers_of_a_fast_writer_miss_nothing_and_get_nothing_twice() {
    let runs = own();
    let _watching = runs.watch();
    let shown = runs.register(facts(false));
    let run = shown.run();
    run.on_driven();
    let lines: Vec<String> = (10_000..18_000).map(|number| format!("line {number}\n")).collect();
    let all = lines.concat();
    let taps: Vec<_> = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // Most pieces end in the middle of a line.
            for piece in all.as_bytes().chunks(13) {
                run.on_output(OutputStream::Stdout, piece);
                std::thread::yield_now();
            }
        });
        let mut taps = vec![follow(run)];
        while !writer.is_finished() && taps.len() < 64 {
            taps.push(follow(run));
            std::thread::yield_now();
        }
        taps
    });
    for tap in taps {
        let (before, text) = held(&tap);
        assert_eq!(text, all[before as usize..]);
    }
}

#[test]
fn orders_are_bounded() {
    let runs = own();
    let shown = runs.register(facts(true));
    let run = shown.run();
    run.on_driven();
    for _ in 0..9 {
        run.stop();
        run.request_status();
    }
    assert!(matches!(taken(run)[..], [WatcherOrder::Stop, WatcherOrder::ReportStatus]));
    run.on_look(String::new(), None);
    run.request_status();
    assert!(matches!(taken(run)[..], [WatcherOrder::ReportStatus]));
    let half = "x".repeat(32 * 1024);
    assert_eq!((run.give_input(&half), run.give_input(&half)), (Ok(()), Ok(())));
    assert_eq!(run.give_input("y"), Err(WatcherInputError::Full));
    run.on_input(32 * 1024);
    run.set_unwritten(32 * 1024);
    assert_eq!(run.give_input("y"), Err(WatcherInputError::Full), "the input was taken and not written");
    run.set_unwritten(0);
    assert_eq!(run.give_input("y"), Ok(()));
    assert_eq!(taken(run).len(), 3);
    let silent = runs.register(facts(false));
    assert_eq!(silent.run().give_input("y"), Err(WatcherInputError::ReadsNoInput));
}
