//! Commands with the evidence that they must give.

use super::{read, watch};
use crate::aliases::PIECES;
use crate::{CommandEnd, CommandEvidence, EvidenceCompleteness, EvidenceVerdict, FailureMask};

/// Runs a command and returns its evidence in a line: `VERDICT STATE: PARTS # MASKED`.
fn proved(script: &str) -> String {
    let (trace, end) = watch::run(script);
    shown(&read(script, trace.as_ref(), end))
}

fn shown(evidence: &CommandEvidence) -> String {
    let part = |part: &crate::EvidencePart| {
        let code = part.exit_code.map_or("?".into(), |code| code.to_string());
        let code = part.signal.iter().fold(code, |code, signal| format!("{code} {signal}"));
        let place = if part.span.is_none() { "~" } else { "" };
        let times = if part.times > 1 { format!("*{}", part.times) } else { String::new() };
        format!("{place}{} {code}{times}", part.command)
    };
    let by = |by| match by {
        FailureMask::Pipe => "|",
        FailureMask::Or => "||",
        FailureMask::Sequence => ";",
        FailureMask::Background => "&",
        FailureMask::Substitution => "$()",
    };
    let verdict = match evidence.verdict {
        EvidenceVerdict::Passed => "passed",
        EvidenceVerdict::Failed => "failed",
        EvidenceVerdict::Unproven => "unproven",
    };
    let state = match evidence.state {
        EvidenceCompleteness::Known => "",
        EvidenceCompleteness::Partial => " partial",
        EvidenceCompleteness::Unknown => " unknown",
    };
    let parts: Vec<_> = evidence.parts.iter().map(part).collect();
    let masked = evidence.masked.iter().map(|masked| {
        format!("{} {} {}", part(&masked.part), by(masked.by), masked.behind.clone().unwrap_or_default())
    });
    let masked: Vec<_> = masked.collect();
    format!("{verdict}{state}: {} # {}", parts.join(", "), masked.join(", ")).trim_end().to_owned()
}

