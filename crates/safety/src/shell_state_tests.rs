//! Commands in a shell that is not a fresh one: its state is known, and none of its own commands is listed.

use super::{
    AnalysisContext, CommandAnalysis, EnvironmentBlock, InitialShellState, SafetyPolicy, SafetyVerdict, analyze,
};

const VARIABLES: &str = "HOME=/home/dev\0USER=dev\0PATH=/usr/bin:/bin\0FROM_ENV=--force\0";

fn judge_with(code: &str, overrides: &[(String, Option<String>)], command: &str) -> CommandAnalysis {
    let context = AnalysisContext {
        cwd: "/home/dev/project",
        home: "/home/dev",
        environment: EnvironmentBlock(VARIABLES),
        shell_state: InitialShellState { code, overrides },
        ..AnalysisContext::default()
    };
    analyze(command, context, &SafetyPolicy::default())
}

fn judge(code: &str, command: &str) -> CommandAnalysis {
    judge_with(code, &[], command)
}

const EXPANDS: &str = "builtin shopt -s expand_aliases\n";

#[test]
fn the_state_of_a_shell_counts() {
    for (code, command) in [
        ("builtin declare -- X='--force'\n", "git push $X"),
        ("builtin declare -x X='--force'\n", "bash -c 'git push $X'"),
        ("declare -a args=([0]='push' [1]='--force' )\n", "git \"${args[@]}\""),
        ("declare -A words=(['a b']='--force' )\n", "git push \"${words['a b']}\""),
        ("builtin declare -- C='git push --force'\n", "eval \"$C\""),
        ("builtin declare -- X='--force'\nbuiltin declare -l X\n", "git push $X"),
        ("builtin eval 'f () \n{ \n    rm -rf \"$1\"\n}'\n", "f /"),
        ("builtin eval 'f () \n{ \n    rm -rf \"$1\"\n}'\nbuiltin declare -fx 'f'\n", "bash -c 'f /'"),
        ("f () { git push \"$@\"; }\n", "f --force"),
        ("builtin eval 'function a-b () \n{ \n    git push $X\n}'\nbuiltin declare -- X='-f'\n", "a-b"),
        ("builtin eval 'f () \n{ \n    g () \n    { \n        git push -f\n    }\n}'\n", "f; g"),
        ("builtin alias -- 'gp=git push --force'\nbuiltin shopt -s expand_aliases\n", "gp"),
        ("builtin alias -- 'gp=g push --force'\nbuiltin alias -- 'g=git'\nbuiltin shopt -s expand_aliases\n", "gp"),
        (
            "builtin alias -- 'gp=git push -f'\nbuiltin alias -- 'sudo=sudo '\nbuiltin shopt -s expand_aliases\n",
            "sudo gp",
        ),
        ("builtin trap -- 'git push $X' ERR\n", "X=--force; true"),
        ("builtin declare -- IFS=':'\nbuiltin declare -- X='push:--force'\n", "git $X"),
        ("builtin declare -x HOME='/'\n", "rm -rf ~"),
        ("builtin declare -x OLDPWD='/'\n", "cd - && rm -rf *"),
        ("builtin pushd -n '/'\n", "popd && rm -rf *"),
        ("builtin set -o errexit\n", "cd / ; rm -rf *"),
        ("builtin declare -i N\nbuiltin declare -- X='--force'\n", "git push $X"),
    ] {
        let found = judge(code, command);
        assert_eq!(
            (found.verdict, found.complete),
            (SafetyVerdict::Deny, true),
            "{code}{command}: {:?}",
            found.findings
        );
        // Nothing of the state is reported: no place in it, and no command of it.
        for span in found.findings.iter().map(|one| one.span).chain(found.commands.iter().map(|one| one.span)) {
            assert!(span.0 <= span.1 && span.1 <= command.len(), "{code}{command}: {span:?}");
        }
        assert!(!found.commands.iter().any(|one| one.prefix.first().is_some_and(|word| word == "builtin")));
    }
}

#[test]
fn unused_state_is_not_reported() {
    let code = "builtin test \"$PWD\" = '/home/dev/project' || builtin cd -L -- '/home/dev/project'\n\
                builtin unset -v FROM_ENV\n\
                builtin declare -- X='--force'\n\
                builtin shopt -s extglob\n\
                builtin eval 'f () \n{ \n    rm -rf /;\n    git push --force\n}'\n\
                g () { rm -rf /; }\n\
                builtin alias -- 'gp=git push --force'\n\
                builtin umask 0022\n\
                builtin shopt -s expand_aliases\n\
                builtin trap -- 'echo $?' ERR\n";
    for command in [
        "git push",
        "echo $X",
        "git push $FROM_ENV",
        "command gp",
        "'gp'",
        "X=; git push $X",
        "unset -v X; git push $X",
    ] {
        let found = judge(code, command);
        assert_eq!((found.verdict, found.complete), (SafetyVerdict::Allow, true), "{command}: {:?}", found.findings);
    }
    for command in ["f", "g", "gp"] {
        assert_eq!(judge(code, command).verdict, SafetyVerdict::Deny, "{command}");
    }
    assert_eq!(judge(code, "unset -f f g; f; g").verdict, SafetyVerdict::Allow);
    assert_eq!(judge(code, "f() { :; }; f").verdict, SafetyVerdict::Allow);
    let listed = judge(code, "true").commands;
    assert_eq!(listed.iter().map(|one| one.source.as_str()).collect::<Vec<_>>(), ["true", "echo $?"]);
}

