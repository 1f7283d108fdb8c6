echo a
echo a; pwd; true
echo a && pwd && test -d .
echo a | cat | wc -l
printf '%s\n' a b | sort | head -1
ls -a | grep x | wc -c
pwd >/dev/null; echo b >out; cat <out
>out echo a
2>/dev/null ls nothing
echo a 2>&1 >/dev/null b
echo a >out 2>&1; cat out
cat <<< word
cat <<< "$(pwd)"
cat <<< $'a\nb'
a=1; echo "$a"
a=1 b=2 env >/dev/null
a=1 b=$(pwd) printenv a
a=$(echo x); b=`pwd`; printf %s "$a$b"
a=(1 2 3); echo "${a[@]}" "${#a[@]}"
a=([1]=x [3]=y); a+=(z); echo "${!a[@]}"
a[2]=$(echo i); echo "${a[2]}"
declare -A m=([k]=v ['a b']=c); echo "${m[k]}"
export A=1 B="two"; readonly C=3; printenv A
unset A; shift 0; set -- a b; echo "$2"
echo "$(echo "$(echo deep)")"
echo `echo \`echo deep\``
echo "`echo a` $(echo b)"
echo $(( $(echo 1) + 1 ))
echo "${x:-$(echo unset)}"
echo ${x:-$(echo a) $(pwd)}
echo "${x:-`echo unset`}"
echo ${x:-`echo unset`}
: "${x:=$(echo set)}"; echo "$x"
cat <(echo a) <(printf b)
diff <(echo a) <(echo a)
cat < <(echo a; pwd)
tee >(cat >/dev/null) </dev/null; wait
(echo a; pwd)
( (echo a) )
{ echo a; pwd; }
{ echo a; } | { cat; }
(cd / && pwd)
! false
! { false; }
time true
time -p { true; pwd; }
true & wait
sleep 0 & true & wait
{ echo a & wait; }
(echo a) > out & wait; cat out
coproc cat </dev/null; wait
coproc N { cat </dev/null; }; wait
[ a = a ]; test -d .; [[ -d . ]]
[[ -n $(echo x) ]]
[[ a =~ ^(a|b)$ ]] && echo "${BASH_REMATCH[1]}"
[[ a < b && ( a == a || b != c ) ]]
((1 + 1)); echo $?
(( x = 3, x << 1 )); echo $x
let x=1+1 y=x*2; echo $y
f() { echo in; }; f
function f { pwd; }; f
function f() { echo "$1"; }; f a
f() (echo sub); f
f() { g; }; g() { echo g; }; f
f() { local x=$1; printf '%s\n' "$x"; }; f a
f() { "$@"; }; f echo a b
f() { shift; "$@"; }; f x pwd
f() { "$1" "$2"; }; f echo b
eval 'echo a'
eval echo a b
eval "echo a; pwd"
x='echo a'; eval "$x"
x='echo a'; $x
x=echo; $x a
x=ec y=ho; $x$y a
x=(echo a b); "${x[@]}"
set -- echo a; "$@"
bash -c 'echo a'
bash -c 'echo "$1"; pwd' _ a
bash -ec 'echo a; true'
bash -c 'f() { echo in; }; f'
bash -c "bash -c 'echo a'"
echo 'echo a' | bash
echo 'echo "$1"' | bash -s x
printf 'echo a\npwd\n' | bash
bash <<< 'echo a; pwd'
bash -s x <<< 'echo "$1"'
source /dev/stdin <<< 'echo a'
. /dev/stdin <<< 'pwd; true'
trap 'echo bye' EXIT
trap 'echo bye; pwd' EXIT; echo hi
(trap 'echo in' EXIT; echo sub)
trap 'echo err' ERR; false
trap 'echo usr' USR1; kill -USR1 $$
command echo a
command -p pwd
command -v ls
builtin echo a
builtin cd / && pwd
exec true
exec 3>&1; echo a >&3; exec 3>&-
exec 3< /dev/null; read -r x <&3; echo "[$x]"
exec {fd}> out; echo x >&"$fd"; exec {fd}>&-; cat out
e\cho a
"echo" a
'echo' a
$'echo' a
$'\x65cho' a
$'\145cho' a
ec""ho a; e'c'ho b; "ec"ho c
{echo,a,b}
\echo a; \pwd
/bin/ls / >/dev/null
/bin/../bin/ls / >/dev/null
echo a#b # comment
echo '#' "#" \# # echo no
# echo no
echo "it's" 'a "b"' a\ b
echo 'a'\''b'; pwd
echo "a \" b"; pwd
echo "a \\"; pwd
echo $'a\'b'; pwd
echo $"x"; pwd
echo "$(echo ")")"; pwd
echo "$(echo '(')"; pwd
echo "${x-a}b"; echo ${x+y}
x=a/b; echo "${x//\//_}" "${x##*/}" "${x%/*}" "${x^^}"
x=abc; echo "${x:1:1}" "${x: -1}" "${#x}" "${x/b/$(echo B)}"
x='a"b'; echo "${x//\"/}"; pwd
x='a#b'; echo "${x%\#*}" "${x#*#}"; pwd
x='a}b'; echo "${x%\}*}"; pwd
echo ~ ~/x > /dev/null; pwd
echo {1..3} {a,b}{c,d}; pwd
echo *; ls; echo ?
echo {} {a} '{'; pwd
echo $# $? $$ $! $- > /dev/null
echo "$@" "$*"
echo ${#} ${?} ${*}
echo $((1 << 2)) $((2 ** 3)) $((16#ff))
echo $[1 + 2]; pwd
((x = 1 << 2)); echo $x
echo $((x = 5 > 3 ? 1 : 0)); pwd
x=$(cat <<< y); echo $x
x=$(
  echo newline
)
read -r a b <<< '1 2'; echo "$b"
IFS=: read -ra p <<< 'a:b'; echo "${p[1]}"
mapfile -t l <<< $'a\nb'; echo "${#l[@]}"
printf -v x %03d 7; echo $x
getopts ab: o -a; echo $o
umask; ulimit -c; times > /dev/null; hash -r
type -t cd; type ls > /dev/null
pushd / > /dev/null; popd > /dev/null; dirs
set -o noglob; echo *; set +f
set -e; true; echo a
shopt -s nullglob; echo nothing*
alias l=ls; unalias l
wait; jobs; kill -0 $$
test a = a -a b = b; [ ! -e x ]
true; true
true;true;pwd
true&&pwd
echo a;echo b&wait
echo a|cat>out;cat out
ls>/dev/null 2>&1;pwd
{ echo a;}
(pwd)
f(){ pwd;};f
a=b true
a=; b=''; echo "[$a$b]"
a="x"'y'$'z'"$(echo w)"; echo $a
déjà=1 true; echo é 日本 🎉
echo 🎉 && pwd
echo $'a\tb' "c	d"
find . -maxdepth 0 | xargs echo
echo a | xargs -n1 bash -c 'echo "$0"; pwd'
echo a | { read -r x; echo "$x"; }
echo a | (cat; pwd)
echo a |& cat
sed -n 1p <<< a | tr a b
awk 'BEGIN { print "x" }' | cut -c1
echo "multi; pwd" 'a && ls' "b | wc"
echo \; ls \& pwd \| wc
echo a\;b; true
echo '$(ls)' "\$(ls)" '`ls`' "\`ls\`"
echo "a $(echo b) c `echo d` e"
echo a"$(echo b)"c$(echo d)e
$(echo)echo a
"$(echo)"echo a
`true` echo a
