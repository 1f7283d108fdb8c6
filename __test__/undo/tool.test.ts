import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type BashResult, BashSession, bash, type ConfineOptions, undoPoints } from 'agent-bash';
import { type BashToolInput, type BashToolUndone, createBashTool } from 'agent-bash/ai';
import { createLocalSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, test } from 'vitest';
import { callTool } from '../ai/fixtures/call.ts';
import type { JsonSchema } from '../ai/fixtures/json-schema.ts';
import { change, recorded } from '../receipt/fixture.ts';
import { folder, linuxTest } from '../support/index.ts';
import { Site } from './support.ts';

const schemaOf = (tool: ReturnType<typeof createBashTool>) =>
  tool.inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' }) as unknown as JsonSchema;

const ONE = 'exactly one of command, check_pid, kill_pid, wait_pid, undo_run and recall must be given';

describe('the input', () => {
  test.each([true, 'risky', 'always', { when: 'always' }] as const)('has undo_run with undo: %j', (undo) => {
    const tool = createBashTool({ undo });
    const { properties, required } = schemaOf(tool);
    expect(required).toEqual(Object.keys(properties));
    expect(properties.undo_run?.type).toEqual(['string', 'null']);
    expect(tool.description).toContain('undo_run');
    expect(tool.inputSchema['~standard'].validate({ undo_run: 'run-1', command: null })).toEqual({
      value: { undo_run: 'run-1', command: null },
    });
  });

  test.each([undefined, false, 'off'] as const)('has none with undo: %j', (undo) => {
    const tool = createBashTool({ undo });
    expect(Object.keys(schemaOf(tool).properties)).not.toContain('undo_run');
    expect(tool.description).not.toContain('undo_run');
    const { issues } = tool.inputSchema['~standard'].validate({ undo_run: 'run-1' });
    expect(issues?.map(({ message }) => message)).toEqual([
      'exactly one of command, check_pid, kill_pid, wait_pid and recall must be given; unknown input undo_run',
    ]);
  });

  test('has it with a session whose commands can be undone', async () => {
    await using session = new BashSession({ undo: 'always' });
    expect(Object.keys(schemaOf(createBashTool({ session })).properties)).toContain('undo_run');
  });

  test.each<[input: object, message: string]>([
    [{ command: 'ls', undo_run: 'run-1' }, ONE],
    [{}, ONE],
    [{ undo_run: 7 }, 'undo_run must be the id of a run'],
    [{ undo_run: '' }, 'undo_run must be the id of a run'],
  ])('refuses %j', async (input, message) => {
    const { output } = await callTool({ undo: true }, input as BashToolInput);
    expect(output).toEqual({ error: message, code: 'ERR_BASH_INVALID_ARG' });
  });
});

describe('a call with undo_run', () => {
  test('of an unknown run is ERR_BASH_UNDO with the reason', async () => {
    const undo = { dir: folder() };
    const { output, text } = await callTool({ undo }, { undo_run: 'no-such-run' });
    expect(output).toMatchObject({ code: 'ERR_BASH_UNDO', error: expect.stringContaining('no-such-run') });
    expect(text).toContain('nothing was undone');
    expect(await undoPoints(undo)).toEqual([]);
  });

  test('in a sandbox, and where a call turned it off, does nothing', async () => {
    const sandbox = { runCommand: () => Promise.reject(new Error('not run')) };
    expect((await callTool({ undo: true, sandbox } as never, { undo_run: 'run-1' })).output).toMatchObject({
      code: 'ERR_BASH_UNSUPPORTED',
    });
    const off = { undo: true, perCall: () => ({ undo: false }) };
    expect((await callTool(off, { undo_run: 'run-1' })).output).toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
  });
});

describe('what the model reads', () => {
  const cwd = '/srv/project';
  const options = { cwd, undo: true } as const;
  const all = { covers: 'all' as const, notCovered: [], bytes: 3 };

  test('how to take back what a run changed', async () => {
    const run = async () => recorded({ deleted: [change(`${cwd}/a`)] }, all);
    const { text } = await callTool({ ...options, run }, 'rm a');
    expect(text).toContain('[changed: 1 deleted (a)]\n[undo_run "run-7" takes this back]');
  });

  test('what an undo would leave', async () => {
    const cover = { covers: 'part' as const, notCovered: ['big.iso is too large'], bytes: 3 };
    const run = async () => recorded({ deleted: [change(`${cwd}/a`)] }, cover);
    const { text } = await callTool({ ...options, run }, 'rm a');
    expect(text).toContain('[undo_run "run-7" takes back part of this, but not: big.iso is too large]');
  });

  test('nothing of an undo if nothing changed, or if the tool offers none', async () => {
    expect((await callTool({ ...options, run: async () => recorded({}, all) }, 'ls')).text).not.toContain('undo_run');
    const run = async () => recorded({ deleted: [change(`${cwd}/a`)] }, all);
    expect((await callTool({ cwd, run }, 'rm a')).text).toMatch(/\[changed: 1 deleted \(a\)\]$/);
  });

  const undone: BashToolUndone = {
    ...{ status: 'undone', exitCode: 1 },
    ...{ runId: 'run-7', restored: [`${cwd}/a`, `${cwd}/b`], removed: [`${cwd}/c`], undoId: 'run-8' },
    conflicts: [{ path: `${cwd}/d`, why: 'it changed after the run', keptAt: '/store/kept/d' }],
    notCovered: ['a push'],
  };

  test('what an undo did', () => {
    const { type, value } = createBashTool(options).toModelOutput({ output: undone });
    expect(type).toBe('text');
    expect(createBashTool({ ...options, errorOnFailure: true }).toModelOutput({ output: undone }).type).toBe(
      'error-text',
    );
    expect(value.split('\n\n')).toEqual([
      '[undone: 2 restored (a, b), 1 removed (c)]',
      '[not undone: d: it changed after the run; what was there before is kept at /store/kept/d]',
      '[not covered: a push]',
      '[undo_run "run-8" takes this undo back]',
    ]);
  });

  test('that nothing had to be done', () => {
    const empty = {
      ...undone,
      restored: [],
      removed: [],
      conflicts: [],
      notCovered: [],
      undoId: '',
      exitCode: 0 as const,
    };
    expect(createBashTool(options).toModelOutput({ output: empty }).value).toBe('[undone: nothing had to be changed]');
  });
});

