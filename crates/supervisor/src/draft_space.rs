//! The space that the changes of a draft may take. The system lets no ordinary user limit a directory, so the shim of a
//! command counts from time to time, a few entries at once: it must not miss the exit of its shell.

use std::path::Path;
use std::time::{Duration, Instant};

use confine_policy::DraftedTree;
use protocol::{ExceededLimit, LimitKind};
use sys::DiskUsageCount;

/// Time from the start of a command until its draft is counted. Most commands have exited by then.
const FIRST: Duration = Duration::from_millis(10);
/// Entries that are read at once.
const AT_ONCE: usize = 100;
/// Pause between two readings of a count.
const BETWEEN: Duration = Duration::from_millis(3);
/// Shortest and longest pause between two counts.
const PAUSE: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];
/// Fastest growth of files that the counts keep up with, bytes per second.
const FASTEST: u64 = 2 << 30;

/// Counts the changes of a draft while a command runs.
pub struct DraftSpace {
    draft: DraftedTree,
    next: Instant,
    /// The count that is under way.
    count: Option<DiskUsageCount>,
}

impl DraftSpace {
    /// Begins with a command of the draft.
    pub fn begin(draft: DraftedTree, started: Instant) -> Self {
        Self { draft, next: started + FIRST, count: None }
    }

    /// Returns when the next reading is due.
    pub fn wake_at(&self) -> Instant {
        self.next
    }

    /// Goes on with the count if that is due. Returns the limit that is exceeded: that of the draft, or the last tenth
    /// of the disk.
    pub fn check(&mut self, now: Instant) -> Option<ExceededLimit> {
        if now < self.next {
            return None;
        }
        // They may be on several disks.
        let uppers = || self.draft.directories.iter().map(|drafted| Path::new(&drafted.upper));
        let disks = uppers().filter_map(|upper| sys::free_and_tenth(upper).ok());
        let (free, tenth) = disks.min_by_key(|(free, tenth)| free.saturating_sub(*tenth)).unwrap_or((u64::MAX, 0));
        if free < tenth {
            return Some(ExceededLimit { limit: LimitKind::Disk, used: free, allowed: tenth });
        }
        let counted = self.count.get_or_insert_with(|| DiskUsageCount::of(uppers())).advance(AT_ONCE);
        let Some(used) = counted else {
            self.next = now + BETWEEN;
            return None;
        };
        self.count = None;
        let allowed = self.draft.max_bytes;
        let left = allowed.saturating_sub(used).min(free - tenth);
        let [shortest, longest] = PAUSE;
        self.next = now + Duration::from_secs_f64(left as f64 / FASTEST as f64).clamp(shortest, longest);
        (used > allowed).then_some(ExceededLimit { limit: LimitKind::Draft, used, allowed })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use confine_policy::DraftedDirectory;

    use super::*;

    #[test]
    fn a_draft_over_its_limit_is_found_in_several_readings() {
        let folder = tempfile::tempdir().expect("a directory");
        let [upper, work] = ["upper", "work"].map(|name| folder.path().join(name));
        fs::create_dir(&upper).expect("made");
        for number in 0..3 * AT_ONCE {
            fs::write(upper.join(number.to_string()), [1; 4096]).expect("written");
        }
        let directories = vec![DraftedDirectory { base: "/srv".into(), upper, work }];
        let of = |max_bytes| DraftedTree {
            room: folder.path().into(),
            generation: 0,
            max_bytes,
            directories: directories.clone(),
        };
        let held = 3 * AT_ONCE as u64 * 4096;
        let start = Instant::now();
        for (most, is_over) in [(held / 2, true), (8 * held, false)] {
            let mut space = DraftSpace::begin(of(most), start);
            assert_eq!(space.check(start), None, "not due");
            let mut readings = 0;
            let found = loop {
                let now = space.wake_at();
                let found = space.check(now);
                readings += 1;
                if found.is_some() || space.count.is_none() {
                    break found;
                }
            };
            assert_eq!((found.is_some(), readings > 2), (is_over, true));
            assert!(found.is_none_or(|found| found.limit == LimitKind::Draft && found.used >= held));
        }
    }
}
