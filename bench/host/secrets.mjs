// Requests through a connection that the gate opens for a secret, beside one that it only relays.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { BashSession } from 'agent-bash';

const FIXTURES = fileURLToPath(new URL('../../__test__/confine/secrets/fixtures/', import.meta.url));
const HOST = 'api.example.test';

/** A server in a thread of its own: as many bytes as the path says. */
const SERVER = `
  const { createServer } = require('node:https');
  const { parentPort, workerData } = require('node:worker_threads');
  const piece = Buffer.alloc(256 * 1024, 'x');
  const server = createServer(workerData, async (request, response) => {
    let left = Number(request.url.slice(1));
    response.writeHead(200, { 'content-length': left });
    for (; left > 0; left -= piece.length) {
      const more = response.write(left < piece.length ? piece.subarray(0, left) : piece);
      if (!more) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end();
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** A client that prints the times of a first request, and of as many others over the same connection. */
const CLIENT = `
  const https = require('node:https');
  const [url, count] = process.argv.slice(2);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: 'Bearer ' + process.env.TOKEN };
  const once = () => new Promise((resolve, reject) => {
    const begun = performance.now();
    https.get(url, { agent, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(String(response.statusCode)));
      response.resume().on('end', () => resolve(performance.now() - begun));
    }).on('error', reject);
  });
  (async () => {
    const times = [];
    for (let at = 0; at <= count; at++) times.push(await once());
    console.log(JSON.stringify(times));
    process.exit();
  })();
`;

/** Times in ms of first requests, of later ones, and of downloads of `bytes`, opened and relayed in turns. */
async function secretRequests(rounds, count, bytes) {
  const of = (name) => readFileSync(FIXTURES + name);
  const server = new Worker(SERVER, { eval: true, workerData: { key: of('key.pem'), cert: of('certificate.pem') } });
  const [port] = await once(server, 'message');
  process.env.SSL_CERT_FILE = `${FIXTURES}authority.pem`;
  const network = { allow: [`${HOST}:${port}`], hosts: { [HOST]: '127.0.0.1' } };
  const TOKEN = { value: 'ghp_ValueValueValueValueValueValue000000', hosts: [`${HOST}:${port}`] };
  const env = { NODE_EXTRA_CA_CERTS: `${FIXTURES}authority.pem`, TOKEN: TOKEN.value };
  const sessions = {
    opened: new BashSession({ confine: { network, secrets: { TOKEN } }, safety: 'off' }),
    relayed: new BashSession({ confine: { network }, env, safety: 'off' }),
  };
  const found = Object.fromEntries(Object.keys(sessions).map((way) => [way, { first: [], later: [], download: [] }]));
  const run = async (session, command, input) => {
    const { stdout, stderr, exitCode } = await session.run(command, {
      timeoutMs: 120_000,
      ...(input && { stdin: input }),
    });
    if (exitCode !== 0) throw new Error(stderr);
    return stdout;
  };
  try {
    for (let round = 0; round < rounds; round++) {
      for (const way of round % 2 === 0 ? ['opened', 'relayed'] : ['relayed', 'opened']) {
        const [first, ...later] = JSON.parse(
          await run(sessions[way], `node - https://${HOST}:${port}/100 ${count}`, CLIENT),
        );
        const curl = `curl -sS --http1.1 -o /dev/null -w '%{time_total}' -H "Authorization: Bearer $TOKEN"`;
        const trust = way === 'relayed' ? `--cacert ${env.NODE_EXTRA_CA_CERTS}` : '';
        const seconds = Number(await run(sessions[way], `${curl} ${trust} https://${HOST}:${port}/${bytes}`));
        found[way].first.push(first);
        found[way].later.push(...later);
        found[way].download.push(seconds * 1000);
      }
    }
  } finally {
    await Promise.all([...Object.values(sessions).map((session) => session.close()), server.terminate()]);
  }
  return found;
}

export const secrets = { secretRequests };
