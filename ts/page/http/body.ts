import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from './guard.ts';

/** Most bytes of a body. */
const MOST = 64 * 1024;

/** The fields of a request's body. */
export class Fields {
  readonly #values: Record<string, unknown>;

  constructor(values: Record<string, unknown>) {
    this.#values = values;
  }

  /** Returns a text of at most `most` characters. Throws `Refusal` if it is missing or of another type. */
  text(name: string, most = 1_000): string {
    const text = this.optional(name, most);
    if (text === undefined) throw new Refusal(400, 'invalid', `${name} is missing`);
    return text;
  }

  /** Returns a text as `text` does, or `undefined` if it is missing or `null`. */
  optional(name: string, most = 1_000): string | undefined {
    const value = this.#value(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== 'string') throw new Refusal(400, 'invalid', `${name} is not a text`);
    if (value.length > most) throw new Refusal(400, 'invalid', `${name} has more than ${most} characters`);
    return value;
  }

  /** Returns a list of texts of at most `most` characters, or `undefined` if it is missing or `null`. */
  texts(name: string, most = 4_096): string[] | undefined {
    const value = this.#value(name);
    if (value === undefined || value === null) return undefined;
    const isText = (one: unknown) => typeof one === 'string' && one.length <= most;
    if (Array.isArray(value) && value.every(isText)) return value;
    throw new Refusal(400, 'invalid', `${name} is not a list of texts of at most ${most} characters`);
  }

  flag(name: string): boolean {
    const value = this.#value(name);
    if (typeof value !== 'boolean') throw new Refusal(400, 'invalid', `${name} is not true or false`);
    return value;
  }

  #value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
  }
}

/**
 * Reads the body of a request, after a 100 Continue if the client expects one. Throws `Refusal` if the body is too long
 * or not a JSON object. The rest of a body that is too long is not read.
 */
export async function readFields(request: IncomingMessage, response: ServerResponse): Promise<Fields> {
  if (Number(request.headers['content-length'] ?? 0) > MOST) throw tooLong();
  if (request.headers.expect !== undefined) response.writeContinue();
  const bytes = await readBytes(request);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, 'invalid', 'the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal(400, 'invalid', 'the body is not an object');
  }
  return new Fields(value as Record<string, unknown>);
}

function tooLong(): Refusal {
  return new Refusal(413, 'too-long', `a body has at most ${MOST} bytes`);
}

function readBytes(request: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const add = (piece: Buffer) => {
      length += piece.length;
      if (length <= MOST) return void pieces.push(piece);
      request.off('data', add);
      reject(tooLong());
    };
    request.on('data', add);
    request.on('end', () => resolve(Buffer.concat(pieces)));
    request.on('close', () => reject(new Refusal(400, 'invalid', 'the body is not complete')));
  });
}
