/**
 * The ways in which a text comes to a place where bash expands it a second time. In a template `WORD` is the word that
 * holds the text, `N` the number of the step, for names of its own.
 */

/** A spelling of a text as a word, and whether the command shows the text. */
export interface Spelling {
  name: string;
  shown: boolean;
  word: (text: string) => string;
}

export const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const shown = (name: string, word: (text: string) => string): Spelling => ({ name, shown: true, word });
const hidden = (name: string, word: (text: string) => string): Spelling => ({ name, shown: false, word });

export const spellings: [Spelling, ...Spelling[]] = [
  shown('single quotes', quoted),
  shown('double quotes', (text) => `"${text.replace(/[\\"$`]/g, String.raw`\$&`)}"`),
  shown('$’…’', (text) => `$'${[...text].map((sign) => `\\x${sign.codePointAt(0)?.toString(16)}`).join('')}'`),
  shown('pieces', (text) => `${quoted(text.slice(0, 3))}${quoted(text.slice(3))}`),
  shown('printf', (text) => `"$(printf %s ${quoted(text)})"`),
  shown('echo', (text) => `"$(echo ${quoted(text)})"`),
  shown('a heredoc', (text) => `"$(cat <<'END'\n${text}\nEND\n)"`),
  hidden('tr', (text) => `"$(echo ${quoted(text.replace('x', 'y'))} | tr y x)"`),
  hidden('base64', (text) => `"$(base64 -d <<< ${Buffer.from(text).toString('base64')})"`),
  hidden('a file', () => '"$(cat text)"'),
  hidden('the contents of a file', () => '"$(< text)"'),
];

/** A step from one word to another, `USE` being what is done with the second word, which stands behind it. */
export interface Step {
  template: string;
  word: string;
  hides?: boolean;
}

const step = (template: string, word = '"$vN"'): Step => ({ template, word });
const hiding = (template: string, word = '"$vN"'): Step => ({ template, word, hides: true });

export const steps: Step[] = [
  step('vN=WORD; USE'),
  step('vN=WORD; USE', '$vN'),
  step('vN=; vN+=WORD; USE'),
  step('vN=(1 WORD); USE', '"${vN[1]}"'),
  step('declare -A vN=([k]=WORD); USE', '"${vN[k]}"'),
  step('set -- WORD; USE', '"$1"'),
  step('set -- WORD; USE', '"$*"'),
  step('fN() { USE; }; fN WORD', '"$1"'),
  step('fN() { local vN=$1; USE; }; fN WORD'),
  step('wN=WORD; vN=${uN:-$wN}; USE'),
  step('wN=WORD; : "${vN:=$wN}"; USE'),
  step('wN=WORD; vN=${wN:+$wN}; USE'),
  step('printf -v vN %s WORD; USE'),
  step('read -r vN <<< WORD; USE'),
  step('read -r <<< WORD; USE', '"$REPLY"'),
  step('echo WORD | { read -r vN; USE; }'),
  step("printf '%s\\n' WORD | while read -r vN; do USE; done"),
  step('mapfile -t vN <<< WORD; USE', '"${vN[0]}"'),
  step('for vN in WORD; do USE; done'),
  step('for vN in 1 WORD; do USE; done'),
  step('wN=WORD; nN=wN; USE', '"${!nN}"'),
  step('wN=zzWORD; vN=${wN:2}; USE'),
  step('wN=qWORD; vN=${wN#q}; USE'),
  step('export vN=WORD; USE'),
  step('declare vN=WORD; USE'),
  step('readonly vN=WORD; USE'),
  step('if true; then vN=WORD; else vN=1; fi; USE'),
  step('case a in a) vN=WORD;; esac; USE'),
  step('true && vN=WORD; USE'),
  step('vN=WORD; (USE)'),
  step('vN=WORD; { USE; }'),
  step('vN=WORD; if true; then USE; fi'),
  hiding('declare -n vN=wN; wN=WORD; USE'),
  hiding('getopts a: oN -a WORD; USE', '"$OPTARG"'),
  hiding('read -r vN < <(echo WORD); USE'),
  hiding('vN=$(head -1 text); USE'),
  hiding('read -r vN < text; USE'),
  hiding('echo 1 | { read -r vN < text; USE; }'),
  hiding('echo 1 | { exec < text; read -r vN; USE; }'),
  hiding('mapfile -t vN < text; USE', '"${vN[0]}"'),
  hiding('while read -r vN; do USE; done < text'),
  hiding('for vN in $(cat text); do USE; done'),
];

/** A kind of place, with the texts that run the canary there. */
export interface Place {
  texts: string[];
  templates: string[];
}

