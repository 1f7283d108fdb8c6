import { realpathSync } from 'node:fs';
import {
  type ApprovalQuestion,
  type BashTool,
  type BashToolOptions,
  createBashTool,
  createTerminalTool,
  createToolApproval,
} from 'agent-bash/ai';
import { anthropicBash } from 'agent-bash/anthropic';
import { openaiLocalShell, openaiShell } from 'agent-bash/openai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenHere, Page } from '../../host/page.ts';
import { all, Ledger } from '../../ledger/support.ts';
import { folder, type Host, host, linuxTest } from '../../support/index.ts';
import { ASKS } from './support.ts';

listenHere();
createToolApproval({ page: true });

const call = { toolCallId: 'c1' };

/** The question that the host is asked about a command. */
async function questionOf(command: string, options: BashToolOptions = {}, given: object = call) {
  const questions: ApprovalQuestion[] = [];
  const tool = createBashTool({ cwd: folder(), ...options });
  const approval = createToolApproval({
    tool,
    ask: (question) => {
      questions.push(question);
      return { approved: true };
    },
  });
  await approval({ command }, given);
  return questions[0];
}

/** The outputs of a call. */
function outputs(tool: object, input: object): Promise<unknown[]> {
  const { execute } = tool as { execute: (input: object, options: object) => AsyncIterable<unknown> };
  return all(execute(input, call));
}

describe('a question', () => {
  test('has everything that a person needs', async () => {
    const cwd = realpathSync(folder());
    const question = await questionOf('npm test && git clean -fd', {
      cwd,
      actor: { agent: 'builder', session: 's1', user: 'ada' },
      undo: true,
    });
    expect(question).toEqual({
      command: 'npm test && git clean -fd',
      cwd,
      reason: expect.stringContaining('Why this asks:\n  - '),
      verdict: 'ask',
      rules: ['git-clean'],
      reasons: [expect.stringMatching(/^git clean deletes files/)],
      actor: { agent: 'builder', session: 's1', user: 'ada', toolCallId: 'c1' },
      undo: expect.stringMatching(/^(full|part|none)$/),
      suggestRules: [],
    });
    expect(question?.reason).toContain(`  - ${question?.reasons[0]}`);
  });

  test('leaves out what is not known', async () => {
    expect(Object.keys((await questionOf(ASKS, {}, {})) ?? {})).toEqual(expect.not.arrayContaining(['actor', 'undo']));
  });

  test('has the command as the tool runs it, with its prefix', async () => {
    expect(await questionOf(ASKS, { prefix: 'nice' })).toMatchObject({ command: `nice ${ASKS}` });
  });

  test('names the rules that ask, and those that would allow it', async () => {
    const questions: ApprovalQuestion[] = [];
    const person = (question: ApprovalQuestion) => {
      questions.push(question);
      return { approved: true };
    };
    const asks = createToolApproval({ ask: { rules: ['npm audit:*'], person } });
    const allows = createToolApproval({ allow: ['npm test'], ask: person });
    await asks({ command: 'npm audit fix' }, call);
    await allows({ command: 'npm run build' }, call);
    expect(questions).toMatchObject([
      { reasons: ['the rule «npm audit:*» asks'], rules: [] },
      { reasons: [expect.stringMatching(/^no rule allows npm run build/)], suggestRules: ['npm run build:*'] },
    ]);
  });

  linuxTest.each([
    ['git clean -fdx', 'full'],
    ['git clean -fdx && git push origin --delete topic', 'part'],
    ['sudo git clean -fdx', 'none'],
  ])('says of %s how much of it an undo takes back: %s', async (command, undo) => {
    expect(await questionOf(command, { undo: { require: true } })).toMatchObject({ undo });
  });

  test('is one for all commands of a call, and an approval runs them all', async () => {
    const ledger = new Ledger();
    const page = await Page.open();
    const tool = openaiShell({ cwd: folder(), safety: { onAsk: 'deny' } });
    const input = { action: { commands: ['echo one', ASKS] } };
    const approval = createToolApproval({ tool, page: true });
    const [ask, status] = await Promise.all([page.answer(true, 'Go on.'), approval(input, call)]);
    expect(ask).toMatchObject({ command: `echo one\n${ASKS}`, rules: ['git-clean'] });
    expect(status).toEqual({ type: 'approved', reason: 'Go on.' });
    const { output } = (await outputs(tool, input)).at(-1) as { output: { stdout: string; stderr: string }[] };
    expect(output).toMatchObject([{ stdout: 'one\n' }, { stderr: expect.stringContaining('not a git repository') }]);
    expect(await ledger.read()).toMatchObject([
      { command: ASKS, decidedBy: 'page' },
      { command: 'echo one', decidedBy: 'page' },
    ]);
  });
});

const TOOLS = {
  anthropicBash: [anthropicBash, { command: ASKS }],
  openaiShell: [openaiShell, { action: { commands: [ASKS] } }],
  openaiLocalShell: [openaiLocalShell, { action: { type: 'exec', command: ['git', 'clean', '-fd'] } }],
} as const;

