//! Exits of commands, and state that must not last.

use super::super::SavedShellState;
use super::TestShells;

#[test]
fn codes_are_kept() {
    for (text, code) in [
        ("true", 0),
        ("false", 1),
        ("exit 3", 3),
        ("(exit 7)", 7),
        ("f() { exit 9; }; f", 9),
        ("set -e; (exit 5); echo no", 5),
        ("none-such", 127),
        ("set -u; echo $none", 127),
        ("trap 'exit 4' USR1; kill -USR1 $$", 4),
        (": trap; (exit 6)", 6),
        (": trap; set -e; (exit 8)", 8),
        (": trap; set -u; true", 0),
    ] {
        let mut shells = TestShells::new();
        let output = shells.run(text);
        assert_eq!(output.status.code(), Some(code), "{text}");
        if !text.contains("trap") {
            assert_eq!(shells.code(), code.to_string(), "{text}");
            assert!(shells.saved, "{text}");
        }
    }
}

#[test]
fn a_line_at_the_end_fires_nothing_twice() {
    let mut shells = TestShells::new();
    let output = shells.run("trap 'echo x >>errs' ERR; trap 'wc -l <errs' EXIT; (exit 3)");
    assert_eq!((output.status.code(), output.stdout.trim_ascii()), (Some(3), &b"1"[..]));
    assert!(shells.saved);
}

#[test]
fn locals_of_a_function_that_exits_do_not_last() {
    let mut shells = TestShells::new();
    shells.tell("x=global; arr=(1 2); export GIVEN=kept; trap 'echo err' ERR");
    let output = shells.run(
        "g() { local z=3 arr=5 PATH=/none; local -n ref=x; local -r fixed=1; exit 4; }
         f() { local x=1 y=2 IFS=, GIVEN=local; x=3; g; }; new=1; f",
    );
    assert_eq!((output.status.code(), shells.code().as_str(), shells.saved), (Some(4), "4", true));
    let seen = shells
        .tell("declare -p x arr GIVEN new PATH IFS; echo \"${z-none}${y-none}${ref-none}${fixed-none}\"; unset -f f g");
    assert_eq!(
        seen,
        "declare -- x=\"global\"\ndeclare -a arr=([0]=\"1\" [1]=\"2\")\ndeclare -x GIVEN=\"kept\"\ndeclare -- new=\"1\"\n\
         declare -x PATH=\"/usr/bin:/bin\"\ndeclare -- IFS=$' \\t\\n'\nnonenonenonenone\n"
    );
    let output = shells.run("false; unset new");
    assert_eq!(output.stdout, b"err\n", "the trap that was hidden");
}

#[test]
fn nothing_of_ours_is_seen() {
    let mut shells = TestShells::new();
    shells.run("f() { exit; }; f");
    shells.tell("unset -f f");
    let text = "declare -p; declare -F; env; alias; set -o; shopt; echo $-; pwd; umask; dirs";
    let volatile = |line: &&str| {
        !["BASHPID", "RANDOM", "EPOCH", "PPID", "BASH_EXECUTION", "_="].iter().any(|name| line.contains(name))
    };
    let later = shells.tell(text);
    let first = TestShells { folder: shells.folder, env: shells.env, state: None, saved: false }.tell(text);
    let lines = |text: &str| text.lines().filter(volatile).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines(&later), lines(&first));
}

#[test]
fn a_run_that_does_not_end_by_itself_changes_nothing() {
    let mut shells = TestShells::new();
    shells.tell("x=1");
    for text in ["x=2; kill -9 $$", "x=2; exec true", "x=2; set -n"] {
        shells.run(text);
        assert_eq!(shells.tell("echo $x"), "1\n", "{text}");
    }
    shells.run("x=2; kill -TERM $$");
    assert_eq!(shells.tell("echo $x"), "1\n");
}

#[test]
fn variables_given_with_one_run_only() {
    let given = |name: &str, value: Option<&str>| vec![(name.to_owned(), value.map(str::to_owned))];
    let mut shells = TestShells::new();
    shells.run_given("echo $GIVEN", &given("GIVEN", Some("once")));
    assert_eq!(shells.tell("echo $GIVEN"), "a b\n");
    shells.run_given(":", &given("NEW", Some("once")));
    assert_eq!(shells.tell("echo ${NEW-none}"), "none\n");
    shells.run_given("NEW=changed", &given("NEW", Some("once")));
    assert_eq!(shells.tell("echo ${NEW-none}"), "changed\n");
    shells.run_given(":", &given("GIVEN", None));
    assert_eq!(shells.tell("echo ${GIVEN-none}"), "a b\n");
    shells.tell("x=plain");
    shells.run_given(":", &given("x", Some("once")));
    assert_eq!(shells.tell("declare -p x"), "declare -- x=\"plain\"\n");
}

