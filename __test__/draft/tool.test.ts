import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackgroundRegistry, BashSession, bash, drafts, openDraft } from 'agent-bash';
import {
  type ApprovalOptions,
  type BashTool,
  type BashToolInput,
  type BashToolOptions,
  createBashTool,
  createTerminalTool,
  createToolApproval,
} from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { createLocalSandboxSession } from 'agent-bash/sandbox';
import { describe, expect, test } from 'vitest';
import { callTool } from '../ai/fixtures/call.ts';
import type { JsonSchema } from '../ai/fixtures/json-schema.ts';
import { HOST, secretFor } from '../confine/secrets/support.ts';
import { MAJORS, textOf } from '../mcp/majors.ts';
import { finished, folder, linuxTest, mark, place, sleepers, stateFolder, until } from '../support/index.ts';
import { draftTest, project } from './support.ts';

const fieldsOf = (tool: BashTool) => {
  const schema = tool.inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' }) as unknown as JsonSchema;
  expect(schema.required).toEqual(Object.keys(schema.properties));
  return Object.keys(schema.properties).filter((name) => name.startsWith('draft') || name === 'access');
};

async function lastOf<T>(outputs: AsyncIterable<T>): Promise<T> {
  let last: T | undefined;
  for await (const output of outputs) last = output;
  return last as T;
}

/** Calls of one tool. With `approval`, each is asked about first. */
function callsOf(options: BashToolOptions, approval?: ApprovalOptions) {
  const tool = createBashTool(options);
  const decides = approval && createToolApproval({ tool, ...approval });
  let calls = 0;
  const call = async (given: BashToolInput | string) => {
    const input = typeof given === 'string' ? { command: given } : given;
    calls += 1;
    const toolCallId = `call-${calls}`;
    await decides?.needsApproval(input, { toolCallId });
    const output = await lastOf(tool.execute(input, { toolCallId }));
    return { output, text: tool.toModelOutput({ output }).value };
  };
  return { tool, call };
}

const YES = { draft: true, ask: async () => ({ approved: true }) };

describe('making a tool', () => {
  test.each<[options: object, code: string, says: string]>([
    [{ draft: 'yes' }, 'ERR_BASH_INVALID_ARG', 'draft'],
    [{ draft: { id: 'd', root: '/' } }, 'ERR_BASH_INVALID_ARG', 'draft'],
    [{ draft: null }, 'ERR_BASH_INVALID_ARG', 'draft'],
    [{ draft: true, commit: 'always' }, 'ERR_BASH_INVALID_ARG', 'commit'],
    [{ commit: true }, 'ERR_BASH_INVALID_ARG', 'commit'],
    [{ draft: true, confine: 'workspace' }, 'ERR_BASH_INVALID_ARG', 'confine'],
    [{ draft: true, undo: true }, 'ERR_BASH_INVALID_ARG', 'undo'],
    [{ draft: true, reuse: 'verified' }, 'ERR_BASH_UNSUPPORTED', 'reuse'],
    [{ draft: true, evidence: 'tree' }, 'ERR_BASH_UNSUPPORTED', 'evidence'],
  ])('with %j is %s', (options, code, says) => {
    for (const make of [createBashTool, createTerminalTool, anthropicBash]) {
      expect(() => make(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(says) }));
    }
  });

  linuxTest('with a target is ERR_BASH_INVALID_ARG', async () => {
    const { target } = await place();
    expect(() => createBashTool({ draft: true, target })).toThrow(/^target: a command in a draft has none/);
  });

  test('whose session contradicts a draft is ERR_BASH_INVALID_ARG', async () => {
    await using session = new BashSession({ confine: 'workspace' });
    expect(() => createBashTool({ draft: true, session })).toThrow(/^confine: a command in a draft has none/);
  });

  test('with what is off anyway is allowed', () => {
    createBashTool({ draft: true, undo: false, confine: 'off', receipt: 'off', evidence: 'status', commit: 'never' });
  });
});

