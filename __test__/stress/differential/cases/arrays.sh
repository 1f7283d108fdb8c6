### an indexed array
a=(one 'two three' four); echo "${a[0]}" "${a[1]}" "${#a[@]}" "${a[-1]}" "${a}"
### holes
a=([2]=x [5]=y z); echo "${!a[@]}" "${a[@]}" "${#a[@]}"
### appending
a=(1); a+=(2 3); a[0]+=x; a+=([9]=n); declare -p a
### removing an element
a=(a b c d); unset 'a[1]'; echo "${a[@]}" "${!a[@]}" "${#a[@]}"; unset a; echo "[${a[@]}]"
### slices
a=(0 1 2 3 4 5); echo "${a[@]:2}" "|" "${a[@]:1:2}" "|" "${a[@]: -2}"
### one word or many
a=('x y' z); for w in "${a[@]}"; do echo "<$w>"; done; for w in "${a[*]}"; do echo "<$w>"; done; for w in ${a[@]}; do echo "<$w>"; done
### operations on each
a=(apple banana); echo "${a[@]^}" "${a[@]/a/A}" "${a[@]#b}" "${a[@]%e}"
### an associative array
declare -A m=([one]=1 ['two words']=2); m[three]=3; for k in one 'two words' three; do echo "$k=${m[$k]}"; done; echo "${#m[@]}"
### keys of an associative array
declare -A m=([b]=1 [a]=2 [c]=3); printf '%s\n' "${!m[@]}" | sort
### a missing key
declare -A m=([a]=1); echo "[${m[b]}]" "[${m[b]-none}]" "${m[a]+there}"; [[ -v m[a] ]]; echo $?; [[ -v m[z] ]]; echo $?
### removing a key
declare -A m=([a]=1 [b]=2); unset 'm[a]'; declare -p m
### an index that is an expression
i=2; a=(a b c d); echo "${a[i]}" "${a[i+1]}" "${a[$((i-1))]}"; a[i*2]=z; declare -p a
### a negative index
a=(a b c); a[-1]=z; echo "${a[@]}"; echo "${a[-9]}"; echo "code $?"
### a bad index
a=(1 2); a[-5]=x; echo "code $?"; echo "${a[@]}"
### copying
a=('x y' z); b=("${a[@]}"); c=(${a[@]}); echo ${#a[@]} ${#b[@]} ${#c[@]}
### reading into one
read -ra a <<< "one two three"; declare -p a; IFS=, read -ra b <<< "x,y,,z"; declare -p b
### mapfile
printf 'a\nb\nc\n' > f; mapfile -t a < f; declare -p a; mapfile b < f; declare -p b
### mapfile with options
seq 10 > f; mapfile -t -n 3 -s 2 a < f; declare -p a; mapfile -t -O 5 a < f; echo "${!a[@]}"
### mapfile with a delimiter
mapfile -d : -t a <<< "x:y:z"; declare -p a
### mapfile with a callback
cb() { echo "cb $1 $2"; }; seq 4 > f; mapfile -t -c 2 -C cb a < f; echo "${#a[@]}"
### arrays through functions
f() { local -a l=("$@"); l+=(end); printf '<%s>' "${l[@]}"; echo; }; f 1 '2 3'; declare -p l
### by name
f() { local -n ref=$1; ref+=(new); echo "${ref[@]}"; }; a=(old); f a; declare -p a
### a nameref to an element
a=(x y); declare -n r='a[1]'; r=changed; echo "${a[@]}" "${!r}"
### a nameref in a loop
x=1 y=2; declare -n r; for r in x y; do echo "$r"; r+=0; done; echo $x $y
### a circular nameref
declare -n a=b; declare -n b=a; echo "$a"; echo "code $?"
### an array and a plain value
x=plain; x[1]=more; declare -p x; y=(1 2); y=zero; declare -p y
### exported arrays are not
export a=(1 2); bash -c 'echo "[${a[@]}]"'
### readonly arrays
declare -ra a=(1 2); a[0]=x; echo "code $?"; echo "${a[0]}"
### comparing arrays
a=(1 2); b=(1 2); [[ "${a[*]}" == "${b[*]}" ]] && echo same
### sorting one
a=(c a b); IFS=$'\n' s=($(sort <<< "${a[*]}")); unset IFS; echo "${s[@]}"
### many elements
a=({1..2000}); echo "${#a[@]}" "${a[1999]}"; sum=0; for x in "${a[@]}"; do ((sum += x)); done; echo $sum
### a compound assignment over lines
a=(
  one   # a comment
  "two
lines"
)
declare -p a
### globs in a compound assignment
touch f1 f2 g1; a=(f*); echo "${#a[@]}" "${a[@]}"
### the elements as arguments
a=(-n 'x y'); echo "${a[@]}"; echo; printf '%s|' "${a[@]}"; echo
### an empty one with set -u
set -u; a=(); echo "[${a[@]}]" "${#a[@]}"; echo "${a[0]}"; echo no
