import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callTool, runTool } from '../../../../ai/fixtures/call.ts';
import { localRunner, localSession, PLACES } from '../../../../ai/in-sandbox/places.ts';
import { settles } from '../../../../support/index.ts';

describe.each(PLACES)('in %s', (name, make) => {
  it('a command gives exit code, streams and the text that the model reads', async () => {
    const result = await runTool({ sandbox: await make() }, 'echo out; echo err >&2; exit 3');
    expect(result).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      exitCode: 3,
      status: 'exited',
      signal: null,
      timeoutMs: 30_000,
      background: null,
      survivors: [],
      notes: [],
    });
    expect(result.durationMs).toBeGreaterThan(0);
    expect(result.text).toBe('[command failed: exit code 3]\n\nstdout:\nout\n\nstderr:\nerr');
  });

  it('long output is cut and cleaned here, and whole there', async () => {
    const sandbox = await make();
    const { stdout, truncation } = await runTool({ sandbox }, String.raw`printf '\033[1mbold\033[0m\n'; seq 20000`);
    const { path, notice } = truncation.stdout ?? {};
    expect(truncation.stdout).toMatchObject({ keep: 'tail', by: 'lines', totalLines: 20_001, outputLines: 2000 });
    expect(notice).toBe(`[stdout: Showing last 2000 of 20001 lines. Full output: ${path}]`);
    expect(stdout.startsWith('18001\n')).toBe(true);
    expect(stdout.endsWith(`20000\n${notice}`)).toBe(true);
    // The file exists only in the sandbox, so the question must go there.
    const whole = await runTool({ sandbox }, `head -n 2 ${path}; wc -l <${path}`);
    await runTool({ sandbox }, `rm -r ${dirname(path as string)}`);
    expect(whole.stdout.replace(/ /g, '')).toBe('bold\n1\n20001\n');
  });

  it('at its limit it ends, with the output so far', async () => {
    const result = await settles(runTool({ sandbox: await make(), timeoutMs: 2_000 }, 'echo begun; sleep 1000'));
    expect(result).toMatchObject({ status: 'timed-out', exitCode: 124, timeoutMs: 2_000 });
    if (name.includes('our')) expect(result.stdout).toBe('begun\n');
    expect(result.text).toMatch(/^\[command timed out after 2s\]/);
    expect(result.notes).toEqual(['mode "background" does not work in this sandbox']);
  });

  it('an abort ends it', async () => {
    const sandbox = await make();
    const result = await settles(
      runTool({ sandbox }, 'echo begun; sleep 1000', { abortSignal: AbortSignal.timeout(300) }),
    );
    expect(result).toMatchObject({ status: 'aborted', exitCode: 130 });
    expect(result.notes).toEqual(['the time limit of the tool call was reached']);
    const never = await runTool({ sandbox }, 'echo never', { abortSignal: AbortSignal.abort() });
    expect(never).toMatchObject({ status: 'aborted', exitCode: 130, pid: 0, stdout: '' });
  });

  it('it is judged before it goes there', async () => {
    const sandbox = await make();
    const { output } = await callTool({ sandbox }, 'echo made >made; git add -A');
    expect(output).toMatchObject({ code: 'ERR_BASH_BLOCKED', findings: [{ ruleId: 'git-blind-add' }] });
    expect((await runTool({ sandbox }, 'cat made')).exitCode).toBe(1);
  });

  it('only env of the tool reaches it', async () => {
    const { stdout } = await runTool(
      { sandbox: await make(), env: { MINE: 'a $b', GONE: null } },
      'echo "[$MINE$GONE]"',
    );
    expect(stdout).toBe('[a $b]\n');
  });

  it('a trailing pipe and the inputs head and tail are limits there, too', async () => {
    const sandbox = await make();
    const trailing = await runTool({ sandbox }, '(seq 100; exit 4) | tail -n 2');
    expect(trailing).toMatchObject({ stdout: '99\n100\n[stdout: Showing last 2 of 100 lines]', exitCode: 4 });
    const head = await runTool({ sandbox }, { command: 'seq 100', head: 1 });
    expect(head.stdout).toBe('1\n[truncated]\n[stdout: Showing first 1 of 100 lines]');
  });

  it('tasks of this machine are not its own', async () => {
    const sandbox = await make();
    for (const input of [
      { check_pid: 1 },
      { kill_pid: process.pid },
      { wait_pid: process.pid },
      { command: 'sleep 1', mode: 'background' as const },
    ]) {
      const { output, text } = await callTool({ sandbox }, input);
      expect(output).toEqual({ error: text, code: 'ERR_BASH_UNSUPPORTED' });
    }
  });
});

it('live output is shown where the sandbox streams', async () => {
  const command = 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done';
  const { updates } = await runTool({ sandbox: localSession(), updateIntervalMs: 50 }, command);
  expect(updates.length).toBeGreaterThan(1);
  expect(updates[0]).toMatchObject({ status: 'running', exitCode: null, stderr: '' });
  expect(updates[0]?.pid).toBeGreaterThan(0);
  const texts = updates.map(({ stdout }) => stdout);
  expect(new Set(texts).size).toBe(texts.length);
  expect((await runTool({ sandbox: localRunner(), updateIntervalMs: 50 }, command)).updates).toEqual([]);
});

it('output that was cut goes to a private directory below spill.dir, and nowhere without spill', async () => {
  const sandbox = localSession();
  const { truncation } = await runTool({ sandbox, truncate: { keep: 'tail', maxBytes: 10 } }, 'seq 100');
  const path = truncation.stdout?.path as string;
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  await runTool({ sandbox }, `rm -r ${dirname(path)}`);
  const spill = { dir: "here and 'there" };
  const below = await runTool({ sandbox, spill, truncate: { keep: 'tail', maxBytes: 10 } }, 'seq 100');
  expect(below.truncation.stdout?.path).toMatch(/^here and 'there\/agent-bash-[^/]*\/stdout.txt$/);
  expect((await runTool({ sandbox }, 'cat here*/*/stdout.txt | wc -l')).stdout.trim()).toBe('100');
  const none = await runTool({ sandbox, spill: false, truncate: { keep: 'tail', maxBytes: 10 } }, 'seq 100');
  expect(none.truncation.stdout).toMatchObject({ path: null, spillError: null });
  const part = await runTool(
    { sandbox, spill: { ...spill, maxBytes: 20 }, truncate: { keep: 'tail', maxBytes: 10 } },
    'seq 100',
  );
  expect(part.truncation.stdout?.notice).toMatch(
    /Full output file may be incomplete: .*stdout.txt \(it holds the first 20 bytes\)\]$/,
  );
});

it('the end of a head is a success there, too', async () => {
  const result = await settles(runTool({ sandbox: localSession() }, '(seq 10; sleep 1000) | head -n 3'));
  expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(result.notes).toEqual(['the command was ended after the first 3 lines of stdout, as head asks']);
});
