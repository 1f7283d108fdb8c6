//! What a client does not know yet.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use super::host_message::{HostMessage, StateChange};
use super::snapshot_publisher::{HostSnapshot, NumberedRunEnd};
use runner::live::{ApprovalRequest, PoolDescription, RunDescription};

/// Bytes of one message, as far as they are estimated.
const MESSAGE: usize = 200 * 1024;
/// Most bytes that a character of a text takes in JSON.
const WIDEST: usize = 6;
/// Bytes of all else of a run or a question.
const REST: usize = 1024;

/// What a client knows.
#[derive(Debug, Default)]
pub struct ClientKnowledge {
    runs: HashMap<String, Arc<RunDescription>>,
    asks: HashSet<String>,
    pools: HashMap<String, Arc<PoolDescription>>,
    /// The number of the last end; `None` before the first state.
    ends: Option<u64>,
}

impl ClientKnowledge {
    /// Returns the messages that bring a client up to this moment. A client that has missed an end gets the whole state
    /// again.
    pub fn catch_up(&mut self, now: &HostSnapshot) -> Vec<HostMessage> {
        let known = self.ends.filter(|ends| now.gone.front().is_none_or(|first| first.number <= ends + 1));
        let mut parts = ChangeParts::default();
        match known {
            Some(ends) => self.changes(now, ends, &mut parts),
            None => {
                now.runs.iter().for_each(|run| parts.run(run));
                now.asks.iter().for_each(|ask| parts.ask(ask));
                now.pools.iter().for_each(|pool| parts.pool(pool));
            }
        }
        self.runs = now.runs.iter().map(|run| (run.key.clone(), Arc::clone(run))).collect();
        self.asks = now.asks.iter().map(|ask| ask.key.clone()).collect();
        self.pools = now.pools.iter().map(|pool| (pool.key.clone(), Arc::clone(pool))).collect();
        self.ends = Some(now.ends);
        parts.messages(known.is_none())
    }

    fn changes(&self, now: &HostSnapshot, ends: u64, parts: &mut ChangeParts) {
        let differs = |run: &&Arc<RunDescription>| self.runs.get(&run.key).is_none_or(|known| !Arc::ptr_eq(known, run));
        now.runs.iter().filter(differs).for_each(|run| parts.run(run));
        for gone in now.gone.iter().filter(|gone| gone.number > ends) {
            if !self.runs.contains_key(&gone.end.key) {
                parts.run(&gone.run);
            }
            parts.end(gone);
        }
        now.asks.iter().filter(|ask| !self.asks.contains(&ask.key)).for_each(|ask| parts.ask(ask));
        let waits: HashSet<&str> = now.asks.iter().map(|ask| ask.key.as_str()).collect();
        let mut answered: Vec<&String> = self.asks.iter().filter(|key| !waits.contains(key.as_str())).collect();
        answered.sort();
        answered.into_iter().for_each(|key| parts.answered(key));
        let differs =
            |pool: &&Arc<PoolDescription>| self.pools.get(&pool.key).is_none_or(|known| !Arc::ptr_eq(known, pool));
        now.pools.iter().filter(differs).for_each(|pool| parts.pool(pool));
        let is_gone = |key: &&String| now.pools.iter().all(|pool| pool.key != **key);
        self.pools.keys().filter(is_gone).for_each(|key| parts.pool_gone(key));
    }
}

/// A change in parts that fit into a message each.
#[derive(Default)]
struct ChangeParts {
    done: Vec<StateChange>,
    current: StateChange,
    bytes: usize,
}

impl ChangeParts {
    fn run(&mut self, run: &Arc<RunDescription>) {
        let names = run.actor.iter().flat_map(|actor| [&actor.agent, &actor.session, &actor.tool_call_id, &actor.user]);
        let names: usize = names.flatten().map(String::len).sum();
        let target = run.target.as_ref().map_or(0, String::len);
        let texts = run.command.len() + run.cwd.len() + 2 * run.last_line.len() + run.run_id.len() + target + names;
        self.make_room(texts * WIDEST + run.ports.len() * 64);
        self.current.runs.push(Arc::clone(run));
    }

    fn ask(&mut self, ask: &Arc<ApprovalRequest>) {
        let texts: usize = ask.rules.iter().chain(&ask.reasons).map(|text| text.len() + 3).sum();
        self.make_room((ask.command.len() + ask.cwd.len() + texts) * WIDEST);
        self.current.asks.push(Arc::clone(ask));
    }

    fn end(&mut self, gone: &NumberedRunEnd) {
        self.make_room(gone.bytes);
        self.current.ended.push(Arc::clone(&gone.end));
    }

    fn answered(&mut self, key: &str) {
        self.make_room(0);
        self.current.answered.push(key.to_owned());
    }

    fn pool(&mut self, pool: &Arc<PoolDescription>) {
        let texts: usize = pool.report.places.iter().map(|place| place.id.len() + place.state.len()).sum();
        self.make_room(texts * WIDEST + pool.report.places.len() * 160);
        self.current.pools.push(Arc::clone(pool));
    }

