import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Refusal } from './guard.ts';

/** Tabs that may be signed in at once. The one that came first is signed out for the next. */
const MOST = 64;

/**
 * The code in the link, which works once, and the tokens of the tabs that have used one. Both are only in the memory of
 * this process, as digests, but for the code that was not used yet.
 */
export class SignIn {
  #code: string | null = null;
  readonly #tokens: Buffer[] = [];
  /** Called when a code was used. */
  used: () => void = () => {};

  /** The code that works now. After its use there is another. */
  get code(): string {
    this.#code ??= secret();
    return this.#code;
  }

  /** Exchanges the code for a token. Throws `Refusal` for another code, and for one that was used. */
  exchange(code: string): string {
    if (this.#code === null || !timingSafeEqual(digest(code), digest(this.#code))) {
      throw new Refusal(403, 'code', 'this link was used, or is none of this server');
    }
    this.#code = null;
    const token = secret();
    this.#tokens.push(digest(token));
    if (this.#tokens.length > MOST) this.#tokens.shift();
    this.used();
    return token;
  }

  /** Throws `Refusal` for a request without a token of ours. */
  check(authorization: string | undefined): void {
    const [, token] = /^Bearer ([\w-]{1,100})$/.exec(authorization ?? '') ?? [];
    const given = digest(token ?? '');
    // All are compared, so that the time says nothing.
    const found = this.#tokens.filter((known) => timingSafeEqual(known, given)).length > 0;
    if (token === undefined || !found) throw new Refusal(401, 'token', 'this tab is not signed in');
  }
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