#[test]
fn a_command_with_escapes_is_known_in_what_bash_prints_of_it() {
    for (script, codes) in [
        (r"/bin/yes $'a\nb' | /bin/head", "141 SIGPIPE"),
        (r"/bin/echo $'a\tb\'c' x$'\u00e9\x41\0y'z 'a$' | /bin/head", "0"),
        (r#"$'\x2fbin/echo' "b$'\n" \$'c' "$(/bin/echo $'d\ne')" > /dev/$'nul\x6c' | /bin/head"#, "0"),
        (r"x=$'a\nb' /bin/echo ${x:-$'c\nd'} | /bin/head", "0"),
        (r"for x in $'a\nb'; do /bin/echo $x; done | /bin/head", "0"),
    ] {
        let shown = proved(script);
        assert!(shown.starts_with("passed: ") && shown.contains(codes), "{script}: {shown}");
    }
}

#[test]
fn each_part_has_its_code() {
    for (script, wanted) in [
        ("/bin/true", "passed: /bin/true 0 #"),
        ("/bin/true && /bin/false", "failed: /bin/true 0, /bin/false 1 #"),
        ("nosuch", "failed: nosuch 127 #"),
        ("exit 3", "failed:  #"),
        ("echo a; cd /; [ a = a ]", "passed:  #"),
        ("(exit 3)", "failed: (exit 3) 3 #"),
        ("true | cat", "passed: true 0, cat 0 #"),
        ("f() { /bin/true; }; f | cat", "passed: f 0, cat 0, /bin/true 0 #"),
        ("for i in 1 2; do /bin/true; done", "passed: /bin/true 0*2 #"),
        ("/bin/true |& /bin/cat", "passed: /bin/true 0, /bin/cat 0 #"),
        ("bash -c '/bin/false; true'", "passed: bash -c '/bin/false; true' 0 #"),
        ("exec /bin/false", "failed: exec /bin/false 1 #"),
        ("command /bin/false", "failed: command /bin/false 1 #"),
        ("eval '/bin/true'", "passed: ~/bin/true 0 #"),
        ("/bin/sh -c 'kill -9 $$'", "failed: /bin/sh -c 'kill -9 $$' 137 SIGKILL #"),
        ("coproc /bin/sleep 0.3", "unproven: coproc /bin/sleep 0.3 ? #"),
        (
            "shopt -s lastpipe; /bin/echo a | while read x; do /bin/echo $x; done",
            "passed: /bin/echo a 0, /bin/echo $x 0 #",
        ),
        ("/bin/cat <<X\n$(/bin/true)\nX", "passed: /bin/true 0, /bin/cat <<X 0 #"),
        ("x=`/bin/true`", "passed: /bin/true 0 #"),
        ("/bin/cat <(/bin/true); wait $!", "passed: /bin/true 0, /bin/cat <(/bin/true) 0 #"),
        ("/bin/sleep 0.3 &", "unproven: /bin/sleep 0.3 ? #"),
    ] {
        // What runs at once begins in any order.
        let sorted = |shown: String| {
            let (verdict, parts) =
                shown.split_once(": ").map(|(a, b)| (a.to_owned(), b.to_owned())).expect("a verdict");
            let (parts, masked) =
                parts.split_once('#').map(|(a, b)| (a.trim().to_owned(), b.to_owned())).expect("parts");
            let mut parts: Vec<_> = parts.split(", ").map(str::to_owned).collect();
            parts.sort();
            (verdict, parts, masked)
        };
        assert_eq!(sorted(proved(script)), sorted(wanted.to_owned()), "{script}");
    }
}

/// Asserts the verdict and the masked parts of each command.
fn hides(cases: &[(&str, &str)]) {
    for (script, wanted) in cases {
        let shown = proved(script);
        let (verdict, rest) = shown.split_once(": ").expect("a verdict");
        let masked = rest.split_once('#').expect("parts").1.trim();
        assert_eq!(format!("{verdict}: {masked}").trim(), *wanted, "{script}: {shown}");
    }
}

#[test]
fn a_failure_in_front_of_a_pipe_is_hidden() {
    hides(&[
        ("/bin/false | cat", "failed: /bin/false 1 | cat"),
        ("cd /tmp && /bin/false 2>&1 | tail -5", "failed: /bin/false 2>&1 1 | tail -5"),
        ("false | cat", "failed: false 1 | cat"),
        ("(/bin/true; exit 4) | cat", "failed: (/bin/true; exit 4) 4 | cat"),
        ("(/bin/false) | cat", "failed: (/bin/false) 1 | cat"),
        ("{ /bin/false; /bin/true; } | cat", "failed: /bin/false 1 ; /bin/true"),
        ("nosuch | cat", "failed: nosuch 127 | cat"),
        ("set -o pipefail; /bin/false | cat", "failed:"),
        ("set -o pipefail; /bin/sh -c 'exit 3' | /bin/false", "failed: /bin/sh -c 'exit 3' 3 | /bin/false"),
        ("/bin/sh -c 'exit 3' | cat; exit ${PIPESTATUS[0]}", "failed:"),
        ("/bin/sh -c 'exit 3' | cat; rc=${PIPESTATUS[0]}; echo x; exit $rc", "failed:"),
    ]);
}

#[test]
fn a_failure_in_front_of_another_command_is_hidden() {
    hides(&[
        ("/bin/false; echo done", "failed: /bin/false 1 ; echo done"),
        ("/bin/false\n/bin/true", "failed: /bin/false 1 ; /bin/true"),
        ("/bin/false; exit 0", "failed: /bin/false 1 ; exit 0"),
        ("f() { /bin/false; }; f; f() { /bin/true; }; f; echo done", "failed: /bin/false 1 ; f() { /bin/true; }"),
        ("/bin/false; ! false", "failed: /bin/false 1 ; ! false"),
        ("for i in 1 2; do ! false; /bin/false; done; :", "failed: /bin/false 1 ; ! false, /bin/false 1 ; :"),
        ("! ! /bin/false; :", "failed: /bin/false 1 ; :"),
        ("/bin/false; exit", "failed:"),
        ("/bin/false; exit $?", "failed:"),
        ("/bin/false; rc=$?; echo x; exit $rc", "failed:"),
        ("set -e; /bin/false; echo x", "failed:"),
        ("(set -e; /bin/false; echo x); echo y", "failed: (set -e; /bin/false; echo x) 1 ; echo y"),
        ("for i in 1 2; do /bin/false; done", "failed: /bin/false 1 ; /bin/false"),
        ("case a in a) /bin/false;; esac; echo x", "failed: /bin/false 1 ; echo x"),
        ("case b in a) /bin/false;; b) /bin/false;; esac; echo x", "failed: /bin/false 1 ; echo x"),
        ("for i in 1 2; do /bin/false; break; done; echo x", "failed: /bin/false 1 ; break"),
        ("select i in a; do /bin/false; break; done <<< 1; echo x", "failed: /bin/false 1 ; break"),
        ("f() { /bin/false; }; f; echo x", "failed: /bin/false 1 ; echo x"),
        ("f() { /bin/false; return 0; }; f", "failed: /bin/false 1 ; return 0"),
        ("f() { /bin/false; return $?; }; f", "failed:"),
        ("trap 'exit 0' EXIT; /bin/false", "failed: /bin/false 1 ;"),
        ("trap 'echo bye' EXIT; /bin/false", "failed:"),
        ("nosuch; :", "failed: nosuch 127 ; :"),
        ("(exit 3); echo a", "failed: (exit 3) 3 ; echo a"),
    ]);
}

#[test]
fn a_failure_behind_or_is_hidden() {
    hides(&[
        ("/bin/false || true", "failed: /bin/false 1 || true"),
        ("/bin/false || echo no", "failed: /bin/false 1 || echo no"),
        ("/bin/false || exit 3", "failed: /bin/false 1 || exit 3"),
        ("/bin/false || ! false", "failed: /bin/false 1 || ! false"),
        ("/bin/false || /bin/true", "unproven: /bin/false 1 || /bin/true"),
        ("/bin/false && echo ok || echo no", "failed: /bin/false 1 || echo no"),
        ("/bin/false && echo ok", "failed:"),
        ("/bin/true || /bin/false", "passed:"),
    ]);
}

#[test]
fn a_failure_in_the_background_is_hidden_unless_wait_returns_it() {
    hides(&[
        ("/bin/false & wait", "failed: /bin/false 1 &"),
        ("/bin/false & wait $!", "failed:"),
        ("/bin/false & p=$!; wait $p", "failed:"),
        ("/bin/false & wait $!; echo x", "failed: /bin/false 1 ; echo x"),
        ("{ /bin/true; /bin/false; } & wait", "failed: { /bin/true; /bin/false; } 1 &"),
        ("/bin/true && /bin/false & wait", "failed: /bin/true && /bin/false 1 &"),
        ("/bin/true && /bin/false & wait $!", "failed:"),
        ("coproc X { /bin/false; }; wait", "failed: coproc X { /bin/false; } 1 &"),
        ("x=$(coproc { /bin/false; }; wait)", "failed: coproc { /bin/false; } 1 &"),
    ]);
}

#[test]
fn a_failure_in_a_substitution_is_hidden_unless_it_is_the_code_of_the_command() {
    hides(&[
        ("echo $(/bin/false)", "failed: /bin/false 1 $()"),
        ("echo `/bin/false`", "failed: /bin/false 1 $()"),
        ("x=$(/bin/false)", "failed:"),
        ("x=$(/bin/false); echo $x", "failed: /bin/false 1 ; echo $x"),
        ("f() { local x=$(/bin/false); }; f", "failed: /bin/false 1 $()"),
        ("cat <(/bin/false); :", "failed: /bin/false 1 $()"),
        ("for x in $(/bin/false); do :; done", "failed: /bin/false 1 $()"),
        ("cat <<X\n$(/bin/false)\nX", "failed: /bin/false 1 $()"),
    ]);
}

#[test]
fn an_answer_a_condition_and_a_closed_pipe_are_no_failures() {
    hides(&[
        ("grep -q nosuch /etc/passwd; echo x", "passed:"),
        ("grep -q nosuch /nosuch; echo x", "failed: grep -q nosuch /nosuch 2 ; echo x"),
        ("[ -f /nosuch ] | cat", "passed:"),
        ("{ [ -f /nosuch ]; } | cat", "passed:"),
        ("(grep -q nosuch /etc/passwd) | cat", "passed:"),
        ("if /bin/false; then :; fi", "passed:"),
        ("while /bin/false; do :; done; echo x", "passed:"),
        ("! /bin/false", "passed:"),
        ("{ ! /bin/true; } | cat", "passed:"),
        ("yes | head -1", "passed:"),
        ("(yes) | head -1", "passed:"),
        ("for i in 1 2; do yes; done | head -1", "passed:"),
    ]);
}

#[test]
fn an_answer_excuses_nothing_but_itself() {
    hides(&[
        (
            "(grep -q nosuch /etc/passwd; cd /nosuch && /bin/true) | cat",
            "failed: (grep -q nosuch /etc/passwd; cd /nosuch && /bin/true) 1 | cat",
        ),
        (
            "{ grep nosuchx /etc/passwd; source /nosuch.sh; } | cat",
            "failed: { grep nosuchx /etc/passwd; source /nosuch.sh; } 1 | cat",
        ),
        ("grep -q \"$(/bin/false)nosuchx\" /etc/passwd; echo done", "failed: /bin/false 1 $()"),
    ]);
}

#[test]
fn what_cannot_be_placed_is_never_passed() {
    hides(&[
        (
            "if [ -n \"$NOSUCH\" ]; then if /bin/false; then echo; fi; else /bin/false; echo done; fi",
            "unproven partial:",
        ),
        ("/bin/false; return; echo x", "failed: /bin/false 1 ; return"),
    ]);
}

#[test]
fn a_failure_from_elsewhere_is_unproven_unless_it_is_the_code_of_the_command() {
    hides(&[
        ("eval '/bin/false; /bin/true'", "unproven partial:"),
        ("eval '/bin/false'", "failed:"),
        ("source /dev/stdin <<< '/bin/false'; :", "unproven partial:"),
        ("trap '/bin/false' EXIT; /bin/true", "unproven partial:"),
    ]);
}

#[test]
fn a_shell_that_was_not_watched_leaves_the_text() {
    let end = |code| CommandEnd { code: Some(code), signal: None, by_itself: true };
    for (script, code, wanted) in [
        ("npm test", 0, "passed: npm test 0 #"),
        ("cd app && npm test", 0, "passed: npm test 0 #"),
        ("npm test | tail", 0, "unproven unknown:  #"),
        ("npm test; echo x", 0, "unproven unknown:  #"),
        ("npm test || true", 0, "unproven unknown:  #"),
        ("! npm test", 0, "unproven unknown:  #"),
        ("npm test &", 0, "unproven unknown:  #"),
        ("npm test $(x)", 0, "unproven unknown:  #"),
        ("eval 'npm test | tail'", 0, "unproven unknown:  #"),
        ("source ci.sh", 0, "unproven unknown:  #"),
        ("command npm test", 0, "unproven unknown:  #"),
        ("npm test", 1, "failed unknown:  #"),
    ] {
        assert_eq!(shown(&read(script, None, end(code))), wanted, "{script}");
    }
}

#[test]
fn a_text_of_too_many_words_proves_nothing_and_a_long_heredoc_does() {
    let end = |code| CommandEnd { code: Some(code), signal: None, by_itself: true };
    let words = format!("true {}", "a ".repeat(PIECES));
    assert_eq!(shown(&read(&words, None, end(0))), "unproven unknown:  #");
    assert_eq!(shown(&read(&words, None, end(1))), "failed unknown:  #");
    let heredoc = format!("cat > a <<'EOF'\n{}EOF", "a b\n".repeat(PIECES));
    assert_eq!(shown(&read(&heredoc, None, end(0))).get(..20), Some("passed: cat > a <<'E"));
    let deep = format!("true\n{} :; {}", "{ ".repeat(200), "}; ".repeat(200));
    assert_eq!(shown(&read(&deep, None, end(0))), "unproven unknown:  #", "what was not read may have failed");
}

#[test]
fn all_of_a_command_that_can_be_watched_is_read() {
    // Bash takes no longer argument. `a;` has the most pieces.
    let longest = "a;".repeat(131_071 / 2);
    assert_eq!(safety::parse::read_pieces(&longest, PIECES).script.fault, None);
}

#[test]
fn the_text_tells_what_can_be_hidden_where_no_end_is_known() {
    let end = CommandEnd { code: Some(0), signal: None, by_itself: true };
    let told = |script: &str, end| {
        let by = |found: crate::UnknownOutcome| {
            format!("{} {:?} {}", found.command, found.by, found.behind.unwrap_or_default())
        };
        read(script, None, end).not_known.map(|found| by(found).trim_end().to_owned()).unwrap_or_default()
    };
    for (script, wanted) in [
        ("npm test 2>&1 | tail -5", "npm test 2>&1 Pipe tail -5"),
        ("cd app && npm test | tee log | tail -5", "npm test Pipe tail -5"),
        ("(cd app && npm test) | tail", "(cd app && npm test) Pipe tail"),
        ("mkdir x; npm test | tail", "npm test Pipe tail"),
        ("for i in 1 2; do npm test | tail; done", "npm test Pipe tail"),
        ("npm test || true", "npm test Or true"),
        ("npm ci && npm test || echo bad", "npm ci Or echo bad"),
        ("npm test || { echo bad; exit 0; }", "npm test Or { echo bad; exit 0; }"),
        ("npm ci; npm test", "npm ci Sequence npm test"),
        ("npm ci && npm test\necho done", "npm ci && npm test Sequence echo done"),
        ("for i in a b; do npm test $i; done", "npm test $i Sequence npm test $i"),
        ("while read x; do npm test; done", "npm test Sequence npm test"),
        ("if true; then npm test; echo; fi", "npm test Sequence echo"),
        ("npm start &", "npm start Background"),
        ("echo $(npm test)", "npm test Substitution"),
        ("cat <(npm test)", "npm test Substitution"),
        ("x=$(npm test); echo $x", "x=$(npm test) Sequence echo $x"),
        ("eval 'npm test'; echo", "eval 'npm test' Sequence echo"),
        ("f() { npm test; }; f; echo", "f Sequence echo"),
        ("$RUN test; echo", "$RUN test Sequence echo"),
        ("false | cat", "false Pipe cat"),
        // The exit code of these is that of each program that failed, or the text prints it.
        ("npm test", ""),
        ("npm test $(true)", ""),
        ("npm ci && npm test > log", ""),
        ("cd app; npm test", ""),
        ("echo a | cat", ""),
        ("if npm test; then echo; fi", ""),
        ("! npm test", ""),
        ("x=$(npm test)", ""),
        ("f() { npm test; echo; }", ""),
        ("eval 'npm test | tail'", ""),
        ("set -e; npm ci; npm test", ""),
        ("set -euo pipefail\nnpm test | tail\necho", ""),
        ("npm test; code=$?; rm log; exit $code", "rm log Sequence exit $code"),
        ("npm test; echo \"exit code $?\"", ""),
        ("npm test | tail; exit ${PIPESTATUS[0]}", "npm test | tail Sequence exit ${PIPESTATUS[0]}"),
        ("npm test || exit 1", ""),
        ("npm test || { echo bad; exit 1; }", ""),
        ("npm test || false", ""),
        ("for i in a; do npm test $i; done", ""),
    ] {
        assert_eq!(told(script, end), wanted, "{script}");
    }
    let limit = CommandEnd { code: None, signal: Some(15), by_itself: false };
    assert_eq!(told("npm test | tail", limit), "", "it has no exit code that could hide another one");
    assert_eq!(told("npm test | grep -c FAIL", CommandEnd { code: Some(1), ..end }), "npm test Pipe grep -c FAIL");
}

#[test]
fn a_part_with_a_known_end_is_not_among_what_is_not_known() {
    let told = |script: &str| {
        let (trace, end) = watch::run(script);
        let evidence = read(script, trace.as_ref(), end);
        assert_eq!(evidence.state, EvidenceCompleteness::Partial, "{script}");
        evidence.not_known.map(|found| found.command).unwrap_or_default()
    };
    assert_eq!(told("/bin/true | cat; eval '/bin/false; :'; echo"), "eval '/bin/false; :'");
    assert_eq!(told("/bin/true | cat; eval '/bin/false; :'"), "");
}

#[test]
fn places_are_utf16_offsets() {
    let script = "echo 😀; /bin/false; x=`/bin/true`";
    let (trace, end) = watch::run(script);
    let evidence = read(script, trace.as_ref(), end);
    let units: Vec<u16> = script.encode_utf16().collect();
    let sources = evidence.parts.iter().map(|part| {
        let (from, to) = part.span.expect("a place");
        String::from_utf16(&units[from..to]).expect("text")
    });
    assert_eq!(sources.collect::<Vec<_>>(), ["/bin/false", "/bin/true"]);
}

#[test]
fn failed_parts_are_kept_when_there_are_many() {
    let script: String = (0..60).map(|n| format!("/bin/sh -c 'exit 0' {n}; ")).collect::<String>() + "/bin/false; :";
    let (trace, end) = watch::run(&script);
    let evidence = read(&script, trace.as_ref(), end);
    assert_eq!((evidence.parts.len(), evidence.parts_total), (50, 61));
    assert_eq!(evidence.parts[49].command, "/bin/false");
}

#[test]
fn a_loop_of_programs_with_long_words_has_room() {
    let script = format!("for i in {{1..1000}}; do /bin/true {}; done", "x".repeat(800));
    let (trace, end) = watch::run(&script);
    assert_eq!(read(&script, trace.as_ref(), end).verdict, EvidenceVerdict::Passed);
}

#[test]
fn more_processes_than_there_is_room_for_are_partial() {
    let (trace, end) = watch::run("for i in {1..4200}; do (:); done");
    let evidence = read("for i in {1..4200}; do (:); done", trace.as_ref(), end);
    assert_eq!((evidence.state, evidence.verdict), (EvidenceCompleteness::Partial, EvidenceVerdict::Unproven));
}
