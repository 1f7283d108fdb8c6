### an open quote
echo "never closed
### an open single quote
echo a; echo 'never closed
### an open parenthesis
echo a; (echo b
### an open brace
{ echo a
### an open substitution
echo $(echo a
### an open backtick
echo `echo a
### an open parameter
echo ${x
### an open if
if true; then echo a
### a lone then
echo a
then
### a lone done
echo first; done
### a lone parenthesis
echo a )
### a lone brace
}
### double semicolons
echo a;; echo b
### an operator first
&& echo a
### a pipe to nothing
echo a |
### an unexpected and
echo a & && echo b
### a bad substitution
echo before; echo ${x!y}; echo after
### a bad substitution in quotes
echo "${a b}"; echo "code $?"
### a bad for
for i in 1 2 echo $i; done
### a bad for name
for 1x in a; do echo $1x; done; echo "code $?"
### a bad function name
1-2() { echo odd; }; 1-2; echo "code $?"
### a bad case
case a in a) echo a; esac; case x in esac; echo $?; case a in a echo; esac
### a bad double bracket
[[ a == ]]; echo "code $?"
### an open double bracket
[[ -n a
### a bad double parenthesis
((1 + ; echo a
### a bad array
a=(1 2; echo x
### a word after a group
{ echo a; } b
### an error on a later line
echo one
echo two
fi
echo three
### an error after output
echo one; echo two; if; then
### an error in a function
f() { echo a; if }; f
### an error in eval
eval 'echo a; )'; echo "code $?"; echo on
### an error in a sourced file
printf 'echo in\nfi\n' > s; . ./s; echo "code $?"
### an error in a here-document's substitution
cat <<EOF
$(echo ok) ${x?nope}
EOF
echo "code $?"
### nothing
### blanks
   
	
### only a comment
# nothing here
### a reserved word as an argument
echo if then else fi do done case esac while for function select time { } ! [[ ]]
### a reserved word as a name
if=1; echo $if; then=2; echo "$then"
### a carriage return at a line's end
echo a
true
echo b
### operators without spaces
true&&echo a||echo b;(echo c)|cat;{ echo d;};echo e&wait
### numbers before an operator
echo 2>f; cat f; echo 2 >f; cat f; echo a2>f; cat f
### a name with a quote
'ec'"ho" a; e\cho b; \echo c; "echo d"; echo "code $?"
### an empty command
''; echo "code $?"; "" a; echo "code $?"
### assignments with quotes
a='x y'b"z $((1))"\ c; echo "$a"; b= ; c=''; echo "[$b$c]"
### an assignment that is none
'a'=1; echo "code $?"; a\=1; echo "code $?"; 1a=1; echo "code $?"
### a plus in a name
x=1; x+=2; echo $x; x +=2; echo "code $?"
### a sign for history
echo a!b "!" '!' !; echo $!
### dollars alone
echo $ "$" a$ $, "$ a" $'$'
### odd quotes
echo "a'b'c" 'a"b"c' "a\"b" 'a\' "\$\`\\\a" \'\"
### nested quotes in a substitution
echo "$(echo "a $(echo "b 'c'") d")" "${x:-"$(echo "e")"}"
### a comment in a substitution
echo $(echo a # a comment )
echo b
)
### a case in a substitution
echo $(case x in x) echo matched ;; esac)
### a here-document in a substitution in quotes
echo "$(cat <<'EOF'
it's "quoted" $x
EOF
)"
### a backslash at the end
echo a\
### a backslash at the end in quotes
echo "a\
### many commands
: ;: ;: ;: ; echo $?; :
### a long pipeline
echo x | cat | cat | cat | cat | cat | cat | cat | cat | cat | cat
### a long line
x=aaaaaaaaaa; for i in 1 2 3 4 5; do x=$x$x; done; echo ${#x}
### deep nesting
((((((1)))))); echo $?; (((echo deep))); echo $?; ( ( (echo deep) ) )
### aliases are not expanded
alias e=echo; e a; echo "code $?"
### time with a pipe
{ time -p true | true; } 2>&1 | grep -c real
### coproc syntax
coproc; echo "code $?"
### Unicode words
é=1; echo "code $?"; echo é ünï 漢字 "😀"; function ü() { echo ü; }; ü
### a tab and other blanks
echo	a	b   c
### control characters in quotes
printf '%q\n' 'abc' | od -c