#[test]
fn a_dump_cut_short_is_none() {
    let mut shells = TestShells::new();
    shells.tell("f() { :; }; g() { :; }; a=(1); alias x=y; trap : USR1");
    let dump = std::fs::read(shells.path("out")).expect("the dump");
    assert!(SavedShellState::parse(&dump).is_some());
    for length in 0..dump.len() {
        assert_eq!(SavedShellState::parse(&dump[..length]), None, "{length}");
    }
}

#[test]
fn a_snapshot_adds_only() {
    let mut shells = TestShells::new();
    shells.tell("f() { echo f; }; alias hi='echo hi'; shopt -s expand_aliases nullglob; set -o pipefail; set -u; PATH=/usr/bin:/bin:/x; x=1; cd /; umask 077; trap : INT");
    let snapshot = shells.state.take().expect("a state").for_snapshot();
    shells.state = Some(snapshot);
    let seen = shells.tell("f\nhi; echo $PATH ${x-none} $GIVEN $-; pwd | grep -c /tmp; umask; trap; shopt nullglob; set -o | grep pipefail");
    assert_eq!(seen, "f\nhi\n/usr/bin:/bin:/x none a b hBc\n1\n0022\nnullglob       \ton\npipefail       \ton\n");
}

#[test]
#[ignore = "stress: it takes more than a second"]
fn the_code_and_the_state_are_told_whatever_the_command_did_to_its_shell() {
    for text in [
        "exec >/dev/null 2>&1 </dev/null",
        "exec >&- 2>&- <&-",
        "exec 3>&1 4>&2 5</dev/null",
        "set -euCfko pipefail",
        "set -o posix; set -eu; IFS=0123",
        "IFS=; shopt -s failglob nocasematch xpg_echo lastpipe; set -f",
        "shopt -s extdebug; set -ET",
        "set +B; unset PATH HOME",
        "BASH_XTRACEFD=1; set -x",
        "PS4='$(exit 3)'; set -x",
        "umask 777; cd /; set -P",
        "alias builtin=false test=false printf=false trap_=: case=false declare=exit; shopt -s expand_aliases",
        "for name in test printf declare set shopt pwd umask alias eval unset local return shift echo cd exit; do eval \"$name() { :; }\"; done",
        "declare -r OUT=1 file=2; declare -A name=([a]=b); set -- tail back",
        "printf() { builtin exit 9; }; set -- a; test() { return 1; }",
        "readonly IFS PATH HOME OLDPWD PS4 2>/dev/null",
        "PATH=; HOME=; LANG=; LC_ALL=none; BASH_ENV=x; ENV=y",
        "unset DIRSTACK FUNCNAME BASH_ALIASES GROUPS RANDOM SECONDS LINENO HISTCMD",
    ] {
        for end in ["", "\n\\builtin exit 5", "\nf() { \\builtin local name=x x IFS=,; \\builtin exit 5; }; f"] {
            if end.contains("local name") && text.contains("readonly IFS") {
                continue;
            }
            let mut shells = TestShells::new();
            let output = shells.run(&format!("{text}\nmark=1{end}"));
            let code = if end.is_empty() { "0" } else { "5" };
            let wanted = Some(code.parse().expect("a number"));
            assert_eq!(
                (output.status.code(), shells.code().as_str(), shells.saved),
                (wanted, code, true),
                "{text}{end}"
            );
            let output = shells.run("mark=$mark$mark\n\\builtin exit 6");
            assert_eq!((output.status.code(), shells.saved), (Some(6), true), "{text}{end}, then: {output:?}");
            let before = shells.state.clone();
            shells.run("\\builtin return 0 2>/dev/null");
            assert!(shells.saved, "{text}{end}: a third time");
            assert!(shells.state == before, "{text}{end}: {}", shells.difference(&before));
        }
    }
}

#[test]
fn a_shell_that_must_not_write_much_ends_as_it_would() {
    let mut shells = TestShells::new();
    shells.tell("x=1");
    for (limit, saved) in [("-S -f 1", true), ("-f 1", false)] {
        let output = shells.run(&format!("x=2; ulimit {limit}; exit 3"));
        assert_eq!((output.status.code(), shells.saved), (Some(3), saved), "{limit}");
        assert_eq!(shells.tell("echo $x; x=1; trap -p"), if saved { "2\n" } else { "1\n" });
    }
}