describe('the input', () => {
  test.each<[options: BashToolOptions, fields: string[]]>([
    [{}, []],
    [{ draft: false, commit: 'ask' }, []],
    [{ draft: true }, ['draft_changes']],
    [{ draft: true, commit: 'never' }, ['draft_changes']],
    [{ draft: true, commit: 'ask' }, ['draft_changes', 'draft_commit']],
    [{ draft: true, onAccess: () => true }, ['draft_changes']],
  ])('with %j has %j', (options, fields) => {
    const tool = createBashTool(options);
    expect(fieldsOf(tool)).toEqual(fields);
    for (const field of ['draft_changes', 'draft_commit']) {
      expect(tool.description.includes(field)).toBe(fields.includes(field));
    }
  });

  const ONE =
    'exactly one of command, check_pid, kill_pid, wait_pid, recall, draft_changes and draft_commit must be given';
  test.each<[input: object, message: string]>([
    [{ command: 'ls', draft_changes: 'diff' }, ONE],
    [{ draft_changes: 'diff', draft_commit: true }, ONE],
    [{ draft_commit: false }, ONE],
    [{ draft_changes: 'all' }, 'draft_changes must be "summary" or "diff"'],
    [{ draft_commit: 'yes' }, 'draft_commit must be true'],
  ])('refuses %j', async (input, message) => {
    const { output } = await callTool({ draft: true, commit: 'ask' }, input as BashToolInput);
    expect(output).toEqual({ error: message, code: 'ERR_BASH_INVALID_ARG' });
  });

  test('that names a field of drafts beside a command has a note without one', async () => {
    const { text } = await callTool({}, { command: 'echo ran', draft_changes: 'diff', draft_commit: true });
    expect(text).toContain('ran\n');
    expect(text).toContain('ignored input: draft_changes, draft_commit');
  });
});

