//! State that must last.

use super::TestShells;

/// Checks that a second command sees the state of the first command, and leaves an equal state.
fn lasts(first: &str, second: &str, seen: &str) {
    let mut shells = TestShells::new();
    shells.run(first);
    assert!(shells.saved, "{first}: leaves a state");
    let before = shells.state.clone();
    assert_eq!(shells.tell(second), seen, "{first}");
    shells.tell(":");
    assert!(shells.state == before, "{first}: {}", shells.difference(&before));
}

#[test]
fn nothing() {
    let mut shells = TestShells::new();
    shells.tell(":");
    let first = shells.state.clone();
    let code = first.as_ref().expect("a state").restore(&shells.block());
    assert!(code.len() < 700, "{}", String::from_utf8_lossy(&code));
    shells.tell("true");
    assert_eq!(shells.state, first);
}

#[test]
fn variables() {
    lasts("x=1; y='a b'", "echo \"$x,$y\"", "1,a b\n");
    lasts(
        "x=$'a\\nb\\'\"$`\\\\\\t\\001\\177\\377 \u{e9}!'",
        "printf %s \"$x\" | od -An -tx1",
        " 61 0a 62 27 22 24 60 5c 09 01 7f ff 20 c3 a9 21\n",
    );
    lasts("export x=1; y=2", "env | grep '^[xy]='", "x=1\n");
    lasts("export x", "declare -p x", "declare -x x\n");
    lasts(
        "declare -i n=3; declare -l low; declare -u up",
        "n+=4; low=ABC; up=abc; echo $n $low $up; n=3; unset low up; declare -l low; declare -u up",
        "7 abc ABC\n",
    );
    lasts("declare -n ref=x; x=1", "echo $ref; declare -p ref", "1\ndeclare -n ref=\"x\"\n");
    lasts("readonly r='a b'; declare -r q", "declare -p r q", "declare -r r=\"a b\"\ndeclare -r q\n");
    lasts("unset GIVEN", "echo ${GIVEN-gone}; env | grep -c GIVEN || :", "gone\n0\n");
    lasts("export GIVEN=new", "env | grep GIVEN", "GIVEN=new\n");
    lasts("declare +x GIVEN", "env | grep GIVEN; echo $GIVEN", "a b\n");
    lasts("GIVEN+=c; declare -i GIVEN", "declare -p GIVEN", "declare -ix GIVEN=\"a bc\"\n");
    lasts("IFS=,", "x=a,b; set -- $x; echo $#; unset x", "2\n");
    lasts("unset IFS PATH; PS4='> '", "echo \"${IFS-none} ${PATH-none} $PS4\"", "none none > \n");
    lasts("LC_ALL=C; x=\u{e9}", "echo ${#x}", "2\n");
    lasts("x=$'\\n\\n'; y=", "declare -p x y", "declare -- x=$'\\n\\n'\ndeclare -- y=\"\"\n");
}

#[test]
fn arrays() {
    lasts("a=(x 'y z' '' [7]=$'\\n')", "declare -p a", "declare -a a=([0]=\"x\" [1]=\"y z\" [2]=\"\" [7]=$'\\n')\n");
    lasts(
        "a=(); declare -a b; declare -A c=(); declare -A d",
        "declare -p a b c d",
        "declare -a a=()\ndeclare -a b\ndeclare -A c=()\ndeclare -A d\n",
    );
    lasts(
        "declare -ax a=(1); declare -ai b=(2 3)",
        "b[0]+=1; declare -p a b; b[0]=2",
        "declare -ax a=([0]=\"1\")\ndeclare -ai b=([0]=\"3\" [1]=\"3\")\n",
    );
    lasts(
        "declare -A m; m[@]=1; m['*']=2; m['a]b']=3; m['a\"b']=4; m['$x']=5; m['x y']=6; m[$'\\n\\001\\177']=7; m['\\']=8; m[\"'\"]=9",
        "for k in '@' '*' 'a]b' 'a\"b' '$x' 'x y' $'\\n\\001\\177' '\\' \"'\"; do printf '%s' \"${m[$k]}\"; done; echo ${#m[@]}; unset k",
        "1234567899\n",
    );
}

#[test]
fn functions() {
    lasts("f() { echo \"in f $1\"; }", "f x", "in f x\n");
    lasts("f() { cat <<E\n}\ng () \n{ \nE\n}; g() { echo g; }", "f; g", "}\ng () \n{ \ng\n");
    lasts(
        "shopt -s extglob\nf() { case $1 in @(a|b)*) echo ab;; !(x)) echo notx;; esac; }; shopt -u extglob",
        "shopt -s extglob; f ac; f c; shopt -u extglob",
        "ab\nnotx\n",
    );
    lasts(
        "f() { echo f; }; export -f f; g() { :; }; declare -ft g; h() { :; }; readonly -f h",
        "bash -c f; declare -F",
        "f\ndeclare -fx f\ndeclare -ft g\ndeclare -fr h\n",
    );
    lasts("a-b() { echo 1; }; function if { echo 2; }; x.y/z() { echo 3; }", "a-b; \\if; x.y/z", "1\n2\n3\n");
    lasts(
        "echo() { builtin echo mine; }; declare() { :; }; cd() { :; }; eval() { :; }; test() { :; }; shopt() { :; }",
        "echo x",
        "mine\n",
    );
    lasts(
        "f() ( echo \"$BASH_SUBSHELL\" ) 2>&1; g() { x=\"$(cat <<'E'\n$y `z`\nE\n)\"; builtin echo \"$x\"; unset x; }",
        "f; g",
        "1\n$y `z`\n",
    );
}

