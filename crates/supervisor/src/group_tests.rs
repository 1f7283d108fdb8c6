//! Reads and writes directories with plain files in place of cgroups.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

const MIB: u64 = 1 << 20;

/// A shim's cgroup with the files of these controllers.
struct FakeCgroup(PathBuf, Rc<ShimCgroup>);

impl FakeCgroup {
    fn new(controllers: CgroupControllers) -> Self {
        let path = place().join(format!("{PREFIX}1.2.3/4.5"));
        fs::create_dir_all(&path).expect("a directory");
        let mut files = vec![("cpu.stat", CPU), ("cgroup.kill", ""), ("cgroup.procs", "0\n12\n345\n")];
        if controllers.memory {
            files.extend([
                ("memory.max", "max\n"),
                ("memory.swap.max", "max\n"),
                ("memory.oom.group", "0\n"),
                ("memory.peak", "104857600\n"),
                ("memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\noom_group_kill 0\n"),
            ]);
        }
        if controllers.pids {
            files.push(("pids.max", "max\n"));
        }
        for (file, text) in files {
            fs::write(path.join(file), text).expect("a file");
        }
        let group = ShimCgroup::create(&path, controllers).expect("a cgroup");
        Self(path, Rc::new(group))
    }

    /// Begins a command, which takes the cgroup as it is.
    fn begin(&self, limits: CommandLimits) {
        let mut group = Some(Rc::clone(&self.1));
        ShimCgroup::prepare_for_command(&mut group, limits);
        assert!(group.is_some_and(|group| Rc::ptr_eq(&group, &self.1)), "not created anew");
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap_or_default()
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).expect("a file");
    }
}

impl Drop for FakeCgroup {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0.ancestors().nth(2).expect("a place"));
    }
}

fn place() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let place = std::env::temp_dir().join(format!("agent-bash-group-{}-{count}", std::process::id()));
    fs::create_dir(&place).expect("a directory");
    place
}

const CPU: &str = "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\nnice_usec 0\ncore_sched.force_idle_usec 0\n";
const BOTH: CgroupControllers = CgroupControllers { memory: true, pids: true };

#[test]
fn cpu_time_counts_from_the_beginning_of_the_command() {
    let fake = FakeCgroup::new(CgroupControllers::default());
    fake.begin(CommandLimits::default());
    assert_eq!(fake.1.usage(), Some(ResourceUsage::default()));
    fake.write("cpu.stat", "usage_usec 9999\nuser_usec 3000\nsystem_usec 750\n");
    assert_eq!(fake.1.usage(), Some(ResourceUsage { user_us: 2000, system_us: 250, max_rss: 0 }));
    fake.write("cpu.stat", "nonsense\n");
    assert_eq!(fake.1.usage(), None);
}

#[test]
fn the_kernel_gets_the_limits_that_it_can_enforce() {
    let fake = FakeCgroup::new(BOTH);
    fake.1.limit(CommandLimits { memory: Some(100 * MIB), processes: Some(50), ..CommandLimits::default() });
    // A plain file keeps the rest of a longer text that was there.
    assert!(fake.read("memory.max").starts_with("104857600"));
    assert!(fake.read("memory.oom.group").starts_with('1'), "the whole tree is killed at once");
    assert!(fake.read("memory.swap.max").starts_with('0'), "no disk takes what is over the limit");
    assert_eq!(fake.read("pids.max"), (50 + BEYOND).to_string());
    assert!(fake.1.bounds_memory());
}

#[test]
fn without_controllers_no_limit_is_the_kernels() {
    let fake = FakeCgroup::new(CgroupControllers::default());
    fake.1.limit(CommandLimits { memory: Some(100 * MIB), processes: Some(50), ..CommandLimits::default() });
    assert!(!fake.1.bounds_memory());
    assert_eq!(fake.1.exceeded_memory(), None);
}

#[test]
fn a_controller_that_refuses_a_limit_leaves_it_to_the_scans() {
    let fake = FakeCgroup::new(BOTH);
    fs::remove_file(fake.0.join("memory.max")).expect("a file");
    fake.1.limit(CommandLimits { memory: Some(100 * MIB), ..CommandLimits::default() });
    assert!(!fake.1.bounds_memory());
}

#[test]
fn a_kill_for_memory_is_read_from_the_events() {
    let fake = FakeCgroup::new(BOTH);
    fake.1.limit(CommandLimits { memory: Some(100 * MIB), ..CommandLimits::default() });
    fake.1.note_beginning();
    assert_eq!(fake.1.exceeded_memory(), None);
    fake.write("memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 3\noom_group_kill 1\n");
    assert_eq!(fake.1.exceeded_memory(), Some(100 * MIB));
    fake.1.note_beginning();
    assert_eq!(fake.1.exceeded_memory(), None, "the kills of an earlier command");
}