    fn pool_gone(&mut self, key: &str) {
        self.make_room(0);
        self.current.pools_gone.push(key.to_owned());
    }

    fn make_room(&mut self, bytes: usize) {
        let bytes = bytes + REST;
        if self.bytes > 0 && self.bytes + bytes > MESSAGE {
            self.done.push(mem::take(&mut self.current));
            self.bytes = 0;
        }
        self.bytes += bytes;
    }

    fn messages(mut self, is_first: bool) -> Vec<HostMessage> {
        self.done.push(self.current);
        let mut changes = self.done.into_iter();
        let mut messages = Vec::new();
        if is_first {
            let StateChange { runs, asks, pools, .. } = changes.next().unwrap_or_default();
            messages.push(HostMessage::State { runs, asks, pools });
        }
        messages.extend(changes.filter(|change| !change.is_empty()).map(HostMessage::Change));
        messages
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use proptest::prelude::*;

    use super::super::host_message::HOST_LINE;
    use super::*;
    use runner::live::{LiveRunState, PoolReport, RunEnding, RunKind};

    fn run(key: &str, last_line: &str) -> Arc<RunDescription> {
        Arc::new(RunDescription {
            key: key.into(),
            run_id: "mark".into(),
            kind: RunKind::Command,
            command: "x".into(),
            cwd: "/".into(),
            target: None,
            actor: None,
            started_at: 1,
            state: LiveRunState::Running,
            waiting: None,
            last_line: last_line.into(),
            limit_ms: None,
            idle_ms: None,
            confinement: None,
            size: None,
            processes: None,
            cpu_ms: None,
            memory: None,
            pid: None,
            task_id: None,
            ports: Vec::new(),
            undo: false,
            stdin: false,
        })
    }

    fn ask(key: &str) -> Arc<ApprovalRequest> {
        let (command, cwd, verdict) = ("x".into(), "/".into(), "ask".into());
        let (rules, reasons) = (Vec::new(), Vec::new());
        Arc::new(ApprovalRequest {
            key: key.into(),
            command,
            cwd,
            actor: None,
            verdict,
            rules,
            reasons,
            undo: None,
            asked_at: 1,
        })
    }

    fn gone(number: u64, key: &str) -> Arc<NumberedRunEnd> {
        let end = RunEnding::with_state_only(ledger::LedgerRunState::Exited).into_report(key.into());
        Arc::new(NumberedRunEnd::new(number, run(key, ""), end))
    }

    /// What a page would show.
    #[derive(Debug, Default, PartialEq)]
    struct ShownPage {
        runs: BTreeMap<String, String>,
        asks: Vec<String>,
        ended: Vec<String>,
    }

    impl ShownPage {
        fn take(&mut self, messages: Vec<HostMessage>) {
            for message in messages {
                assert!(message.to_line().len() <= HOST_LINE);
                match message {
                    HostMessage::State { runs, asks, .. } => {
                        *self = Self { ended: std::mem::take(&mut self.ended), ..Self::default() };
                        self.change(StateChange { runs, asks, ..StateChange::default() });
                    }
                    HostMessage::Change(change) => self.change(change),
                    other => panic!("{other:?}"),
                }
            }
        }

        fn change(&mut self, change: StateChange) {
            self.runs.extend(change.runs.iter().map(|run| (run.key.clone(), run.last_line.clone())));
            for ended in change.ended {
                self.runs.remove(&ended.key).expect("a run that was sent");
                self.ended.push(ended.key.clone());
            }
            self.asks.extend(change.asks.iter().map(|ask| ask.key.clone()));
            self.asks.retain(|key| !change.answered.contains(key));
        }
    }

    fn snapshot(
        runs: Vec<Arc<RunDescription>>,
        gone: Vec<Arc<NumberedRunEnd>>,
        asks: Vec<Arc<ApprovalRequest>>,
    ) -> HostSnapshot {
        let ends = gone.last().map_or(0, |gone| gone.number);
        HostSnapshot { is_made: true, runs, gone: gone.into(), ends, asks, pools: Vec::new() }
    }

    #[test]
    fn a_client_gets_a_state_and_then_what_differs() {
        let mut known = ClientKnowledge::default();
        let (one, two) = (run("c1", ""), run("c2", ""));
        let first = known.catch_up(&snapshot(vec![one.clone(), two.clone()], Vec::new(), vec![ask("a1")]));
        assert_eq!(
            first,
            [HostMessage::State { runs: vec![one.clone(), two], asks: vec![ask("a1")], pools: Vec::new() }]
        );
        let other = run("c2", "line");
        let now = snapshot(vec![one.clone(), other.clone()], Vec::new(), vec![ask("a2")]);
        let (asks, answered) = (vec![ask("a2")], vec!["a1".to_owned()]);
        let change = StateChange { runs: vec![other.clone()], asks, answered, ..StateChange::default() };
        assert_eq!(known.catch_up(&now), [HostMessage::Change(change)]);
        assert_eq!(known.catch_up(&now), []);
        let ends = vec![gone(1, "c2"), gone(2, "c3")];
        let HostMessage::Change(change) = known.catch_up(&snapshot(vec![one], ends, vec![ask("a2")])).remove(0) else {
            panic!("no change")
        };
        assert_eq!(change.ended.iter().map(|end| end.key.as_str()).collect::<Vec<_>>(), ["c2", "c3"]);
        assert_eq!(change.runs.iter().map(|run| run.key.as_str()).collect::<Vec<_>>(), ["c3"], "it has come and gone");
    }

    #[test]
    fn pools_come_as_they_report_themselves_and_go() {
        let pool =
            |key: &str| Arc::new(PoolDescription { key: key.into(), reported_at: 1, report: PoolReport::default() });
        let shown = |pools: &[&Arc<PoolDescription>]| HostSnapshot {
            pools: pools.iter().map(|pool| Arc::clone(pool)).collect(),
            ..snapshot(Vec::new(), Vec::new(), Vec::new())
        };
        let (one, two, again) = (pool("p1"), pool("p2"), pool("p1"));
        let mut known = ClientKnowledge::default();
        let first = HostMessage::State { runs: Vec::new(), asks: Vec::new(), pools: vec![one.clone()] };
        assert_eq!(known.catch_up(&shown(&[&one])), [first]);
        let change =
            |pools, pools_gone| HostMessage::Change(StateChange { pools, pools_gone, ..StateChange::default() });
        assert_eq!(known.catch_up(&shown(&[&one, &two])), [change(vec![two.clone()], Vec::new())]);
        assert_eq!(known.catch_up(&shown(&[&one, &two])), []);
        assert_eq!(known.catch_up(&shown(&[&again])), [change(vec![again.clone()], vec!["p2".into()])]);
    }

    #[test]
    fn a_client_that_has_missed_an_end_gets_a_new_state() {
        let mut known = ClientKnowledge::default();
        known.catch_up(&snapshot(vec![run("c1", "")], Vec::new(), Vec::new()));
        let messages = known.catch_up(&snapshot(vec![run("c9", "")], vec![gone(5, "c8")], Vec::new()));
        assert!(matches!(&messages[..], [HostMessage::State { runs, .. }] if runs[0].key == "c9"), "{messages:?}");
    }

    #[test]
    fn hundreds_of_large_commands_come_in_several_messages() {
        let large = |number: usize| {
            Arc::new(RunDescription {
                command: "\u{1}".repeat(8192),
                ..RunDescription::clone(&run(&format!("c{number}"), ""))
            })
        };
        let runs: Vec<_> = (0..300).map(large).collect();
        let mut page = ShownPage::default();
        page.take(ClientKnowledge::default().catch_up(&snapshot(runs, Vec::new(), Vec::new())));
        assert_eq!(page.runs.len(), 300);
    }

    proptest! {
        #[test]
        fn a_client_that_looks_now_and_then_knows_all_that_goes_on(
            steps in proptest::collection::vec((0..5_u8, 0..6_usize, any::<bool>()), 0..80),
        ) {
            let (mut runs, mut asks): (Vec<Arc<RunDescription>>, Vec<Arc<ApprovalRequest>>) = (Vec::new(), Vec::new());
            let (mut ended, mut ends, mut next) = (VecDeque::new(), 0, 0);
            let (mut known, mut page) = (ClientKnowledge::default(), ShownPage::default());
            for (kind, which, looks) in steps {
                next += 1;
                match kind {
                    0 => runs.push(run(&format!("c{next}"), "")),
                    1 if !runs.is_empty() => {
                        let at = which % runs.len();
                        runs[at] = run(&runs[at].key.clone(), &next.to_string());
                    }
                    2 if !runs.is_empty() => {
                        ends += 1;
                        let key = runs.remove(which % runs.len()).key.clone();
                        ended.push_back(gone(ends, &key));
                        if ended.len() > 3 {
                            ended.pop_front();
                        }
                    }
                    3 => asks.push(ask(&format!("a{next}"))),
                    4 if !asks.is_empty() => drop(asks.remove(which % asks.len())),
                    _ => {}
                }
                if looks {
                    let now = HostSnapshot {
                        is_made: true,
                        runs: runs.clone(),
                        gone: ended.clone(),
                        ends,
                        asks: asks.clone(),
                        pools: Vec::new(),
                    };
                    page.take(known.catch_up(&now));
                    let shown: BTreeMap<_, _> = runs.iter().map(|run| (run.key.clone(), run.last_line.clone())).collect();
                    prop_assert_eq!(&page.runs, &shown);
                    prop_assert_eq!(&page.asks, &asks.iter().map(|ask| ask.key.clone()).collect::<Vec<_>>());
                }
            }
        }
    }
}
