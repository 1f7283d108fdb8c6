import { double, single } from './quotings.ts';

/** A way to run code through other code. */
export interface Wrapper {
  name: string;
  /** Takes the text of one simple command only. */
  simple?: boolean | undefined;
  /** The result is one simple command that can follow others. */
  gives?: 'simple' | undefined;
  /** The command is whole and known behind it: a denied one stays denied. */
  exact?: boolean | undefined;
  /** Puts an operand behind it. */
  appends?: boolean | undefined;
  /** Takes code of one line only. */
  line?: boolean | undefined;
  /** Takes a form itself only, and nothing that is wrapped already. */
  innermost?: boolean | undefined;
  /** Heads that an unknown program is searched for. */
  unknown?: boolean | undefined;
  wrap: (code: string, level: number) => string;
}

/** A prefix of words that runs the words after it. */
const before = (...prefixes: string[]): Wrapper[] =>
  prefixes.map((name) => ({ name, simple: true, gives: 'simple', exact: true, wrap: (code) => `${name} ${code}` }));

/** A command of which one word is the code. */
const text = (exact: boolean, ...templates: string[]): Wrapper[] =>
  templates.flatMap((template) =>
    [single, double].map((quote, at) => ({
      name: `${template}${at === 0 ? '' : ' in double quotes'}`,
      gives: 'simple' as const,
      exact,
      wrap: (code: string) => template.replace('CODE', () => quote(code)),
    })),
  );

/** Code around code; `CODE` may be several lines. */
const around = (...templates: string[]): Wrapper[] =>
  templates.map((template) => ({
    name: template,
    exact: true,
    wrap: (code, level) =>
      template
        // Each heredoc has its own end.
        .replaceAll('END', `END${level}`)
        .replaceAll('FN', `fn${level}`)
        .replace('CODE', () => {
          // Text after a heredoc's line would belong to it, and some words are valid at the start of a pipeline only.
          if (/^(!|time|coproc) /.test(code)) return `{ ${code}; }`;
          if (code.includes('\n') || code.endsWith('&')) return ` {\n${code}\n} `;
          // Two parentheses would be arithmetic.
          return code.startsWith('(') ? ` ${code} ` : code;
        }),
  }));

const json = (code: string) => JSON.stringify(code);
const interpreter = (name: string, wrap: (code: string) => string): Wrapper => ({ name, gives: 'simple', wrap });

