import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerEntry } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { Program } from '../cli/support.ts';
import { folder, until } from '../support/index.ts';
import { Ledger } from './support.ts';

/** A program that reads a ledger. */
function programFor(ledger: Ledger, env: NodeJS.ProcessEnv = {}): Program {
  return new Program({ ...ledger.env, ...env });
}

/** The lines that a program prints. */
async function lines(program: Program, ...args: string[]): Promise<string[]> {
  const { stdout, stderr, code } = await program.run('log', ...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout.split('\n').slice(0, -1);
}

describe('agent-bash log', () => {
  test('prints a line per entry, the newest first', async () => {
    const ledger = new Ledger();
    await ledger.run('echo one', { cwd: '/', actor: { agent: 'reviewer' } });
    await ledger.run('exit 3\n# more', { cwd: '/tmp' });
    const time = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d';
    expect(await lines(programFor(ledger))).toEqual([
      expect.stringMatching(new RegExp(`^${time}  exit 3  +\\d+ ms  exit 3\\\\n# more  \\(/tmp\\)$`)),
      expect.stringMatching(new RegExp(`^${time}  ok  +\\d+ ms  echo one  \\(/, reviewer\\)$`)),
    ]);
  });

  test('prints a document of JSON per line with --json, as readLedger gives them', async () => {
    const ledger = new Ledger();
    await ledger.run('echo one');
    await ledger.run('echo two');
    const found = (await lines(programFor(ledger), '--json')).map((line) => JSON.parse(line) as LedgerEntry);
    expect(found).toEqual(await ledger.read());
  });

  test('filters by each option', async () => {
    const ledger = new Ledger();
    const cwd = folder();
    await ledger.run('echo One', { cwd, actor: { agent: 'x' } });
    await ledger.run('exit 1', { cwd: '/' });
    await ledger.run('echo new > made', { cwd, receipt: 'exact' });
    const program = programFor(ledger);
    const commands = async (...args: string[]) =>
      (await lines(program, '--json', ...args)).map((line) => (JSON.parse(line) as LedgerEntry).command);
    expect(await commands('--cwd', cwd)).toEqual(['echo new > made', 'echo One']);
    expect(await commands('--agent', 'x')).toEqual(['echo One']);
    expect(await commands('--failed')).toEqual(['exit 1']);
    expect(await commands('--grep', 'One')).toEqual(['echo One']);
    expect(await commands('--changed', join(cwd, 'made'))).toEqual(['echo new > made']);
    expect(await commands('--since', '2h')).toHaveLength(3);
    expect(await commands('--since', '2100-01-01')).toEqual([]);
    expect(await commands('--since', new Date(Date.now() - 60_000).toISOString())).toHaveLength(3);
  });

  test.each(['soon', '', '2h3', '-5m', 'yesterday', '2026-99-01'])('refuses --since %o', async (since) => {
    const { code, stdout, stderr } = await programFor(new Ledger()).run('log', '--since', since);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('--since');
  });

  test('refuses a wrong --since with its code in JSON', async () => {
    const { code, stdout } = await programFor(new Ledger()).run('log', '--since', 'soon', '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { code: 'ERR_BASH_INVALID_ARG' }]);
  });

  test('of an empty ledger prints nothing', async () => {
    expect(await lines(programFor(new Ledger()))).toEqual([]);
    expect(await lines(programFor(new Ledger()), '--json')).toEqual([]);
  });

  test('has colours only if they are wanted, and no escape sequence of a command', async () => {
    const ledger = new Ledger();
    await ledger.run("printf '\u001b[31mx'; exit 1 # \u202e");
    const plain = await lines(programFor(ledger));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
    expect(plain.join()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    const coloured = await lines(programFor(ledger, { FORCE_COLOR: '1' }));
    expect(coloured.join()).toContain('\u001b[31mexit 1');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
    expect(coloured.join().replace(/\u001b\[\d+m/g, '')).toBe(plain.join());
  });

  test('ends quietly when its reader is gone', async () => {
    const ledger = new Ledger();
    for (let at = 0; at < 3; at++) await ledger.run('true');
    const running = programFor(ledger).start(['log', '-f']);
    await running.says(/true/);
    running.child.stdout?.destroy();
    await ledger.run('true');
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([141, '']);
  });

  test('with -f goes on until Ctrl-C, which is no failure', async () => {
    const ledger = new Ledger();
    await ledger.run('echo before');
    const running = programFor(ledger).start(['log', '-f', '--json']);
    await running.says(/echo before/);
    await ledger.run('echo after');
    await until(() => running.stdout().split('\n').length === 4, 'the start and the end');
    ledger.damage('nonsense\n');
    // It looks every 100 ms, and has nothing to say.
    await sleep(1_000);
    running.child.kill('SIGINT');
    const { code, stdout, stderr } = await running.ended;
    expect([code, stderr]).toEqual([0, 'agent-bash: 1 damaged line was skipped\n']);
    const states = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as LedgerEntry).state);
    expect(states).toEqual(['exited', 'running', 'exited']);
  });
});
