import type { Random } from './random.ts';

/** Pieces that a script may be cut at, or that may be inserted: everything that opens or closes a construct. */
const tokens = [
  "'",
  '"',
  '`',
  '$(',
  '${',
  '$((',
  '((',
  '))',
  '(',
  ')',
  '{',
  '}',
  '[[',
  ']]',
  ';;',
  ';',
  '&&',
  '||',
  '|',
  '&',
  '<<EOF',
  "<<'E'",
  '<<',
  '<<<',
  '<',
  '>',
  '>&',
  '<(',
  'if',
  'then',
  'fi',
  'else',
  'elif',
  'do',
  'done',
  'for',
  'while',
  'until',
  'case',
  'esac',
  'in',
  'select',
  'function',
  'f()',
  'time',
  '!',
  'coproc',
  '\\',
  '\n',
  '#',
  ' # ',
  "$'",
  'x=(',
  ' )',
  '}}',
  '$',
  '~',
  '*',
  '\r',
] as const;

/** Breaks a script somewhere; it may well be whole afterwards. */
export function broken(script: string, random: Random): string {
  const at = random.int(0, script.length);
  return random.weighted([
    [4, () => `${script.slice(0, at)}${random.pick(tokens)}${script.slice(at)}`],
    [3, () => `${script.slice(0, at)} ${random.pick(tokens)} ${script.slice(at)}`],
    [3, () => script.slice(0, at)],
    [3, () => without(script, random)],
    [2, () => `${script}${random.pick(['\n', '; ', ' '])}${random.pick(tokens)}`],
    [1, () => `${random.pick(tokens)}${random.pick(['\n', ' '])}${script}`],
    [
      1,
      () =>
        `${script}\n${random.pick(['cat <<EOF\nnever ended', "echo 'never closed", 'echo "never closed', 'if true; then', '(', '{ echo a', 'f() {', 'case x in', 'x=(a b', 'echo $(', 'echo `a', 'echo ${x', 'for', 'while', 'echo a\\', '[[ a', '((1 +', 'a |', 'a &&', 'fi', '}', ')', 'done', ';;', '!', '&', 'for i in a b; echo', 'function', 'case a in a) echo', 'echo <', 'echo >', 'echo 1>&', '[[ a == ]]', '[[ ( a ]]', '((', 'for ((i=0; i<2)); do :; done', 'x=$((1', 'select', 'time', 'coproc', 'until', 'if', 'then'])}`,
    ],
  ]);
}

/** The script without one of the characters that mean something. */
function without(script: string, random: Random): string {
  const places = [...script.matchAll(/['"`(){}[\];|&<>$\n]/g)].map(({ index }) => index);
  if (places.length === 0) return script;
  const at = random.pick(places);
  return script.slice(0, at) + script.slice(at + 1);
}
