import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Analysis, analyze } from 'agent-bash';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noMisses, told } from '../../../safety/support.ts';
import { folder } from '../../../support/index.ts';
import { cases } from '../../differential/cases.ts';

interface Script {
  name: string;
  script: string;
}

const here = fileURLToPath(new URL('../../../safety/scripts/', import.meta.url));
const read = (file: string) => readFileSync(join(here, file), 'utf8').trimEnd();

/** Scripts of one line each, and scripts between lines of `###`. */
function own(kind: 'straight' | 'flow'): Script[] {
  const scripts = [...read(`${kind}-lines.sh`).split('\n'), ...read(`${kind}-blocks.sh`).split(/\n###\n/)];
  return scripts.map((script, at) => ({ name: `${kind} ${at + 1}`, script }));
}

const straight = own('straight');
const flow = own('flow');

/** Their changes would alter the trace of bash, or they run text that is in no script. */
const untraceable =
  /expand_aliases|\.sh\b|\bset [-+o]*x|xtrace|BASH_XTRACEFD|BASH_ENV|PS4|env -i|exec -c|--posix|set -o posix/;
const borrowed = cases().filter(({ script }) => !untraceable.test(script));

const variables = { PATH: process.env.PATH, HOME: '/home/of/nobody', LC_ALL: 'C.UTF-8', TZ: 'UTC' };

const escapes: Record<string, string> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  E: '\x1b',
  e: '\x1b',
};

/** The words of a command in a trace, as bash quotes them there. */
function words(line: string): string[] {
  const found: string[] = [];
  let word: string | undefined;
  for (let rest = line; rest !== ''; ) {
    const [whole, blanks, single, ansi, escaped, plain] =
      /^(?:(\s+)|'([^']*)'|\$'((?:[^'\\]|\\.)*)'|\\(.)|(.))/s.exec(rest) ?? [];
    rest = rest.slice(whole?.length);
    if (blanks !== undefined) {
      if (word !== undefined) found.push(word);
      word = undefined;
      continue;
    }
    const bytes = (octal: string) => String.fromCharCode(Number.parseInt(octal, 8));
    const decoded = ansi?.replace(/\\([0-7]{1,3}|.)/gs, (_, code: string) =>
      /^[0-7]/.test(code) ? bytes(code) : (escapes[code] ?? code),
    );
    word = `${word ?? ''}${single ?? decoded ?? escaped ?? plain}`;
  }
  return word === undefined ? found : [...found, word];
}

/**
 * Returns all simple commands that bash executed, functions and builtins included, in its subshells and in every bash
 * that it ran.
 */
async function executed(script: string, base: string): Promise<string[][]> {
  const cwd = join(base, 'here');
  const trace = join(base, 'trace');
  const setup = join(base, 'setup');
  mkdirSync(cwd);
  writeFileSync(setup, `exec {trace_fd}>>'${trace}'; BASH_XTRACEFD=$trace_fd; unset trace_fd; PS4=$'\\1'; set -x\n`);
  const child = spawn('bash', ['-c', script], {
    cwd,
    env: { ...variables, BASH_ENV: setup },
    stdio: 'ignore',
    detached: true,
    // Against a hang only.
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  await once(child, 'exit');
  const text = existsSync(trace) ? readFileSync(trace, 'utf8') : '';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the mark of a line of the trace
  const entries = text.replace(/\n$/, '').split(/(?:^|\n)\x01+/);
  entries.shift();
  return entries.flatMap((entry) => {
    // A compound command; assignments alone.
    if (/^(for|case|select) |^\[\[ |^\(\( |^[A-Za-z_]\w*(\[.*\])?\+?=/.test(entry)) return [];
    const all = words(entry);
    return all.length > 0 && all[0] !== '' ? [all] : [];
  });
}

const baseName = (head = '') => head.slice(head.lastIndexOf('/') + 1);

/** The names of its units, and of the wrappers in front of them. */
function known({ commands }: Analysis): Set<string> {
  const heads = commands.flatMap(({ name, prefix }) => [...(name === null ? [] : [name]), ...prefix]);
  return new Set(heads.map(baseName));
}

describe('the commands that `analyze` finds are the ones that bash runs', () => {
  let base: string;
  let count = 0;
  beforeAll(() => {
    base = folder(afterAll);
  });

  /** Checks all of them, several at a time, and returns the faults of each. */
  async function misses(scripts: Script[], wrong: (analysis: Analysis, ran: string[][]) => string | undefined) {
    const found: string[] = [];
    const left = [...scripts];
    const worker = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const { name, script } = next;
        const scratch = join(base, String(count++));
        mkdirSync(scratch);
        const ran = await executed(script, scratch);
        const analysis = analyze(script, { cwd: join(scratch, 'here'), env: variables, home: variables.HOME });
        const what = wrong(analysis, ran);
        if (what) found.push(`${name}: ${what}: ${JSON.stringify(script)}`);
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
    return found;
  }

  /** Programs that bash ran and `analyze` missed. An unknown program may be any of them, and a person is asked. */
  function overlooked(analysis: Analysis, ran: string[][]): string | undefined {
    const names = known(analysis);
    const missing = [...new Set(ran.map(([head]) => baseName(head)))].filter((head) => !names.has(head));
    const open = analysis.commands.some(({ name }) => name === null) || !analysis.complete;
    const asks = analysis.verdict === 'ask' || analysis.verdict === 'deny';
    // One of several values that a variable may have, each of which was judged.
    const values = missing.every((head) => new RegExp(`=${head}\\b`).test(analysis.command));
    return missing.length === 0 || (open && (asks || values)) ? undefined : `not seen: ${missing.join(' ')}`;
  }

  test('there are a few hundred scripts', () => {
    expect(straight.length + flow.length).toBeGreaterThanOrEqual(300);
  });

  test('all that ran was seen: straight scripts', async () => {
    const found = await misses(straight, overlooked);
    noMisses(found);
  });

  test('all that ran was seen: scripts with control flow', async () => {
    const found = await misses(flow, overlooked);
    noMisses(found);
  });

  test('all that ran was seen: the scripts of the differential check', async () => {
    expect(borrowed.length).toBeGreaterThanOrEqual(250);
    const found = await misses(borrowed, overlooked);
    noMisses(found);
  });

  test('nothing else was seen in straight scripts', async () => {
    const found = await misses(straight, (analysis, commands) => {
      const ran = new Set(commands.map(([head]) => baseName(head)));
      // Programs run by other programs, and by handlers that are never called, are in no trace of bash.
      const extra = analysis.commands.flatMap(({ name, via }) =>
        name === null || ran.has(name) || via.some((each) => /xargs|env|command|builtin|exec|trap/.test(each))
          ? []
          : [name],
      );
      return extra.length === 0 ? undefined : `did not run: ${extra.join(' ')}`;
    });
    noMisses(found);
  });

  /** Words that the analysis calls known, and that bash had otherwise. */
  function misjudged(analysis: Analysis, ran: string[][]): string | undefined {
    const had = new Set(ran.map((argv) => JSON.stringify(argv)));
    const heads = new Set(ran.map(([head]) => head));
    const wrong = analysis.commands.flatMap(({ argv, prefix }) => {
      const told = argv.map(({ text }) => text);
      // Commands that did not run, or that another program ran, are in no trace.
      if (prefix.length > 0 || argv.some(({ known }) => !known) || !heads.has(told[0] ?? '')) return [];
      return had.has(JSON.stringify(told)) ? [] : [JSON.stringify(told)];
    });
    return wrong.length === 0 ? undefined : `bash had no ${wrong.join(', ')} but ${[...had].join(', ')}`;
  }

  test('words that are known are those that bash had: straight scripts', async () => {
    noMisses(await misses(straight, misjudged));
  });
});

describe('`complete`', () => {
  test('is false for at most 2 % of the scripts that bash takes', () => {
    const scripts = [...cases(), ...straight, ...flow];
    const valid = scripts.filter(({ script }) => {
      const { status, stderr } = spawnSync('bash', ['-n', '-c', script], { encoding: 'utf8' });
      return status === 0 && stderr === '';
    });
    expect(valid.length).toBeGreaterThan(scripts.length * 0.9);
    const incomplete = valid.flatMap(({ name, script }) => {
      const analysis = analyze(script, { cwd: '/home/dev/project', env: variables, home: '/home/dev' });
      return analysis.complete ? [] : [`${name}: ${told(analysis)}: ${JSON.stringify(script)}`];
    });
    expect(incomplete.length, incomplete.slice(0, 40).join('\n')).toBeLessThanOrEqual(valid.length * 0.02);
  });
});
