/** Words that mean the same inside quotes and outside; where they stand first, only without `=`. */
const PLAIN = /^[\w@%+:,./-][\w@%+=:,./-]*$/;
const NAME = /^[A-Za-z_]\w*$/;

/** What bash takes for its own grammar where a command begins, of what needs no quotes otherwise. */
const RESERVED = new Set(
  'if then else elif fi do done case esac while until for in function time select coproc'.split(' '),
);

/**
 * A program with its arguments as a command of bash: each word reaches the program as it is. Quoted and not handed over beside
 * the command, so that whoever judges, asks, logs or changes commands sees what runs. `env` stands before it, as one would type it.
 */
export function commandOf(argv: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const [program = '', ...rest] = argv;
  const first = RESERVED.has(program) || program.includes('=') ? quoted(program) : word(program);
  const given = Object.entries(env);
  // A name that bash cannot assign to is one for the program env.
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
