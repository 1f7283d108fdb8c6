import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BASH_INSTRUCTIONS } from 'agent-bash/ai';
import { describe, expect, test, vi } from 'vitest';
import { fakeGateway, type GatewayRequest } from './fake-gateway.ts';
import { start, temporaryFolder } from './support.ts';

vi.setConfig({ testTimeout: 60_000 });

/** The model's view of its last command. */
function lastResult({ body }: GatewayRequest): string {
  const last = body.prompt.at(-1);
  const part = typeof last?.content === 'string' ? undefined : last?.content.at(-1);
  return part?.output?.value ?? '';
}

describe('a model behind the AI Gateway', () => {
  test('repairs the project as the script does', async () => {
    const gateway = await fakeGateway((index) => {
      switch (index) {
        case 0:
          return { say: 'Tests first.', calls: [{ command: 'npm test; echo "[$AI_GATEWAY_API_KEY]"', mode: 'slow' }] };
        case 1:
          return {
            say: 'Off by one.',
            calls: [
              {
                command: `node -e 'const fs = require("fs"), f = "src/cart.js";
fs.writeFileSync(f, fs.readFileSync(f, "utf8").replace("length - 1", "length"))' && git commit -qam "Repair" && npm test`,
              },
            ],
          };
        default:
          return { say: 'It is repaired.' };
      }
    });
    const { code, stdout, stderr } = await (await start([], gateway.env)).ended;
    expect(stderr).toBe('');
    expect(stdout).toContain('model    maker/model-1 through the AI Gateway\n');
    expect(stdout).toContain('Off by one.');
    expect(stdout).toMatch(/^✓ repaired: /m);
    expect(code).toBe(0);

    expect(gateway.requests.length).toBe(3);
    const [first, second] = gateway.requests as [GatewayRequest, GatewayRequest];
    expect(first.url).toBe('/v3/ai/language-model');
    expect(first.headers).toMatchObject({
      authorization: 'Bearer the-key-of-the-test',
      'ai-language-model-id': 'maker/model-1',
      'ai-language-model-specification-version': '3',
      'ai-language-model-streaming': 'true',
    });
    expect(first.body.prompt[0]?.content).toContain(BASH_INSTRUCTIONS);
    const tool = first.body.tools.find(({ name }) => name === 'bash');
    expect(Object.keys(tool?.inputSchema.properties ?? {})).toContain('command');
    // The model reads what really happened; the key stays with the agent.
    expect(lastResult(second)).toContain('✖ every item counts');
    expect(lastResult(second)).toContain('[]');
    expect(stdout).not.toContain('the-key-of-the-test');
  });

  test('a model that only says that it is done is not believed', async () => {
    const gateway = await fakeGateway(() => ({ say: 'All repaired!' }));
    const { code, stdout } = await (await start([], gateway.env)).ended;
    expect(stdout).toMatch(/^✗ not repaired: nothing was committed$/m);
    expect(code).toBe(1);
  });

  test('nor is one that commits tests which no longer ask for anything', async () => {
    const gateway = await fakeGateway((index) =>
      index === 0
        ? { say: 'Easy.', calls: [{ command: 'echo > test/cart.test.js; git commit -qam "Green"; npm test' }] }
        : { say: 'Done.' },
    );
    const { code, stdout } = await (await start([], gateway.env)).ended;
    expect(stdout).toMatch(/^✗ not repaired: the tests fail in a fresh clone of commit [0-9a-f]{7}$/m);
    expect(code).toBe(1);
  });

  test('does the user’s own task in the user’s own directory', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'name.txt'), 'world');
    const gateway = await fakeGateway((index) =>
      index === 0
        ? {
            say: 'Two at once.',
            calls: [{ command: 'echo "hello $(cat name.txt)" >greeting.txt' }, { command: 'exit 3' }],
          }
        : { say: 'Greeted.' },
    );
    const { code, stdout } = await (await start(['greet whoever is named here', '--cwd', folder], gateway.env)).ended;
    expect(gateway.requests[0]?.body.prompt.at(-1)?.content).toEqual([
      { type: 'text', text: 'greet whoever is named here' },
    ]);
    expect(await readFile(join(folder, 'greeting.txt'), 'utf8')).toBe('hello world\n');
    expect((await readdir(folder)).sort()).toEqual(['greeting.txt', 'name.txt']);
    expect(stdout).toMatch(/^\$ exit 3\n {2}✗ exit 3 · /m);
    expect(stdout).toMatch(/^✓ the agent is done$/m);
    expect(code).toBe(0);
  });

  test('without a person to ask nothing runs, and the model reads why', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'kept.txt'), '');
    const gateway = await fakeGateway((index) =>
      index === 0
        ? {
            say: 'A clean start.',
            calls: [{ command: 'git clean -fdx no-such-folder && rm kept.txt' }, { command: 'echo two' }],
          }
        : { say: 'Then not.' },
    );
    const { code, stdout } = await (await start(['clean up', '--cwd', folder], gateway.env)).ended;
    expect(await readdir(folder)).toEqual(['kept.txt']);
    expect(stdout).toMatch(/^The agent asks to run:\n {2}git clean -fdx no-such-folder && rm kept\.txt\n\nin \//m);
    expect(stdout).toContain('  ✗ nothing ran: it was not approved');
    expect(stdout).toMatch(/^ {2}│ two$/m);
    expect(JSON.stringify(gateway.requests[1]?.body.prompt)).toContain('Nobody is there to be asked');
    expect(stdout).toMatch(/^✓ the agent is done$/m);
    expect(code).toBe(0);
  });

  test('a denial is reported to the model, which continues', async () => {
    const folder = await temporaryFolder();
    const gateway = await fakeGateway((index) =>
      index === 0 ? { say: 'By force.', calls: [{ command: 'git push --force' }] } : { say: 'In another way.' },
    );
    const { stdout } = await (await start(['commit', '--cwd', folder], gateway.env)).ended;
    expect(stdout).toContain('✗ nothing ran: permission denied: git push --force is not allowed');
    expect(lastResult(gateway.requests[1] as GatewayRequest)).toContain('--force-with-lease');
    expect(stdout).toMatch(/^✓ the agent is done$/m);
  });

  test('a gateway that refuses is reported', async () => {
    const gateway = await fakeGateway(() => new Error('no such key'));
    const { code, stdout } = await (await start([], gateway.env)).ended;
    expect(stdout).toMatch(/^The model failed: /m);
    expect(stdout).toMatch(/^✗ the agent did not finish$/m);
    expect(code).toBe(1);
  });

  test.each([
    [{ AI_GATEWAY_API_KEY: 'key' }, 'AGENT_BASH_MODEL'],
    [{ AGENT_BASH_MODEL: 'maker/model-1' }, 'AI_GATEWAY_API_KEY'],
  ])('with %j alone the script runs and names the missing part', async (env, missing) => {
    const run = await start(['anything', '--cwd', await temporaryFolder()], env as Record<string, string>);
    expect((await run.ended).stdout).toContain(`a script that comes with the example (${missing} not set)`);
  });
});
