import type { IncomingHttpHeaders } from 'node:http';

/** The reason why a request is refused, with its HTTP status. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The parts of a request that are checked. */
export interface Asked {
  method: string;
  /** The target of the request line. */
  target: string;
  headers: IncomingHttpHeaders;
  /** The number of Host headers. */
  hosts: number;
}

/**
 * Throws `Refusal` for a request that a page of another origin may have sent, such as a dev server on another port, a
 * site whose name resolves to this machine, or a page that frames this one. `origin` is ours, `http://127.0.0.1:PORT`.
 */
export function checkRequest({ method, target, headers, hosts }: Asked, origin: string): void {
  if (hosts !== 1 || `http://${headers.host}` !== origin) {
    throw new Refusal(421, 'host', `this server is ${origin} and has no other name`);
  }
  if (!target.startsWith('/')) throw new Refusal(400, 'target', 'the target of a request is a path');
  if (method !== 'GET' && method !== 'POST') throw new Refusal(405, 'method', `there is no ${method} here`);
  const isDocument = method === 'GET' && target === '/';
  checkSite(headers, isDocument);
  const sent = headers.origin;
  if (method === 'POST' ? sent !== origin : sent !== undefined && sent !== origin) {
    throw new Refusal(403, 'origin', `requests come from ${origin} alone`);
  }
  if (method === 'POST' && headers['content-type'] !== 'application/json') {
    throw new Refusal(415, 'content-type', 'the content type is application/json');
  }
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
    throw new Refusal(417, 'expect', 'nothing but 100-continue can be expected');
  }
}

function checkSite(headers: IncomingHttpHeaders, isDocument: boolean): void {
  const site = headers['sec-fetch-site'];
  const use = headers['sec-fetch-dest'];
  if (isDocument) {
    // Any page may link to the document, but none may frame it.
    if (use === undefined || use === 'document') return;
    throw new Refusal(403, 'frame', 'the page is shown by itself, not inside of another');
  }
  if (site !== undefined && site !== 'same-origin') {
    throw new Refusal(403, 'site', 'requests come from the page itself');
  }
}
