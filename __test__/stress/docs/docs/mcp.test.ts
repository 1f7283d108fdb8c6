import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { page, spans, table } from '../../../docs/examples.ts';
import { textOf } from '../../../mcp/majors.ts';
import { alive, folder, mark, packageRoot, sleepers, until } from '../../../support/index.ts';

const text = await page('mcp.md');
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map((match) => match[1] ?? '');

interface Entry {
  command: string;
  args: string[];
}

/** The servers that the page tells clients of. */
const ENTRIES: [string, Entry][] = [
  ...blocks('json').map((block): [string, Entry] => {
    const { mcpServers } = JSON.parse(block) as { mcpServers: { bash: Entry } };
    return ['the JSON block', mcpServers.bash];
  }),
  ...blocks('toml').map((block): [string, Entry] => [
    'the TOML block',
    {
      command: JSON.parse(/^command = (.*)$/m.exec(block)?.[1] ?? ''),
      args: JSON.parse(/^args = (.*)$/m.exec(block)?.[1] ?? ''),
    },
  ]),
  ...blocks('sh').map((block): [string, Entry] => {
    const [command = '', ...args] = block.trim().split(' -- ')[1]?.split(' ') ?? [];
    return ['the line of Claude Code', { command, args }];
  }),
];

async function connected(command: string, args: string[], cwd: string) {
  const transport = new StdioClientTransport({ command, args, cwd, env: { PATH: process.env.PATH ?? '' } });
  const client = new Client({ name: 'client', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, pid: transport.pid as number };
}

const call = async (client: Client, command: string) =>
  (await client.callTool({ name: 'bash', arguments: { command } })) as CallToolResult;

describe('docs/mcp.md', () => {
  test('tells three kinds of clients', () => {
    expect(ENTRIES).toHaveLength(3);
  });

  test.each(ENTRIES)('%s starts the server', async (_, { command, args }) => {
    // As npx runs the package once it is installed.
    expect([command, ...args.slice(0, 2)]).toEqual(['npx', '-y', 'agent-bash']);
    const given = args.slice(2);
    const { client } = await connected(process.execPath, [join(packageRoot, 'dist/cli.mjs'), ...given], folder());
    expect(textOf(await call(client, 'pwd'))).toMatch(/\/agent-bash-test-/);
  });

  test('its options are those of the program', () => {
    const named = table(text, 'In a client').map(([option = '']) => spans(option)[0]?.split(' ')[0]);
    expect(named).toEqual([
      ...[
        '--cwd',
        '--timeout',
        '--dir',
        '--session',
        '--confine',
        '--receipt',
        '--undo',
        '--evidence=off',
        '--reduce',
        '--rule',
        '--on-ask',
      ],
    ]);
  });

  const [own = '', ...more] = blocks('js');

  test('a server of your own serves the tools, and ends with its client', async () => {
    expect(more).toEqual([]);
    const place = join(packageRoot, `.stamp/docs-mcp-${process.pid}`);
    await mkdir(place, { recursive: true });
    onTestFinished(() => rm(place, { recursive: true }));
    await writeFile(join(place, 'server.mjs'), own);
    const { client, pid } = await connected(process.execPath, [join(place, 'server.mjs')], packageRoot);
    expect(client.getServerVersion()).toMatchObject({ name: 'my-tools' });
    expect(textOf(await call(client, 'echo hi'))).toContain('hi');
    expect((await call(client, 'git add -A')).isError).toBe(true);
    const seconds = mark();
    const running = call(client, `sleep ${seconds}`).catch(() => {});
    await until(() => sleepers(seconds).length === 1);
    await client.close();
    await running;
    await until(() => sleepers(seconds).length === 0 && !alive(pid));
  });
});
