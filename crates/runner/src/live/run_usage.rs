//! Processor time, memory and ports of runs, sampled while they are watched.

use std::collections::{HashMap, HashSet};

use nix::unistd::{Pid, getpid};

use super::run_description::ServedPort;
use receipt::port_listeners::PortListeners;

/// Most processes that are sampled at a time, of all runs together.
const PROCESSES: usize = 2_000;
/// Most ports of a run that are shown.
const PORTS: usize = 32;

/// What a run uses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunUsageSample {
    /// Processor time of its processes and of those that they have waited for, ms.
    pub cpu_ms: u64,
    /// Number of living processes.
    pub processes: u64,
    /// Memory in use, bytes. Shared memory counts for each of its users.
    pub memory: u64,
    /// The ports that it serves, by number.
    pub ports: Vec<ServedPort>,
}

/// Samples runs, each given by its key and its shell. May take some milliseconds.
pub fn sample(shells: &[(String, i32)]) -> HashMap<String, RunUsageSample> {
    let mut left = PROCESSES;
    let mut found = HashMap::new();
    let mut trees = Vec::new();
    for (key, shell) in shells {
        let (tree, usage) = sample_tree(Pid::from_raw(*shell), &mut left);
        found.insert(key.clone(), usage);
        trees.push((key, tree));
    }
    add_ports(&trees, &mut found);
    found
}

/// Returns the processes of a run, which are all below its shim, or without a shim below its shell, and their usage.
fn sample_tree(shell: Pid, left: &mut usize) -> (Vec<Pid>, RunUsageSample) {
    let shim = sys::identity(shell).map(|shell| shell.parent);
    let shim = shim.filter(|parent| parent.as_raw() > 1 && *parent != getpid());
    let (mut tree, mut usage, mut cpu_us) = (Vec::new(), RunUsageSample::default(), 0);
    let mut known = HashSet::new();
    let mut waiting = shim.map_or_else(|| vec![shell], sys::children);
    while let Some(pid) = waiting.pop() {
        if *left == 0 {
            break;
        }
        if !known.insert(pid) {
            continue;
        }
        *left -= 1;
        let Some(sample) = sys::sample(pid) else { continue };
        cpu_us += sample.usage.user_us + sample.usage.system_us;
        usage.memory += sample.resident;
        tree.push(pid);
        waiting.extend(sys::children(pid));
    }
    (usage.cpu_ms, usage.processes) = (cpu_us / 1000, tree.len() as u64);
    (tree, usage)
}

/// Adds the ports that the processes of each run serve, in this network or in one of their own.
fn add_ports(trees: &[(&String, Vec<Pid>)], found: &mut HashMap<String, RunUsageSample>) {
    let all: Vec<Pid> = trees.iter().flat_map(|(_, tree)| tree.iter().copied()).collect();
    let Ok(listeners) = PortListeners::read() else { return };
    let mut shared = listeners.difference_since(&PortListeners::default(), &all);
    shared.keep_owned();
    for (key, tree) in trees {
        let mut own = receipt::PortDifference::default();
        own.add_own_network(tree);
        let is_own = |pid: Option<i32>| pid.is_some_and(|pid| tree.contains(&Pid::from_raw(pid)));
        let of_tree = shared.opened.iter().filter(|port| is_own(port.pid)).cloned();
        let mut ports: Vec<ServedPort> = of_tree
            .chain(own.opened)
            .map(|receipt::ListeningPort { port, address, .. }| ServedPort { port, address })
            .collect();
        ports.sort_by(|a, b| (a.port, &a.address).cmp(&(b.port, &b.address)));
        ports.dedup();
        ports.truncate(PORTS);
        if let Some(usage) = found.get_mut(*key) {
            usage.ports = ports;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    struct KilledOnDrop(Child);

    impl Drop for KilledOnDrop {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_tree_is_sampled_with_all_below_it() {
        let script = "i=0; while :; do i=$((i+1)); done & sleep 1000000 & wait";
        let mut shell = Command::new("setsid");
        let shell = KilledOnDrop(shell.args(["bash", "-c", script]).stdin(Stdio::null()).spawn().expect("a shell"));
        let pid = i32::try_from(shell.0.id()).expect("a pid");
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let mut left = PROCESSES;
            let (tree, usage) = sample_tree(Pid::from_raw(pid), &mut left);
            // Its parent is this very process, so the walk begins at the shell.
            assert!(!tree.contains(&getpid()));
            if tree.len() == 3 && usage.cpu_ms > 0 && usage.memory > 0 {
                assert_eq!((left, usage.processes), (PROCESSES - 3, 3));
                break;
            }
            assert!(Instant::now() < until, "{tree:?} {usage:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = nix::sys::signal::killpg(Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
    }

    #[test]
    fn a_run_that_is_gone_uses_nothing() {
        let found = sample(&[("c1".to_owned(), i32::MAX)]);
        assert_eq!(found["c1"], RunUsageSample::default());
    }
}
