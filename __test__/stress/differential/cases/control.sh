### if and elif
for n in 1 2 3; do if ((n == 1)); then echo one; elif ((n == 2)); then echo two; else echo many; fi; done
### the status of if
if false; then :; fi; echo $?; if true; then false; fi; echo $?
### and, or, not
true && echo a || echo b; false && echo c || echo d; ! true; echo $?; ! false; echo $?
### chains
false || false || echo third; true && true && false; echo $?; { false; true; }; echo $?; (exit 4) || echo "was $?"
### case
for x in apple banana 42 '' 'a b'; do case $x in a*) echo starts-a ;; *na) echo ends-na ;; [0-9]*) echo number ;; '') echo empty ;; *) echo other ;; esac; done
### case with several patterns
case yes in y | Y | yes) echo yes ;; n | no) echo no ;; esac; case x in a) ;; esac; echo $?
### case falls through
case a in a) echo 1 ;& b) echo 2 ;;& [a-c]) echo 3 ;; *) echo 4 ;; esac
### case with quotes
x='*'; case '*' in "$x") echo literal ;; esac; case abc in $x) echo pattern ;; esac
### for
for x in a "b c" $(seq 2); do echo "<$x>"; done; for x in; do echo never; done; echo "[$x]"
### for over the parameters
set -- 1 2; for x; do echo "$x"; done; for x in "$@"; do shift; echo "$#"; done
### while and until
i=0; while [ $i -lt 3 ]; do echo $i; i=$((i + 1)); done; until [ $i -eq 0 ]; do i=$((i - 1)); done; echo $i
### break and continue
for i in 1 2 3 4 5; do [ $i = 2 ] && continue; [ $i = 4 ] && break; echo $i; done; echo $?
### break out of two
for i in 1 2; do for j in a b; do [ $j = b ] && break 2; echo $i$j; done; done; for i in 1 2; do for j in a b; do [ $j = b ] && continue 2; echo $i$j; done; done
### break outside a loop
break; echo "code $?"; continue 2; echo "code $?"
### functions
f() { echo "f $1 $#"; return 3; }; f a b; echo $?; function g { echo g; }; g; h() (exit 5); h; echo $?
### functions and their variables
x=global; f() { local x=local; g; x=changed; }; g() { echo "$x"; }; f; echo "$x"
### local with an expansion
f() { local a=1 b=$a; echo "[$b]"; local c; echo "[${c-unset}]"; }; f
### recursion
fib() { if (($1 < 2)); then echo $1; else echo $(($(fib $(($1 - 1))) + $(fib $(($1 - 2))))); fi; }; fib 10
### a function named like a builtin
echo() { builtin echo "[$@]"; }; echo x; unset -f echo; echo x
### a function with a redirection
f() { echo out; echo err >&2; } 2> /dev/null; f; f() { cat; } <<< input; f
### return without a function
return 3; echo "code $?"
### the value of return
f() { return 256; }; f; echo $?; f() { return -1; }; f; echo $?; f() { false; return; }; f; echo $?
### unset a function
f() { echo f; }; unset -f f; f; echo $?
### a function that is not there
no_function_here a b; echo $?
### subshells
x=1; (x=2; echo $x; exit 7); echo $? $x; (exit 3) | true; echo $?; { x=3; }; echo $x
### groups
{ echo a; echo b; } | sort -r; (echo c; echo d) | tail -1
### exit in a subshell, in a pipe, in a group
(exit 5); echo $?; echo x | (read -r y; exit 6); echo $?; { (exit 8); }; echo $?
### exit in a function
f() { exit 9; }; (f); echo $?; f; echo never
### exit in a substitution
x=$(echo a; exit 4; echo b); echo "$x $?"
### pipelines
seq 5 | sed 1d | head -2 | tr '\n' ' '; echo; false | true; echo $? "${PIPESTATUS[@]}"
### PIPESTATUS
(exit 1) | (exit 2) | (exit 3); echo "${PIPESTATUS[@]}"; true; echo "${PIPESTATUS[@]}"
### a negated pipeline
! false | true; echo $?; ! (exit 5); echo $?
### lastpipe
shopt -s lastpipe; echo value | read -r x; echo "[$x]"
### without lastpipe
echo value | read -r x; echo "[$x]"
### select
printf '2\n9\n1\n' | { select x in red green; do echo "$REPLY=$x"; done; } 2>&1; echo "code $?"
### select with a prompt
PS3='which? '; select x in a b; do echo "$x"; break; done <<< 2
### time is a keyword
TIMEFORMAT=; time true; echo $?; time { echo timed; }
### an empty body
f() { :; }; f; echo $?; for i in 1; do :; done; echo $?
### a conditional with an empty list
[[ -n '' || -z '' ]] && echo ok; [[ ! -n x ]]; echo $?
### colon and true
: a b > f; echo $?; ls; true x; echo $?
### nested functions
outer() { inner() { echo inner; }; }; outer; inner; declare -F | sort
### the status of an assignment
x=1; echo $?; x=$(false); echo $?; x=$(false) y=$(true); echo $?; readonly r=1
### comments
echo a # comment
echo b#not 'c # d' # yes
# whole
echo "#in" \# end
### line continuation
echo one \
  two \
  three; echo "a\
b"; echo 'a\
b'
### semicolons and newlines
echo a;echo b
echo c ; 

echo d