/** Arithmetic, subscripts, names of variables. */
const expressions: Place = {
  texts: ['b[$(./x)]', 'b[`./x`]', String.raw`b[c[\$(./x)]]`, 'b[d[$(./x)]+1]'],
  templates: [
    ...[
      'n=WORD; echo $((n))',
      'n=WORD; echo $((1+n*2))',
      'n=WORD; echo $[n]',
      'n=WORD; ((n))',
      'n=WORD; ((m=n))',
      'n=WORD; m=n; echo $((m))',
    ],
    ...[
      'let WORD',
      'n=WORD; let m=n',
      'n=WORD; [[ n -ge 1 ]]',
      '[[ WORD -eq 1 ]]',
      '[[ 1 -lt WORD ]]',
      'n=WORD; if (( n > 1 )); then :; fi',
    ],
    ...['test -v WORD', '[ -v WORD ]', '[[ -v WORD ]]', 'n=WORD; a=(1); test -v "a[n]"', 'n=WORD; a=(1); unset "a[n]"'],
    ...[
      's=abc; n=WORD; echo ${s:n}',
      's=abc; n=WORD; echo ${s:0:n}',
      's=abc; n=WORD; echo "${s:$n}"',
      'set -- 1; n=WORD; echo "${@:n}"',
    ],
    ...[
      'n=WORD; a=(1 2); echo ${a[n]}',
      'n=WORD; a=(1 2); echo "${a[$n]}"',
      'n=WORD; a[n]=1',
      'n=WORD; a=(1); declare -A a; echo ${a[$n]}',
      'n=WORD; declare -A a < nowhere; echo ${a[$n]}',
      'n=WORD; a[$n]=1',
      'n=WORD; a=([n]=1)',
    ],
    ...['n=WORD; echo ${a[n]:-1}', 'n=WORD; declare -a a=([n]=1)', 'declare a[1]=1 WORD=1'],
    ...['printf -v WORD %s 1', 'read WORD <<< 1', "read q WORD <<< '1 2'"],
    ...['declare WORD=1', 'declare -g WORD=1', 'true & wait -n -p WORD'],
    ...[
      'declare -i i=WORD',
      'declare -i i; i=WORD',
      'declare -i i; i+=WORD',
      'declare -i i; read i <<< WORD',
      'declare -ia i=(WORD)',
    ],
    ...['declare -i i; for i in WORD; do :; done', 'declare -i i; printf -v i %s WORD', 'declare -i i; : ${i:=WORD}'],
    ...['g() { local -i i=$1; }; g WORD', 'declare -ia i; mapfile -t i <<< WORD', 'RANDOM=WORD'],
    ...[
      'declare -n r=WORD; echo $r',
      'declare -n r=WORD; r=1',
      'n=WORD; echo "${!n}"',
      'n=WORD; echo "${!n:-1}"',
      'set -- WORD; echo "${!1}"',
    ],
    ...[
      'n=WORD; for ((i=n; i<1; i++)); do :; done',
      'n=WORD; for ((i=0; i<n; i++)); do break; done',
      'n=WORD; echo {1..$((n))}',
    ],
    ...[
      'n=WORD; while ((n)); do break; done',
      'n=WORD; case $((n)) in 1) ;; esac',
      'n=WORD; cat <<E\n$((n))\nE',
      'n=WORD; echo > /dev/null$((n*0))',
    ],
  ],
};

/** Prompts and lists of words. */
const prompts: Place = {
  texts: ['$(./x)', '`./x`', '${u-$(./x)}'],
  templates: [
    ...['n=WORD; echo "${n@P}"', 'n=(WORD); echo "${n[@]@P}"', 'PS4=WORD; set -x; :'],
    ...['read -r PS4 <<< WORD; set -x; :', 'for PS4 in WORD; do set -x; :; done', 'printf -v PS4 %s WORD; set -x; :'],
    ...['declare -n r=PS4; r=WORD; set -x; :', 'compgen -W WORD', "declare -a 'a=('WORD')'", 'BASH_ENV=WORD bash -c :'],
  ],
};

/** The directories that programs are looked for in. */
const directories: Place = {
  texts: ['./dir'],
  templates: [
    ...[
      'PATH=WORD; ls',
      'PATH=WORD ls',
      'PATH=WORD:$PATH; ls',
      'export PATH=WORD; ls',
      'declare PATH=WORD; ls',
      'env PATH=WORD ls',
    ],
    ...['read -r PATH <<< WORD; ls', 'printf -v PATH %s WORD; ls', 'for PATH in WORD; do ls; done'],
    ...['unset PATH; : ${PATH:=WORD}; ls', 'declare -n r=PATH; r=WORD; ls', 'g() { local PATH=$1; ls; }; g WORD'],
    ...[
      'k=PATH; printf -v "$k" %s WORD; ls',
      'k=PATH; read -r "$k" <<< WORD; ls',
      'd=WORD; k=PATH; declare "$k=$d"; ls',
    ],
  ],
};

/** Words that are programs. */
const programs: Place = {
  texts: ['./x'],
  templates: [
    ...[
      'WORD',
      'command WORD',
      'env WORD',
      'time WORD',
      'jobs -x WORD',
      'coproc WORD; wait',
      'trap WORD DEBUG; :',
      'trap WORD EXIT',
      'eval WORD',
    ],
    ...[
      'BASH_CMDS[ls]=WORD; ls',
      'hash -p WORD ls; ls',
      'shopt -s expand_aliases; BASH_ALIASES[ls]=WORD\nls',
      'compgen -C WORD',
    ],
    ...[
      'shopt -s expand_aliases; alias ls=WORD\nls',
      'mapfile -C WORD -c 1 z <<< 1',
      'd=WORD; command_not_found_handle() { $d; }; nowhere',
    ],
    ...[
      "strace -o '|'WORD true",
      'find . -maxdepth 0 -exec WORD \\;',
      'xargs WORD <<< 1',
      'tar -I WORD -tf /etc/hostname',
    ],
    ...["TAR_OPTIONS='-I 'WORD tar tf /etc/hostname", 'sort --compress-program=WORD -S1k /etc/services'],
  ],
};

export const places: Place[] = [expressions, prompts, directories, programs];
