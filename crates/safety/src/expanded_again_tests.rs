//! Commands in texts that bash expands a second time. `__test__/safety/canaries` tries the same in real shells.

use crate::analysis::ReadOnly;
use crate::corpus_tests::judge;
use crate::verdict::SafetyVerdict;

/// Commands that look as if they only read, and run a program, or may run any program.
const RUNS: &[&str] = &[
    "[[ a -eq 'b[$(./x)]' ]]",
    "test -v 'a[$(./x)]'",
    "[ -v 'a[$(./x)]' ]",
    "printf -v 'a[$(./x)]' %s 1",
    "read 'a[$(./x)]' <<< 1",
    "let 'a[$(./x)]=1'",
    "declare 'a[$(./x)]=1'",
    "declare -i 'a=b[$(./x)]'",
    "export -a 'a=($(./x))'",
    "wait -p 'a[$(./x)]'",
    "unset 'a[$(./x)]'",
    "x='b[$(./x)]'; echo $((x))",
    "x='b[$(./x)]'; echo $[x]",
    "x='b[$(./x)]'; ((x))",
    "x='b[$(./x)]'; [[ x -eq 1 ]]",
    "x='b[$(./x)]'; s=abc; echo ${s:x}",
    "x='b[$(./x)]'; echo ${a[x]}",
    "x='b[$(./x)]'; a[x]=1",
    "x='b[$(./x)]'; for ((i=x; i<1; i++)); do :; done",
    "declare -i q; q='b[$(./x)]'",
    "declare -n r='b[$(./x)]'; echo $r",
    "n=$(cat f); echo $((n*2))",
    "read -r n < f; echo $((n))",
    "for n in $(cat f); do [[ $n -gt 0 ]]; done",
    "cat f | while read -r n; do echo $((n)); done",
    "x='b[$(./x)]'; a=(1); declare +A a; echo ${a[$x]}",
    "x='b[$(./x)]'; a=(1); declare -A a; echo ${a[$x]}",
    "x='b[$(./x)]'; if false; then declare -A a; fi; echo ${a[$x]}",
    "x='b[$(./x)]'; local -A a; echo ${a[$x]}",
    "x='b[$(./x)]'; declare -A a < nowhere; echo ${a[$x]}",
    "x='b[$(./x)]'; declare -AZ a; echo ${a[$x]}",
    "n=$(ps -eo args=); echo $((n))",
    "n=$(stat -f %s *); echo $((n))",
    "n=$(grep -cl x f); echo $((n))",
    "echo 1 | { read -r n < f; echo $((n)); }",
    "echo 1 | { exec < f; read -r n; echo $((n)); }",
    "x='b[$(./x)]'; echo ${!x}",
    "x='$(./x)'; echo ${x@P}",
    "x=$(cat f); read \"$x\" <<< y",
    "PS4='$(./x)'; set -x; ls",
    "export PS4='$(./x)'; set -x; zgrep a f.gz",
    "jobs -x ./x",
    "compgen -W '$(./x)'",
    "BASH_CMDS[ls]=./x; ls",
    "read PATH <<< ./dir; ls",
    "printf -v PATH ./dir; ls",
    "for PATH in ./dir; do ls; done",
    "HOME=./h git status",
    "export HOME=./h; ls",
    "XDG_CONFIG_HOME=./h git status",
    "TAR_OPTIONS='-I ./x' tar tf t.tar",
    "export TAR_OPTIONS='-I ./x'; tar tf t.tar",
    "PIP_PYTHON=./x pip list",
    "strace -o '|./x' ls",
    "strace -o out ls",
    "/usr/bin/time -o out ls",
    "env time -o out ls",
    "TF_LOG_PATH=out terraform show",
];

/// Commands with such texts that only read.
const READS: &[&str] = &[
    "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done",
    "for i in $(seq 1 3); do echo $((i*2)); done",
    "n=$(wc -l < f); echo $((n+1))",
    "n=$(ls | wc -l | tr -d ' '); [[ $n -gt 3 ]] && echo many",
    "n=$(grep -c x f); echo $((n * 100 / 7))",
    "echo $(( $(date +%s) - 86400 )) $((RANDOM % 6)) $((SECONDS))",
    "v=$(cat f); v=${v//[^0-9]/}; echo $((v + 1))",
    "declare -A m=([a b]=1); k='a b'; echo ${m[$k]} ${m[a b]}",
    "a=(1 2 3); echo ${a[1]} ${#a[@]} ${a[@]:1} ${a[-1]}; for ((i=0; i<${#a[@]}; i++)); do echo ${a[i]}; done",
    "s=abcdef; echo ${s:0:3} ${s: -2}",
    "[[ $# -gt 1 && $1 == x ]]; echo $((2#101 + 0x1f))",
    "f() { echo $(( $1 + $2 )); }; f 1 2",
    "x=5; echo ${!x} ${!P*}",
    "time ls; strace ls; jobs -l",
    "PS4='+ ${LINENO}: '; set -x; ls",
    "PAGER=cat; ls",
];

#[test]
fn no_text_that_bash_expands_again_passes_for_reading() {
    for command in RUNS {
        let analysis = judge(command);
        assert_ne!(analysis.read_only, ReadOnly::Yes, "{command}");
    }
    for command in READS {
        let analysis = judge(command);
        assert_eq!((analysis.read_only, analysis.complete), (ReadOnly::Yes, true), "{command}");
    }
}

#[test]
fn rules_find_the_commands_in_texts_that_bash_expands_again() {
    for command in RUNS.iter().filter(|command| command.contains("$(./x)")) {
        let denied = judge(&command.replace("./x)", "rm -rf ~)"));
        assert_eq!(denied.verdict, SafetyVerdict::Deny, "{command}");
    }
    for command in ["jobs -x rm -rf ~", "let 'a[$(rm -rf ~)]=1'", "PS4='$(rm -rf ~)'; set -x; ls"] {
        assert_eq!(judge(command).verdict, SafetyVerdict::Deny, "{command}");
    }
}
