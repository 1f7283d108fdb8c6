/** Words that mean the same with and without quotes. The first word must also not contain `=`. */
const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/;
const NAME = /^[A-Za-z_]\w*$/;

/** Words without special characters that bash treats as grammar at the start of a command. */
const RESERVED = new Set(
  'if then else elif fi do done case esac while until for in function time select coproc'.split(' '),
);

/**
 * Returns a program and its arguments as a bash command in which each word reaches the program unchanged. The words are
 * quoted into the command, not passed beside it, so that safety, approvals, logs and hooks see what runs. Variables
 * precede the command, as a person would type them.
 */
export function commandOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const [program = '', ...rest] = argv;
  const first = RESERVED.has(program) || program.includes('=') ? quoted(program) : word(program);
  const given = Object.entries(env);
  // bash cannot assign to every name. Other names go through the program `env`.
  const before = given.every(([name]) => NAME.test(name))
    ? given.map(([name, value]) => `${name}=${word(value)}`)
    : ['env', '--', ...given.map(([name, value]) => quoted(`${name}=${value}`))];
  return [...before, first, ...rest.map(word)].join(' ');
}

function word(text: string): string {
  return PLAIN.test(text) ? text : quoted(text);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
