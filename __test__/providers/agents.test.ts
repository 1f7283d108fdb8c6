import { Agent, OpenAIResponsesModel, Runner, shellTool, type Tool } from '@openai/agents';
import { createToolApproval } from 'agent-bash/ai';
import { agentsShell, openaiShell } from 'agent-bash/openai';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { folder } from '../support/index.ts';
import { type Api, openaiApi, shellCall } from './fixtures/wire.ts';

/** An agent with the package's own client, whose requests end in the script. */
function agent({ fetch }: Api, tool: Tool) {
  const model = new OpenAIResponsesModel(new OpenAI({ apiKey: 'none', fetch }), 'gpt-5.1');
  return new Agent({ name: 'worker', model, tools: [tool] });
}

const runner = new Runner({ tracingDisabled: true });

it('shellTool runs the commands of an action here, and their entries go back', async () => {
  const call = shellCall(['echo one', 'exit 3', 'git push --force', 'seq 1000'], { max_output_length: 50 });
  const api = openaiApi([call], 'done');
  const result = await runner.run(agent(api, shellTool({ shell: agentsShell({ cwd: folder() }) })), 'go on');
  expect(result.finalOutput).toBe('done');
  expect(api.requests[0].tools).toMatchObject([{ type: 'shell' }]);
  expect(api.requests[1].input.at(-1)).toMatchObject({
    type: 'shell_call_output',
    call_id: 'call_1',
    max_output_length: 50,
    output: [
      { stdout: 'one\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
      { outcome: { type: 'exit', exit_code: 3 } },
      { stderr: expect.stringContaining('--force-with-lease'), outcome: { type: 'exit', exit_code: 126 } },
      { stdout: expect.stringContaining('\n1000\n[stdout: '), outcome: { type: 'exit', exit_code: 0 } },
    ],
  });
});

it('an approval asks before the action runs', async () => {
  const approval = createToolApproval({ tool: openaiShell() });
  const tool = shellTool({
    shell: agentsShell(),
    needsApproval: async (_, action) => (await approval.judge({ action })).verdict !== 'allow',
  });
  const api = openaiApi(
    [shellCall(['echo plain'])],
    [shellCall(['git clean -fd /no-such-folder'], { id: 'call_2' })],
    'done',
  );
  const asked = await runner.run(agent(api, tool), 'go on');
  expect(api.requests).toHaveLength(2);
  expect(asked.interruptions).toHaveLength(1);
});

it.each([[undefined], [null], ['ls'], [{}], [{ commands: [null] }]])(
  'an action %j is answered without a throw',
  async (action) => {
    expect(await agentsShell().run(action)).toMatchObject({
      output: [{ stderr: expect.stringContaining('the action: ') }],
    });
  },
);
