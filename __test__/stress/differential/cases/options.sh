### set -e
set -e; echo a; false; echo never
### set -e and conditions
set -e; if false; then :; fi; false || true; ! true; while false; do :; done; echo here; (exit 3); echo never
### set -e in a function in a condition
set -e; f() { false; echo goes on; }; f || true; f && echo yes; f; echo never
### set -e in a subshell
set -e; (false; echo no) || echo "sub $?"; x=$(false; echo in); echo "[$x]"; y=$(false); echo never
### set -e and pipes
set -e; false | true; echo ok; true | false; echo never
### set -e with a trap
set -e; trap 'echo "exit $?"' EXIT; trap 'echo err' ERR; false
### inherit_errexit
set -e; shopt -s inherit_errexit; x=$(false; echo in); echo never
### set -u
set -u; echo "${x-default}"; echo "$x"; echo never
### set -u with parameters
set -u; echo "$#" "$@" "$*"; echo "$1"; echo never
### set -u in a subshell
set -u; (echo "$nope"; echo no); echo "code $?"
### pipefail
set -o pipefail; false | true; echo $?; (exit 3) | (exit 4) | true; echo $?; true | true; echo $?
### the three together
set -euo pipefail; echo start; cat nowhere | sed s/a/b/; echo never
### set -x
set -x; x=1; echo "$x" 'a b'; for i in 1 2; do :; done; set +x; echo quiet
### set -x with its prompt
PS4='[${LINENO}] '; set -x; echo one
echo two
### set -x to a descriptor
exec 7> f; BASH_XTRACEFD=7; set -x; echo traced; set +x; cat f
### set -v
set -v
echo a
set +v
### set -n
bash -n -c 'echo never'; bash -nc 'if'; echo "code $?"
### set -a
set -a; X_EXPORTED=1; bash -c 'echo "$X_EXPORTED"'
### set -o
set -o | grep -E 'errexit|pipefail|noclobber'; set +o | grep -c . ; set -o nothing_here; echo "code $?"
### shopt
shopt extglob; echo $?; shopt -s extglob; shopt -q extglob; echo $?; shopt -p extglob; shopt nothing_here; echo "code $?"
### set with an unknown flag
set -Z; echo "code $?"
### flags in a variable
echo "$-"; set -eu; echo "$-"
### posix mode
set -o posix; echo "$POSIXLY_CORRECT"; shopt -qo posix; echo $?; unset_it() { :; }; export x=~; echo "$x"
### LINENO
echo $LINENO
echo $LINENO; f() {
  echo $LINENO
}
f
### FUNCNAME and BASH_LINENO
f() { g; }
g() { echo "${FUNCNAME[@]}" "${BASH_LINENO[@]}"; }
f
### BASH_SUBSHELL and SHLVL
echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL)); [ "$SHLVL" -ge 0 ] && echo ok
### BASHPID
[ "$$" = "$BASHPID" ] && echo same; ([ "$$" = "$BASHPID" ] || echo other)
### BASH_COMMAND and execution string
echo "$BASH_COMMAND"; echo "${BASH_EXECUTION_STRING:0:4}"
### versions
((BASH_VERSINFO[0] >= 3)) && echo ok; [ -n "$BASH_VERSION" ] && echo ok; echo "${BASHOPTS:+set}" "${SHELLOPTS:+set}"
### SECONDS and EPOCHSECONDS
((SECONDS < 100)) && echo ok; SECONDS=50; ((SECONDS >= 50)) && echo ok; ((EPOCHSECONDS > 1600000000)) && echo ok
### zero and arguments
echo "$0" $#; bash -c 'echo $0 $1' zero one; f() { echo "$0"; }; f
### IFS at the start
printf '%q\n' "$IFS"; echo "${PS1-none}" "${PS2-none}" "${PS4-none}"
### OPTIND and HISTFILE
echo "$OPTIND" "${HISTFILE-none}" "${MAILCHECK-none}"
### history is off
set -o | grep '^history'; history; echo "code $?"; echo '!!' "!x"
### checkwinsize and columns
echo "${COLUMNS-none}" "${LINES-none}"
### the exit code of the last command
false; exit
### exit codes over 255
exit 511
### a restricted shell
bash -r -c 'cd /'; echo "code $?"; bash --norc -c 'echo in'; bash -c ''; echo $?
### stdin is empty
cat; read -r x; echo "$? [$x]"; wc -c | tr -d ' '
### a script on stdin
echo 'echo from stdin $1' | bash -s arg; bash <<< 'exit 4'; echo $?
### a script in a file
printf 'echo "$0 $1 $#"\nexit 3\n' > s.sh; bash s.sh a b; echo $?; bash nowhere.sh; echo "code $?"
### env
env -i A=1 bash -c 'echo "$A" "${HOME-none}"'; env -u HOME bash -c 'echo "${HOME-none}"'; X=1 env | grep '^X='
### a program that is not executable
echo 'echo hi' > prog; ./prog; echo "code $?"; chmod +x prog; ./prog; mkdir dir; ./dir; echo "code $?"
### a wrong interpreter
printf '#!/nowhere/at/all\n' > prog; chmod +x prog; ./prog; echo "code $?"
### command_not_found_handle
command_not_found_handle() { echo "handled $1"; return 42; }; nothing_here x; echo $?
