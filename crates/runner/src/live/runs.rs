//! All commands of this process that have not ended, and whether they are watched.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::ended::{Ended, Ending};
use super::run::{Facts, LiveRun};
use super::tasks::TaskSource;
use ledger::State;

/// Most ends that are kept for the watchers between two looks at them.
const ENDS: usize = 1024;

/// Most runs that have ended and can still be followed, and for how long.
const RECENT: (usize, Duration) = (64, Duration::from_secs(5 * 60));

/// A run with its end.
pub type EndedRun = (Arc<LiveRun>, Ended);

/// The commands of this process.
#[derive(Default)]
pub struct Runs {
    next: AtomicU64,
    lists: Mutex<Lists>,
    sources: Mutex<Vec<Weak<dyn TaskSource>>>,
    watchers: AtomicUsize,
    /// The number of runs that keep the end of their output.
    tails: AtomicUsize,
    changed: Notify,
}

#[derive(Default)]
struct Lists {
    running: HashMap<u64, Arc<LiveRun>>,
    /// Those that have ended since the last look, while there is a watcher.
    ended: Vec<EndedRun>,
    /// The last that have ended while there was a watcher, the oldest first.
    recent: VecDeque<(Instant, Arc<LiveRun>)>,
}

impl Lists {
    fn forget(&mut self) {
        let (most, time) = RECENT;
        while self.recent.front().is_some_and(|(ended, _)| self.recent.len() > most || ended.elapsed() > time) {
            self.recent.pop_front().iter().for_each(|(_, run)| run.drop_tail());
        }
    }
}

/// Returns the runs of this process.
pub fn runs() -> &'static Runs {
    static RUNS: LazyLock<Runs> = LazyLock::new(Runs::default);
    &RUNS
}

impl Runs {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sources(&self) -> MutexGuard<'_, Vec<Weak<dyn TaskSource>>> {
        self.sources.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a command until the guard is dropped.
    pub fn show(&'static self, facts: Facts) -> Shown {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let run = LiveRun::new(number, facts);
        {
            // The last watcher drops all tails under the same lock.
            let mut lists = self.lists();
            if self.is_watched() {
                run.keep_tail(&self.tails);
            }
            lists.running.insert(number, Arc::clone(&run));
        }
        self.on_change();
        Shown { runs: self, run, has_ended: false }
    }

    /// Registers the tasks of a registry for as long as it lives.
    pub fn add_source(&self, source: Weak<dyn TaskSource>) {
        let mut sources = self.sources();
        sources.retain(|known| known.strong_count() > 0);
        sources.push(source);
    }

    /// Returns the registries that live.
    pub fn task_sources(&self) -> Vec<Arc<dyn TaskSource>> {
        self.sources().iter().filter_map(Weak::upgrade).collect()
    }

    /// Returns the run with this key.
    pub fn find(&self, key: &str) -> Option<Arc<LiveRun>> {
        let number = key.strip_prefix('c')?.parse().ok()?;
        self.lists().running.get(&number).cloned()
    }

    /// Returns the run with this key that has ended a moment ago, while there was a watcher.
    pub fn find_recent(&self, key: &str) -> Option<Arc<LiveRun>> {
        self.lists().recent.iter().map(|(_, run)| run).find(|run| run.key() == key).cloned()
    }

    /// Returns the runs that go on, the oldest first, and those that have ended since the last call.
    pub fn take(&self) -> (Vec<Arc<LiveRun>>, Vec<EndedRun>) {
        let (mut running, ended) = {
            let mut lists = self.lists();
            lists.forget();
            (lists.running.values().cloned().collect::<Vec<_>>(), std::mem::take(&mut lists.ended))
        };
        running.sort_unstable_by_key(|run| run.number());
        (running, ended)
    }

