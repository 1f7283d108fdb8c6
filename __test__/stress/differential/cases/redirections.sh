### out, append, in
echo one > f; echo two >> f; cat < f; wc -l < f | tr -d ' '
### both streams
{ echo out; echo err >&2; } > f 2>&1; cat f; { echo out; echo err >&2; } &> g; sort g; echo more &>> g; wc -l < g | tr -d ' '
### the order matters
{ echo out; echo err >&2; } 2>&1 > f | sed 's/^/pipe: /'; cat f
### swapping
{ echo out; echo err >&2; } 3>&1 1>&2 2>&3 3>&- | sed 's/^/was err: /'
### closing
{ echo lost; } >&-; echo "code $?"
### a here-document
x=5; cat <<EOF
x is $x, $(echo sum) $((x + 1)) \$x \\ "quoted" 'single'
EOF
### a quoted here-document
x=5; cat <<'EOF'
x is $x, $(echo sum) \$x \\
EOF
### with tabs removed
cat <<-EOF
	one
		two
	EOF
### two of them
cat <<A; cat <<B
first
A
second
B
### in a loop
while read -r a b; do echo "$b-$a"; done <<EOF
1 2
3 4
EOF
### in a function
f() { cat <<EOF
hello $1
EOF
}
f you; f me
### in a substitution
x=$(cat <<EOF
inner
EOF
); echo "[$x]"
### without an end
cat <<EOF
never closed
### a here-string
cat <<< "one $((1 + 1))"; read -r x <<< '  spaced  '; echo "[$x]"; wc -c <<< '' | tr -d ' '
### numbered descriptors
exec 3> f; echo three >&3; exec 3>&-; cat f; exec 4< f; read -r x <&4; echo "[$x]"; exec 4<&-
### a variable descriptor
exec {fd}> f; ((fd >= 10)) && echo high; echo through >&"$fd"; exec {fd}>&-; cat f
### read and write
printf 'abcdef' > f; exec 3<> f; read -r -n 2 x <&3; echo "$x"; printf XX >&3; exec 3>&-; cat f; echo
### moving a descriptor
exec 3> f; echo a >&3; exec 4>&3-; echo b >&4; echo c >&3; echo "code $?"; exec 4>&-; cat f
### a closed descriptor
echo x >&9; echo "code $?"
### no such file
cat < nowhere; echo "code $?"
### no such folder
echo x > nowhere/f; echo "code $?"
### into a folder
mkdir d; echo x > d; echo "code $?"
### noclobber
set -C; echo a > f; echo b > f; echo "code $?"; echo c >| f; cat f; echo d >> f; cat f
### an ambiguous one
touch f1 f2; echo x > f*; echo "code $?"; ls
### an empty name
x=; echo a > $x; echo "code $?"; echo a > "$x"; echo "code $?"
### only a redirection
> made; ls; < nowhere2; echo "code $?"
### for a block
for i in 1 2 3; do echo $i; done > f; while read -r l; do echo "<$l>"; done < f; if true; then echo in; fi > g; cat g
### exec for the rest
exec 5>&1; exec > f; echo hidden; exec >&5; echo shown; cat f
### exec with an error
exec 2> f; nosuchcommand_a; exec 2>&1; cat f
### process substitution
cat <(echo a) <(echo b); paste -d+ <(seq 3) <(seq 4 6)
### process substitution as a target
echo in > >(sed 's/^/1:/' > f; touch done); until [ -e done ]; do :; done; cat f
### reading from a process
while read -r n; do ((s += n)); done < <(seq 10); echo $s
### diff of two processes
diff <(printf 'a\nb\n') <(printf 'a\nc\n'); echo "code $?"
### to the null device
echo gone > /dev/null; cat /dev/null; echo end; ls nowhere 2> /dev/null; echo "code $?"
### pipes with both streams
{ echo o; echo e >&2; } |& sort
### a coprocess
coproc { while read -r l; do echo "got $l"; done; }; echo one >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo "$x"; eval "exec ${COPROC[1]}>&-"; wait; echo done
### a named coprocess
coproc UP { tr a-z A-Z; }; echo text >&"${UP[1]}"; exec {UP[1]}>&-; cat <&"${UP[0]}"; wait
