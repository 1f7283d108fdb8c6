import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { folder, until } from '../support/index.ts';
import { type Client, Hosts, type Message, TERMINAL } from './support.ts';

/** Follows the only run of a host. */
async function follows(client: Client): Promise<string> {
  const { key } = await client.only();
  await client.follow(key);
  return key;
}

/** A gate in a command: the shell code that waits until it is open. */
class Gate {
  readonly #path = `${folder()}/go`;
  readonly wait = `until [ -e ${this.#path} ]; do sleep 0.05; done`;

  open(): void {
    writeFileSync(this.#path, '');
  }
}

/** Checks that each output begins where the one before has ended. Returns the bytes that were dropped. */
function gapsOf(outputs: Message[]): number {
  let at = (outputs[0]?.at ?? 0) - (outputs[0]?.gap ?? 0);
  let gaps = 0;
  for (const output of outputs) {
    expect(output.at).toBe(at + output.gap);
    at = output.at + Buffer.byteLength(output.text);
    gaps += output.gap;
  }
  return gaps;
}

test('held output comes first, then new output, then the end', async () => {
  const hosts = new Hosts();
  const gate = new Gate();
  const host = hosts.start(`
    const shown = bash(\`echo held; ${gate.wait}; printf '\\\\e[31mlive\\\\e[0m\\\\n' >&2\`);
    await shown;
    setInterval(() => {}, 1e6);`);
  const client = await hosts.client(host);
  const key = await follows(client);
  await until(() => client.text(key) === 'held\n', 'the held output');
  gate.open();
  await client.followed(key);
  expect(client.text(key)).toBe('held\n\u001b[31mlive\u001b[0m\n');
  expect(gapsOf(client.outputs(key))).toBe(0);
});

test('output from before a follow has its colours if the run was watched from its start', async () => {
  const hosts = new Hosts();
  const [start, more] = [new Gate(), new Gate()];
  const host = hosts.start(`
    await bash('${start.wait}');
    await bash(\`printf '\\\\e[1mbold\\\\e[0m\\\\n' >&2
      ${more.wait}
      printf '\\\\e[31mred\\\\e[0m\\\\n'; exec sleep 1000\`);`);
  const watcher = await hosts.client(host);
  await watcher.watch();
  start.open();
  await watcher.run((run) => run.lastLine === 'bold');
  more.open();
  const { key } = await watcher.run((run) => run.lastLine === 'red');
  const other = await hosts.client(host);
  const all = '\u001b[1mbold\u001b[0m\n\u001b[31mred\u001b[0m\n';
  for (const client of [watcher, other]) {
    await client.follow(key);
    await until(() => client.text(key) === all, 'the output with its styles');
    expect(client.outputs(key)[0]).toMatchObject({ at: 0, gap: 0 });
  }
  await other.follow(key);
  await until(() => other.text(key) === all + all, 'the same once more');
});

test('a run that was watched until its end has its colours, too', async () => {
  const hosts = new Hosts();
  const gate = new Gate();
  const host = hosts.start(`
    await bash('${gate.wait}');
    await bash(\`printf '\\\\e[31mred\\\\e[0m\\\\nrest'\`);
    setInterval(() => {}, 1e6);`);
  const client = await hosts.client(host);
  await client.watch();
  const [{ key: first }] = client.runs();
  gate.open();
  const { key } = await client.message(({ change }) => change?.ended.find((end: Message) => end.key !== first));
  await client.follow(key);
  await client.followed(key);
  expect(client.text(key)).toBe('\u001b[31mred\u001b[0m\nrest');
});

test('held output of a run from before the first watcher has no colours', async () => {
  const hosts = new Hosts();
  const gate = new Gate();
  const red = `printf '\\\\e[31mred\\\\e[0m\\\\n'`;
  const host = hosts.start(`await bash(\`${red}; ${gate.wait}; ${red}; exec sleep 1000\`);`);
  const client = await hosts.client(host);
  await client.watch();
  const { key } = await client.run((run) => run.lastLine === 'red');
  await client.follow(key);
  await until(() => client.text(key) === 'red\n', 'the held output');
  gate.open();
  await until(() => client.text(key) === 'red\n\u001b[31mred\u001b[0m\n', 'the new output');
});

test('followers of a fast writer get each byte once, whenever they come', async () => {
  const hosts = new Hosts();
  const gate = new Gate();
  const host = hosts.start(`
    await bash('${gate.wait}');
    await bash(\`for ((i = 100000; i < 120000; i++)); do
      printf '\\\\e[32m%d\\\\e[0m\\\\n' $i
      ((i % 200)) || sleep 0.01
    done\`);
    setInterval(() => {}, 1e6);`);
  const watcher = await hosts.client(host);
  await watcher.watch();
  const all = Array.from({ length: 20_000 }, (_, at) => `\u001b[32m${100_000 + at}\u001b[0m\n`).join('');
  gate.open();
  const { key } = await watcher.run((run) => /^1\d{5}$/.test(run.lastLine));
  const clients: Client[] = [];
  const ended = watcher.end(key);
  do {
    const client = await hosts.client(host);
    await client.follow(key);
    clients.push(client);
  } while (!(await Promise.race([ended, sleep(100)])));
  expect(clients.length).toBeGreaterThan(2);
  for (const client of clients) {
    await client.followed(key);
    const outputs = client.outputs(key);
    for (const { at, text } of outputs) expect(text).toBe(all.slice(at, at + text.length));
    gapsOf(outputs);
    const last = outputs.at(-1);
    expect(last.at + last.text.length).toBe(all.length);
  }
  const starts = clients.map((client) => client.outputs(key)[0].at);
  expect(Math.max(...starts), 'the oldest is dropped').toBeGreaterThan(0);
});

test('a question appears without the end of its line', async () => {
  const hosts = new Hosts();
  const client = await hosts.client(hosts.start(`bash('printf "Continue? [y/N] "; sleep 1000').catch(() => {});`));
  const key = await follows(client);
  await until(() => client.text(key) === 'Continue? [y/N] ', 'the question');
});

test('after unfollow nothing comes', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`bash('while echo x; do sleep 0.02; done').catch(() => {});`);
  const client = await hosts.client(host);
  const key = await follows(client);
  await until(() => client.text(key).includes('x'), 'output');
  await client.request({ do: 'unfollow', run: key });
  const before = client.outputs(key).length;
  await sleep(300);
  expect(client.outputs(key).length).toBe(before);
});

