//! The inspector compared with real servers: a client's bytes are generated, led through an inspector that allows
//! `a.test`, and given to each server. The answer tells which name the server has read.
//!
//! - A server that answers with another name, or with none, is a fault of the inspector.
//! - Bytes that all servers read as meant for `a.test` and that the inspector refuses are counted.
//!
//! `AGENT_BASH_SEED` and `AGENT_BASH_CASES` make other cases, and more. `-- --ignored --nocapture` shows the numbers.

mod http;
mod random;
mod servers;
mod tls;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{DialledDestination, HandshakeInspector};
use random::SeededRandom;
use servers::{ExchangeStep, RealServer, RealServers, WritePace};

/// The name that is allowed.
const ALLOWED: &str = "a.test";
/// The name that is not.
const OTHER: &str = "evil.test";
/// The cases of a comparison, unless `AGENT_BASH_CASES` says otherwise.
const CASES: usize = 3_000;
/// Connections at the same time.
const THREADS: usize = 8;
/// Faults after which a comparison ends.
const MOST_FAULTS: usize = 30;

/// What a server has read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ServerReading {
    /// The name that is allowed.
    Right,
    /// Another one, or none where one has to be.
    Wrong(String),
}

/// Makes the bytes of clients, and reads answers.
trait ServerDialect: Sync {
    /// A change of an ordinary client.
    type Change: Clone + Debug + Send + Sync;
    /// Returns some changes.
    fn changes(&self, random: &mut SeededRandom) -> Vec<Self::Change>;
    /// Returns what an ordinary client with these changes does.
    fn steps(&self, changes: &[Self::Change]) -> Vec<ExchangeStep>;
    /// Returns the names in an answer.
    fn read(&self, server: &RealServer, answer: &[u8]) -> Vec<ServerReading>;
}

fn inspector() -> HandshakeInspector {
    HandshakeInspector::new(DialledDestination::Name { name: ALLOWED.into(), mapped: false })
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |value| value.parse().expect("a number"))
}

/// Writes a stream in parts that end at these places.
fn writes(stream: &[u8], cuts: &[usize]) -> Vec<ExchangeStep> {
    let mut ends: Vec<usize> = cuts.iter().copied().filter(|cut| (1..stream.len()).contains(cut)).collect();
    ends.extend([0, stream.len()]);
    ends.sort_unstable();
    ends.dedup();
    ends.windows(2).map(|ends| ExchangeStep::Write(stream[ends[0]..ends[1]].to_vec())).collect()
}

/// What a comparison has found.
#[derive(Default)]
struct DialectFaults {
    connections: usize,
    refused: usize,
    /// The shortest changes, with the servers and what they read.
    faults: BTreeMap<String, BTreeSet<String>>,
    /// Cases that are refused although all servers read the right name.
    needless_cases: usize,
    /// The single changes that suffice for that.
    needless: BTreeMap<String, usize>,
}

/// Returns the names that a server reads behind the inspector.
fn names<D: ServerDialect>(
    dialect: &D,
    server: &RealServer,
    changes: &[D::Change],
    pace: WritePace,
) -> Vec<ServerReading> {
    dialect.read(server, &server.play(&dialect.steps(changes), Some(inspector()), pace).answer)
}

fn is_wrong<D: ServerDialect>(dialect: &D, server: &RealServer, changes: &[D::Change]) -> Option<String> {
    let wrong = |pace| {
        names(dialect, server, changes, pace).into_iter().find_map(|read| match read {
            ServerReading::Wrong(name) => Some(name),
            ServerReading::Right => None,
        })
    };
    // Some servers answer otherwise when their client has closed its side, which it cannot do behind a refusal.
    wrong(WritePace::Fast).and_then(|_| wrong(WritePace::Calm))
}

/// Leaves out the changes that a finding does not need.
fn shortest<C: Clone>(mut changes: Vec<C>, holds: impl Fn(&[C]) -> bool) -> Vec<C> {
    let mut at = 0;
    while at < changes.len() {
        let mut fewer = changes.clone();
        fewer.remove(at);
        if holds(&fewer) {
            changes = fewer;
        } else {
            at += 1;
        }
    }
    changes
}