#[test]
fn an_alias_changed_by_the_command_itself_counts_from_the_next_line_on() {
    let set = |alias: &str| format!("builtin alias -- '{alias}'\n{EXPANDS}");
    for (alias, command) in [
        // Until the end of the line the alias keeps its text.
        ("gp=git push --force", "unalias gp; gp"),
        ("gp=git push --force", "alias gp=true; gp"),
        // From the next line on it is not.
        ("rm=echo", "unalias rm\nrm -rf /"),
        ("rm=echo", "unalias -a\nrm -rf /"),
        ("rm=echo", "alias git=echo; git push --force"),
    ] {
        assert!(judge(&set(alias), command).verdict >= SafetyVerdict::Ask, "{alias}: {command}");
    }
    assert_eq!(judge(&set("rm=echo"), "rm -rf /").verdict, SafetyVerdict::Allow);
    // In a function it was expanded when the function was defined, or never.
    let function = "builtin eval 'f () \n{ \n    rm -rf /\n}'\n";
    assert_eq!(judge(&format!("{function}{}", set("rm=echo")), "f").verdict, SafetyVerdict::Deny);
}

#[test]
fn variables_of_this_command_alone_win() {
    let overrides = [("X".to_owned(), Some("--force".to_owned())), ("FROM_ENV".to_owned(), None)];
    let code = "builtin declare -x X='--dry-run'\n";
    assert_eq!(judge(code, "git push $X").verdict, SafetyVerdict::Allow);
    assert_eq!(judge_with(code, &overrides, "git push $X").verdict, SafetyVerdict::Deny);
    assert_eq!(judge_with(code, &overrides, "bash -c 'git push $X'").verdict, SafetyVerdict::Deny);
    assert_eq!(judge_with("", &overrides, "git push $FROM_ENV").verdict, SafetyVerdict::Allow);
    assert_eq!(judge("", "git push $FROM_ENV").verdict, SafetyVerdict::Deny);
}

#[test]
fn state_that_cannot_be_evaluated_is_unknown() {
    // None of these makes a command incomplete that does not use it.
    for code in ["(\n", "x=$(y\n", &format!("{}:{}\n", "{ ".repeat(200), "; }".repeat(200))] {
        assert_eq!(judge(code, "git push").verdict, SafetyVerdict::Allow, "{code}");
        // A variable that is not set expands to nothing. An unknown one may be anything.
        assert_eq!(judge("", "rm -rf \"$X/\"").verdict, SafetyVerdict::Deny);
        assert_eq!(judge(code, "rm -rf \"$X/\"").verdict, SafetyVerdict::Ask, "{code}");
        let open = judge(code, "$X -rf /");
        assert!(open.verdict >= SafetyVerdict::Ask, "{code}: {:?}", open.findings);
        assert!(open.commands.iter().all(|one| one.argv.first().is_some_and(|word| !word.known)));
    }
    // A function whose text cannot be read asks when it is called.
    let broken = "builtin eval 'f () \n{ \n    if; (\n}'\nbuiltin declare -- X='--force'\n";
    assert_eq!(judge(broken, "true").verdict, SafetyVerdict::Allow);
    assert_eq!(judge(broken, "git push $X").verdict, SafetyVerdict::Deny);
    let called = judge(broken, "f");
    assert_eq!((called.verdict, called.complete), (SafetyVerdict::Ask, false));
}

#[test]
fn a_large_state_is_evaluated_whole() {
    let mut code = String::new();
    for number in 0..3_000 {
        code += &format!("builtin declare -x VARIABLE_{number}='{}'\n", "some value ".repeat(40));
        code += &format!("builtin eval 'f{number} () \n{{ \n    echo {number};\n    echo \"$1\"\n}}'\n");
    }
    code += "builtin declare -- X='--force'\n";
    let start = std::time::Instant::now();
    assert_eq!(judge(&code, "git push $X; f7").verdict, SafetyVerdict::Deny);
    assert!(judge(&code, "git push $VARIABLE_2; f2999 x").complete);
    assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
}
