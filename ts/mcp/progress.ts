import type { BashToolSnapshot } from 'agent-bash/ai';
import { unlessAborted } from '../core/abort.ts';
import type { ToolCall } from './server.ts';

/** UTF-16 units of the output that a message shows. Each message sends them again. */
const MESSAGE_LENGTH = 4_096;
/** Interval of messages about a silent command, so that a client that waits for progress does not give up. */
const QUIET_MS = 5_000;

/**
 * Reports the progress of a command to the client: the time since the call in ms, which only grows, and the last part
 * of the output. A message is sent only after the previous one was taken, so that a slow client receives fewer
 * messages, not old ones.
 */
export class Progress {
  readonly #call: ToolCall;
  readonly #start = performance.now();
  readonly #quiet: NodeJS.Timeout;
  #told = 0;
  #message: string | undefined;
  #sending: Promise<void> | null = null;

  constructor(call: ToolCall) {
    this.#call = call;
    this.#quiet = setInterval(() => void (this.#sending ?? this.#send()), QUIET_MS);
  }

  /** Resolves when the client has taken the message or the call is over: a client may stop reading without notice. */
  async tell({ stdout, stderr }: Pick<BashToolSnapshot, 'stdout' | 'stderr'>): Promise<void> {
    const parts = [stdout, stderr].map((text) => text.trimEnd()).filter((text) => text !== '');
    if (parts.length === 0) return;
    this.#message = tail(parts.join('\n'));
    await this.#sending;
    await this.#send();
  }

  /** Stops the messages: none may follow the answer. */
  end(): void {
    clearInterval(this.#quiet);
  }

  #send(): Promise<void> {
    this.#quiet.refresh();
    this.#told = Math.max(this.#told + 1, Math.round(performance.now() - this.#start));
    const message = this.#message === undefined ? {} : { message: this.#message };
    const params = { progressToken: this.#call.progressToken, progress: this.#told, ...message };
    // A lost connection ends the call by itself.
    const sent = this.#call.notify({ method: 'notifications/progress', params }).catch(() => {});
    this.#sending = unlessAborted(sent, this.#call.signal).finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }
}

function tail(text: string): string {
  const end = text.slice(-MESSAGE_LENGTH);
  // A message never starts in the middle of a surrogate pair.
  return /^[\udc00-\udfff]/.test(end) ? end.slice(1) : end;
}