/// Returns whether the inspector refuses what all servers read as meant for the name that is allowed.
fn is_needless<D: ServerDialect>(dialect: &D, servers: &[&RealServer], changes: &[D::Change]) -> bool {
    let steps = dialect.steps(changes);
    let mut inspector = inspector();
    let refuses = steps.iter().any(|step| matches!(step, ExchangeStep::Write(bytes) if inspector.feed(bytes).is_err()));
    let is_ordinary = |step: &ExchangeStep| match step {
        ExchangeStep::Write(bytes) => memchr::memmem::find(&bytes.to_ascii_lowercase(), OTHER.as_bytes()).is_none(),
        ExchangeStep::Await => true,
    };
    refuses
        && steps.iter().all(is_ordinary)
        && servers.iter().all(|server| {
            let reads = dialect.read(server, &server.play(&steps, None, WritePace::Fast).answer);
            !reads.is_empty() && reads.iter().all(|read| *read == ServerReading::Right)
        })
}

fn compare_one<D: ServerDialect>(
    dialect: &D,
    servers: &[&RealServer],
    random: &mut SeededRandom,
    findings: &Mutex<DialectFaults>,
) {
    let changes = dialect.changes(random);
    let steps = dialect.steps(&changes);
    let mut faults = Vec::new();
    let mut refused = false;
    for server in servers {
        let exchange = server.play(&steps, Some(inspector()), WritePace::Fast);
        refused |= exchange.refused.is_some();
        let reads = dialect.read(server, &exchange.answer);
        if reads.iter().any(|read| *read != ServerReading::Right)
            && let Some(name) = is_wrong(dialect, server, &changes)
        {
            let what = format!("{} reads {name:?}", server.program);
            let is_known =
                findings.lock().expect("no panic").faults.values().filter(|known| known.contains(&what)).count() > 2;
            if !is_known {
                let least = shortest(changes.clone(), |fewer| is_wrong(dialect, server, fewer).is_some());
                faults.push((what, format!("{least:?}")));
            }
        }
    }
    let needless = (refused && is_needless(dialect, servers, &changes))
        .then(|| shortest(changes, |fewer| is_needless(dialect, servers, fewer)));
    let mut findings = findings.lock().expect("no panic");
    findings.connections += servers.len();
    findings.refused += usize::from(refused);
    for (what, least) in faults {
        findings.faults.entry(least).or_default().insert(what);
    }
    findings.needless_cases += usize::from(needless.is_some());
    if let Some([change]) = needless.as_deref() {
        *findings.needless.entry(format!("{change:?}")).or_default() += 1;
    }
}

/// Compares the inspector with all servers of a kind. Returns the number of faults.
fn compare<D: ServerDialect>(speaks: &str, dialect: &D, servers: &[&RealServer]) -> usize {
    check_plain(dialect, servers);
    let seed = number("AGENT_BASH_SEED", 1);
    let cases = number("AGENT_BASH_CASES", CASES);
    let (next, findings) = (AtomicUsize::new(0), Mutex::new(DialectFaults::default()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let ends = || findings.lock().expect("no panic").faults.len() >= MOST_FAULTS;
                while let Some(case) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|case| *case < cases && !ends())
                {
                    compare_one(dialect, servers, &mut SeededRandom((seed << 32 | case) as u64), &findings);
                }
            });
        }
    });
    let DialectFaults { connections, refused, faults, needless_cases, needless } =
        findings.into_inner().expect("no panic");
    println!(
        "{speaks}, AGENT_BASH_SEED={seed} AGENT_BASH_CASES={cases}: {connections} connections, {refused} cases refused"
    );
    println!("{needless_cases} cases are refused that all servers read alike. Those with one oddity:");
    needless.iter().for_each(|(change, count)| println!("  {count} × {change:.200}"));
    faults.iter().for_each(|(least, what)| println!("  FAULT {least:.1000}: {what:?}"));
    faults.len()
}

/// Fails unless each server reads what an ordinary client sends.
fn check_plain<D: ServerDialect>(dialect: &D, servers: &[&RealServer]) {
    for server in servers {
        assert_eq!(names(dialect, server, &[], WritePace::Fast), [ServerReading::Right], "{}", server.program);
        assert_eq!(names(dialect, server, &[], WritePace::Calm), [ServerReading::Right], "{}", server.program);
    }
}

#[test]
#[ignore = "stress: it starts servers, and takes minutes"]
fn the_gate_reads_what_servers_read() {
    let servers = RealServers::start();
    let speaking = |speaks: &str| servers.all.iter().filter(|server| server.speaks == speaks).collect::<Vec<_>>();
    let mut faults = compare("http", &http::HttpDialect, &speaking("http"));
    for speaks in ["tls", "starttls"] {
        let servers = speaking(speaks);
        faults += compare(speaks, &tls::TlsDialect::for_servers(&servers, speaks == "starttls"), &servers);
    }
    assert_eq!(faults, 0);
}
