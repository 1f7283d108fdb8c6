### precedence
echo $((2 + 3 * 4)) $(((2 + 3) * 4)) $((2 ** 3 ** 2)) $((-2 ** 2)) $((7 / 2)) $((-7 / 2)) $((7 % 3)) $((-7 % 3))
### bits
echo $((5 & 3)) $((5 | 3)) $((5 ^ 3)) $((~5)) $((1 << 10)) $((-16 >> 2))
### comparisons and logic
echo $((3 > 2)) $((3 == 4)) $((1 && 0)) $((1 || 0)) $((!5)) $((3 != 3)) $((2 <= 2))
### bases
echo $((0x1f)) $((017)) $((2#1011)) $((36#zz)) $((16#FF)) $((64#@_))
### a bad digit
echo $((08)); echo "code $?"
### a bad base
echo $((99#1)); echo "code $?"
### ternary and comma
echo $((1 ? 2 : 3)) $((0 ? 2 : 3)) $((1, 2, 3)) $((a = 5, a * 2)) $a
### increments
i=5; echo $((i++)) $i $((++i)) $i $((i--)) $((--i)) $i
### compound assignments
x=10; ((x += 5)); echo $x; ((x *= 2, x -= 3)); echo $x; ((x <<= 1)); echo $x; ((x %= 7)); echo $x; ((x |= 8)); echo $x
### names without a dollar
a=3 b=a; echo $((a + b)) $((b)) $((unset_one + 1))
### a name that means an expression
e='1 + 2'; echo $((e * 3)) $(($e * 3))
### division by zero
echo $((1 / 0)); echo "code $?"
### modulo zero in a command
((x = 5 % 0)); echo "code $?"
### a syntax error
echo $((1 +)); echo "code $?"
### an error in a subshell
(echo $((3 4))); echo "code $?"
### the status of (( ))
((0)); echo $?; ((5)); echo $?; ((1 > 2)); echo $?; ((a = 0)); echo $?
### let
let a=1+2 b=a*2; echo $a $b $?; let 'c = 0'; echo $?
### wrap around
echo $((9223372036854775807 + 1)) $((-9223372036854775808 - 1))
### large numbers
echo $((1 << 62)) $((0x7fffffffffffffff))
### a for loop
for ((i = 0, j = 10; i < j; i += 3, j--)); do echo "$i $j"; done
### an endless for loop with break
for ((;;)); do ((++n > 4)) && break; done; echo $n
### integer variables
declare -i n; n=3+4; echo $n; n+=5; echo $n; n=abc; echo $n; n='2 * 3'; echo $n
### side effects in an index
i=0; a=(x y z); echo "${a[i++]}" "${a[i++]}" $i
### short circuit
((0 && (x = 5))); echo "[$x]"; ((1 || (x = 5))); echo "[$x]"
### spaces and newlines
echo $((
  1 +
  2
))
### nested arithmetic
echo $(( $(( 2 + 3 )) * $((4)) )) $(( $(echo 7) ))
### as a condition
if ((3 > 2)); then echo yes; fi; while ((k < 3)); do ((k++)); done; echo $k; until ((k == 0)); do ((k--)); done; echo $k
### test with numbers
[ 5 -gt 3 ]; echo $?; [[ 010 -eq 8 ]]; echo $?; [ 010 -eq 10 ]; echo $?; [ a -eq 1 ]; echo $?
### quotes inside
x=4; echo $(("x" + '1')); echo "code $?"
### factorial and gcd
f() { (($1 <= 1)) && echo 1 || echo $(($1 * $(f $(($1 - 1))))); }; f 10; gcd() { (($2)) && gcd $2 $(($1 % $2)) || echo $1; }; gcd 1071 462
### random is a number
RANDOM=7; a=$RANDOM; RANDOM=7; ((a == RANDOM)) && echo same; ((RANDOM < 32768)) && echo small
### a unary plus and double minus
echo $((- -3)) $((+5)) $((3 - -2)) $((!!7))