#[test]
fn a_cgroup_that_was_killed_or_limited_is_created_anew() {
    let path = place().join(format!("{PREFIX}1.2.3/4.5"));
    fs::create_dir_all(path.join("left")).expect("a directory");
    assert!(remove(&path), "with what a command has left in it");
    for (controllers, limits, anew) in [
        (BOTH, CommandLimits { memory: Some(1), ..CommandLimits::default() }, true),
        (BOTH, CommandLimits { cpu: Some(1), open_files: Some(9), ..CommandLimits::default() }, false),
        (
            CgroupControllers::default(),
            CommandLimits { memory: Some(1), processes: Some(1), ..CommandLimits::default() },
            false,
        ),
    ] {
        let fake = FakeCgroup::new(controllers);
        let mut group = Some(Rc::clone(&fake.1));
        // Plain files keep the directory from being removed, as a process does.
        ShimCgroup::prepare_for_command(&mut group, limits);
        assert_eq!(group.is_none(), anew, "{limits:?}");
    }
    let fake = FakeCgroup::new(CgroupControllers::default());
    fake.begin(CommandLimits::default());
    fake.1.kill();
    let mut group = Some(Rc::clone(&fake.1));
    ShimCgroup::prepare_for_command(&mut group, CommandLimits::default());
    assert!(group.is_none(), "no command starts in a cgroup that was killed");
    fs::remove_dir_all(path.ancestors().nth(2).expect("a place")).expect("a directory");
}

#[test]
fn processes_are_listed_with_those_of_cgroups_below() {
    let fake = FakeCgroup::new(CgroupControllers::default());
    fs::create_dir(fake.0.join("inner")).expect("a directory");
    fake.write("inner/cgroup.procs", "6\n");
    let mut pids: Vec<i32> = members(&fake.0).into_iter().map(Pid::as_raw).collect();
    pids.sort_unstable();
    assert_eq!(pids, [6, 12, 345]);
}

#[test]
fn only_the_cgroups_of_shims_are_killed() {
    let fake = FakeCgroup::new(CgroupControllers::default());
    fake.1.kill();
    assert_eq!(fake.read("cgroup.kill"), "1");
    let other = place();
    fs::write(other.join("cgroup.kill"), "").expect("a file");
    kill(&other);
    assert_eq!(fs::read_to_string(other.join("cgroup.kill")).expect("a file"), "");
    fs::remove_dir_all(other).expect("a directory");
}

#[test]
fn the_cgroups_of_the_living_and_of_other_namespaces_are_not_swept() {
    let place = place();
    let namespace = sys::pid_namespace().expect("a namespace").id;
    let this = cgroup_name_of(getpid()).expect("this process");
    let dead = format!("{}.1", getpid());
    for (name, stays) in [
        (format!("{PREFIX}{this}.{namespace}/{dead}"), true),
        (format!("{PREFIX}{dead}.{}/{dead}", namespace + 1), true),
        (format!("{PREFIX}{dead}.{namespace}/{this}"), true),
        (format!("{PREFIX}{dead}.{namespace}/{dead}"), false),
        (format!("other.{dead}.{namespace}/{dead}"), true),
        (format!("{PREFIX}{dead}/{dead}"), true),
    ] {
        fs::create_dir_all(place.join(&name)).expect("directories");
        remove_dead_cgroups(&place);
        assert_eq!(place.join(&name).exists(), stays, "{name}");
        fs::remove_dir_all(&place).expect("the directories");
        fs::create_dir(&place).expect("a directory");
    }
    fs::remove_dir(place).expect("a directory");
}

#[test]
fn the_cgroup_of_a_living_supervisor_stays_for_its_next_shim() {
    let place = place();
    let this = cgroup_name_of(getpid()).expect("this process");
    for (name, stays) in [(format!("{PREFIX}{this}.9"), true), (format!("{PREFIX}{}.1.9", getpid()), false)] {
        let supervisor = place.join(name);
        fs::create_dir_all(supervisor.join("1.2")).expect("directories");
        fs::create_dir(supervisor.join("3.4")).expect("a directory");
        remove_with_parent(&supervisor.join("1.2"));
        assert!(supervisor.exists(), "another shim has its own there");
        remove_with_parent(&supervisor.join("3.4"));
        assert_eq!(supervisor.exists(), stays);
    }
    fs::remove_dir_all(place).expect("a directory");
}
