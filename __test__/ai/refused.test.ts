import { createBashTool, createToolApproval } from 'agent-bash/ai';
import { expect, it, vi } from 'vitest';

it('a refused call stays refused, however many calls one step has', async () => {
  const onBeforeRun = vi.fn();
  const tool = createBashTool({ onBeforeRun });
  const { needsApproval } = createToolApproval({ tool, deny: ['npm publish:*'] });
  const input = { command: 'npm publish' };
  const ids = Array.from({ length: 3_000 }, (_, index) => `call_${index}`);
  for (const toolCallId of ids) expect(await needsApproval(input, { toolCallId })).toBe(false);
  for (const toolCallId of ids) {
    expect((await tool.execute(input, { toolCallId }).next()).value).toMatchObject({ code: 'ERR_BASH_BLOCKED' });
  }
  expect(onBeforeRun).not.toHaveBeenCalled();
});
