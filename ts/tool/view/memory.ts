import type { OutputStore, View } from 'agent-bash';
import { keeperOf } from '../../reduce/keeping.ts';
import type { BashToolExecutionOptions, BashToolInput, BashToolOptions, BashToolOutput } from '../types.ts';
import { levelOf } from './level.ts';
import { latestCalls, textsIn } from './messages.ts';
import { VIEWS, type Viewed } from './outputs.ts';
import { hiddenLines, type Source, wholeText } from './source.ts';

/** Results that are remembered, and the characters of their streams, at most. The oldest are dropped first. */
const MOST_RESULTS = 256;
const MOST_CHARACTERS = 4 * 1024 * 1024;
/** Characters of earlier results that a command is compared with, at most. The latest count. */
const MOST_COMPARED = 256 * 1024;
/** A shorter result has no lines that are worth a reference. */
const LEAST_CHARACTERS = 150;

/** A result that a model has read. */
interface Remembered {
  command: string;
  output: Extract<BashToolOutput, { stdout: string; notes: string[] }>;
  /** Returns the text that the model has read. */
  read: () => string;
  /** Made when the result is first compared with. */
  source: Source | null;
}

/** The last command, if its view leaves out lines. */
interface Last {
  key: string;
  id: number;
  toolCallId: string;
}

/** The results that the tools of one store have given. */
export class Memory {
  readonly #outputs: OutputStore;
  readonly #results = new Map<string, Remembered>();
  #characters = 0;
  #last: Last | null = null;

  constructor(outputs: OutputStore) {
    this.#outputs = outputs;
  }

  /**
   * Notes that a call begins. Returns the number of the last output if the call repeats its command at once: after a
   * call of another tool, such as an edit, the output may be another one.
   */
  begin(key: string | null, messages: unknown): number | null {
    const last = this.#last;
    this.#last = null;
    if (last === null || last.key !== key) return null;
    const latest = latestCalls(messages);
    return latest === null || latest.includes(last.toolCallId) ? last.id : null;
  }

  /** Notes the view of a command. */
  end(key: string, view: View | null, toolCallId: string): void {
    this.#last = view === null || view.elided.length === 0 ? null : { key, id: view.id, toolCallId };
  }

  /** Remembers a result that a model reads. `read` returns its text. */
  remember(toolCallId: string, command: string, output: BashToolOutput, read: () => string): void {
    this.#forget(toolCallId);
    if (!('stdout' in output) || !('notes' in output) || output.status === 'backgrounded') return;
    const { stdout, stderr, truncation } = output;
    const characters = stdout.length + stderr.length;
    // Lines of a stream that was cut have other numbers than those of the result.
    const isWhole = truncation?.stdout == null && truncation?.stderr == null;
    if (characters < LEAST_CHARACTERS || characters > MOST_COMPARED || !isWhole) return;
    this.#results.set(toolCallId, { command, output, read, source: null });
    this.#characters += characters;
    for (const oldest of this.#results.keys()) {
      if (this.#results.size <= MOST_RESULTS && this.#characters <= MOST_CHARACTERS) break;
      this.#forget(oldest);
    }
  }

  /** Returns the results that are still in the messages with the same text, the latest last. */
  earlier(messages: unknown): Source[] {
    const sources: Source[] = [];
    let characters = 0;
    for (const [toolCallId, texts] of [...textsIn(messages)].reverse()) {
      const result = this.#results.get(toolCallId);
      if (result === undefined || !texts.includes(result.read())) continue;
      const source = this.#sourceOf(result);
      if (source === null) continue;
      characters += source.text.length;
      if (characters > MOST_COMPARED) break;
      sources.push(source);
    }
    return sources.reverse();
  }

  #sourceOf(result: Remembered): Source | null {
    const { command, output } = result;
    const own = output.view?.id ?? 0;
    // The model would recall it in vain.
    if (own > 0 && !keeperOf(this.#outputs).knows(own)) return null;
    result.source ??= {
      id: own > 0 ? own : keeperOf(this.#outputs).number(),
      command,
      isNumbered: own > 0,
      text: wholeText(output),
      hidden: hiddenLines(output),
    };
    return result.source;
  }

  #forget(toolCallId: string): void {
    const result = this.#results.get(toolCallId);
    if (result === undefined) return;
    this.#results.delete(toolCallId);
    this.#characters -= result.output.stdout.length + result.output.stderr.length;
  }
}

const memories = new WeakMap<OutputStore, Memory>();

/** Returns the memory of a store. */
export function memoryOf(outputs: OutputStore): Memory {
  const known = memories.get(outputs);
  if (known) return known;
  const memory = new Memory(outputs);
  memories.set(outputs, memory);
  return memory;
}

/** Remembers a result that a model reads, if its conversation is known. `read` returns the text. */
export function rememberResult(
  { reduce, [VIEWS]: place }: BashToolOptions & Viewed,
  { command }: BashToolInput,
  { toolCallId, messages }: BashToolExecutionOptions,
  output: BashToolOutput,
  read: () => string,
): void {
  if (command == null || place === undefined || levelOf(reduce) === 'off' || !Array.isArray(messages)) return;
  memoryOf(place.outputs).remember(toolCallId, command, output, read);
}
