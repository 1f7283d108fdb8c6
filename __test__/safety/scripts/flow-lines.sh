if true; then echo a; else pwd; fi
if false; then echo a; elif true; then pwd; else ls; fi
if [ -d . ] && ! [ -e none ]; then echo a; fi
if ! false; then echo a; fi
if echo a | grep -q a; then pwd; fi
if (( 1 > 2 )); then ls; fi
if [[ a == a ]];then pwd;fi
if { true; }; then pwd; fi
if (true); then pwd; fi
if x=$(echo a); then echo "$x"; fi
true || ls
false && ls
false || echo a && pwd
true && { echo a; } || ls
for i in 1 2; do echo $i; done
for i in; do echo $i; done; pwd
for i in $(echo a b); do printf %s "$i"; done
for i in *; do echo "$i"; done
for i in {1..3}; do echo $i; done
for i in "a b" c; do echo "$i"; done > out; cat out
for i do echo $i; done
set -- a b; for i; do echo $i; done
for i in a b; do continue; ls; done
for i in a b; do break; done
for i in a b; do for j in c d; do echo $i$j; done; done
for ((i = 0; i < 2; i++)); do echo $i; done
for ((;;)); do break; done
for ((i = 0; i < 2; i++)) { echo $i; }
for i in a b; { echo $i; }
for c in echo printf; do $c a; done
for c in "echo a" pwd; do $c; done
for c in 'echo a' 'pwd'; do eval "$c"; done
for c in 'echo a' pwd; do bash -c "$c"; done
while false; do ls; done
while true; do echo a; break; done
while read -r x; do echo "$x"; done <<< $'a\nb'
while read -r x; do printf %s "$x"; done < <(echo a; echo b)
while IFS= read -r -d '' f; do basename "$f"; done < <(find . -print0)
until true; do ls; done
until [ -n "$x" ]; do x=1; done
n=0; while ((n++ < 2)); do echo $n; done
echo a | while read -r x; do echo $x; done
case a in a) echo a ;; b) ls ;; esac
case a in (a) echo a ;; (b) ls ;; esac
case b in a) ls ;; *) echo b ;; esac
case a in a) echo a ;& b) pwd ;; c) ls ;; esac
case a in a) echo a ;;& [ab]) pwd ;; c) ls ;; esac
case a in a | b) echo ab ;; esac
case "a b" in "a b") echo q ;; a\ b) ls ;; esac
case $(echo x) in x) pwd ;; esac
case x in x) ;; esac; pwd
case x in y) ls;; esac
case a in [[:alpha:]]) echo alpha ;; esac
case a in ?) case b in b) echo b ;; esac ;; esac
case x in x) if true; then echo a; fi ;; esac
select x in a b; do echo $x; break; done <<< 1
f() { if [ "$1" = a ]; then echo a; else pwd; fi; }; f a; f b
f() { return 3; ls; }; f || echo $?
f() { [ "$1" -gt 0 ] && f $(($1 - 1)); echo $1; }; f 2
f() { for x in "$@"; do echo "$x"; done; }; f a b
f() { while [ $# -gt 0 ]; do echo $1; shift; done; }; f a b
f() { case $1 in go) pwd ;; esac; }; f go
f() { g() { echo inner; }; g; }; f
f() { echo never; }; pwd
f() { echo first; }; f; f() { pwd; }; f
unset -f f; f() { echo a; }; f; unset -f f
exit 0; ls
(exit 3); echo $?
{ exit 0; ls; }
exec true; ls
set -e; false; ls
true; return 2>/dev/null; pwd
[ a = b ] || { echo no; exit 1; }
x=; [ -z "$x" ] && echo empty || echo full
c=echo; [ a = b ] && c=printf; $c a
if [ a = a ]; then c=echo; else c=printf; fi; $c x
case a in a) c=pwd ;; *) c=ls ;; esac; $c
x=$(if true; then echo a; else pwd; fi); echo $x
x=$(for i in a b; do echo $i; done); echo $x
x=$(case a in a) echo y ;; esac); echo $x
echo "$(case a in (a) echo y ;; esac)"
echo $(if true; then pwd; fi) | cat
(if true; then echo a; fi) > out; cat out
{ for i in a; do echo $i; done; } | cat
if true; then for i in a; do while true; do echo $i; break; done; done; fi
until false; do if true; then break; fi; ls; done
while :; do case x in x) break ;; esac; done
for i in a; do case $i in a) f() { echo in; }; f ;; esac; done
trap 'echo t' EXIT; if true; then exit 0; fi
! true || ! false && pwd
time if true; then pwd; fi
if true; then echo a; fi | cat
if true; then cat; fi <<< x
if true; then echo a; fi > out; cat out
for i in a b; do echo $i; done | sort -r | head -1
true&&pwd||echo no
{echo,} a || true
