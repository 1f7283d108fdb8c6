use super::*;
use protocol::task::TaskSpec;

/// A task with a long command: eight of these are too much.
fn task(id: usize) -> Task {
    let spec = TaskSpec { command: "x".repeat(MOST_BYTES / 8), ..TaskSpec::sample(&id.to_string()) };
    Task::begin(&spec, 1, 1, "m", 0)
}

#[test]
fn what_a_program_tells_of_tasks_is_bounded_in_bytes() {
    let mut known = KnownTargetTasks::default();
    (0..9).for_each(|id| known.add(task(id)));
    assert_eq!(known.tasks.len(), 7);
    // The same task is not counted again.
    known.add(task(0));
    assert_eq!(known.bytes, 7 * bytes_of(&task(0)));
    // Those of programs that are gone make room, the oldest first.
    known.gone = (0..7).filter_map(|id| known.tasks.remove(&id.to_string())).collect();
    known.add(task(9));
    let gone: Vec<&str> = known.gone.iter().map(|task| task.id.as_str()).collect();
    assert_eq!((gone, known.tasks.len()), (vec!["1", "2", "3", "4", "5", "6"], 1));
    known.remove("9");
    assert_eq!(known.bytes, 6 * bytes_of(&task(0)));
}