/** All ways. */
export const wrappers: Wrapper[] = [
  ...before(
    'sudo',
    'sudo -u root',
    'sudo -nEH --',
    'sudo --user=root A=1',
    'doas -u root',
    'env',
    'env A=1 B=2',
    'env -i PATH=/bin',
    'env -u A',
    '/usr/bin/env',
    'nice',
    'nice -n 5',
    'nohup',
    'time -p',
    '/usr/bin/time -f %e',
    'timeout 5',
    'timeout -k 1 -s KILL 5s',
    'timeout --signal=TERM 1m',
    'setsid',
    'setsid -w',
    'command',
    'command -p',
    'exec',
    'exec -a x',
    'busybox',
    'stdbuf -oL',
    'ionice -c 3',
    'strace -f -o /tmp/t',
    'flock /tmp/l',
    'sudo env nice -n 5 timeout 5',
    '2>/dev/null',
    '>out',
  ),
  // Words of bash itself, which no program can run.
  ...before('A=1', 'A=1 B="$(date)"', '!').map((each) => ({ ...each, gives: undefined })),
  // The wrapper joins the words and passes them to a shell, which removes one layer of quotes.
  ...before('ssh host', 'ssh -p 22 user@host', 'watch -n 1').map((each) => ({
    ...each,
    exact: false,
    innermost: true,
  })),
  ...before('mytool', './mytool --flag', 'docker exec web', 'kubectl exec pod --').map((each) => ({
    ...each,
    exact: false,
    unknown: true,
  })),
  { name: 'backslash', simple: true, exact: true, wrap: (code) => (/^[a-z]/.test(code) ? `\\${code}` : code) },
  { name: 'coproc', simple: true, exact: true, wrap: (code) => `coproc ${code}` },
  { name: 'f() { "$@"; }; f', simple: true, exact: true, wrap: (code) => `f() { "$@"; }; f ${code}` },
  {
    name: `bash -c '"$@"' _`,
    simple: true,
    exact: true,
    gives: 'simple',
    wrap: (code) => `bash -c '"$@"' _ ${code}`,
  },
  { name: 'find -exec', simple: true, exact: true, wrap: (code) => `find . -name x -exec ${code} \\;` },
  { name: 'find -execdir', simple: true, exact: true, wrap: (code) => `find . -type f -execdir ${code} ';'` },
  { name: 'find -ok', simple: true, exact: true, wrap: (code) => `find . -ok ${code} \\;` },
  { name: 'xargs -I{}', simple: true, exact: true, wrap: (code) => `ls | xargs -I{} ${code}` },
  { name: 'xargs', simple: true, appends: true, exact: true, wrap: (code) => `echo x | xargs ${code}` },
  {
    name: 'xargs -n 1',
    simple: true,
    appends: true,
    exact: true,
    wrap: (code) => `cat list | xargs -n 1 -P 4 ${code}`,
  },
  { name: 'xargs -0r', simple: true, appends: true, exact: true, wrap: (code) => `cat list | xargs -0r ${code}` },
  { name: 'parallel', simple: true, appends: true, wrap: (code) => `parallel ${code} ::: a b` },
  ...text(
    true,
    'bash -c CODE',
    'bash -lc CODE',
    'bash -eu -o pipefail -c CODE',
    'bash -c -- CODE x',
    '/bin/bash --norc -c CODE',
    'sh -c CODE',
    'zsh -c CODE',
    'dash -c CODE',
    'eval CODE',
    'su -c CODE',
    'su - dev -c CODE',
    'script -qc CODE /dev/null',
    'flock /tmp/l -c CODE',
    'trap CODE EXIT',
    'ls | xargs -I{} sh -c CODE',
    'find . -name x -exec sh -c CODE \\;',
    'x=CODE; eval "$x"',
    'x=CODE; bash -c "$x"',
    'f() { eval "$1"; }; f CODE',
    'echo CODE | bash',
    'echo CODE | sudo bash -s -- a',
    "printf '%s\\n' CODE | sh",
    'bash <<< CODE',
    'sh -s <<< CODE',
    'source /dev/stdin <<< CODE',
    'ssh host CODE',
    'ssh -t user@host CODE',
    'ssh host <<< CODE',
  ).map((each) =>
    // Builtins, commands with text before them on their line, and commands with a text of their own: no words can
    // precede these.
    /^(ls|x=|f\(|echo|printf|find|eval|trap|source)|<<</.test(each.name) ? { ...each, gives: undefined } : each,
  ),
  ...text(false, 'npx -c CODE', 'watch CODE'),
  ...text(false, 'parallel CODE ::: a').map((each) => ({ ...each, appends: true })),
  ...around(
    '(CODE)',
    '( CODE )',
    '{ CODE; }',
    'if true; then CODE; fi',
    'if CODE; then true; fi',
    'if false; then true; elif true; then true; else CODE; fi',
    'while true; do CODE; done',
    'while CODE; do break; done',
    'until CODE; do true; done',
    'for i in a b; do CODE; done',
    'for ((i = 0; i < 2; i++)); do CODE; done',
    'for i in $(CODE); do true; done',
    'case x in x) CODE ;; esac',
    'case x in (x) CODE ;;& y) true ;; esac',
    'case $(CODE) in *) true ;; esac',
    'select i in a; do CODE; done',
    'FN() { CODE; }; FN',
    'function FN { CODE; }; FN',
    'FN() ( CODE ); FN',
    'FN() { FNb; }; FNb() { CODE; }; FN',
    'true && { CODE; }',
    'CODE && true',
    'false || { CODE; }',
    'CODE || true',
    'true; CODE',
    'CODE; true',
    'true & CODE',
    'true\nCODE\ntrue',
    'true | { CODE; }',
    'CODE | cat',
    'CODE |& tee log',
    '{ CODE; } > out 2>&1',
    '(CODE) > out &',
    'coproc { CODE; }',
    'time { CODE; }',
    '! { CODE; }',
    'echo $(CODE)',
    'echo "$(CODE)"',
    'echo "a $(echo "b $(CODE)")"',
    'x=$(CODE)',
    'export x="$(CODE)"',
    'declare -a x=("$(CODE)")',
    'x[$(CODE)]=1',
    'echo ${NONE:-$(CODE)}',
    'echo "${NONE:-$(CODE)}"',
    'echo "${NONE/a/$(CODE)}"',
    'echo $((1 + $(CODE)))',
    '[[ -n $(CODE) ]]',
    '[[ a =~ $(CODE) ]]',
    '[ -n "$(CODE)" ]',
    '(( $(CODE) ))',
    'cat <(CODE)',
    'cat < <(CODE)',
    'tee >(CODE) < file',
    'cat <<< "$(CODE)"',
    'echo x > "$(CODE)"',
    'cat <<END\n$(CODE)\nEND',
    'cat <<END\n   $(CODE)\nEND',
    'cat <<END\ntext $(CODE) text\nEND',
    'cat <<END\n${NONE:-$(CODE)}\nEND',
    'cat <<-END\n\t$(CODE)\n\tEND',
    'cat <<END; true\n$(CODE)\nEND',
    "cat <<'END'; CODE\ntext\nEND",
    "cat <<'END' && true; CODE\ntext\nEND",
    "bash <<'END'\nCODE\nEND",
    "sudo bash -s x <<'END'\nCODE\nEND",
    "cd . && sh <<'END'\nCODE\nEND",
    "cat <<'END' | bash\nCODE\nEND",
    "ssh host <<'END'\nCODE\nEND",
    "ssh host 'bash -s' <<'END'\nCODE\nEND",
    "source /dev/stdin <<'END'\nCODE\nEND",
    '# a comment\nCODE # another',
  ).map((each) => ({
    ...each,
    // Text that follows a heredoc on its line has no lines of its own.
    line: /END'.*CODE\n/.test(each.name),
  })),
  {
    name: 'backticks',
    exact: true,
    wrap: (code) => `echo \`\n${code.replace(/[\\`]/g, '\\$&')}\n\``,
  },
  {
    name: 'backticks in a heredoc',
    exact: true,
    wrap: (code, level) => `cat <<END${level}\n  \`${code.replace(/[\\`]/g, '\\$&')}\`\nEND${level}`,
  },
  interpreter('python3 -c', (code) => `python3 -c ${single(`import os; os.system(${json(code)})`)}`),
  interpreter(
    'python3 subprocess',
    (code) => `python3 -c ${single(`import subprocess\nsubprocess.run(${json(code)}, shell=True)`)}`,
  ),
  interpreter('node -e', (code) => `node -e ${single(`require('child_process').execSync(${json(code)})`)}`),
  interpreter('ruby -e', (code) => `ruby -e ${single(`system(${json(code).replaceAll('#', '\\#')})`)}`),
  interpreter('perl -e', (code) => `perl -e ${single(`system('${code.replace(/[\\']/g, '\\$&')}')`)}`),
  interpreter('awk', (code) => `awk ${single(`BEGIN { system(${json(code)}) }`)}`),
  {
    name: 'python3 by heredoc',
    wrap: (code, level) => `python3 <<'END${level}'\nimport os\nos.system(${json(code)})\nEND${level}`,
  },
  {
    name: 'vim -c',
    // One line, and its own signs left alone.
    wrap: (code) => (/[\n|%#]/.test(code) ? `vim -c q; ${code}` : `vim -c ${single(`!${code}`)} -c q`),
  },
];
