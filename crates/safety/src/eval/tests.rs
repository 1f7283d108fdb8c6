//! Evaluates scripts whose commands are named `c`. In a value, `…` is an unknown part.

use super::inner_commands::displayed_word;
use super::{CommandEvaluator, EnvironmentBlock, SimpleCommand};
use crate::simple_command_view::{CommandDirectories, CommandStdin, InitialShellState};
use crate::unwrap::CustomWrappers;

fn evaluate(script: &str) -> (Vec<SimpleCommand>, bool) {
    let directories = CommandDirectories {
        cwd: "/p".to_owned(),
        home: "/home/u".to_owned(),
        temp: vec!["/tmp".to_owned()],
        writable: None,
    };
    let custom = CustomWrappers::default();
    let evaluator =
        CommandEvaluator::new(EnvironmentBlock("HOME=/home/u\0GREETING=hello world\0"), &directories, &custom);
    let found = evaluator.evaluate(script, vec!["bash".into()], CommandStdin::Inherited, InitialShellState::default());
    (found.commands, found.complete)
}

/// The words of each command named `c`.
fn words(script: &str) -> Vec<String> {
    let (found, complete) = evaluate(script);
    assert!(complete, "{script}");
    let of = |found: &SimpleCommand| found.argv[1..].iter().map(displayed_word).collect::<Vec<_>>().join("|");
    found
        .iter()
        .filter(|found| found.argv.first().is_some_and(|program| program.known() == Some("c")))
        .map(of)
        .collect()
}

#[test]
fn words_expand_as_in_bash() {
    for (script, wanted) in [
        ("c $GREETING \"$GREETING\" '$GREETING' $UNSET \"$UNSET\"", "hello|world|hello world|$GREETING|"),
        ("x=a; y=${x}b; c $y ${y%b} ${y#a} ${#y} ${z:-d} ${x:+e} ${y/b/c} ${y^^}", "ab|a|b|2|d|e|ac|AB"),
        ("c a{1,2{x,y}}b {3..1} {a..c} {01..02} {a} {,}", "a1b|a2xb|a2yb|3|2|1|a|b|c|01|02|{a}"),
        ("c ~ ~/x '~' ~u \"~\" a~ ~+", "/home/u|/home/u/x|~|/home/u|~|a~|/p"),
        ("c $'\\x72m' r\\m \"r\"'m' *.js \"*.js\"", "rm|rm|rm|*.js|*.js"),
        ("a=(x 'y z'); a+=(w); a[0]=v; c \"${a[@]}\" ${#a[@]} \"${a[1]}\" \"${a[@]:1:1}\"", "v|y z|w|3|y z|y z"),
        ("set -- 1 '2 3'; shift; c \"$@\" $# \"$*\"", "2 3|1|2 3"),
        ("c \"$(echo a b)\" $(printf '%s\\n' c d) `pwd` $(basename /x/y.z .z) $(mktemp -d)", "a b|c|d|/p|y|/tmp/tmp.…"),
        ("c $((1 + 1)) $(date) \"pre-$(date)\" $? <(ls)", "…|…|pre-…|…|/dev/fd/…"),
        ("f() { local x=2; c $x $1; }; x=1; f 3; ", "2|3"),
        ("read -r x; c \"$x/y\"", "…/y"),
        ("x=1 c $x", ""),
        ("eval 'c a' \"b\"", "a|b"),
    ] {
        assert_eq!(words(script), [wanted], "{script}");
    }
}

#[test]
fn every_branch_is_evaluated() {
    assert_eq!(words("for x in a b; do c $x; done"), ["a", "b"]);
    assert_eq!(words("if t; then x=1; else x=2; fi; c $x; x=3; c $x"), ["…", "3"]);
    assert_eq!(words("x=1; while t; do c $x; x=2; done"), ["1", "…"]);
    assert_eq!(words("case $GREETING in a) c 1 ;; *) c 2 ;; esac"), ["1", "2"]);
    assert_eq!(words("(x=2; c $x); c ${x:-unset}; { x=3; }; c $x"), ["2", "unset", "3"]);
    assert_eq!(words("x=1; y() { x=2; }; y; c $x; y | cat; echo | x=4; c $x"), ["2", "2"]);
    assert_eq!(words("trap 'c $x' EXIT; x=late"), ["late"]);
    assert_eq!(words("bash -c \"trap 'c \\$x' EXIT; x=later\"; x=not"), ["later"]);
    assert_eq!(words("f() { c in-f; }"), ["in-f"]);
    assert_eq!(words("x=a; export y=b; bash -c 'c $x $y $0 $1' n 1"), ["b|n|1"]);
    assert_eq!(words("cat <<EOF | c -\n$(c inner)\nEOF"), ["inner", "-"]);
}

/// The directories that each `c` may run in.
fn directories(script: &str) -> Vec<String> {
    let (found, _) = evaluate(script);
    let commands = found.iter().filter(|found| found.argv.first().is_some_and(|program| program.known() == Some("c")));
    commands.map(|found| found.cwds.iter().map(displayed_word).collect::<Vec<_>>().join(" or ")).collect()
}