#[test]
fn exported_functions_of_the_environment() {
    let mut shells = TestShells::new().with_env("BASH_FUNC_f%%", "() {  echo inherited\n}");
    assert_eq!(shells.tell("f"), "inherited\n");
    shells.tell("unset -f f");
    assert_eq!(shells.tell("type -t f || echo gone"), "gone\n");
}

#[test]
fn aliases() {
    lasts(
        "shopt -s expand_aliases; alias hi='echo hi' q=$'a\\n\\'b\\'' -- -x=y; alias cd=: builtin=false declare=false",
        "hi; alias -p",
        "hi\nalias -- -x='y'\nalias builtin='false'\nalias cd=':'\nalias declare='false'\nalias hi='echo hi'\nalias q='a\n'\\''b'\\'''\n",
    );
}

#[test]
fn options() {
    lasts(
        "set -fC -o pipefail; shopt -s nullglob; shopt -u checkwinsize",
        "echo *; set -o | grep -E 'pipefail|noclobber'; shopt nullglob checkwinsize || :",
        "*\nnoclobber      \ton\npipefail       \ton\nnullglob       \ton\ncheckwinsize   \toff\n",
    );
    lasts("set -a; x=1", "echo $-; y=2; env | grep '^[xy]=' | sort; unset y", "ahBc\nx=1\ny=2\n");
    lasts("GLOBIGNORE=x; shopt -u dotglob", "shopt dotglob || :", "dotglob        \toff\n");
    lasts("set +Bh", "echo {a,b}", "{a,b}\n");
    lasts("set -u", "echo ${none-ok}", "ok\n");
    lasts(
        "shopt -s compat42 lastpipe inherit_errexit globstar",
        "shopt compat42 lastpipe inherit_errexit globstar",
        "compat42       \ton\nlastpipe       \ton\ninherit_errexit\ton\nglobstar       \ton\n",
    );
    for option in ["-E", "-T", "-P", "-k", "-b", "-m"] {
        lasts(&format!("set {option}"), &format!("case $- in *{}*) echo yes;; esac", &option[1..]), "yes\n");
    }
}

#[test]
fn posix_mode() {
    lasts(
        "set -o posix",
        "set -o | grep posix; shopt expand_aliases; echo $POSIXLY_CORRECT",
        "posix          \ton\nexpand_aliases \ton\ny\n",
    );
    lasts("export POSIXLY_CORRECT=1; x=2", "env | grep POSIX; echo $x", "POSIXLY_CORRECT=1\n2\n");
    lasts(
        "f() { echo f; }; alias x=y; set -o posix; shopt -u expand_aliases",
        "f; shopt expand_aliases || alias",
        "f\nexpand_aliases \toff\nx='y'\n",
    );
}

#[test]
fn errexit_and_its_end() {
    let mut shells = TestShells::new();
    shells.tell("set -e; x=1");
    let output = shells.run("x=2; false; x=3");
    assert_eq!((output.status.code(), shells.code().as_str()), (Some(1), "1"));
    assert_eq!(shells.tell("echo $x $-"), "2 ehBc\n");
}

#[test]
fn traces_show_only_the_command() {
    let mut shells = TestShells::new();
    shells.run("set -xv");
    let output = shells.run("echo a");
    assert!(shells.saved);
    let seen = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(seen.starts_with("echo a\n+ echo a\n"), "{seen}");
    assert!(!seen.contains("declare"), "{seen}");
}

#[test]
fn folders() {
    lasts("cd /usr/bin", "pwd; echo $OLDPWD | grep -c /tmp", "/usr/bin\n1\n");
    lasts("mkdir \"$PWD/a b\"; ln -s 'a b' l; cd l; cd -P ..; cd l", "pwd | grep -o '/l$'", "/l\n");
    lasts(
        "cd /; pushd /usr; pushd /bin; pushd -n /var",
        "dirs -p -l; cd /usr; cd /bin; cd - ; cd /bin; OLDPWD=/usr",
        "/bin\n/var\n/usr\n/\n/usr\n",
    );
    lasts("umask 027", "umask", "0027\n");
    lasts("cd /; unset OLDPWD", "echo ${OLDPWD-none}", "none\n");
}

#[test]
fn traps() {
    lasts(
        "trap 'echo usr' USR1; trap '' INT",
        "trap -p USR1 INT; kill -USR1 $$",
        "trap -- 'echo usr' SIGUSR1\ntrap -- '' SIGINT\nusr\n",
    );
    lasts("trap 'echo \"it'\\''s\"\necho 2' ERR", "false; true", "it's\n2\n");
    lasts("trap 'builtin echo ret' RETURN", "f() { :; }; declare -ft f; f; unset -f f", "ret\n");
    lasts("trap 'builtin echo dbg' DEBUG", "x=1; unset x", "dbg\ndbg\n");
    lasts("set -T; trap 'n=1' DEBUG", "trap -p DEBUG | cat", "trap -- 'n=1' DEBUG\n");
}
