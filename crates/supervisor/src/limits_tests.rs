//! Limits over a tree, with figures in place of processes.

use super::*;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

fn watch(limits: CommandLimits) -> LimitWatch {
    let mut watch = LimitWatch::begin(limits, Instant::now(), None, None).expect("something to watch");
    watch.cores = 2;
    watch
}

#[test]
fn nothing_is_watched_without_a_limit_over_the_tree() {
    let own = CommandLimits { open_files: Some(9), file_bytes: Some(9), ..CommandLimits::default() };
    assert!(LimitWatch::begin(own, Instant::now(), None, None).is_none());
    assert!(LimitWatch::begin(CommandLimits { processes: Some(9), ..own }, Instant::now(), None, None).is_some());
}

#[test]
fn shared_memory_is_asked_for_only_when_it_matters() {
    let watch = watch(CommandLimits { memory: Some(100 * MIB), ..CommandLimits::default() });
    let totals = TreeUsage { resident: 100 * MIB, ..TreeUsage::default() };
    assert_eq!(watch.find_exceeded(&totals, |_| unreachable!("within the limit whatever is shared")), None);
    let totals = TreeUsage { resident: 150 * MIB, ..totals };
    assert_eq!(watch.find_exceeded(&totals, |_| 100 * MIB), None);
    let broken = ExceededLimit { limit: LimitKind::Memory, used: 101 * MIB, allowed: 100 * MIB };
    assert_eq!(watch.find_exceeded(&totals, |_| 101 * MIB), Some(broken));
}

#[test]
fn cpu_time_that_was_seen_once_is_not_forgotten() {
    let mut watch = watch(CommandLimits { cpu: Some(1000), ..CommandLimits::default() });
    watch.cpu_us = 1_001_000;
    let broken = ExceededLimit { limit: LimitKind::Cpu, used: 1001, allowed: 1000 };
    assert_eq!(watch.find_exceeded(&TreeUsage::default(), |_| 0), Some(broken));
}

#[test]
fn the_usage_of_the_whole_tree_is_added_up() {
    let ms = |user: u64, system: u64| ResourceUsage { user_us: user * 1000, system_us: system * 1000, max_rss: 0 };
    let limits = CommandLimits { cpu: Some(1_000), memory: Some(300 * MIB), ..CommandLimits::default() };
    // Each row: the usage of each process, the usage of those that were reaped, the count of the cgroup, their memory
    // in MiB, the exceeded limit.
    for (alive, ended, group, memory, broken) in [
        (vec![ms(150, 50); 5], ms(0, 0), None, 10, None),
        (vec![ms(150, 51); 5], ms(0, 0), None, 10, Some(LimitKind::Cpu)),
        (vec![], ms(900, 101), None, 0, Some(LimitKind::Cpu)),
        (vec![ms(1, 0)], ms(900, 100), None, 1, Some(LimitKind::Cpu)),
        (vec![ms(1, 0)], ms(100, 0), Some(ms(900, 101)), 1, Some(LimitKind::Cpu)),
        (vec![ms(901, 100)], ms(0, 0), Some(ms(900, 0)), 1, Some(LimitKind::Cpu)),
        (vec![ms(0, 0)], ms(0, 0), Some(ms(1, 0)), 1, None),
        (vec![ms(1, 0); 2], ms(0, 0), None, 150, None),
        (vec![ms(1, 0); 2], ms(0, 0), None, 151, Some(LimitKind::Memory)),
    ] {
        let sample = |usage: &ResourceUsage| {
            let sample = UsageSample { parent: getpid(), usage: *usage, waited: false, resident: memory * MIB };
            (getpid(), sample)
        };
        let seen: Vec<_> = alive.iter().map(sample).collect();
        let totals = TreeUsage::of(seen.len(), &seen, ended, group);
        let mut watch = watch(limits);
        watch.cpu_us = totals.cpu_us;
        let found = watch.find_exceeded(&totals, |_| totals.resident).map(|broken| broken.limit);
        assert_eq!(found, broken, "{alive:?} {ended:?} {group:?} {memory}");
    }
}

