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
p=/usr/local/lib/x.so.1; echo "${p%.*}" "${p%%.*}" "${p%/*}" "${p##*/}" "${p#*/}" "${p#nope}"
p=a.b.c; echo "${p%.*}" "${p%%.*}" "${p#*.}" "${p##*.}" "${p%x}" "${p%[a-c]}" "${p#?.}"
p='a*b'; echo "${p%\*b}" "${p%'*b'}" "${p#"a*"}" "${p//\*/+}"
p=aXbX; echo "${p/X/y}" "${p//X/y}" "${p/#a/y}" "${p/%X/y}" "${p//X}" "${p//[aX]/-}"
p=hello; echo "${p^}" "${p^^}" "${p^^[el]}" "${p:1}" "${p:1:2}" "${p: -2}" "${p:0:-1}" "${#p}"
p=; echo "[${p:-d}]" "[${p-d}]" "[${p:+s}]" "[${p+s}]" "[${q-u}]" "[${q+s}]"
echo "${q:=v}" "$q"
a=(x y z); echo "${a[1]}" "${a[-1]}" "${a[@]:1}" "${a[@]:0:2}" "${#a[@]}" "${!a[@]}"
a=(x y z); a[1]=n; echo "${a[@]}"; a[5]=s; echo "${a[@]}" "${#a[@]}"
a=(x y z); unset 'a[1]'; echo "${a[@]}" "${#a[@]}"
a=(x y); a+=(z w); a[0]+=q; echo "${a[@]}" "${a[*]}"
a=(b.x c.x); echo "${a[@]%.x}" "${a[@]/c/d}" "${a[@]^^}"
a=(x); b=("${a[@]}" y "${a[@]}"); echo "${b[@]}"
declare -A m=([a]=1 [b]=2); m[c]=3; echo "${m[a]}${m[c]}" "${#m[@]}"
declare -a l=(p q); echo "${l[1]}"; declare l2=v; echo "$l2"
set -- a b 'c d'; echo "$2" "$3" "${@:2}" "${@: -1}" "$#" "$*"
set -- a b c; shift 2; echo "$1" "$#"; set --; echo "$#"
set -- a b; IFS=-; echo "$*" "$@"
IFS=,; x=a,b,c; echo $x "$x"
IFS=; x='a b'; echo $x
x=' a  b '; echo $x "$x"
x='*'; echo "$x"; x='a?'; echo "$x"
x=a; y="$x$x"; z=${y}b; echo $x$y$z "${x}_$y"
x=1; x+=2; echo $x; y=; y+=a; echo "$y"
f() { local x=in; echo $x; }; x=out; f; echo $x
f() { x=in; }; x=out; f; echo $x
f() { declare -g y=g; declare z=l; }; f; echo "$y[$z]"
x=a; (x=b; echo $x); echo $x
x=a; echo $(x=b; echo $x) $x
x=a; { x=b; }; echo $x
x=a; x=b true; echo $x
x=a; echo z | x=b; echo $x
x=$(echo a; echo b); echo "$x" $x
x=$(printf 'a\n\n\n'); echo "[$x]"
x=$(printf '%s-%s\n' a b c d); echo "$x"
x=$(echo -n a; echo b); echo "$x"
x=`echo \`echo in\``; echo $x
x=$(dirname /a/b/c) y=$(basename /a/b.txt .txt); echo $x $y
x=$((1 + 2)); echo $x $((x * 2)) $((x > 2)) $((x == 3 ? 7 : 8))
i=5; echo $((i++)) $i $((--i)) $((i += 3)) $i
echo {01..03} {a..e..2} {3..1} {1..10..4} x{a,b{c,d}}y {a,b}{1,2}
echo {a,'b c',"d"} a{,x} {,y}z \{a,b} {a\,b,c}
echo $'\x41\102\u43\t' $'a\'b' "$'no'" '$"no"'
echo a\ b 'c'"d"e "f'g" 'h"i' \$x "\$x" '\$x' "\a" "\\"
echo "a
b" 'c
d'
x=~; y=~/x; z=~:~/y; echo "$x" "$y" "$z" "~" a~ ~/a
cd /; echo "$PWD"; cd tmp; echo "$PWD" "$OLDPWD"
[[ abc =~ b(.) ]]; echo "${BASH_REMATCH[1]}"
echo "$OPTIND" "${BASH_VERSION:+set}" "$BASH_SUBSHELL"
read -r x <<< value; echo "$x"
read -r <<< value; echo "$REPLY"
read -r a b <<< 'one two three'; echo "$b"
printf -v x '%s-%02d' a 7; echo "$x"
mapfile -t m <<< $'a\nb'; echo "${m[1]}"
getopts ab: o -b val; echo "$o" "$OPTARG"
declare -i n=2+3; n+=4; echo $n
declare -u u=abc; declare -l l=ABC; echo $u $l
x=$'it\'s'; echo "${x@Q}"; y='a\tb'; echo "${y@E}" "${y@U}"
declare -n r=t; t=v; echo "$r"; r=w; echo "$t"
v=name; name=val; echo "${!v}"
eval 'x=5'; echo $x; eval "y=$x"; echo $y
source /dev/stdin <<< 'x=6'; echo $x
bash -c 'echo "$0" "$1" "$#"' a b c
export E=1; bash -c 'echo "$E"'; N=2; bash -c 'echo "[$N]"'
E=1 bash -c 'echo "$E"'; echo "[$E]"
set -a; X=1; bash -c 'echo "$X"'
f() { echo "$@" "$#" "${FUNCNAME[0]}"; }; f a 'b c'
f() { set -- x y; echo "$1"; }; f a; echo "[$1]"
f() { "$@"; }; x=v; f echo "$x"
unset x; echo "[$x]"; x=1; unset x; echo "[$x]"
readonly R=1; echo $R
: "${D:=default}"; echo "$D"
let x=3 'y = x + 1'; echo $x $y
((z = 4)); echo $z
x[3]=a; echo "${x[3]}" "[${x[0]}]"
x=(a); x=b; echo "${x[0]}" "$x"
shopt -s lastpipe; echo v | read -r x; echo "[$x]"
shopt -s extglob; x=foobar; echo "${x%+(bar)}"
x=$(printf 'a\0b' 2>/dev/null); echo "$x"
x="a  b"; set -- $x; echo "$#" "$2"
x=a:b; set -- ${x//:/ }; echo "$1" "$2"
for w in ${n:-one "two three"}; do :; done; echo "$w"
for i in a b; do x=$i; done; echo $x $i
for ((i = 0; i < 3; i++)); do :; done; echo $i
while read -r l; do last=$l; done <<< $'a\nb'; echo "$last"
case x in x) c=1 ;; esac; echo $c
trap 'echo $x' EXIT; x=late
