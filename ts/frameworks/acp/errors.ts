import type { BashError } from 'agent-bash';
import { needs } from '../shared/needs.ts';
import { refusal } from '../shared/told.ts';
import { SDK } from './client.ts';

/** The module `@agentclientprotocol/sdk`, as far as it is used. */
export interface Acp {
  RequestError: new (code: number, message: string, data?: unknown) => Error;
}

const INVALID_PARAMS = -32602;
const NOT_FOUND = -32002;
const CANCELLED = -32800;
const INTERNAL = -32603;
const REFUSED = -32010;

/** The codes of a command that nothing could be run for, by the code of its error. */
const CODES: Record<string, number> = {
  ERR_BASH_BLOCKED: REFUSED,
  ERR_BASH_INVALID_ARG: INVALID_PARAMS,
  ERR_BASH_CWD_NOT_FOUND: INVALID_PARAMS,
  ERR_BASH_CWD_NOT_DIRECTORY: INVALID_PARAMS,
};

/** Makes the errors of the protocol. The SDK keeps code, message and data of its own class alone. */
export class Errors {
  readonly #acp: Acp;

  /** Throws `ERR_BASH_UNSUPPORTED` if the module lacks the class of its errors. */
  constructor(acp: Acp) {
    needs('acp', acp, ['RequestError'], SDK);
    this.#acp = acp;
  }

  /** The params are wrong. */
  invalid(message: string): Error {
    return new this.#acp.RequestError(INVALID_PARAMS, message, { code: 'ERR_BASH_INVALID_ARG' });
  }

  /** There is no such terminal in this session. */
  unknown(terminalId: string): Error {
    return new this.#acp.RequestError(NOT_FOUND, `there is no terminal ${terminalId} in this session`, { terminalId });
  }

  /** The terminal was ended before its command ran. */
  get ended(): Error {
    return new this.#acp.RequestError(CANCELLED, 'the terminal was ended before its command ran');
  }

  /** What was asked for could not be done, for this reason. */
  from(error: unknown): Error {
    const { code = 'ERR_BASH_SPAWN' } = Object(error) as Partial<BashError>;
    return new this.#acp.RequestError(CODES[code] ?? INTERNAL, refusal(error), { code });
  }
  /** Answers nothing once something is done. */
  async answer(done: Promise<unknown>): Promise<object> {
    await done.catch((error) => {
      throw this.from(error);
    });
    return {};
  }
}