#[test]
fn directories_change_with_cd() {
    assert_eq!(directories("cd a && c; c"), ["/p/a", "/p/a or /p"]);
    assert_eq!(directories("cd a || exit; c"), ["/p/a"]);
    assert_eq!(directories("set -e; cd a; c"), ["/p/a"]);
    assert_eq!(directories("(cd /x && c); c"), ["/x", "/p"]);
    assert_eq!(directories("pushd /x; c; popd; c"), ["/x or /p", "/p"]);
    assert_eq!(directories("cd; c; cd -; c; cd ../q; c"), ["/home/u or /p", "/p or /home/u", "/q or /p or /home/u"]);
    assert_eq!(directories("if t; then cd a; fi; c"), ["/p/a or /p"]);
    assert_eq!(directories("env -C sub c; c"), ["/p/sub", "/p"]);
}

#[test]
fn a_path_grows_up_to_a_bound() {
    for (first, line, times) in
        [("", "cd a\n", 9000), ("", "pushd a\n", 5000), ("read x; cd \"/$x\"\n", "cd a\n", 5000)]
    {
        let (found, _) = evaluate(&format!("{first}{}", line.repeat(times)));
        let longest = found.iter().flat_map(|found| found.cwds.iter()).map(|cwd| cwd.length()).max();
        assert!(longest.is_some_and(|longest| longest > 100 && longest <= 4096), "{line} {longest:?}");
    }
}

#[test]
fn a_program_read_from_a_heredoc_leaves_nothing_of_it_to_its_commands() {
    for script in [
        "python3 <<E\nimport os\nos.system(\"rsync -e 'ssh' a b\")\nit's\nE",
        "perl <<'E'\nsystem(\"ssh host\"); # it's\nE",
        "python3 - <<E\nimport os\nos.system('bash') # it's\nE",
    ] {
        let (found, complete) = evaluate(script);
        let via: Vec<_> = found.iter().map(|found| found.via.join(" ")).collect();
        assert!(complete, "{script} {via:?}");
        assert!(via.iter().any(|via| via.ends_with(" <<")), "{via:?}");
    }
    let (found, _) = evaluate("python3 -c 'import os; os.system(\"bash\")' <<E\nc\nE");
    assert!(found.iter().any(|found| found.argv[0].known() == Some("c")), "the input of -c is that of its commands");
}

#[test]
fn a_redirect_is_listed_once_behind_any_wrapper() {
    for script in
        ["c > f", "sudo nice c > f", "{ c; } > f", "bash -c c > f", "sudo bash -c 'env c' > f", "f() { c; }; f > f"]
    {
        let (found, _) = evaluate(script);
        let command =
            found.iter().find(|found| found.argv.first().is_some_and(|program| program.known() == Some("c"))).unwrap();
        assert_eq!(command.redirects.len(), 1, "{script}");
    }
}

#[test]
fn endless_scripts_are_given_up() {
    for script in [
        "f() { f; f; }; f",
        "x=a; while t; do x=$x$x; done",
        &"a=$a$a; ".repeat(100),
        &format!("{}c{}", "for i in 1 2 3 4 5 6 7 8; do ".repeat(12), "; done".repeat(12)),
        &format!("c {}", "{a,b}".repeat(40)),
    ] {
        // The evaluation must end.
        let (found, _) = evaluate(script);
        assert!(found.len() < 100_000);
    }
}

#[test]
fn contents_are_followed_through_pipes_substitutions_and_variables() {
    for (script, wanted) in [
        ("cat .env | c", true),
        ("cat .env | base64 | sort | c", true),
        ("{ date; cat .env; } | c", true),
        ("f() { cat .env; }; f | c", true),
        ("bash -c 'cat .env' | c", true),
        ("sudo cat .env | c", true),
        ("find . -exec cat .env ';' | c", true),
        ("for f in .env; do cat $f; done | c", true),
        ("c \"$(cat .env)\"", true),
        ("c \"$(< .env)\"", true),
        ("x=$(cat .env); c -d \"$x\"", true),
        ("c \"${x:-$(cat .env)}\"", true),
        ("c <(env)", true),
        ("c <<< \"$(cat .env)\"", true),
        ("c <<EOF\n$(cat .env)\nEOF", true),
        ("cat .env | while read -r line; do c \"$line\"; done", true),
        ("while read -r line; do c $line; done < .env", true),
        ("cat .env | xargs c", true),
        ("cat .env | xargs -I{} c {}", true),
        ("cat < .env | c", true),
        ("{ cat; } < .env | c", true),
        ("cat .env; c", false),
        ("cat .env | wc -l | c", false),
        ("cat .env > x | c", false),
        ("{ cat .env; } > x | c", false),
        ("(cat .env) | true; date | c", false),
        ("x=$(cat .env | wc -l); c $x", false),
        ("cat .env.example | c", false),
        ("echo .env | c", false),
    ] {
        let (found, _) = evaluate(script);
        let called =
            found.iter().filter(|found| found.argv.first().is_some_and(|program| program.known() == Some("c")));
        let holds = |found: &SimpleCommand| {
            found.input.contents().or_else(|| found.argv.iter().find_map(|word| word.contents())).is_some()
        };
        assert_eq!(called.map(holds).collect::<Vec<_>>(), [wanted], "{script}");
    }
}