describe.each(Object.entries(TOOLS))('%s', (_, [make, input]) => {
  const made = () => make({ cwd: folder(), safety: { onAsk: 'deny' } });

  test.each(['toolApproval', 'needsApproval'])('runs a command that is approved on the page: %s', async (place) => {
    const ledger = new Ledger();
    const page = await Page.open();
    const tool = made();
    const approval = createToolApproval({ tool, page: true });
    const asking =
      place === 'toolApproval' ? approval(input as never, call) : approval.needsApproval(input as never, call);
    const [, status] = await Promise.all([page.answer(true), asking]);
    expect(status).toEqual(place === 'toolApproval' ? { type: 'approved' } : false);
    expect(JSON.stringify(await outputs(tool, input))).toContain('not a git repository');
    expect(await ledger.read()).toMatchObject([{ command: ASKS, state: 'exited', decidedBy: 'page' }]);
  });

  test.each(['toolApproval', 'needsApproval'])(
    'does not run a command that is denied on the page: %s',
    async (place) => {
      const ledger = new Ledger();
      const page = await Page.open();
      const tool = made();
      const approval = createToolApproval({ tool, page: true });
      const asking =
        place === 'toolApproval' ? approval(input as never, call) : approval.needsApproval(input as never, call);
      const [, status] = await Promise.all([page.answer(false, 'Keep it.'), asking]);
      if (make === anthropicBash && place === 'toolApproval') {
        expect(status).toEqual({ type: 'denied', reason: 'Keep it.' });
      } else {
        expect(status).toEqual(place === 'toolApproval' ? 'not-applicable' : false);
        expect(JSON.stringify(await outputs(tool, input))).toContain('Keep it.');
      }
      expect(await ledger.read()).toMatchObject([{ command: ASKS, state: 'refused', decidedBy: 'page' }]);
    },
  );
});

test('a terminal starts a command that is approved on the page', async () => {
  const page = await Page.open();
  const tool = createTerminalTool({ cwd: folder(), safety: { onAsk: 'deny' } });
  onTestFinished(() => tool.close());
  const input = { action: 'start', command: ASKS } as const;
  expect(await tool.execute(input, call)).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  const approval = createToolApproval({ tool, page: true });
  await Promise.all([page.answer(true), approval(input, call)]);
  expect(JSON.stringify(await tool.execute(input, call))).toContain('not a git repository');
  expect(await tool.execute(input, call)).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
});

test('a refusal holds for an input that fits two tools', async () => {
  const page = await Page.open();
  const tool: BashTool = createBashTool({ cwd: folder() });
  const input = { command: ASKS, action: { commands: ['true'] } };
  const { needsApproval } = createToolApproval({ tool, page: true });
  await Promise.all([page.answer(false, 'No.'), needsApproval(input, call)]);
  expect(await outputs(tool, input)).toEqual([{ error: 'No.', code: 'ERR_BASH_BLOCKED' }]);
});

test('an approval without an id approves no other call', async () => {
  const page = await Page.open();
  const tool = createBashTool({ cwd: folder(), safety: { onAsk: 'deny' } });
  const { needsApproval } = createToolApproval({ tool, page: true });
  await Promise.all([page.answer(true), needsApproval({ command: ASKS })]);
  expect((await all(tool.execute({ command: ASKS }, { toolCallId: '' }))).at(-1)).toMatchObject({
    code: 'ERR_BASH_BLOCKED',
  });
});

test('a signal of the host withdraws a question', async () => {
  const page = await Page.open();
  const approval = createToolApproval({ page: true });
  const ending = new AbortController();
  const asking = approval({ command: ASKS }, { ...call, abortSignal: ending.signal });
  const asked = await page.asked();
  ending.abort();
  await page.gone(asked);
  expect(await asking).toMatchObject({ type: 'denied', reason: expect.stringContaining('interrupted') });
  expect(await approval({ command: ASKS }, { ...call, abortSignal: AbortSignal.abort() })).toMatchObject({
    type: 'denied',
  });
});

test.each([
  [{ page: 1 }],
  [{ page: 'yes' }],
  [{ ask: 'git push:*' }],
  [{ ask: 5 }],
  [{ ask: null }],
  [{ ask: { person: 'me' } }],
  [{ ask: { rules: 'git push:*' } }],
  [{ ask: { rule: [] } }],
])('an approval with %j is an error at once', (options) => {
  expect(() => createToolApproval(options as never)).toThrow(expect.objectContaining({ code: 'ERR_BASH_INVALID_ARG' }));
});

/** A host that has run no command yet, and asks at a signal. */
const FRESH = `
  import { createToolApproval } from 'agent-bash/ai';
  const approval = createToolApproval({ page: true });
  setInterval(() => {}, 1_000);
  process.on('SIGUSR1', async () => console.log('said', await approval({ command: 'git clean -fd' }, { toolCallId: 'c' })));
  console.log('ready');`;

test('a page may answer the first call of a host, before its first command', async () => {
  const runtime = folder();
  const fresh: Host = host(FRESH, { env: { XDG_RUNTIME_DIR: runtime } });
  await fresh.says(/ready/);
  const page = await Page.open(fresh.pid, runtime);
  fresh.process.kill('SIGUSR1');
  await page.answer(false, 'Not yet.');
  await fresh.says(/said \{ type: 'denied', reason: 'Not yet.' \}/);
});
