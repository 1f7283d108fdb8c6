if true
then
  echo a
elif false
then
  ls
else
  pwd
fi
###
for i in a b
do
  echo "$i"
done
###
for i in \
  a \
  b; do
  echo $i
done
###
while read -r line
do
  echo "$line"
done <<EOF
a
$(echo b)
EOF
###
case a in
  # comment with )
  a)
    echo a
    ;;
  b | c)
    ls
    ;;
  *) ;;
esac
###
case a in
  (a)
    cat <<EOF
$(echo in)
EOF
    ;;
esac
###
if cat <<'EOF' | grep -q x
x
EOF
then
  echo yes
fi
###
until cat <<EOF
$(echo a)
EOF
do
  ls
done
###
select x in a b
do
  echo $x
  break
done <<< 2
###
parse() {
  while (( $# )); do
    case $1 in
      -v|--verbose) verbose=1; shift ;;
      -o) out=$2; shift 2 ;;
      --) shift; break ;;
      -*) echo "unknown: $1" >&2; return 2 ;;
      *) files+=("$1"); shift ;;
    esac
  done
}
parse -v -o x a b
echo "$verbose $out ${files[@]}"
###
retry() {
  local n=0
  until "$@"; do
    ((++n >= 2)) && return 1
  done
}
retry false || echo failed
retry true && echo fine
###
log() { printf '%s\n' "$*" >&2; }
run() {
  log "+ $*"
  "$@"
}
run echo a
run pwd
###
set -euo pipefail
x=$(mktemp -d "$PWD/x.XXXX")
trap 'rmdir "$x"' EXIT
cd "$x"
pwd > /dev/null
###
for d in a b; do
  mkdir -p "$d"
  (
    cd "$d"
    echo "$d" > name
  )
done
cat a/name b/name
###
declare -A count
while read -r word; do
  ((count[$word]++)) || true
done < <(printf '%s\n' a b a)
for w in "${!count[@]}"; do
  printf '%d %s\n' "${count[$w]}" "$w"
done | sort -rn | head -1
###
exec 3>&1
{
  echo out
  echo err >&2
} 2>&1 >&3 | sed 's/^/e: /'
exec 3>&-
###
i=0
while :; do
  ((i += 1))
  if ((i == 2)); then
    continue
  elif ((i > 3)); then
    break
  fi
  echo $i
done
###
f() {
  local IFS=,
  echo "$*"
}
f a b c
echo "$(f d e)"
###
if [[ "a.tar.gz" == *.@(tar.gz|tgz) ]]; then
  echo archive
fi
###
shopt -s extglob
case ab in
  +(a|b)) echo yes ;;
  !(x)) ls ;;
esac
###
shopt -s extglob
echo !(nothing)
pwd
###
x=5
if ((x > 3 && x < 10)); then
  echo in
fi
[[ $x -gt 3 ]] && echo "more"
###
: "${NAME:=value}"
case $NAME in
  v*) echo "v: $NAME" ;;
esac
###
coproc up { while read -r l; do echo "${l^^}"; done; }
echo hello >&"${up[1]}"
read -r got <&"${up[0]}"
echo "$got"
kill "$up_PID" 2>/dev/null
wait
###
{
  sleep 0 &
  pid=$!
  wait "$pid"
  echo "done $?"
}
###
f() {
  trap 'echo returned' RETURN
  echo in
}
f
###
trap 'echo "line"; true' DEBUG
pwd
trap - DEBUG
###
command_not_found_handle() { echo "no $1"; }
surely-not-there a b
###
printf '%s\n' 'a b' c | while IFS=' ' read -r x y; do
  echo "$y|$x"
done
###
find . -maxdepth 1 -type d -exec bash -c '
  for d; do
    basename "$d"
  done
' _ {} +
###
printf 'a\0b\0' | xargs -0 -n 1 bash -c 'printf "%s\n" "$1"' _
###
bash -c '
  f() { echo "$1"; }
  f "$1"
' _ arg
###
eval "$(cat <<'EOF'
echo from-eval
EOF
)"
###
cmds=('echo a' pwd)
for c in "${cmds[@]}"; do
  eval "$c"
done