describe('with real commands', () => {
  linuxTest('a confined tool undoes nothing that its commands may not change', async () => {
    const site = new Site();
    site.write('.git/hooks/pre-commit');
    site.write('a');
    const undo = { when: 'always', dir: site.dir } as const;
    const host = (command: string) => bash(command, { cwd: site.cwd, undo });
    const outside = join(site.cwd, '../outside');
    const runs = {
      outside: await host('echo x > ../outside; echo x >> a'),
      hook: await host('echo x >> .git/hooks/pre-commit'),
      inside: await host('echo y >> a'),
    };
    const call = async (confine: ConfineOptions, { runId }: BashResult) =>
      (await callTool({ cwd: site.cwd, undo, confine }, { undo_run: runId })).output;
    expect(await call({ profile: 'workspace' }, runs.outside)).toMatchObject({
      code: 'ERR_BASH_CONFINEMENT',
      error: expect.stringContaining(JSON.stringify(realpathSync(outside))),
    });
    expect(await call({ profile: 'workspace' }, runs.hook)).toMatchObject({ code: 'ERR_BASH_CONFINEMENT' });
    expect(await call({ profile: 'read-only', write: [folder()] }, runs.inside)).toMatchObject({
      code: 'ERR_BASH_CONFINEMENT',
    });
    expect([readFileSync(outside, 'utf8'), site.read('a')]).toEqual(['x\n', 'a\nx\ny\n']);
    expect(await call({ profile: 'workspace' }, runs.inside)).toMatchObject({
      restored: [realpathSync(site.path('a'))],
    });
    const free: ConfineOptions = { profile: 'workspace', write: [join(outside, '..')] };
    expect(await call(free, runs.outside)).toMatchObject({ removed: [outside], conflicts: [] });
    expect(Object.keys(schemaOf(createBashTool({ undo, confine: 'read-only' })).properties)).not.toContain('undo_run');
  });

  linuxTest('a model undoes what it ran, and then the undo', async () => {
    const site = new Site();
    site.write('src/a');
    const tool = { cwd: site.cwd, undo: { dir: site.dir } };
    const made = createBashTool(tool);
    const call = async (input: BashToolInput) => {
      let last: unknown;
      for await (const output of made.execute(input, { toolCallId: 'c' })) last = output;
      return { output: last as never, text: made.toModelOutput({ output: last as never }).value };
    };
    const removed = await call({ command: 'rm -r src' });
    expect(removed.text).toContain('[changed: 2 deleted (src, src/a)');
    const [, runId = ''] = /\[undo_run "([^"]+)" takes this back\]/.exec(removed.text) ?? [];
    const undone = await call({ undo_run: runId });
    expect(undone.text).toContain('[undone: 2 restored (src, src/a)]');
    expect(site.read('src/a')).toBe('src/a\n');
    const [, undoId = ''] = /\[undo_run "([^"]+)" takes this undo back\]/.exec(undone.text) ?? [];
    await call({ undo_run: undoId });
    expect(Object.keys(site.tree())).toEqual(['.']);
  });

  linuxTest('a run of another directory is not the model’s', async () => {
    const [site, other] = [new Site(), new Site()];
    other.write('a');
    const { runId } = await other.run('rm a', { undo: { dir: site.dir } });
    const options = { cwd: site.cwd, undo: { dir: site.dir } };
    const { output } = await callTool(options, { undo_run: runId });
    expect(output).toMatchObject({ code: 'ERR_BASH_UNDO', error: expect.stringContaining('not one of this tool') });
    expect(Object.keys(other.tree())).toEqual(['.']);
    // A later tool of its directory may.
    const own = await callTool({ ...options, cwd: other.cwd }, { undo_run: runId });
    expect(own.output).toMatchObject({ runId, conflicts: [] });
    expect(other.read('a')).toBe('a\n');
  });

  linuxTest('through a local sandbox the receipt reaches the model', async () => {
    const site = new Site();
    const sandbox = createLocalSandboxSession({ cwd: site.cwd, undo: { when: 'always', dir: site.dir } });
    const { output, text } = await callTool({ sandbox, cwd: site.cwd }, 'echo x > a');
    expect(text).toContain('[changed: 1 created (a)');
    expect(text).not.toContain('undo_run');
    await site.undo((output as { runId: string }).runId);
    expect(Object.keys(site.tree())).toEqual(['.']);
  });
});