test('a client that reads nothing delays nothing, and learns of the gap', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    const flood = bash('read -t 1000 < <(sleep 0.7); head -c 40000000 /dev/zero | tr "\\\\0" "x" | fold -w 99; echo; echo last; sleep 1');
    await flood;
    console.log('flooded');
    await bash('echo after');
    console.log('after');
    setInterval(() => {}, 1e6);`);
  const slow = await hosts.client(host);
  const key = await follows(slow);
  slow.socket.pause();
  const other = await hosts.client(host);
  await follows(other);
  await host.says(/after/);
  slow.socket.resume();
  for (const client of [slow, other]) {
    await client.followed(key);
    expect(client.text(key)).toMatch(/\nlast\n$/);
    const gaps = gapsOf(client.outputs(key));
    const shown = Buffer.byteLength(client.text(key));
    expect((client.outputs(key)[0]?.at ?? 0) + shown + gaps - (client.outputs(key)[0]?.gap ?? 0)).toBe(40_404_046);
  }
  expect(gapsOf(slow.outputs(key))).toBeGreaterThan(10_000_000);
});

test('a task is followed by its log, and stopped', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    import { BackgroundRegistry } from 'agent-bash';
    globalThis.registry = new BackgroundRegistry();
    await registry.start('echo one; while sleep 0.05; do echo more; done');
    setInterval(() => {}, 1e6);`);
  const client = await hosts.client(host, true);
  const key = await follows(client);
  await until(() => /^one\n(more\n){3}/.test(client.text(key)), 'the log');
  expect((await client.request({ do: 'input', run: key, text: 'x' })).error).toMatchObject({ code: 'invalid' });
  expect(await client.request({ do: 'stop', run: key })).toMatchObject({ ok: true });
  expect(await client.end(key)).toMatchObject({ state: 'aborted', signal: expect.any(String) });
  await client.followed(key);
  expect(gapsOf(client.outputs(key))).toBe(0);
});

test('a task is stopped by the registry that can stop it', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    import { BackgroundRegistry } from 'agent-bash';
    const dir = ${JSON.stringify(folder())};
    globalThis.closed = new BackgroundRegistry({ dir });
    await closed.close();
    globalThis.registry = new BackgroundRegistry({ dir });
    await registry.start('sleep 1000');
    setInterval(() => {}, 1e6);`);
  const client = await hosts.client(host, true);
  const key = await follows(client);
  expect(await client.request({ do: 'stop', run: key })).toMatchObject({ ok: true });
  expect(await client.end(key)).toMatchObject({ state: 'aborted' });
});

test('the screen of a silent terminal is sent again when its size changes', async () => {
  const hosts = new Hosts();
  const host = hosts.start(TERMINAL);
  const client = await hosts.client(host);
  await follows(client);
  await client.message(({ screen }) => screen?.rows === 5);
  host.process.kill('SIGUSR1');
  await client.message(({ screen }) => screen?.rows === 9 && screen.columns === 50);
});

test('a terminal is followed by its screen, and takes typed input', async () => {
  const hosts = new Hosts();
  const host = hosts.start(`
    import { PtySession } from 'agent-bash';
    const terminal = new PtySession({ cols: 40, rows: 5 });
    terminal.start('printf "\\\\e[1mName:\\\\e[0m "; read name; echo "Hello $name"; sleep 0.2').catch(() => {});
    setInterval(() => {}, 1e6);`);
  const client = await hosts.client(host, true);
  const key = await follows(client);
  const screen = (line: RegExp) =>
    client.message(({ screen }) => screen?.lines.some((text: string) => line.test(text)) && screen);
  expect(await screen(/Name:/)).toMatchObject({ run: key, rows: 5, columns: 40, cursor: [0, 6], end: false });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  await screen(/\u001b\[0;1mName:\u001b\[0m/);
  expect(await client.request({ do: 'input', run: key, text: 'Joe\n' })).toMatchObject({ ok: true });
  await screen(/Hello Joe/);
  await client.message(({ screen }) => screen?.end);
});

test('a command without an open input refuses input', async () => {
  const hosts = new Hosts();
  const client = await hosts.client(hosts.start(`bash('sleep 1000').catch(() => {});`), true);
  const key = await follows(client);
  expect((await client.request({ do: 'input', run: key, text: 'x' })).error).toMatchObject({ code: 'invalid' });
});
