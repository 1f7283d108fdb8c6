import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Program } from '../../../cli/support.ts';
import { blocks, source } from '../../../docs/examples.ts';
import { folder, packageRoot } from '../../../support/index.ts';

// The command lines that the pages show.

interface Line {
  page: string;
  line: string;
}

const CODING_AGENT = 'examples/coding-agent/README.md';

/** The lines of all sh blocks that start a program, without their comments. */
async function lines(program: string): Promise<Line[]> {
  const docs = (await readdir(join(packageRoot, 'docs'))).filter((name) => name.endsWith('.md'));
  const all = await Promise.all(
    [...docs.map((name) => `docs/${name}`), CODING_AGENT].map(async (name) =>
      blocks(await source(name))
        .filter(({ kind }) => kind === 'sh')
        .flatMap(({ text }) => text.trimEnd().split('\n'))
        .map((line) => ({ page: name, line: line.replace(/\s+# .*/, '').replace(/^npx /, '') })),
    ),
  );
  return all.flat().filter(({ line }) => line.startsWith(`${program} `) || line === program);
}

/** The words of a line, as bash has them; a `< FILE` at its end apart. */
function words(line: string): string[] {
  return [...line.replace(/ < \S+$/, '').matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain]) => single ?? double ?? plain ?? '',
  );
}

const own = await lines('agent-bash');

test('there are lines of the program', () => {
  expect(own.length).toBeGreaterThan(8);
});

describe.each(own)('$page', ({ line }) => {
  test(line, async () => {
    const program = new Program();
    const cwd = folder();
    const scripts = { start: 'echo started', test: 'echo tested' };
    await writeFile(join(cwd, 'package.json'), JSON.stringify({ scripts }));
    await writeFile(join(cwd, 'script.sh'), 'echo from the script\n');
    // The task that the page speaks of: it ends by itself, so that what follows it ends, too.
    const started = await program.run('run', '--background', '--json', 'echo said; sleep 1');
    const { id } = JSON.parse(started.stdout);
    const args = words(line).slice(1);
    const stdin = / < \S+$/.test(line) ? await readFile(join(cwd, 'script.sh'), 'utf8') : '';
    const run = program.start(
      args.map((word) => (word === '12345' ? id : word)),
      ['pipe', 'pipe', 'pipe'],
      cwd,
    );
    run.child.stdin?.end(stdin);
    // A page is served until a signal ends it.
    if (args[0] === 'ui') await run.says(/#/).then(() => run.child.kill('SIGTERM'));
    const ended = await run.ended;
    // Any result proves that it was understood.
    expect(ended.signal).toBe(null);
    expect(ended.stderr).not.toMatch(/^error:/m);
    expect(ended.stdout + ended.stderr).not.toMatch(/^Usage:/m);
    // A server has nothing to say to a client that has left, nothing was recorded here, and no such target is there.
    if (!['kill', 'log', 'mcp', 'undo'].includes(args[0] ?? '') && !args.includes('--on'))
      expect(ended.stdout).not.toBe('');
  });
});

test('the options and rows of bench/README.md are those of the program, whose full run takes minutes', async () => {
  const [run, benchmarks] = await Promise.all([source('bench/run.mjs'), source('bench/README.md')]);
  const shown = blocks(benchmarks).find(({ kind }) => kind === 'sh')?.text ?? '';
  const options = /options: \{\n(.*?)\n {2}\},\n\}\)/s.exec(run)?.[1] ?? '';
  const names = [...options.matchAll(/^ {4}(\w+):/gm)].map(([, name]) => `--${name}`);
  expect(names.length).toBeGreaterThan(4);
  expect([...new Set(shown.match(/--\w+/g))].sort()).toEqual(names.sort());
  const rows = /^const ROWS = \{(.*?)\};/ms.exec(run)?.[1]?.match(/\w+/g);
  expect(/one row: (.*);/.exec(shown)?.[1]?.split(/, | or /)).toEqual(rows);
});

test('the options and variables of the page of the coding agent are those of the example, which its own tests start', async () => {
  const example = [...(await lines('npm')), ...(await lines('AGENT_BASH_MODEL=anthropic/claude-sonnet-4.5'))];
  const shown = example.filter((one) => one.page === CODING_AGENT).map(({ line }) => line);
  expect(shown).toHaveLength(8);
  const named = [...new Set(shown.join(' ').match(/--\w+|[A-Z_]{5,}(?==)/g))];
  expect(named.sort()).toEqual([
    '--cwd',
    '--keep',
    '--on',
    '--ui',
    '--unconfined',
    'AGENT_BASH_MODEL',
    'AI_GATEWAY_API_KEY',
  ]);
  const files = await readdir(join(packageRoot, 'examples/coding-agent'), { recursive: true });
  const texts = files.filter((name) => name.endsWith('.mjs')).map((name) => source(`examples/coding-agent/${name}`));
  const text = (await Promise.all(texts)).join('\n');
  for (const name of named) expect(text).toContain(name.replace('--', ''));
});
