/**
 * A proxy before the API server that spoils some calls: it delays them, answers a write with a conflict, answers that
 * the server is overloaded, and loses the answer to a call that was carried out.
 *
 * `node rough-proxy.mjs DIR SEED` prints its port. DIR has the certificates of `scripts/kubernetes`.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Agent, request } from 'node:https';
import { join } from 'node:path';

const [, , directory, seed] = process.argv;
const file = (name) => readFileSync(join(directory, name));
const agent = new Agent({ ca: file('ca.crt'), cert: file('admin.crt'), key: file('admin.key') });

let state = Number(seed) >>> 0;
/** Returns a number from 0 to 1, the next one of the seed. */
function random() {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}

function refuse(response, code, reason, message) {
  const body = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function pass(asked, response, isLost) {
  const { method, url: path, headers } = asked;
  const further = request({ host: '127.0.0.1', port: 26443, agent, method, path, headers }, (answer) => {
    if (isLost) {
      answer.resume().on('end', () => response.destroy());
      return;
    }
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  further.on('error', () => response.destroy());
  response.on('close', () => further.destroy());
  asked.pipe(further);
}

const server = createServer(async (asked, response) => {
  const isWrite = asked.method !== 'GET';
  const [slow, fate] = [random(), random()];
  if (slow < 0.2) await new Promise((resolve) => setTimeout(resolve, slow * 8_000));
  const conflict = 'Operation cannot be fulfilled: the object has been modified';
  if (isWrite && fate < 0.15) refuse(response, 409, 'Conflict', conflict);
  else if (fate < 0.2)
    refuse(response, 503, 'ServiceUnavailable', 'the server is currently unable to handle the request');
  else pass(asked, response, isWrite && fate < 0.3);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