    /// Returns whether someone watches.
    pub fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Relaxed) > 0
    }

    /// Tells the watchers of a change that they see.
    pub fn on_change(&self) {
        if self.is_watched() {
            self.changed.notify_one();
        }
    }

    /// Waits for a change.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Keeps what watchers need, until the guard is dropped.
    pub fn watch(&'static self) -> Watching {
        self.watchers.fetch_add(1, Ordering::Relaxed);
        Watching(self)
    }

    /// Removes a run. Its end is only told, and only made, while someone watches.
    fn end(&self, run: &Arc<LiveRun>, ending: impl Fn() -> Ending) {
        run.end();
        let made = self.is_watched().then(&ending);
        let mut lists = self.lists();
        lists.running.remove(&run.number());
        // A watcher may have come meanwhile, and have seen the run.
        if self.is_watched() {
            if lists.ended.len() < ENDS {
                let ended = made.unwrap_or_else(ending).of(run.key());
                lists.ended.push((Arc::clone(run), ended));
            }
            lists.recent.push_back((Instant::now(), Arc::clone(run)));
            lists.forget();
        } else {
            run.drop_tail();
        }
        drop(lists);
        self.on_change();
    }
}

/// A watcher of the runs.
pub struct Watching(&'static Runs);

impl Drop for Watching {
    fn drop(&mut self) {
        if self.0.watchers.fetch_sub(1, Ordering::Relaxed) == 1 {
            let mut lists = self.0.lists();
            // Another one may have come meanwhile.
            if self.0.is_watched() {
                return;
            }
            lists.running.values().chain(lists.recent.iter().map(|(_, run)| run)).for_each(|run| run.drop_tail());
            (lists.ended, lists.recent) = (Vec::new(), VecDeque::new());
        }
    }
}

/// A registered command.
pub struct Shown {
    runs: &'static Runs,
    run: Arc<LiveRun>,
    has_ended: bool,
}

impl Shown {
    /// Returns the run.
    pub fn run(&self) -> &Arc<LiveRun> {
        &self.run
    }

    /// Ends the run like this. Without this call it counts as aborted.
    pub fn end(mut self, ending: impl Fn() -> Ending) {
        self.has_ended = true;
        self.runs.end(&self.run, ending);
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        if !self.has_ended {
            self.runs.end(&self.run, || Ending::bare(State::Aborted));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::{InputError, Order};
    use super::super::shape::Kind;
    use super::super::tail::TAILS;
    use super::super::tap::Tap;
    use super::*;
    use capture::Stream;

    /// Returns the orders that wait.
    fn taken(run: &LiveRun) -> Vec<Order> {
        std::iter::from_fn(|| run.take_order()).collect()
    }

    fn facts(is_fed: bool) -> Facts {
        Facts {
            run_id: "mark".into(),
            kind: Kind::Command,
            command: "curl -u joe:hunter2hunter2 https://x.example".into(),
            cwd: "/p".into(),
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

    fn own() -> &'static Runs {
        Box::leak(Box::default())
    }

    #[test]
    fn without_a_watcher_nothing_is_kept_of_what_has_ended() {
        let runs = own();
        runs.show(facts(false)).end(|| panic!("nobody watches"));
        assert!(runs.take().0.is_empty() && runs.take().1.is_empty());
        let watching = runs.watch();
        let shown = runs.show(facts(false));
        let key = shown.run().key();
        assert!(runs.find(&key).is_some());
        shown.end(|| Ending { exit_code: Some(3), ..Ending::bare(State::Exited) });
        assert!(runs.find(&key).is_none());
        let (running, ended) = runs.take();
        assert!(running.is_empty());
        assert_eq!(
            ended.iter().map(|(_, end)| (end.key.clone(), end.end.exit_code)).collect::<Vec<_>>(),
            [(key, Some(3))]
        );
        drop(runs.show(facts(false)));
        drop(watching);
        assert!(runs.take().1.is_empty());
    }

    #[test]
    fn what_a_run_held_at_its_end_can_be_followed_for_a_moment_while_someone_watches() {
        let runs = own();
        let last = || {
            let last = Tap::new(Arc::default());
            last.begin_behind(7);
            last.push(Stream::Stdout, b"last");
            last
        };
        let text = |tap: &Tap| (tap.take_before(), tap.take(99).map(|chunk| chunk.bytes), tap.is_over());
        let unseen = runs.show(facts(false));
        let key = unseen.run().key();
        unseen.end(|| Ending::bare(State::Exited));
        assert!(runs.find_recent(&key).is_none(), "nobody watched");
        let shown = runs.show(facts(false));
        let watching = runs.watch();
        let (run, key) = (Arc::clone(shown.run()), shown.run().key());
        run.on_driven();
        let late = Tap::new(Arc::default());
        run.follow(Arc::clone(&late));
        run.keep_last(last());
        shown.end(|| Ending::bare(State::Exited));
        assert_eq!(text(&late), (7, Some(b"last".to_vec()), true), "its order came too late");
        for _ in 0..2 {
            let tap = Tap::new(Arc::default());
            runs.find_recent(&key).expect("a moment ago").follow(Arc::clone(&tap));
            assert_eq!(text(&tap), (7, Some(b"last".to_vec()), true));
        }
        (0..RECENT.0).for_each(|_| drop(runs.show(facts(false))));
        assert!(runs.find_recent(&key).is_none(), "others came later");
        drop(runs.show(facts(false)));
        drop(watching);
        assert!(runs.lists().recent.is_empty());
    }

    #[test]
    fn a_command_is_shown_without_its_secrets() {
        let runs = own();
        let shown = runs.show(facts(false));
        let shape = shown.run().shape(None);
        assert!(!shape.command.contains("hunter"), "{}", shape.command);
        assert_eq!((shape.run_id.as_str(), shape.pid), ("mark", None));
        shown.run().on_start(7);
        shown.run().rename("other");
        let shape = shown.run().shape(None);
        assert_eq!((shape.run_id.as_str(), shape.pid), ("other", Some(7)));
    }

    #[test]
    fn a_follower_gets_what_is_held_first_and_the_end_last() {
        let runs = own();
        let shown = runs.show(facts(false));
        let run = Arc::clone(shown.run());
        let early = Tap::new(Arc::default());
        run.follow(Arc::clone(&early));
        assert!(run.takes_output() && taken(&run).is_empty(), "nothing is held before the start");
        run.on_driven();
        let late = Tap::new(Arc::default());
        run.follow(Arc::clone(&late));
        let [Order::Follow(tap)] = &taken(&run)[..] else { panic!("asked for what is held") };
        tap.push(Stream::Stdout, b"held ");
        run.attach(Arc::clone(tap));
        run.on_output(Stream::Stdout, b"new");
        let text = |tap: &Tap| tap.take(99).map(|chunk| String::from_utf8(chunk.bytes).expect("text"));
        assert_eq!((text(&early), text(&late)), (Some("new".into()), Some("held new".into())));
        run.unfollow(&early);
        run.on_output(Stream::Stdout, b"more");
        assert_eq!((text(&early), text(&late)), (None, Some("more".into())));
        let waits = Tap::new(Arc::default());
        run.follow(Arc::clone(&waits));
        let gone = Tap::new(Arc::default());
        run.follow(Arc::clone(&gone));
        run.unfollow(&gone);
        run.attach(Arc::clone(&gone));
        drop(shown);
        assert!(late.is_over() && waits.is_over() && !early.is_over() && !gone.is_over());
        run.follow(Arc::clone(&early));
        assert!(early.is_over(), "a tap that comes after the end");
    }

    /// Follows a run.
    fn follow(run: &LiveRun) -> Arc<Tap> {
        let tap = Tap::new(Arc::default());
        run.follow(Arc::clone(&tap));
        tap
    }

    /// Returns the bytes before a tap, and its text.
    fn held(tap: &Tap) -> (u64, String) {
        let chunks = std::iter::from_fn(|| tap.take(usize::MAX));
        let bytes = chunks.inspect(|chunk| assert_eq!(chunk.gap, 0)).flat_map(|chunk| chunk.bytes).collect();
        (tap.take_before(), String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn a_run_that_was_watched_from_its_start_gives_later_followers_its_output_as_it_was_written() {
        let runs = own();
        let watching = runs.watch();
        let shown = runs.show(facts(false));
        let run = Arc::clone(shown.run());
        assert!(run.takes_output());
        run.on_driven();
        run.on_output(Stream::Stdout, b"\x1b[31mred\x1b[0m ");
        run.on_output(Stream::Stderr, b"error ");
        let (first, second) = (follow(&run), follow(&run));
        run.on_output(Stream::Stdout, b"more");
        assert!(taken(&run).is_empty(), "the command is not asked");
        let all = (0, "\x1b[31mred\x1b[0m error more".to_owned());
        assert_eq!((held(&first), held(&second)), (all.clone(), all.clone()));
        run.unfollow(&first);
        run.unfollow(&second);
        assert!(run.takes_output(), "its tail goes on");
        let key = run.key();
        shown.end(|| Ending::bare(State::Exited));
        let late = follow(&runs.find_recent(&key).expect("a moment ago"));
        assert_eq!((held(&late), late.is_over()), (all, true));
        drop(watching);
    }

    #[test]
    fn tails_live_as_long_as_someone_watches() {
        let runs = own();
        let tails = || runs.tails.load(Ordering::Relaxed);
        let unseen = runs.show(facts(false));
        assert!(!unseen.run().takes_output(), "nobody watched at its start");
        let (one, other) = (runs.watch(), runs.watch());
        let shown = runs.show(facts(false));
        let ended = runs.show(facts(false));
        let kept = Arc::clone(ended.run());
        drop(ended);
        drop(one);
        assert_eq!(tails(), 2);
        drop(other);
        assert_eq!((tails(), shown.run().takes_output()), (0, false));
        let _watching = runs.watch();
        assert_eq!(tails(), 0, "what began before is as it was");
        shown.run().on_driven();
        let _tap = follow(shown.run());
        assert!(matches!(taken(shown.run())[..], [Order::Follow(_)]), "the command is asked for what it holds");
        (0..=RECENT.0).for_each(|_| drop(runs.show(facts(false))));
        assert_eq!(tails(), RECENT.0, "and none of what cannot be followed any more");
        drop(kept);
    }

    #[test]
    fn when_there_are_as_many_tails_as_a_process_may_have_new_runs_keep_none() {
        let runs = own();
        let _watching = runs.watch();
        let mut shown: Vec<_> = (0..TAILS).map(|_| runs.show(facts(false))).collect();
        assert!(shown.iter().all(|shown| shown.run().takes_output()));
        let next = runs.show(facts(false));
        assert!(!next.run().takes_output());
        next.run().on_driven();
        let _tap = follow(next.run());
        assert!(matches!(taken(next.run())[..], [Order::Follow(_)]));
        shown.clear();
        assert!(runs.show(facts(false)).run().takes_output());
    }

    #[test]
    fn followers_of_a_fast_writer_miss_nothing_and_get_nothing_twice() {
        let runs = own();
        let _watching = runs.watch();
        let shown = runs.show(facts(false));
        let run = shown.run();
        run.on_driven();
        let lines: Vec<String> = (10_000..18_000).map(|number| format!("line {number}\n")).collect();
        let all = lines.concat();
        let taps: Vec<_> = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                // In pieces that end in the midst of lines.
                for piece in all.as_bytes().chunks(13) {
                    run.on_output(Stream::Stdout, piece);
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
        let shown = runs.show(facts(true));
        let run = shown.run();
        run.on_driven();
        for _ in 0..9 {
            run.stop();
            run.look();
        }
        assert!(matches!(taken(run)[..], [Order::Stop, Order::Look]));
        run.on_look(String::new(), None);
        run.look();
        assert!(matches!(taken(run)[..], [Order::Look]));
        let half = "x".repeat(32 * 1024);
        assert_eq!((run.give(&half), run.give(&half)), (Ok(()), Ok(())));
        assert_eq!(run.give("y"), Err(InputError::Full));
        run.on_input(32 * 1024);
        run.set_unwritten(32 * 1024);
        assert_eq!(run.give("y"), Err(InputError::Full), "it was taken and not written");
        run.set_unwritten(0);
        assert_eq!(run.give("y"), Ok(()));
        assert_eq!(taken(run).len(), 3);
        let silent = runs.show(facts(false));
        assert_eq!(silent.run().give("y"), Err(InputError::None));
    }
}
