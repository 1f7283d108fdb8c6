import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BackgroundCheck, BackgroundRegistry, type BashResult, bash } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { registerBashTools } from 'agent-bash/mcp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { folder, SOON, until } from '../../support/index.ts';
import { lasting } from '../support/ground.ts';
import { namespacesTest } from '../support/held.ts';

function registry(): BackgroundRegistry {
  const made = new BackgroundRegistry();
  onTestFinished(() => made.close());
  return made;
}

async function last<T>(outputs: AsyncIterable<T>): Promise<T> {
  let output: T | undefined;
  for await (const one of outputs) output = one;
  return output as T;
}

/** A directory that no command of these tests may change. */
function outside(): string {
  const place = join(lasting(), 'place');
  mkdirSync(place);
  return place;
}

describe.runIf(process.platform === 'linux')('tasks', () => {
  test('a check has all denials so far, and the last one those of the whole task', async () => {
    const [tasks, cwd, place] = [registry(), folder(), outside()];
    const command = `tee ${place}/one </dev/null; until [ -e go ]; do sleep .02; done; tee ${place}/two </dev/null`;
    const task = await tasks.start(command, { cwd, confine: 'workspace' });
    const check = await until(async () => {
      const now = await tasks.check(task.id);
      return now.confinement?.deniedTotal ? now : undefined;
    });
    expect(check.confinement).toMatchObject({
      profile: 'workspace',
      missing: [],
      denied: [{ kind: 'write', target: `${place}/one`, program: 'tee', count: 1, grant: { write: [place] } }],
    });
    writeFileSync(join(cwd, 'go'), '');
    const { confinement } = await tasks.wait(task.id);
    expect(confinement?.denied.map(({ target }) => target)).toEqual([`${place}/one`, `${place}/two`]);
    expect(confinement?.deniedTotal).toBe(2);
  });

  test('a check has what the gate refuses without anything else being denied', async () => {
    const tasks = registry();
    const [cwd, command] = [folder(), 'sleep 0.5; curl -s --max-time 5 https://other.test; sleep 300'];
    const task = await tasks.start(command, { cwd, confine: 'workspace' });
    const { confinement } = await until(async () => {
      const now = await tasks.check(task.id);
      return now.confinement?.deniedTotal ? now : undefined;
    });
    expect(confinement?.denied).toMatchObject([{ kind: 'network', target: 'other.test', program: 'curl' }]);
  });

  test('a model reads the denials of a task in what check_pid and kill_pid answer', async () => {
    const [tasks, cwd, place] = [registry(), folder(), outside()];
    const tool = createBashTool({ registry: tasks, cwd, confine: 'workspace' });
    const call = { toolCallId: 'call-1' };
    const command = `tee ${place}/one </dev/null; echo tried; sleep 300`;
    const started = (await last(tool.execute({ command, mode: 'background' }, call))) as BashResult;
    const pid = started.background?.pid as number;
    await tasks.wait(pid, { pattern: 'tried' });
    // Denials gather for a moment.
    await until(async () => (await tasks.check(pid)).confinement?.deniedTotal || undefined);
    for (const input of [{ check_pid: pid }, { kill_pid: pid }]) {
      const output = await last(tool.execute(input, call));
      expect(output).toMatchObject({ confinement: { deniedTotal: 1 } });
      const { value } = tool.toModelOutput({ output });
      expect(value).toContain(`[confined: write ${place}/one denied (tee)]`);
    }
  });

  test('a client of MCP gets them as data and as text', async () => {
    const [tasks, cwd, place] = [registry(), folder(), outside()];
    const task = await tasks.start(`tee ${place}/one </dev/null`, { cwd, confine: 'workspace' });
    await tasks.wait(task.id);
    type Answer = { content: { text: string }[]; structuredContent: BackgroundCheck };
    const handlers = new Map<string, (input: object, extra: object) => Promise<Answer>>();
    const registerTool = (name: string, _: object, handler: never) => handlers.set(name, handler);
    const server = { getClientCapabilities: () => ({}), listRoots: async () => ({ roots: [] }) };
    registerBashTools({ registerTool, server } as never, { cwd, registry: tasks, confine: 'workspace' });
    const extra = { requestId: 1, signal: new AbortController().signal, sendNotification: async () => {} };
    const answer = await handlers.get('bash')?.({ check_pid: task.pid }, extra);
    expect(answer?.structuredContent.confinement?.denied).toMatchObject([{ target: `${place}/one` }]);
    expect(answer?.content[0]?.text).toContain(`[confined: write ${place}/one denied (tee)]`);
  });

  test('a task that is not confined has no confinement', async () => {
    const tasks = registry();
    const task = await tasks.start('true');
    expect((await tasks.wait(task.id)).confinement).toBeNull();
  });

  test('a command that moves to the background takes its denials along', async () => {
    const [tasks, cwd, place] = [registry(), folder(), outside()];
    const command = `tee ${place}/one </dev/null; sleep ${(3 * SOON) / 1000}; tee ${place}/two </dev/null`;
    const moved = await bash(command, {
      cwd,
      confine: 'workspace',
      timeoutMs: 1.5 * SOON,
      onTimeout: 'background',
      registry: tasks,
    });
    expect([moved.status, moved.confinement?.denied.map(({ target }) => target)]).toEqual([
      'backgrounded',
      [`${place}/one`],
    ]);
    const { confinement } = await tasks.wait(moved.background?.id ?? '');
    expect(confinement?.denied.map(({ target }) => target)).toEqual([`${place}/one`, `${place}/two`]);
  });

  test('a refused host is among the denials of a task', async () => {
    const tasks = registry();
    const task = await tasks.start('curl -s --max-time 5 https://other.test', { cwd: folder(), confine: 'workspace' });
    const { confinement } = await tasks.wait(task.id);
    expect(confinement?.denied[0]).toMatchObject({ kind: 'network', target: expect.stringContaining('other.test') });
  });

  test("a task's log can be read by its own world and by no other", async () => {
    const [tasks, cwd] = [registry(), folder()];
    const options = { cwd, confine: 'workspace' } as const;
    const { id, logPath } = await tasks.start('echo logged; sleep 300', options);
    await tasks.wait(id, { pattern: 'logged' });
    const own = await tasks.start(`cat ${logPath}; echo x >>${logPath}`, options);
    expect((await tasks.wait(own.id)).output).toContain('logged\n');
    expect(readFileSync(logPath, 'utf8')).not.toContain('x\n');
    const other = await tasks.start(`cat ${logPath}`, { ...options, cwd: folder() });
    expect((await tasks.wait(other.id)).output).not.toContain('logged\n');
    expect((await bash(`cat ${logPath}`, options)).stdout).toBe('');
  });

  // Where a listener holds the files, the shown file is the one of the host, and nothing is in its way.
  namespacesTest('files that are shown lead no command out of its world', async () => {
    const cwd = folder();
    const options = { cwd, confine: 'workspace', timeoutMs: 20_000 } as const;
    const { truncation } = await bash('seq 100000', options);
    const path = truncation.stdout?.path ?? '';
    const directory = path.replace(/\/[^/]*$/, '');
    // A link in the way of the next one must not be followed.
    const link = `mv ${directory} ${directory}-away; ln -s ${cwd} ${directory}`;
    const { exitCode } = await bash(`tail -1 ${path} && echo x >>${path}; ${link}`, options);
    expect(exitCode).toBe(0);
    const next = (await bash('seq 100001', options)).truncation.stdout?.path ?? '';
    expect(existsSync(join(cwd, next.replace(/^.*\//, '')))).toBe(false);
    expect(readFileSync(path, 'utf8').endsWith('100000\n')).toBe(true);
  });
});
