import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { PageFailure } from '../wire.ts';
import type { Refusal } from './guard.ts';

/**
 * The content security policy: only files of this server, and nothing inline. Even if the page has a bug, output of a
 * command cannot run as code.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** The headers of every response. */
export const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  send(response, status, 'application/json', JSON.stringify(value));
}

export function sendRefusal(response: ServerResponse, { status, code, message }: Refusal): void {
  if (response.headersSent) return void response.destroy();
  sendJson(response, { error: { code, message } } satisfies PageFailure, status);
}

/** Returns a refusal as the text of a response that closes its connection. */
export function rawRefusal({ status, code, message }: Refusal): string {
  const body = JSON.stringify({ error: { code, message } } satisfies PageFailure);
  const headers = {
    ...HEADERS,
    Connection: 'close',
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`;
}

export function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}
