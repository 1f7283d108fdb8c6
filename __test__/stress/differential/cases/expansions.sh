### default value
unset x; echo "${x-a}" "${x:-b}"; x=; echo "[${x-a}]" "${x:-b}"
### assign default
unset x; : "${x=first}"; echo "$x"; : "${x:=second}"; echo "$x"; y=; : "${y:=third}"; echo "$y"
### alternate value
x=1; echo "${x+set}" "${x:+full}"; x=; echo "[${x+set}]" "[${x:+full}]"; unset x; echo "[${x+set}]"
### error when unset
unset x; echo "${x?is missing}"; echo after
### error when empty, in a subshell
x=; (echo "${x:?is empty}"; echo no); echo "code $?"
### length
x=hello; echo ${#x} ${#y}; set -- a b c; echo ${#} ${#@} ${#*}
### length of characters
x='é漢😀'; echo ${#x}
### remove a prefix
p=/usr/local/lib/libfoo.so.1; echo "${p#*/}" "${p##*/}" "${p#nope}"
### remove a suffix
p=/usr/local/lib/libfoo.so.1; echo "${p%.*}" "${p%%.*}" "${p%/*}"
### replace
x=banana; echo "${x/an/AN}" "${x//an/AN}" "${x/#b/B}" "${x/%a/A}" "${x//a}"
### replace with a pattern
x='a1b22c333'; echo "${x//[0-9]/#}" "${x//[0-9][0-9]/<>}" "${x/[[:digit:]]*/!}"
### substring
x=0123456789; echo "${x:3}" "${x:3:4}" "${x: -3}" "${x: -5:2}" "${x:2:-2}" "${x:(-2)}"
### substring of the parameters
set -- a b c d e; echo "${@:2}" "|" "${@:2:2}" "|" "${@: -1}" "|" "${*:3:1}"
### case of letters
x='hello World'; echo "${x^}" "${x^^}" "${x,}" "${x,,}" "${x^^[aeiou]}" "${x~~}"
### quoting by operators
x=$'it\'s "a"\n\ttab'; echo "${x@Q}"; y="a b"; echo ${y@Q} ${y@E} ; z='\t'; echo "[${z@E}]"
### upper and lower by operators
x='mixed Case'; echo "${x@U}" "${x@u}" "${x@L}"
### assignment by operator
declare -i n=5; declare -A m=([k]=v); arr=(1 'two words'); echo "${n@A}" "${m[@]@A}" "${arr[@]@A}"
### attributes by operator
declare -rx c=1; declare -a l=(); echo "${c@a}" "${l@a}"
### prompt by operator
x='\$ text \\ end'; echo "${x@P}"
### key and value by operator
arr=(a 'b c'); echo "${arr[@]@K}"; echo "${arr[@]@k}"
### indirect
a=b; b=c; echo "${!a}"; arr=(x y); ref='arr[1]'; echo "${!ref}"
### names with a prefix
my_a=1 my_b=2; echo "${!my_*}" "${!my_@}"
### nested defaults
unset a b; echo "${a:-${b:-deep}}" "${a:-$(echo cmd)}" "${a:-$((1 + 2))}"
### words in a default
unset x; for w in ${x:-one two "three four"}; do echo "<$w>"; done
### quotes in a default
unset x; echo "${x:-a 'b' c}" ${x:-a 'b' c} "${x:-"quoted"}"
### word splitting
x='a  b   c'; for w in $x; do printf '<%s>' "$w"; done; echo; printf '<%s>' "$x"; echo
### splitting with IFS
IFS=:; x='a:b::c:'; for w in $x; do printf '<%s>' "$w"; done; echo
### splitting with white and other characters
IFS=' ,'; x='a , b,c ,, d '; for w in $x; do printf '<%s>' "$w"; done; echo
### an empty IFS
IFS=; x='a b'; for w in $x; do printf '<%s>' "$w"; done; echo; set -- 1 2 3; echo "$*"
### all parameters
set -- 'a b' c ''; for w in "$@"; do printf '<%s>' "$w"; done; for w in "$*"; do printf '<%s>' "$w"; done; for w in $@; do printf '<%s>' "$w"; done; echo
### joined by IFS
set -- a b c; IFS=-; echo "$*"; IFS='<>'; echo "$*"
### no parameters
set --; for w in "$@"; do echo never; done; printf '[%s]\n' "$*" "x$@y"
### tildes
echo ~ ~/x "~" a~ ~+ ; x=~:~/y; echo "$x"
### braces
echo {a,b,c} x{1,2}y {a,b}{1,2} {a,{b,c}} {} {a} a{,b}
### brace ranges
echo {1..5} {5..1} {a..e} {1..10..3} {01..03} {e..a..2} {-2..2}
### braces are not expanded
x=3; echo {1..$x} "{a,b}" {a\,b} $'{1..2}'
### command substitution
echo "$(echo a; echo b)" $(echo 'c   d') "[$(printf 'x\n\n\n')]"
### nested command substitution
echo "$(echo "$(echo "$(echo deep)")")" `echo \`echo old\``
### the status of a substitution
x=$(exit 3); echo $?; echo "$(exit 4)"; echo $?; local_=$(false) ; echo $?
### a substitution from a file
printf 'one\ntwo\n' > f; x=$(<f); echo "$x"; echo "$(< f)"
### NULs in a substitution
x=$(printf 'a\0b'); echo "$x"
### quotes removed
echo a"b"c'd'e\f "" '' | od -An -c
### ANSI-C quotes
printf '%s' $'a\tb\n\x41\u00e9\U0001f600\101\e[0m\cA\'\"\\' | od -An -tx1
### locale quotes
x=3; echo $"hello $x"
### arithmetic expansion in words
i=3; echo "a$((i++))b$((++i))c" $((i)) $[1+2]
### order of assignments and expansions
x=1; x=2 y=$x; echo $x $y; x=3 env | grep ^x=; echo $x
### the last word of the command before
echo a b c >/dev/null; echo "$_"
### special parameters
set -- a; echo "$#" "$?" "$-" "$0" ; true | false; echo "$?"
