### wait for one
(exit 3) & wait $!; echo $?; sleep 0 & wait; echo $?
### wait for several
(exit 1) & a=$!; (exit 2) & b=$!; wait $a $b; echo $?; wait $a; echo $?
### wait for any
(sleep .05; exit 4) & wait -n; echo $?; wait -n; echo $?
### output in the background
{ echo background; } & wait; echo front
### the last background process
: & [ -n "$!" ] && echo set; p=$!; wait $p; echo $?
### jobs
sleep 5 & jobs -r | sed 's/  */ /g'; kill $!; wait $! 2>/dev/null; echo $?
### kill by number and name
sleep 5 & kill -9 $!; wait $! 2>/dev/null; echo $?; sleep 5 & kill -s USR1 $!; wait $! 2>/dev/null; echo $?
### kill -l
kill -l 9 15 143; kill -l TERM INT; kill -l | head -1 | sed 's/[[:space:]]*$//'
### kill with errors
kill; echo "code $?"; kill -BAD 1; echo "code $?"; kill abc; echo "code $?"
### a background function
f() { echo "in $1"; return 6; }; f x & wait $!; echo $?
### a background pipeline
echo a | tr a b & wait; (exit 1) | (exit 5) & wait $!; echo $?
### stdin of a background process
cat & wait; echo $?; echo data | { cat & wait; }
### disown
sleep 5 & disown; jobs; echo $?; kill $!
### job control by number
sleep 5 & kill %1; wait %1 2>/dev/null; echo $?; wait %9; echo "code $?"
### monitor mode
set -m; sleep .3 & wait; echo $?; set +m
### fg and bg without job control
sleep 0 & fg; echo "code $?"; bg; echo "code $?"; wait
### trap on exit
trap 'echo bye $?' EXIT; echo hi; exit 3
### trap on exit in a subshell
trap 'echo outer' EXIT; (trap 'echo inner' EXIT; echo in); echo after
### trap on a signal
trap 'echo got usr1' USR1; kill -USR1 $$; echo after; trap - USR1
### trap on a signal while waiting
trap 'echo got it' TERM; sleep 5 & p=$!; (sleep .3; kill -TERM $$) & wait $p; echo $?; kill $p
### an ignored signal
trap '' INT; kill -INT $$; echo alive; bash -c 'kill -INT $$; echo child too'
### trap on an error
trap 'echo "err $?"' ERR; false; (exit 4); true; if false; then :; fi; false || true; echo end
### errtrace
f() { false; }; trap 'echo err' ERR; f; set -E; f
### trap on debug
trap 'echo "+ $BASH_COMMAND"' DEBUG; x=1; echo $x; trap - DEBUG; echo quiet
### trap on return
f() { trap 'echo returned' RETURN; echo in; }; f; echo out
### listing traps
trap 'echo a' INT EXIT; trap -p INT; trap; trap - EXIT
### a trap that exits
trap 'exit 9' USR2; kill -USR2 $$; echo never
### a trap changes nothing
trap 'false' USR1; true; kill -USR1 $$; echo $?
### killed by a signal
echo before; kill -TERM $$; echo never
### killed by KILL
kill -KILL $$
### killed by HUP
kill -HUP $$
### a child killed by a signal
{ bash -c 'kill -TERM $$'; echo $?; bash -c 'kill -KILL $$'; echo $?; } 2>/dev/null
### a child killed by a signal in a pipe
bash -c 'kill -INT $$' | cat; echo "${PIPESTATUS[@]}"
### SIGPIPE
yes | head -1; echo "${PIPESTATUS[@]}"; seq 100000 | sed 1q; echo "${PIPESTATUS[0]}"
### the signal of the last command
exec bash -c 'kill -USR1 $$'
### a trap and a subshell
trap 'echo parent' USR1; (trap; kill -USR1 $BASHPID; echo not here); echo $?
### a shell that waits for its children
(sleep .1; echo late) & wait; echo end
### exit with children
(exit 0) & exit 5
### a timeout
timeout .1 sleep 5; echo $?; timeout 5 true; echo $?; { timeout -s KILL .1 sleep 5; echo $?; } 2>/dev/null
### suspend is refused
suspend; echo "code $?"
### trap with a bad signal
trap 'echo x' NOSUCH; echo "code $?"; trap -p NOSUCH; echo "code $?"
### times in a background loop
for i in 1 2 3; do (echo $i) & wait $!; done
