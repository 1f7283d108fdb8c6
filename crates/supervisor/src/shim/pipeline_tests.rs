//! Which processes of pipelines are deferred.

use super::*;

/// A process: its pid, its parent, the pipes that it reads, and those that it writes.
pub type ProcessRow<'a> = (i32, i32, &'a str, &'a str);

/// Processes whose pipes are letters. A program that acts on its input has `!` among its pipes.
pub fn stages(rows: &[ProcessRow<'_>]) -> Vec<PipelineProcess> {
    let pipes = |letters: &str| letters.chars().filter(|c| *c != '!').map(String::from).collect();
    rows.iter()
        .map(|(pid, parent, reads, writes)| PipelineProcess {
            member: TreeMember::imagined(Pid::from_raw(*pid), Pid::from_raw(*parent)),
            reads: pipes(reads),
            writes: pipes(writes),
            acts: reads.contains('!'),
            handles_terminate: false,
        })
        .collect()
}

fn sorted(pids: HashSet<Pid>) -> Vec<i32> {
    let mut pids: Vec<i32> = pids.into_iter().map(Pid::as_raw).collect();
    pids.sort_unstable();
    pids
}

/// In each tree the shell is process 1, and the pipes `o` and `i` lead out of the tree.
#[test]
fn readers_of_the_trees_own_pipes_are_deferred() {
    let table: &[(&str, &[ProcessRow<'_>], &[i32])] = &[
        ("nothing", &[], &[]),
        ("no pipes", &[(1, 0, "", "o"), (2, 1, "", "o")], &[]),
        ("the input comes from outside", &[(1, 0, "i", "o"), (2, 1, "i", "o")], &[]),
        ("(seq 5; sleep 60) | tail -2", &[(1, 0, "", "o"), (2, 1, "", "a"), (3, 2, "", "a"), (4, 1, "a", "o")], &[4]),
        ("a | b | c", &[(1, 0, "", "o"), (2, 1, "", "a"), (3, 1, "a", "b"), (4, 1, "b", "o")], &[3, 4]),
        ("the writer has exited", &[(1, 0, "", "o"), (3, 1, "a", "o")], &[]),
        ("a | b | c, a has exited", &[(1, 0, "", "o"), (3, 1, "a", "b"), (4, 1, "b", "o")], &[4]),
        ("two pipelines", &[(2, 1, "", "a"), (3, 1, "a", "o"), (4, 1, "", "b"), (5, 1, "b", "o")], &[3, 5]),
        ("exec > >(tee log)", &[(1, 0, "", "a"), (2, 1, "a", "o"), (3, 1, "", "a")], &[2]),
        ("diff <(a) <(b)", &[(1, 0, "ab", "o"), (2, 1, "", "a"), (3, 1, "", "b"), (4, 1, "ab", "o")], &[4]),
        ("x=$(sleep 60): a shell waits for its own child", &[(1, 0, "a", "o"), (2, 1, "", "a")], &[]),
        ("x=$(a | b)", &[(1, 0, "b", "o"), (2, 1, "", "a"), (3, 1, "a", "b")], &[3]),
        ("a program that reads its grandchild", &[(1, 0, "a", "o"), (2, 1, "", ""), (3, 2, "", "a")], &[]),
        ("a reader that holds the write end", &[(2, 1, "", "a"), (3, 1, "a", "ao")], &[]),
        ("one process reads and writes a pipe", &[(2, 1, "a", "ao")], &[]),
        ("pipes that all hold, as of make", &[(1, 0, "a", "a"), (2, 1, "a", "a"), (3, 1, "a", "a")], &[]),
        ("a ring of two", &[(2, 1, "a", "b"), (3, 1, "b", "a")], &[]),
        ("a ring of three", &[(2, 1, "a", "b"), (3, 1, "b", "c"), (4, 1, "c", "a")], &[]),
        (
            "a ring in the middle of a pipeline",
            &[(2, 1, "", "a"), (3, 1, "ac", "b"), (4, 1, "b", "cd"), (5, 1, "d", "e"), (6, 1, "e", "o")],
            &[5, 6],
        ),
        ("coproc cat", &[(1, 0, "!b", "ao"), (2, 1, "a", "b")], &[2]),
        ("a | sh | tail", &[(2, 1, "", "a"), (3, 1, "!a", "b"), (4, 1, "b", "o")], &[4]),
        ("yes | while read; do sleep; done", &[(2, 1, "", "a"), (3, 1, "!a", "o"), (4, 3, "a", "o")], &[4]),
    ];
    for (name, rows, expected) in table {
        assert_eq!(sorted(readers(&stages(rows))), *expected, "{name}");
    }
}

#[test]
fn readers_wait_for_writers_that_do_not_wait_for_them() {
    let table: &[(&str, &[ProcessRow<'_>], &[i32], bool)] = &[
        ("a writer", &[(2, 1, "", "a"), (3, 1, "a", "o")], &[3], true),
        ("a writer that is deferred itself", &[(2, 1, "", "a"), (3, 1, "a", "o")], &[2, 3], false),
        ("no writer", &[(2, 1, "", ""), (3, 1, "a", "o")], &[3], false),
        ("the shell that started it and waits for it", &[(1, 0, "", "a"), (2, 1, "a", "o")], &[2], false),
        ("the shell that cleans up", &[(1, 0, "", "a"), (2, 1, "a", "o"), (3, 1, "", "a")], &[2], true),
        ("a writer for the second of two", &[(2, 1, "", "b"), (3, 1, "a", "o"), (4, 1, "b", "o")], &[3, 4], true),
    ];
    for (name, rows, deferred, expected) in table {
        let deferred = deferred.iter().copied().map(Pid::from_raw).collect();
        assert_eq!(is_fed(&stages(rows), &deferred), *expected, "{name}");
    }
}

#[test]
fn shells_and_programs_that_act_on_their_input_are_known_by_any_of_their_names() {
    for (executable, name, arguments, expected) in [
        ("tail", "tail", "tail -2", false),
        ("bash", "bash", "bash", true),
        ("bash", "bash", "-bash", true),
        ("dash", "sh", "sh -s", true),
        ("bash", "summarize.sh", "/bin/bash ./summarize.sh", true),
        ("xargs", "xargs", "xargs rm -rf", true),
        ("perl", "parallel", "perl /usr/bin/parallel echo", true),
        ("busybox", "tail", "tail -2", false),
        ("busybox", "sh", "sh", true),
        ("busybox", "busybox", "busybox sh", true),
        ("python3.12", "python3", "python3", true),
        ("python3.12", "python3", "python3 -u -", true),
        ("python3.12", "python3", "python3 -c import sys", false),
        ("python3.12", "python3", "python3 -m json.tool", false),
        ("python3.12", "report", "python3 ./report", false),
        ("node", "node", "node", true),
        ("node", "node", "node report.mjs", false),
        ("jq", "jq", "jq -s length", false),
        ("", "", "", false),
    ] {
        let program = ProcessProgram {
            executable: executable.into(),
            name: name.into(),
            arguments: arguments.split(' ').map(String::from).collect(),
            handles_terminate: false,
        };
        assert_eq!(acts_on_input(&program), expected, "{program:?}");
    }
}
