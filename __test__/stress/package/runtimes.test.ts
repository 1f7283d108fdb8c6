import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { alive, testNeeding, until } from '../../support/index.ts';
import { PACKING, type PackedProject, packedProject, run } from './packed.ts';
import { programOf, runtimes } from './runtimes.ts';

const programs = await Promise.all(runtimes.map(async (runtime) => ({ ...runtime, file: await programOf(runtime) })));

let project: PackedProject;

beforeAll(async () => {
  project = await packedProject();
  await cp(join(import.meta.dirname, 'fixtures'), project.folder, { recursive: true });
}, PACKING);

afterAll(() => project?.[Symbol.asyncDispose]());

describe.each(programs)('in an empty project, $title', ({ title, spec, file = '', words = [] }) => {
  const test = testNeeding(`${title} (${spec} from the registry)`, file !== '');
  const start = (script: string) => run(file, [...words, script], project.folder, project.env);

  test('reports its own version', async () => {
    const { stdout } = await run(file, ['--version'], project.folder, project.env);
    expect(stdout).toMatch(new RegExp(`^(v|deno )?${spec.slice(spec.lastIndexOf('@') + 1)}\\.`));
  });

  test('runs each surface from an ES module, and ends by itself', async () => {
    const ended = await start('surfaces.mjs');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ended.stdout)).toEqual({
      command: ['1\n2\n3\n', 3],
      live: '1\n2\n3\n',
      aborted: 'aborted',
      limit: 'timed-out',
      refused: [true, 'ERR_BASH_BLOCKED'],
      verdict: 'deny',
      session: '5 /\n',
      terminal: ['typed', 'typed'],
      task: expect.stringMatching(/^done\n/),
      tool: 'from the tool\n',
      sandbox: 'from the sandbox\n',
      text: '$ x\nred\nexit code 0 · 1 ms · limit 30 s',
      html: true,
      events: ['start', 'output', 'exit'],
      many: 100,
    });
  });

  test('runs from CommonJS', async () => {
    expect(await start('required.cjs')).toEqual({ code: 0, stdout: 'hi\n', stderr: '' });
  });

  test('runs in worker threads, and a thread that ends takes its command along', async () => {
    const ended = await start('threads.mjs');
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ended.stdout)).toEqual({
      threads: [1, 2, 3].map((number) => [`${number}\n`, 0]),
      left: 'gone\n',
    });
  });

  test('leaves nothing when it is killed', async () => {
    const host = spawn(file, [...words, 'held.mjs'], {
      cwd: project.folder,
      env: project.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(host.stdout, 'data');
    const command = Number(String(said));
    expect(alive(command)).toBe(true);
    host.kill('SIGKILL');
    await until(() => !alive(command));
  });
});
