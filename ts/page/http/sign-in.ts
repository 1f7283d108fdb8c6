import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Refusal } from './guard.ts';

/** Most tabs that are signed in at once. The next one signs the oldest out. */
const MOST = 64;

/**
 * The code of the current link, which works once, and the tokens of the tabs that are signed in. They exist only in the
 * memory of this process, which keeps only the digests of tokens.
 */
export class SignIn {
  #code: string | null = null;
  readonly #tokens: Buffer[] = [];
  /** Called after each sign-in. */
  used: () => void = () => {};

  /** The current code. A new one replaces it after its use. */
  get code(): string {
    this.#code ??= secret();
    return this.#code;
  }

  /** Exchanges the current code for a token. Throws `Refusal` for any other code. */
  exchange(code: string): string {
    if (this.#code === null || !timingSafeEqual(digest(code), digest(this.#code))) {
      throw new Refusal(403, 'code', 'this link was used before, or is not from this server');
    }
    this.#code = null;
    const token = secret();
    this.#tokens.push(digest(token));
    if (this.#tokens.length > MOST) this.#tokens.shift();
    this.used();
    return token;
  }

  /** Throws `Refusal` for an `Authorization` header without a valid token. */
  check(authorization: string | undefined): void {
    const [, token] = /^Bearer ([\w-]{1,100})$/.exec(authorization ?? '') ?? [];
    const given = digest(token ?? '');
    // All tokens are compared, so the time does not depend on which one matches.
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