#[test]
fn notes_name_the_limit_and_both_figures() {
    let note = |limit, used, allowed| ExceededLimit { limit, used, allowed }.note();
    assert_eq!(
        note(LimitKind::Memory, 812 * MIB, 512 * MIB),
        "limits.memoryBytes: the command's processes held 812 MiB together, over the limit of 512 MiB; they were ended"
    );
    assert_eq!(
        note(LimitKind::Cpu, 2010, 2000),
        "limits.cpuSeconds: the command's processes used 2.01 s of CPU time together, over the limit of 2 s; they were \
         ended"
    );
    assert_eq!(
        note(LimitKind::Processes, 51, 50),
        "limits.processes: the command had more than 50 processes at once; they were ended"
    );
}

#[test]
fn a_tree_that_sleeps_is_checked_less_and_less_often() {
    let mut watch = watch(CommandLimits { processes: Some(9), memory: Some(1000 * MIB), ..CommandLimits::default() });
    let totals = TreeUsage { resident: MIB, processes: 1, cpu_us: 10_000 };
    watch.pause = watch.next_pause(&totals, Duration::ZERO);
    assert_eq!(watch.pause, USUAL);
    watch.last = totals;
    let pauses = [(); 4].map(|()| {
        watch.pause = watch.next_pause(&totals, Duration::ZERO);
        watch.pause
    });
    assert_eq!(pauses, [USUAL * 2, USUAL * 4, IDLE, IDLE]);
    let grown = TreeUsage { processes: 5, ..totals };
    assert_eq!(watch.next_pause(&grown, Duration::ZERO), NEAR);
    assert_eq!(watch.next_pause(&grown, Duration::from_millis(3)), Duration::from_millis(30));
    assert_eq!(watch.next_pause(&grown, Duration::from_millis(30)), Duration::from_millis(300));
}

#[test]
fn memory_is_checked_before_it_can_grow_far_beyond_its_limit() {
    for allowed in [50 * MIB, 200 * MIB, 8000 * MIB] {
        let mut watch = watch(CommandLimits { memory: Some(allowed), ..CommandLimits::default() });
        assert!(watch.next.is_some_and(|next| next <= Instant::now() + FIRST));
        // A tree that has slept for long begins to grow.
        watch.pause = IDLE;
        for percent in [0, 10, 50, 90, 99] {
            let resident = allowed / 100 * percent;
            let totals = TreeUsage { resident, ..TreeUsage::default() };
            watch.last = totals;
            let pause = watch.next_pause(&totals, Duration::ZERO);
            let reached = resident + (pause.as_secs_f64() * FASTEST as f64) as u64;
            assert!(reached <= allowed + allowed / 20 + MIB || pause == SHORTEST, "{allowed} {percent} {pause:?}");
        }
    }
}

proptest! {
    #[test]
    fn a_limit_is_broken_by_more_than_it_allows_and_by_nothing_else(
        most in proptest::array::uniform3(proptest::option::of(1_u64..1000)),
        cpu in 0_u64..1000, resident in 0_u64..1000, part in 0_u64..=100, processes in 0_u64..1000,
    ) {
        let [cpu_most, memory, processes_most] = most;
        let limits = CommandLimits { cpu: cpu_most, memory, processes: processes_most, ..CommandLimits::default() };
        prop_assume!(limits.apply_to_tree());
        let mut watch = watch(limits);
        watch.cpu_us = cpu * 1000;
        let held = resident * part / 100;
        let broken = watch.find_exceeded(&TreeUsage { cpu_us: cpu * 1000, resident, processes }, |_| held);
        let over = |used: u64, most: Option<u64>| most.is_some_and(|most| used > most);
        let any = over(cpu, cpu_most) || over(held, memory) || over(processes, processes_most);
        prop_assert_eq!(broken.is_some(), any);
        if let Some(broken) = broken {
            prop_assert!(broken.used > broken.allowed);
        }
    }

    #[test]
    fn no_pause_is_long_enough_to_use_much_more_cpu_time_than_is_left(
        allowed in 1_u64..100_000, used in 0_u64..100_000, memory in proptest::option::of(1_u64..1000),
    ) {
        let mut watch = watch(CommandLimits { cpu: Some(allowed), memory, ..CommandLimits::default() });
        watch.cpu_us = used * 1000;
        let pause = watch.next_pause(&TreeUsage::default(), Duration::ZERO);
        let left = Duration::from_millis(allowed.saturating_sub(used));
        prop_assert!(pause * watch.cores <= left.max(CPU[0] * watch.cores), "{pause:?} of {left:?}");
    }
}
