import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { ConfineOptions, Secret } from 'agent-bash';
import { onTestFinished } from 'vitest';
import { folder, hostResult, packageRoot } from '../../support/index.ts';
import { withoutNamespaces } from '../support/held.ts';

const fixtures = join(packageRoot, '__test__/confine/secrets/fixtures');
const of = (name: string) => readFileSync(join(fixtures, name));

/** The authority that the test's host trusts by SSL_CERT_FILE. */
export const AUTHORITY = join(fixtures, 'authority.pem');
export const HOST = 'api.example.test';
export const VALUE = 'ghp_ValueValueValueValueValueValue000000';

/** The ways of confinement that hold secrets here, each with the environment of its host. */
export const ways: [string, NodeJS.ProcessEnv][] = [['a listener', { AGENT_BASH_NAMESPACES: 'off' }]];
if (!withoutNamespaces) ways.push(['namespaces', {}]);

export interface Got {
  version: string;
  status?: number;
  line: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** An answer besides the echo. */
export interface Page {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  trailers?: Record<string, string>;
}

/**
 * A server of HTTP/1.1 and HTTP/2 over TLS that echoes and keeps each request. `/x.git` needs a password.
 * `pages` has other answers, by their paths.
 */
export async function secretHost(
  pages: Record<string, (got: Got) => Page> = {},
): Promise<{ port: number; got: Got[] }> {
  const got: Got[] = [];
  const answer = async (request: IncomingMessage | Http2ServerRequest, response: Http2ServerResponse) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method, url, headers, httpVersion: version } = request;
    const one: Got = { version, line: `${method} ${url}`, headers: { ...headers }, body };
    got.push(one);
    const page = pages[url?.split('?')[0] ?? '']?.(one);
    one.status = page?.status ?? 200;
    if (page) {
      response.writeHead(one.status, page.headers);
      if (page.trailers) response.addTrailers(page.trailers);
      response.end(page.body ?? '');
      return;
    }
    if (url?.startsWith('/x.git') && headers.authorization === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' });
      response.end();
      return;
    }
    response.setHeader('x-echo', String(headers.authorization ?? ''));
    response.end(JSON.stringify(one));
  };
  const server = createSecureServer({ key: of('key.pem'), cert: of('certificate.pem'), allowHTTP1: true }, (...of) => {
    void answer(...of);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, got };
}

/** A secret for the server at this port. */
export const secretFor = (port: number, more: Partial<Secret> = {}): Secret => ({
  value: VALUE,
  hosts: [`${HOST}:${port}`],
  ...more,
});

/** The result of a command of a host that trusts the test's authority, confined with these options. */
export function runWith(command: string, confine: ConfineOptions, env: NodeJS.ProcessEnv = {}) {
  const network = confine.network ?? { allow: [], hosts: { [HOST]: '127.0.0.1', 'other.example.test': '127.0.0.1' } };
  const options = { cwd: folder(), confine: { network, ...confine }, safety: 'off', timeoutMs: 60_000 };
  return hostResult<Awaited<ReturnType<typeof import('agent-bash').bash>>>(
    `console.log(JSON.stringify(await bash(${JSON.stringify(command)}, ${JSON.stringify(options)})));`,
    { env: { SSL_CERT_FILE: AUTHORITY, ...env } },
  );
}
