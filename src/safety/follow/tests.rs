//! What scripts come to. The names of a value: text as it is, `…` for what is not known.

use super::inner::shown;
use super::{Environment, Told, Walker};
use crate::safety::command::{Input, Scene};
use crate::safety::unwrap::Custom;

fn follow(script: &str) -> (Vec<Told>, bool) {
    let scene = Scene { cwd: "/p".to_owned(), home: "/home/u".to_owned(), temp: vec!["/tmp".to_owned()] };
    let custom = Custom::default();
    let mut walker = Walker::new(Environment("HOME=/home/u\0GREETING=hello world\0"), &scene, &custom);
    walker.command(script, vec!["bash".into()], Input::Inherited);
    (walker.told, walker.complete)
}

/// The words of each command named `c`, each list by itself.
fn words(script: &str) -> Vec<String> {
    let (told, complete) = follow(script);
    assert!(complete, "{script}");
    let of = |told: &Told| told.argv[1..].iter().map(shown).collect::<Vec<_>>().join("|");
    told.iter().filter(|told| told.argv.first().is_some_and(|head| head.known() == Some("c"))).map(of).collect()
}

#[test]
fn words_come_to_what_bash_makes_of_them() {
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
fn every_way_is_followed() {
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

/// The folders that each `c` may run in.
fn folders(script: &str) -> Vec<String> {
    let (told, _) = follow(script);
    let commands = told.iter().filter(|told| told.argv.first().is_some_and(|head| head.known() == Some("c")));
    commands.map(|told| told.folders.iter().map(shown).collect::<Vec<_>>().join(" or ")).collect()
}

#[test]
fn folders_are_followed_where_cd_leads() {
    assert_eq!(folders("cd a && c; c"), ["/p/a", "/p/a or /p"]);
    assert_eq!(folders("cd a || exit; c"), ["/p/a"]);
    assert_eq!(folders("set -e; cd a; c"), ["/p/a"]);
    assert_eq!(folders("(cd /x && c); c"), ["/x", "/p"]);
    assert_eq!(folders("pushd /x; c; popd; c"), ["/x or /p", "/p"]);
    assert_eq!(folders("cd; c; cd -; c; cd ../q; c"), ["/home/u or /p", "/p or /home/u", "/q or /p or /home/u"]);
    assert_eq!(folders("if t; then cd a; fi; c"), ["/p/a or /p"]);
    assert_eq!(folders("env -C sub c; c"), ["/p/sub", "/p"]);
}

#[test]
fn a_redirect_is_told_once_whatever_stands_before() {
    for script in
        ["c > f", "sudo nice c > f", "{ c; } > f", "bash -c c > f", "sudo bash -c 'env c' > f", "f() { c; }; f > f"]
    {
        let (told, _) = follow(script);
        let command = told.iter().find(|told| told.argv.first().is_some_and(|head| head.known() == Some("c"))).unwrap();
        assert_eq!(command.redirects.len(), 1, "{script}");
    }
}

#[test]
fn what_never_ends_is_given_up() {
    for script in [
        "f() { f; f; }; f",
        "x=a; while t; do x=$x$x; done",
        &"a=$a$a; ".repeat(100),
        &format!("{}c{}", "for i in 1 2 3 4 5 6 7 8; do ".repeat(12), "; done".repeat(12)),
        &format!("c {}", "{a,b}".repeat(40)),
    ] {
        // That it comes back is what is tested.
        let (told, _) = follow(script);
        assert!(told.len() < 100_000);
    }
}
