echo a
pwd
###
echo \
  a \
  b
pwd
###
ec\
ho a
###
echo a &&
  pwd &&
  true
###
echo a |
  cat |
  wc -l
###
echo a \
  | cat
###
# a comment with 'quotes" and $(ls)
pwd
###
echo a # it's (not) "closed
pwd
###
cat <<EOF
text
EOF
pwd
###
cat <<'EOF'
$(ls) `ls`
EOF
pwd
###
cat <<EOF
$(echo a)
EOF
###
cat <<EOF
  $(echo a)
EOF
###
cat <<EOF
  $(echo a) and $(pwd)
text
EOF
###
cat <<EOF
`echo a`
EOF
###
cat <<EOF
text `echo a` text
  `pwd`
EOF
###
cat <<EOF
${x:-$(echo a)} ${y:-`pwd`}
EOF
###
cat <<EOF
\$(ls) \`ls\` \\$(echo a)
EOF
###
cat <<EOF
$((1 + $(echo 2)))
EOF
###
cat <<EOF
"$(echo "a")" '$(pwd)'
EOF
###
cat <<-EOF
	$(echo a)
	EOF
pwd
###
cat <<-'EOF'
		$(ls)
	EOF
pwd
###
cat <<"E O F"
$(ls)
E O F
pwd
###
cat <<\EOF
$(ls)
EOF
pwd
###
cat <<A <<B
a
A
b
B
pwd
###
cat <<A; cat <<B
a
A
$(echo b)
B
###
cat <<A && pwd
a
A
echo end
###
cat <<'A'; pwd
a
A
###
cat <<'A' | tr a b | wc -c
a
A
pwd
###
cat <<EOF > out
a
EOF
cat out
###
cat > out <<EOF 2>&1
$(pwd)
EOF
cat out
###
bash <<EOF
echo a
EOF
pwd
###
bash <<'EOF'
echo "$(pwd)"
true
EOF
###
true && bash <<EOF
echo a
EOF
###
bash -s x <<'EOF' | cat
echo "$1"
EOF
###
bash <<'A'
bash <<'B'
echo inner
B
pwd
A
###
x=a
bash <<EOF
echo $x
EOF
###
cat <<'EOF' | bash
echo a
pwd
EOF
###
source /dev/stdin <<'EOF'
echo a
EOF
###
x=$(cat <<'EOF'
it's (text
EOF
)
echo "$x"
###
echo "$(cat <<EOF
$(pwd)
EOF
)"
###
f() {
  cat <<EOF
$(echo in f)
EOF
}
f
###
f() {
  echo a
  pwd
}

f
###
f()
{
  echo a
}
f
###
function f
{
  echo a
}
f
###
(
  echo a
  # comment
  pwd
)
###
{
  echo a
  pwd
} > out 2>&1
cat out
###
a=(
  one # comment
  "$(echo two)"
  three
)
echo "${a[@]}"
###
x=$(
  # comment: isn't it (fine)?
  echo a |
    cat
)
echo "$x"
###
((
  x = 1 + 2
))
echo $x
###
[[ -d . &&
  -n $(echo a) ]] && pwd
###
echo "multi
line $(echo a)
line"
pwd
###
echo 'multi
$(ls)
line'
pwd
###
diff <(cat <<'A'
x
A
) <(echo x)
###
read -r -d '' x <<'EOF'
ls
EOF
echo "$x"
###
: <<'COMMENT'
ls -la
$(ls)
COMMENT
echo ok
###
echo a; # comment
pwd; # another
###
echo a &
wait
###
echo a	b
	pwd
###

echo a


pwd

###
echo a; \
echo b
###
trap '
echo a
pwd
' EXIT
###
bash -c '
echo a
pwd
'
###
eval '
echo a
pwd
'
###
exec 3<<EOF
text
EOF
cat <&3
###
cat <<EOF - <(echo b)
a
EOF
###
cat 0<<EOF
$(echo a)
EOF
###
tee out <<'EOF' >/dev/null; cat out
a
EOF
###
cat << EOF
$(echo a)
EOF
###
cat <<EOF
$(cat <<IN
$(echo deep)
IN
)
EOF
