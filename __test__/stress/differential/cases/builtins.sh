### printf formats
printf '%d %5d|%-5d|%05d %+d %x %X %o %#x\n' 42 42 42 42 42 255 255 8 255
### printf floats
printf '%.2f %e %g %10.3f|\n' 3.14159 12345.678 0.0001 2.5
### printf strings
printf '%s|%10s|%-10s|%.3s|%c\n' abc abc abc abcdef xyz
### printf reuses its format
printf '%s=%d\n' a 1 b 2 c; printf '<%s>' ; echo
### printf quotes
printf '%q\n' 'a b' "it's" $'tab\t' '' '$x' 'é'; printf '%b\n' 'a\tb\n\x41\0101'
### printf numbers of other kinds
printf '%d %d %d %d\n' 0x1f 010 "'A" '"B'; printf '%d\n' abc; echo "code $?"
### printf to a variable
printf -v x '%03d' 7; echo "$x"; declare -a a; printf -v 'a[2]' hi; declare -p a
### printf with stars
printf '%*d|%-*d|%.*f\n' 6 42 6 42 2 3.14159
### printf with a time
TZ=UTC printf '%(%Y-%m-%d %H:%M:%S)T\n' 0; TZ=UTC printf '%(%F)T|%(%j)T\n' 86400 86400
### printf with an invalid format
printf '%z\n' 1; echo "code $?"; printf '%'; echo "code $?"
### echo and its options
echo -n a; echo -e 'b\tc\n'; echo -E 'd\te'; echo -ne 'f\c g'; echo; echo -x -- -n
### echo with xpg_echo
shopt -s xpg_echo; echo 'a\tb'; echo -n 'x'; shopt -u xpg_echo; echo 'a\tb'
### read with fields
read -r a b <<< "one two three"; echo "[$a][$b]"; read -r a b c d <<< "1 2"; echo "[$a][$b][$c][$d]"
### read without -r
read x <<< 'a\tb\\c'; echo "$x"; printf 'one\\\ntwo\n' | { read y; echo "$y"; }
### read a number of characters
read -r -n 3 x <<< abcdef; echo "$x"; read -r -N 4 y <<< 'a b c'; echo "[$y]"; read -rn 2 z <<< 'éàü'; echo "$z"
### read to a delimiter
printf 'a b:c:d' | { read -r -d : x; echo "[$x]"; IFS= read -r -d '' y; echo "[$y] $?"; }
### read at the end of file
read -r x < /dev/null; echo "$? [$x]"; printf 'partial' | { read -r x; echo "$? [$x]"; }
### read with a limit
read -r -t 0.05 x < <(sleep 1); s=$?; ((s > 128)) && echo late; read -t 0 < /dev/null; echo $?
### read from a descriptor
exec 3<<< $'l1\nl2'; read -r -u 3 a; read -ru 3 b; echo "$a $b"; read -ru 3 c; echo $?
### read into REPLY
read <<< '  kept as it is  '; echo "[$REPLY]"
### read with IFS
IFS=: read -r user _ uid rest <<< 'me:x:1000:10:more'; echo "$user $uid $rest"; IFS= read -r x <<< '  a  '; echo "[$x]"
### read with a prompt and silence
read -r -p 'prompt> ' -s x <<< secret; echo "$x"
### read into a bad name
read -r 1x <<< a; echo "code $?"
### a loop over lines
printf 'a\nb b\n\nlast' | while IFS= read -r line || [ -n "$line" ]; do echo "<$line>"; done
### getopts
f() { local OPTIND o; while getopts ab:c o; do echo "$o ${OPTARG-}"; done; shift $((OPTIND - 1)); echo "rest: $*"; }; f -a -b val -c x y; f -cab val -- -z
### getopts with errors
f() { local OPTIND o; while getopts ab: o; do echo "$o [${OPTARG-}]"; done; }; f -z; f -b
### getopts in silence
f() { local OPTIND o; while getopts :ab: o; do echo "$o [$OPTARG]"; done; }; f -z -b; OPTERR=0; f -q
### test on files
touch f; mkdir d; ln -s f l; ln -s nowhere b; chmod 644 f; for t in -e -f -d -L -h -s -r -x; do for p in f d l b; do test $t $p; echo -n "$?"; done; echo -n ' '; done; echo
### test on strings
[ -z "" ]; echo $?; [ -n "" ]; echo $?; [ a = a ]; echo $?; [ a \< b ]; echo $?; [ "$unset" ]; echo $?; [ ]; echo $?
### test with and, or, not
[ a = a -a b = b ]; echo $?; [ a = b -o b = b ]; echo $?; [ ! a = b ]; echo $?; [ \( a = a \) ]; echo $?
### test with wrong arguments
[ a b ]; echo "code $?"; [ 1 -eq ]; echo "code $?"; [ a = a; echo "code $?"
### files by age and identity
touch -d '2020-01-01' old; touch new; [ new -nt old ]; echo $?; [ old -ot new ]; echo $?; ln new hard; [ new -ef hard ]; echo $?
### double brackets
x='a b'; [[ $x == 'a b' ]]; echo $?; [[ $x == a* ]]; echo $?; [[ $x == "a*" ]]; echo $?; [[ abc < abd && -n $x ]]; echo $?
### a regular expression
[[ 'key=value' =~ ^([a-z]+)=(.*)$ ]]; echo $? "${BASH_REMATCH[0]}" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
### a regular expression in a variable
re='([0-9]+)-([0-9]+)'; [[ 'tel 12-345' =~ $re ]] && echo "${BASH_REMATCH[@]}"; [[ a.c =~ a\.c ]]; echo $?; [[ abc =~ "a.c" ]]; echo $?
### a wrong regular expression
[[ a =~ '(' ]]; echo $?; re='('; [[ a =~ $re ]]; echo "code $?"
### nocasematch
shopt -s nocasematch; [[ ABC == abc ]]; echo $?; case Foo in foo) echo match ;; esac
### declare and its attributes
declare -i n=2+3; declare -u up=abc; declare -l low=ABC; declare -r ro=1; declare -x ex=2; declare -p n up low ro ex
### declare in a function
f() { declare a=1; declare -g b=2; }; f; echo "[$a][$b]"
### declare functions
f() { echo hi; }; declare -f f; declare -F f; declare -f nothing; echo $?
### readonly
readonly x=1; x=2; echo after
### readonly in a subshell
readonly x=1; (x=2; echo no); echo "code $?"; unset x; echo "code $?"; declare x=3; echo "code $?"
### export
export A=1; B=2; export B; C=3; bash -c 'echo "$A$B[$C]"'; export -n A; bash -c 'echo "[$A]"'
### an exported function
f() { echo "f $1"; }; export -f f; bash -c 'f x'
### an assignment for one command
x=1; x=2 bash -c 'echo $x'; echo $x; f() { echo "$x"; }; x=3 f; echo "$x"
### unset
x=1; unset x; echo "[${x-unset}]"; unset nothing; echo $?; unset -v x; f() { :; }; unset f; type f 2>&1; echo $?
### shift
set -- a b c; shift; echo "$*"; shift 2; echo "[$*]" $?; shift; echo $?; set -- a; shift 5; echo $? "$*"
### set and its parameters
set -- -a b; echo "$1 $#"; set x y; echo "$*"; set --; echo $#
### eval
x='echo "a  b"'; eval "$x"; eval 'for i in 1 2; do echo $i; done'; eval 'exit 3' | cat; eval 'syntax ('; echo "code $?"
### source
echo 'echo "sourced $1 $#"; y=5; return 4' > s.sh; . ./s.sh arg; echo $? $y; source ./nowhere.sh; echo "code $?"
### command and builtin
command echo hi; command -v echo cd if; command -V if; builtin nothing; echo "code $?"; command nothing_here; echo "code $?"
### type
f() { :; }; type -t f echo if cat nothing_here; echo $?; type -a if
### hash
hash -r; hash; hash cat; echo $?; hash nothing_here; echo "code $?"
### cd and pwd
mkdir -p a/b; ln -s a/b l; cd a/b; echo "${PWD##*/}"; cd - >/dev/null; cd l; echo "${PWD##*/}"; cd -P .; pwd | sed 's,.*/,,'; cd nowhere; echo "code $?"
### pushd and popd
mkdir a b; cd a; pushd ../b >/dev/null; dirs -p | sed 's,.*/,,'; popd >/dev/null; echo "${PWD##*/}"; popd; echo "code $?"
### CDPATH
mkdir -p x/target; CDPATH=x; cd target >/dev/null; echo "${PWD##*/}" $?
### umask
umask 027; umask; umask -S; touch f; stat -c %a f; umask u=rwx,g=,o=; umask; umask 999; echo "code $?"
### ulimit
ulimit -S -n 100; ulimit -Sn; ulimit -S -c 0; ulimit -c; ulimit -q 2>/dev/null; ulimit -n abc; echo "code $?"
### let it be known: help
help : | head -1; help nothing_here; echo "code $?"
### alias
alias ll='echo alias'; ll; shopt -s expand_aliases
alias hi='echo hello'
hi there; unalias hi; hi; echo $?
### exec
(exec echo replaced; echo never); (exec -a name bash -c 'echo $0'); exec nothing_here; echo never
### times and wait without children
wait; echo $?; wait 99999; echo "code $?"
### caller
f() { caller 0; caller; }
f
### enable
enable -n echo; type -t echo; enable echo; type -t echo; enable nothing; echo "code $?"
### numeric arguments that are none
shift x; echo "code $?"; exit abc; echo never
