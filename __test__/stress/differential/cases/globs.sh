### stars and question marks
touch a ab abc b1 b2; echo *; echo a*; echo ?; echo b?; echo *c*
### classes
touch a1 a2 b1 B1 _x; echo [ab]1; echo [!a]*; echo [^a]*; echo a[0-9]; echo [[:upper:]]*; echo [[:punct:]]*
### no match
echo nothing*; shopt -s nullglob; echo "[" nothing* "]"; shopt -u nullglob; shopt -s failglob; echo nothing*; echo "code $?"
### hidden files
touch .hidden seen; echo *; echo .h*; shopt -s dotglob; echo *
### folders
mkdir -p d1/x d2; touch d1/x/f; echo */; echo */*; echo d*/x/*
### globstar
mkdir -p a/b/c; touch a/1 a/b/2 a/b/c/3; echo **; shopt -s globstar; echo **; echo **/; echo a/**/3
### extended patterns
touch a.js a.ts b.js c.md; shopt -s extglob
echo *.@(js|ts); echo !(*.js); echo ?(a).js; echo +([a-c]).md; echo *(x)a.ts
### extended patterns in other places
shopt -s extglob
x=foobarbar; echo "${x%%+(bar)}" "${x/@(foo|baz)/X}"; [[ $x == foo+(bar) ]]; echo $?; case abc in !(x*)) echo not-x ;; esac
### nocaseglob
touch File; shopt -s nocaseglob; echo f*
### quoted ones
touch 'a*' ab; echo 'a*' "a*" a\* a*; x='a*'; echo $x "$x"
### set -f
touch f1; set -f; echo f*; set +f; echo f*
### GLOBIGNORE
touch a b c.o d.o; GLOBIGNORE='*.o'; echo *; GLOBIGNORE=; unset GLOBIGNORE; echo *
### the order
touch B a C b A 1 10 2; LC_ALL=C; echo *
### odd names
touch 'with space' $'new\nline' '-dash' 'q"uote'; for f in *; do printf '<%s>\n' "$f"; done
### braces before globs
touch x1 y1; echo {x,y}* {x,z}*
### a glob in an assignment
touch f1 f2; x=f*; echo "$x" $x; declare y=f*; echo "$y"
### a glob as a command
printf '#!/bin/sh\necho ran "$@"\n' > tool.sh; chmod +x tool.sh; ./to*l.sh x
### a glob of many
touch f{1..300}; echo f* | wc -w | tr -d ' '; ls | wc -l | tr -d ' '
### a pattern in case is no glob
touch ab; case 'a*' in a\*) echo literal ;; esac; case ab in a*) echo pattern ;; esac
### slashes are not matched
mkdir d; touch d/f; echo d?f d*f; [[ d/f == d*f ]]; echo $?
### a range in a locale
touch a B c; LC_ALL=C; echo [a-c]; shopt -s globasciiranges; echo [A-C]
### compgen
touch c1 c2; compgen -f c; compgen -W 'one two three' t; compgen -A builtin ec; compgen -v HOM
