import { type BashPrompt, bash } from 'agent-bash';
import { createBashTool } from 'agent-bash/ai';
import { expect, test } from 'vitest';

const ASKING = [
  'printf "Password: "; sleep 30',
  'printf "x\\n[sudo] password for joe: " >&2; sleep 30',
  'printf "Continue? [y/N] "; x=$(sleep 30)',
  `printf "Username for 'https://example.org': "; sleep 30`,
];

test.each(ASKING)('%s: a plain prompt is quoted at the limit, whichever process is blocked', async (command) => {
  const { status, notes } = await bash(command, { timeoutMs: 1000, graceMs: 100 });
  const asked = /"(?:.*\\n)?([^"]*)"/.exec(command)?.[1];
  expect([status, notes]).toEqual(['timed-out', [`perhaps waiting for an answer; its last line is «${asked}»`]]);
});

test.each(ASKING)('%s: and told while it runs, once', async (command) => {
  const prompts: BashPrompt[] = [];
  const { pid } = await bash(command, {
    timeoutMs: 1800,
    graceMs: 100,
    onPrompt: (prompt) => void prompts.push(prompt),
  });
  expect(prompts).toEqual([{ pid, command, text: expect.stringMatching(/((assword|Username).*: |\[y\/N\] )$/) }]);
});

test.each(['printf "Password: \\n"; sleep 30', 'printf "Downloading: "; sleep 30', 'printf "what? "; sleep 30'])(
  '%s: ambiguous text is not',
  async (command) => {
    const prompts: BashPrompt[] = [];
    const { notes } = await bash(command, {
      timeoutMs: 1200,
      graceMs: 100,
      onPrompt: (prompt) => void prompts.push(prompt),
    });
    expect([notes, prompts]).toEqual([[], []]);
  },
);

test('of a tool', async () => {
  const prompts: BashPrompt[] = [];
  const tool = createBashTool({ timeoutMs: 1500, graceMs: 100, onPrompt: (prompt) => void prompts.push(prompt) });
  for await (const _ of tool.execute({ command: 'printf "Password:"; sleep 30' }, { toolCallId: '1' }));
  expect(prompts.map(({ text }) => text)).toEqual(['Password:']);
});
