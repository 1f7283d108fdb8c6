import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AUTHORITY, HOST } from '../../confine/secrets/support.ts';
import { childrenOf, folder, host } from '../../support/index.ts';
import { TOKEN } from './support/forms.ts';
import { type Answer, type Answer2, http2Host, ok, rawHost } from './support/hosts.ts';

/** The most memory that a gate may ever have had, in MiB, also with the largest of bombs. */
const MOST = Number(process.env.AGENT_BASH_GATE_MEMORY ?? 640);

/** Floods: their kind in `flood.py`, connections, and requests or frames. */
const FLOODS: [kind: string, connections: number, requests: number][] = [
  ['echo', 1000, 10_000],
  ['heads', 1000, 2000],
  ['slow', 1000, 10_000],
  ['signed', 1000, 8000],
  ['bomb-gzip', 300, 300],
  ['bomb-br', 300, 300],
  ['bomb-zstd', 300, 300],
  ['h2-reset', 100, 10_000],
  ['h2-continuation', 100, 10_000],
  ['h2-settings', 100, 10_000],
  ['h2-bodies', 100, 10_000],
  ['h2-unread', 300, 3000],
  ['h2-bombs', 60, 1200],
];

const ZEROS = Buffer.alloc(64 * 1024 * 1024);

/** A bomb of zstd: blocks of one repeated byte (RFC 8878, 3.1.1.2). */
function zstdBomb(): Buffer {
  // A window of 8 MiB, and blocks of 128 KiB.
  const block = Buffer.alloc(4);
  block.writeUInt32LE((131_072 << 3) | 2);
  const last = Buffer.alloc(4);
  last.writeUInt32LE((131_072 << 3) | 3);
  const blocks = Array.from({ length: 511 }, () => block);
  return Buffer.concat([Buffer.from('28b52ffd0068', 'hex'), ...blocks, last]);
}

const BOMBS: Record<string, Buffer> = {
  gzip: gzipSync(ZEROS),
  br: brotliCompressSync(ZEROS, { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }),
  zstd: zstdBomb(),
};

const below = (pid: number): { pid: number; name: string }[] =>
  childrenOf(pid).flatMap(({ pid, name }) => [{ pid, name }, ...below(pid)]);

/** The most memory that each gate of a host has had, in MiB. */
function peaks(pid: number): Map<number, number> {
  const gates = below(pid).filter(({ name }) => name === 'agent-bash-gate');
  return new Map(
    gates.map(({ pid }) => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      return [pid, Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024)];
    }),
  );
}

/** A host that reads commands, each in a world of its own, from the other side of a pipe. */
function worlds(options: object) {
  return host(
    `import { BashSession } from 'agent-bash';
     import { createServer } from 'node:http';
     const sessions = new Map();
     const server = createServer(async (request, response) => {
       let command = '';
       for await (const chunk of request) command += chunk;
       const name = request.url;
       if (!sessions.has(name)) sessions.set(name, new BashSession(${JSON.stringify(options)}));
       try {
         const { stdout, stderr, exitCode } = await sessions.get(name).run(command);
         response.end(JSON.stringify({ stdout, stderr, exitCode }));
       } catch (error) {
         response.end(JSON.stringify({ stdout: '', stderr: String(error), exitCode: -1 }));
       }
     });
     server.listen(0, '127.0.0.1', () => console.log('port', server.address().port));`,
    { env: { SSL_CERT_FILE: AUTHORITY } },
  );
}

describe.runIf(process.platform === 'linux')('a flood in a world', () => {
  test.each(FLOODS)(
    'of %s over %d connections takes little memory and harms no other',
    { timeout: 200_000 },
    async (...flood) => {
      const [kind, connections, requests] = flood;
      const answers = new Map<string, Answer>();
      const answers2 = new Map<string, Answer2>();
      for (const [coding, bomb] of Object.entries(BOMBS)) {
        answers.set(`bomb-${coding}`, () => ok([`Content-Encoding: ${coding}`], bomb));
        answers2.set(`bomb-${coding}`, (stream) => {
          stream.respond({ ':status': 200, 'content-encoding': coding });
          stream.end(bomb);
        });
      }
      answers2.set('large', (stream) => {
        stream.respond({ ':status': 200 });
        stream.end(ZEROS.subarray(0, 1024 * 1024));
      });
      const [raw, h2] = [await rawHost(answers, new Map()), await http2Host(answers2, new Map())];
      const place = folder();
      for (const name of ['flood.py', 'hpack.py']) {
        copyFileSync(join(import.meta.dirname, 'support', name), join(place, name));
      }
      const running = worlds({
        cwd: place,
        safety: 'off',
        timeoutMs: 150_000,
        confine: {
          network: { allow: [], hosts: { [HOST]: '127.0.0.1' } },
          secrets: { TOKEN: { value: TOKEN, hosts: [raw, h2].map(({ port }) => `${HOST}:${port}`) } },
        },
      });
      onTestFinished(() => void running.process.kill('SIGKILL'));
      const port = (await running.says(/port (\d+)/))[1];
      const run = async (world: string, command: string) => {
        const answer = await fetch(`http://127.0.0.1:${port}/${world}`, { method: 'POST', body: command });
        return (await answer.json()) as { stdout: string; stderr: string; exitCode: number };
      };
      const use = `curl -s --max-time 30 -H "X-Key: $TOKEN" https://${HOST}:${raw.port}/echo`;
      expect((await run('calm', use)).stdout).toContain('X-Key: ghp_');
      expect((await run('flooded', use)).stdout).toContain('X-Key: ghp_');
      const target = kind.startsWith('h2') ? h2.port : raw.port;
      const flooding = run('flooded', `python3 flood.py ${kind} ${HOST} ${target} ${connections} ${requests}`);
      let slowest = 0;
      let over = false;
      void flooding.finally(() => {
        over = true;
      });
      let uses = 0;
      while (!over) {
        const start = performance.now();
        expect((await run('calm', use)).stdout).toContain('X-Key: ghp_');
        slowest = Math.max(slowest, performance.now() - start);
        uses += 1;
        await new Promise((go) => setTimeout(go, 200));
      }
      const { stdout, stderr } = await flooding;
      const gates = [...peaks(running.pid).values()];
      console.log(
        `${kind}: ${stdout.trim()}; gates ${gates.join(', ')} MiB; ${uses} uses beside it, ${Math.round(slowest)} ms`,
      );
      expect(stdout, stderr).toContain('made');
      expect(gates.length).toBeGreaterThanOrEqual(2);
      expect(Math.max(...gates)).toBeLessThan(MOST);
      // Neither gate has ended.
      expect((await run('calm', use)).stdout).toContain('X-Key: ghp_');
      expect((await run('flooded', use)).stdout).toContain('X-Key: ghp_');
    },
  );
});
