import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BashOptions, bash } from 'agent-bash';
import { describe, expect } from 'vitest';
import { folder, linuxTest, settles, until } from '../support/index.ts';

/** Runs a command beside another one of the same world that says when it was stopped for a moment. */
async function beside(command: string, { started, ...options }: BashOptions & { started?: () => void }) {
  const cwd = folder();
  const exists = (name: string) => until(() => existsSync(join(cwd, name)));
  const watching = "trap 'echo continued' CONT; : > ready; until [ -e over ]; do sleep .05; done; echo end";
  const other = settles(bash(watching, { cwd, confine: 'workspace' }));
  await exists('ready');
  const running = settles(bash(command, { cwd, confine: 'workspace', ...options }));
  await exists('started');
  started?.();
  const result = await running;
  writeFileSync(join(cwd, 'over'), '');
  return { result, other: (await other).stdout };
}

describe('the other commands of a world', () => {
  linuxTest('stop for the moment in which many processes are killed, and go on', async () => {
    const controller = new AbortController();
    // Each has a session of its own, so that no signal reaches them all.
    const many = "trap '' TERM; for ((i = 0; i < 300; i++)); do setsid sleep 60 & done; : > started; wait";
    const { result, other } = await beside(many, {
      signal: controller.signal,
      graceMs: 0,
      started: () => controller.abort(),
    });
    expect(result).toMatchObject({ status: 'aborted', survivors: [] });
    expect(other).toMatch(/^(continued\n)+end\n$/);
  });

  linuxTest('go on all the time beside many processes that may live', async () => {
    const many = 'for ((i = 0; i < 100; i++)); do sleep 2 & done; : > started; wait';
    // A listener for prompts makes the helper look at all processes of a silent command.
    const { result, other } = await beside(many, { onPrompt: () => {} });
    expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
    expect(other).toBe('end\n');
  });
});
