import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TerminalToolInput } from 'agent-bash/ai';
import { TERMINAL_INSTRUCTIONS } from 'agent-bash/ai';
import { describe, expect, it } from 'vitest';
import { MAJORS, type Step } from '../../../ai/fixtures/majors.ts';
import { terminals } from '../../../ai/fixtures/terminal.ts';
import { folder } from '../../../support/index.ts';

const call = (input: TerminalToolInput): Step => ({ call: { ...input }, tool: 'terminal' });
const wait = (text: string) => call({ action: 'wait', text, timeout_ms: 60_000 });

/** The last row of the screen that the model has read, where programs ask. */
function lastRow(read: string): string {
  const rows = read.split('\n').filter((row) => row !== '' && !row.startsWith('['));
  return rows.at(-1) ?? '';
}

describe.each(MAJORS)('%s: a model', (_name, { ai, script }) => {
  const stopWhen = ai.stepCountIs(40);
  const prompt = 'go on';

  it('receives the tool’s description, and reads screens', async () => {
    const { tool: terminal } = terminals();
    const { model, requests } = script([
      call({ action: 'start', command: 'PYTHON_BASIC_REPL=1 python3 -q' }),
      wait('>>>'),
      call({ action: 'send', text: 'sum(range(101))\n' }),
      call({ action: 'wait', pattern: '5050\\n>>> $', timeout_ms: 60_000 }),
      call({ action: 'send', keys: ['Ctrl-D'] }),
      call({ action: 'wait' }),
      { say: 'It is 5050.' },
    ]);
    const system = TERMINAL_INSTRUCTIONS;
    const { text, steps } = await ai.generateText({ model, prompt, system, tools: { terminal }, stopWhen });
    expect(text).toBe('It is 5050.');
    expect(requests()[0]?.tools).toMatchObject([
      { type: 'function', name: 'terminal', description: expect.stringMatching(/^Runs programs in terminals/) },
    ]);
    const outputs = steps.flatMap(({ toolResults }) => toolResults.map(({ output }) => output));
    expect(outputs).toHaveLength(6);
    expect(outputs[3]).toMatchObject({ id: 't1', reason: 'appeared', lines: ['>>> sum(range(101))', '5050', '>>>'] });
    expect(outputs[5]).toMatchObject({ end: { status: 'exited', exitCode: 0 } });
    // The messages that a user interface keeps.
    expect(JSON.parse(JSON.stringify(outputs))).toEqual(structuredClone(outputs));
  });

  it('stages one of two hunks with git add -p', async () => {
    const cwd = folder();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, encoding: 'utf8' });
    const file = join(cwd, 'list.txt');
    const lines = Array.from({ length: 30 }, (_, n) => `line ${n}`);
    git('init', '-q');
    writeFileSync(file, lines.join('\n'));
    git('add', 'list.txt');
    git('commit', '-qm', 'first');
    writeFileSync(file, lines.join('\n').replace('line 2\n', 'WRONG\n').replace('line 25\n', 'RIGHT\n'));
    const { tool: terminal } = terminals({ cwd });
    let started = false;
    const { model } = script((read) => {
      if (!started) {
        started = true;
        return call({ action: 'start', command: 'git add -p' });
      }
      if (read.includes('has ended, exit code 0')) return { say: 'Staged.' };
      if (!/Stage this hunk.*\?$/.test(lastRow(read).trim())) return call({ action: 'wait', idle_ms: 300 });
      const hunk = read.slice(read.lastIndexOf('@@'));
      return call({ action: 'send', text: hunk.includes('RIGHT') ? 'y\n' : 'n\n' });
    });
    const { text } = await ai.generateText({ model, prompt, tools: { terminal }, stopWhen });
    expect(text).toBe('Staged.');
    const staged = git('diff', '--cached', '-U0');
    expect(staged).toMatch(/^\+RIGHT$/m);
    expect(staged).not.toMatch('WRONG');
  });

  it('answers the questions of npm init', async () => {
    const cwd = folder();
    const { tool: terminal } = terminals({ cwd });
    let started = false;
    const { model } = script((read) => {
      if (!started) {
        started = true;
        return call({ action: 'start', command: 'npm init --no-update-notifier' });
      }
      if (read.includes('has ended')) return { say: 'There it is.' };
      const asked = lastRow(read);
      if (asked.startsWith('package name:')) return call({ action: 'send', text: 'my-thing\n' });
      if (asked.startsWith('author:')) return call({ action: 'send', text: 'Ann Other', keys: ['Enter'] });
      if (asked.startsWith('Is this OK?')) return call({ action: 'send', text: 'yes\n' });
      if (/^[a-z ]+:( \(.*\))?$/.test(asked.trimEnd())) return call({ action: 'send', keys: ['Enter'] });
      return call({ action: 'wait', idle_ms: 300 });
    });
    const { text } = await ai.generateText({ model, prompt, tools: { terminal }, stopWhen });
    expect(text).toBe('There it is.');
    const written = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'));
    expect(written).toMatchObject({ name: 'my-thing', author: 'Ann Other', version: '1.0.0' });
  });

  it('reads errors as errors, and the loop goes on', async () => {
    const { tool: terminal } = terminals();
    const { model, lastResult } = script([
      call({ action: 'read', id: 't7' }),
      call({ action: 'start' } as TerminalToolInput),
      call({ action: 'start', command: 'git push --force' }),
      { say: 'Nothing works.' },
    ]);
    const { steps } = await ai.generateText({ model, prompt, tools: { terminal }, stopWhen });
    expect(steps[0]?.toolResults).toMatchObject([{ output: { code: 'ERR_BASH_UNKNOWN_TASK' } }]);
    expect(lastResult()).toMatchObject({ type: 'error-text', value: expect.stringMatching('Instead: git push') });
  });

  it('streams', async () => {
    const { tool: terminal } = terminals();
    const { model } = script([
      call({ action: 'start', command: 'echo hi' }),
      call({ action: 'wait' }),
      { say: 'done' },
    ]);
    const stream = ai.streamText({ model, prompt, tools: { terminal }, stopWhen });
    const results: unknown[] = [];
    for await (const part of stream.fullStream) if (part.type === 'tool-result') results.push(part.output);
    expect(results).toMatchObject([{ id: 't1' }, { lines: ['hi'], end: { exitCode: 0 } }]);
  });
});