describe('a tool with draft: true', () => {
  draftTest('opens a draft with its first command, shows its changes, and changes nothing outside', async () => {
    const { root, tree } = project();
    const before = tree();
    const { tool, call } = callsOf({ cwd: root, draft: true });
    expect(tool.description).toContain(`a draft of ${root}`);
    expect(await call({ draft_changes: 'summary' })).toEqual({
      output: { status: 'drafted', exitCode: 0, draft: null, text: '[draft: nothing has changed]' },
      text: '[draft: nothing has changed]',
    });
    expect(await drafts({ root })).toEqual([]);
    const { output } = await call('echo more >>a; mv src/deep moved; rm src/one; mkdir new');
    const [info] = await drafts({ root });
    expect(output).toMatchObject({ exitCode: 0, draft: info?.id });
    expect((await call('cat a')).text).toBe('a\nmore');
    expect((await call({ draft_changes: 'summary' })).text).toBe(
      '[draft: 1 created (new), 1 modified (a), 1 deleted (src/one), 1 renamed (moved)]',
    );
    expect((await call({ draft_changes: 'diff' })).text).toContain('\n a\n+more\n');
    expect(await drafts({ root })).toHaveLength(1);
    expect(tree()).toEqual(before);
  });

  draftTest('cuts the patch as it cuts output, and counts the files that it leaves out', async () => {
    const { root } = project();
    const { call } = callsOf({ cwd: root, draft: true, truncate: { keep: 'tail', maxBytes: 400 } });
    await call('seq 500 >long; echo more >>a');
    const { text } = await call({ draft_changes: 'diff' });
    expect(text).toContain('+more');
    expect(text.length).toBeLessThan(800);
  });

  draftTest('says what a person has changed as well', async () => {
    const { root, edit } = project();
    const { call } = callsOf({ cwd: root, draft: true, commit: 'ask' }, YES);
    await call('echo mine >>a');
    edit('echo theirs >a');
    expect((await call({ draft_changes: 'summary' })).text).toBe(
      '[draft: 1 modified (a)]\n\n[changed outside of the draft as well: a: it was changed]',
    );
    const { output, text } = await call({ draft_commit: true });
    expect(output).toMatchObject({ status: 'committed', exitCode: 1, applied: [] });
    expect(text).toMatch(/^\[not committed: .*\]\n\n\[conflict: a: it was changed\]$/);
    expect((await call('cat a')).text).toMatch(/^a\nmine\n\n\[1 file of the draft was changed outside of it as well/);
  });

  draftTest('commits what a person approves, and begins a new draft with the next command', async () => {
    const { root } = project();
    const asked: string[] = [];
    const ask: ApprovalOptions['ask'] = async ({ command, cwd, reason }) => {
      asked.push(`${command} in ${cwd}: ${reason}`);
      return { approved: true };
    };
    const { call } = callsOf({ cwd: root, draft: true, commit: 'ask' }, { draft: true, ask });
    const first = await call('echo more >>a; echo 1 >src/new');
    const { output, text } = await call({ draft_commit: true });
    expect(asked).toEqual([
      `draft_commit in ${root}: Commit the draft of ${root}:\n\n[draft: 1 created (src/new), 1 modified (a)]`,
    ]);
    expect(output).toMatchObject({ status: 'committed', exitCode: 0, skipped: [], conflicts: [] });
    expect(text).toBe('[committed: 2 paths (a, src/new)]');
    expect(readFileSync(join(root, 'a'), 'utf8')).toBe('a\nmore\n');
    expect((await call({ draft_changes: 'summary' })).output).toMatchObject({ draft: null });
    const next = await call('cat src/new; rm a');
    expect(next.text).toBe('1');
    expect((next.output as { draft: string }).draft).not.toBe((first.output as { draft: string }).draft);
    expect(existsSync(join(root, 'a'))).toBe(true);
  });

  draftTest.each<[name: string, approval: ApprovalOptions | undefined, says: string]>([
    ['no approval', undefined, 'nobody was asked: nothing was committed'],
    ['an approval that does not ask about commits', { ask: YES.ask }, 'nobody was asked: nothing was committed'],
    ['a person who says no', { draft: true, ask: async () => ({ approved: false, reason: 'Not yet.' }) }, 'Not yet.'],
    ['a person who cannot be asked', { draft: true, ask: () => Promise.reject(new Error('x')) }, 'nothing was run'],
  ])('commits nothing with %s', async (_, approval, says) => {
    const { root, tree } = project();
    const before = tree();
    const { call } = callsOf({ cwd: root, draft: true, commit: 'ask' }, approval);
    await call('echo more >>a');
    const { output } = await call({ draft_commit: true });
    expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED', error: expect.stringContaining(says) });
    expect(tree()).toEqual(before);
    expect((await call({ draft_changes: 'summary' })).text).toBe('[draft: 1 modified (a)]');
  });

  draftTest('commits nothing because a person has approved a command of the same call', async () => {
    const { root } = project();
    const tool = createBashTool({ cwd: root, draft: true, commit: 'ask' });
    const approval = createToolApproval({ tool, ...YES, allow: [] });
    const last = async (input: BashToolInput) => lastOf(tool.execute(input, { toolCallId: '1' }));
    await last({ command: 'echo more >>a' });
    for (const command of ['', 'draft_commit', 'rm -rf src']) {
      await approval({ command }, { toolCallId: '1' });
      expect(await last({ draft_commit: true })).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
    }
  });

  draftTest('is busy while a task runs in its draft', async () => {
    const { root } = project();
    const registry = new BackgroundRegistry();
    finished(() => registry.close());
    const { call } = callsOf({ cwd: root, draft: true, commit: 'ask', registry }, YES);
    const { output } = await call({ command: 'echo up >made; sleep 60', mode: 'background' });
    const { pid } = output as { pid: number };
    expect((await call({ draft_commit: true })).output).toMatchObject({ code: 'ERR_BASH_DRAFT' });
    await call({ kill_pid: pid });
    expect((await call({ draft_commit: true })).text).toContain('[committed: ');
  });

  draftTest('begins another draft after someone else has discarded its own', async () => {
    const { root } = project();
    const { call } = callsOf({ cwd: root, draft: true });
    const { output } = await call('echo more >>a');
    const other = await openDraft({ id: (output as { draft: string }).draft });
    await other.discard();
    expect((await call('cat a')).output).toMatchObject({ code: 'ERR_BASH_DRAFT' });
    expect((await call('cat a')).text).toBe('a');
  });

  draftTest('has one draft for calls at the same time, and one for each directory of perCall', async () => {
    const state = stateFolder();
    const [one, two] = [project(state), project(state)];
    let { root } = one;
    const { call } = callsOf({ draft: true, perCall: () => ({ cwd: root }) });
    await Promise.all(['x', 'y', 'z'].map((name) => call(`touch ${name}`)));
    expect(await drafts({ root })).toHaveLength(1);
    root = two.root;
    await call('touch w');
    expect((await call('ls w x')).output).toMatchObject({ exitCode: 2, stdout: 'w\n' });
    expect(await drafts({ root })).toHaveLength(1);
  });

  draftTest('keeps the draft of a session whose commands go on elsewhere', async () => {
    const { root } = project();
    await using session = new BashSession({ cwd: root });
    const { call } = callsOf({ session, draft: true });
    await call('cd src; echo mine >one; X=1');
    expect((await call('pwd; cat one; echo $X')).text).toBe(`${root}/src\nmine\n1`);
    expect(await drafts({ root })).toHaveLength(1);
    expect(readFileSync(join(root, 'src/one'), 'utf8')).toBe('one\n');
  });

  draftTest('closes it with close(), which ends what runs in it and keeps its changes', async () => {
    const { root } = project();
    const seconds = mark();
    await using session = new BashSession({ cwd: root });
    for (const options of [{ cwd: root }, { session }]) {
      const { tool, call } = callsOf({ ...options, draft: true });
      await tool.close();
      const { output } = await call(`echo more >>a; sleep ${seconds} >/dev/null 2>&1 &`);
      await until(() => sleepers(seconds).length === 1, 'the process that is left');
      const running = call(`sleep ${seconds}`);
      await until(() => sleepers(seconds).length === 2, 'the command');
      await tool[Symbol.asyncDispose]();
      expect((await running).output).toMatchObject({ status: 'aborted' });
      expect(sleepers(seconds)).toEqual([]);
      const { draft: id } = output as { draft: string };
      const info = (await drafts({ root })).find((one) => one.id === id);
      expect(info).toMatchObject({ hosts: [], counts: { modified: 1 } });
      expect((await call('cat a')).text).toBe('a');
      await tool.close();
    }
  });

  draftTest('leaves the draft of the host open at close()', async () => {
    const { root, open } = project();
    const draft = await open();
    const { tool, call } = callsOf({ cwd: root, draft });
    await call('echo more >>a');
    await tool.close();
    expect((await bash('cat a', { draft })).stdout).toBe('a\nmore\n');
  });

  draftTest('runs commands of terminals and of tools of providers in it, and nothing anywhere else', async () => {
    const { root, tree } = project();
    const before = tree();
    const { call } = callsOf({ cwd: root, draft: true, terminal: {} });
    expect((await call('tty && touch x; ls x')).text).toContain('/dev/');
    await using terminals = createTerminalTool({ cwd: root, draft: true });
    expect(terminals.description).toContain(`a draft of ${root}`);
    const screen = await terminals.execute({ action: 'start', command: 'touch y && echo made' }, { toolCallId: '1' });
    expect(terminals.toModelOutput({ output: screen }).value).toContain('made');
    const provided = anthropicBash({ cwd: root, draft: true });
    const answer = await lastOf(provided.execute({ command: 'touch z && ls z' }, { toolCallId: '1' }));
    expect(JSON.stringify(answer)).toContain('z');
    expect(tree()).toEqual(before);
    await provided.close();
    const found = await drafts({ root });
    expect(found.map(({ counts, hosts }) => [counts.created, hosts.length])).toEqual([
      [1, 0],
      [1, 1],
      [1, 1],
    ]);
  });

  draftTest('runs nothing where there is no draft', async () => {
    const { root } = project();
    const sandbox = createLocalSandboxSession({ cwd: root });
    const options: BashToolOptions = { cwd: root, draft: true, commit: 'ask' };
    expect((await callTool({ ...options, sandbox }, 'touch x')).output).toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
    const off: BashToolOptions = { ...options, perCall: () => ({ draft: false }) };
    for (const input of [{ draft_changes: 'diff' }, { draft_commit: true }] as const) {
      expect((await callTool(off, input)).output).toMatchObject({ code: 'ERR_BASH_UNSUPPORTED' });
    }
    const wrong = { ...options, perCall: () => ({ draft: '' as never }) };
    expect((await callTool(wrong, 'touch x')).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    const both = { ...options, perCall: () => ({ undo: true }) };
    expect((await callTool(both, 'touch x')).output).toMatchObject({ code: 'ERR_BASH_INVALID_ARG' });
    const access = { write: [folder()], network: [], reason: 'x' };
    const asking: BashToolOptions = { ...options, onAccess: () => true };
    expect((await callTool(asking, { command: 'touch x', access })).output).toMatchObject({
      code: 'ERR_BASH_UNSUPPORTED',
    });
    expect(existsSync(join(root, 'x'))).toBe(false);
  });
});

describe('a tool with a draft', () => {
  draftTest('uses it and leaves it open, and after its commit it is over', async () => {
    const { root, open } = project();
    const draft = await open();
    const { tool, call } = callsOf({ draft, cwd: root, commit: 'ask' }, YES);
    expect(fieldsOf(tool)).toEqual(['draft_changes', 'draft_commit']);
    await call('echo more >>a');
    expect((await bash('cat a', { draft })).stdout).toBe('a\nmore\n');
    await call({ draft_commit: true });
    expect(draft.state).toBe('committed');
    expect((await call('cat a')).output).toMatchObject({ code: 'ERR_BASH_DRAFT' });
    expect(() => createBashTool({ draft })).toThrow(expect.objectContaining({ code: 'ERR_BASH_DRAFT' }));
  });

  draftTest('names the secrets of the draft', async () => {
    const { open } = project();
    const draft = await open({ confine: { secrets: { TOKEN: secretFor(443) } } });
    await using session = new BashSession({ draft });
    for (const options of [{ draft }, { session }]) {
      const { description } = createBashTool(options);
      expect(description).toContain(`The variable TOKEN works for ${HOST}:443 and cannot be read.`);
    }
  });

  draftTest('that its session has offers to look at it', async () => {
    const { open } = project();
    const draft = await open();
    await using session = new BashSession({ draft });
    const { tool, call } = callsOf({ session });
    expect(fieldsOf(tool)).toEqual(['draft_changes']);
    await call('echo more >>a');
    expect((await call({ draft_changes: 'summary' })).output).toMatchObject({ draft: draft.id });
  });
});

describe('an approval', () => {
  const verdicts = async (options: BashToolOptions, approval: ApprovalOptions, commands: string[]) => {
    const judge = createToolApproval({ tool: createBashTool(options), ...approval }).judge;
    return await Promise.all(commands.map(async (command) => (await judge({ command })).verdict));
  };
  const HELD = ['rm -rf src /srv/other', 'truncate -s 0 /usr/x', 'echo x >/etc/motd', 'npm publish'];
  const GIT = ['git reset --hard', 'git clean -fdx'];

  test('with draft: true asks about no effect that a draft of the tool holds back', async () => {
    const cwd = folder();
    const all = (verdict: string) => HELD.map(() => verdict);
    expect(await verdicts({ cwd }, { draft: true }, HELD)).toEqual(all('ask'));
    expect(await verdicts({ cwd, draft: true }, { confined: true }, HELD)).toEqual(all('ask'));
    expect(await verdicts({ cwd, draft: true }, { draft: true }, HELD)).toEqual(all('allow'));
    expect(await verdicts({ cwd, draft: true }, { draft: true }, GIT)).toEqual(['ask', 'ask']);
    expect(await verdicts({ cwd, draft: true }, { draft: true, ask: ['rm:*'] }, ['rm -rf src'])).toEqual(['ask']);
    expect(await verdicts({ cwd, draft: true }, { draft: true }, ['rm -rf /', 'git push --force'])).toEqual([
      'deny',
      'deny',
    ]);
  });

  draftTest('asks as before about commands in a draft whose confinement it does not know', async () => {
    const { root, open } = project();
    const draft = await open({ confine: { network: 'full' } });
    expect(await verdicts({ cwd: root, draft }, { draft: true }, ['npm publish'])).toEqual(['ask']);
  });

  test('with a draft that is no boolean is ERR_BASH_INVALID_ARG', () => {
    expect(() => createToolApproval({ draft: 'yes' as never })).toThrow(/^draft: /);
  });
});

describe.each(MAJORS)('over MCP with the SDK $major', ({ connect }) => {
  draftTest('all calls have one draft, and a commit that nobody can be asked about is refused', async () => {
    const { root } = project();
    const { call, tools } = await connect({ cwd: root, draft: true, commit: 'ask', page: true });
    const [tool] = await tools();
    const { properties } = (tool as { inputSchema: { properties: object } }).inputSchema;
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['draft_changes', 'draft_commit']));
    await call('bash', { command: 'rm -rf src' });
    expect(textOf(await call('bash', { draft_changes: 'summary' }))).toContain('4 deleted (src, ');
    const refused = await call('bash', { draft_commit: true });
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'ERR_BASH_BLOCKED' } });
    expect(existsSync(join(root, 'src'))).toBe(true);
  });
});
