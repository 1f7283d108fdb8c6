import type { Field, WithTimeout } from '../shared/fields.ts';

/** A question to OpenCode. */
export interface Ask {
  permission: string;
  patterns: string[];
  always: string[];
  metadata: Record<string, unknown>;
}

/** The part of OpenCode's `ToolContext` that is used. */
export interface Context {
  directory: string;
  worktree: string;
  abort: AbortSignal;
  /** Not in the types of OpenCode, but there. */
  callID?: string;
  ask(question: Ask): Promise<void>;
  metadata(update: { title?: string; metadata?: Record<string, unknown> }): void;
}

/** The result of a tool. */
export interface Result {
  title: string;
  output: string;
  metadata: Record<string, unknown>;
}

/** The arguments of the tool in OpenCode. */
export interface Arguments extends WithTimeout {
  workdir?: string | undefined;
  description?: string | undefined;
}

/** `tool` of `@opencode-ai/plugin`. */
// biome-ignore lint/suspicious/noExplicitAny: a generic function, whose schema is all of zod
export type OpencodeTool = ((input: any) => any) & { schema: any };

/** A type of zod, as far as it is used. */
export interface Zod {
  optional(): Zod;
  int(): Zod;
  describe(text: string): Zod;
}

/** Returns the arguments with zod. */
export function argumentsOf(schema: Record<string, (of?: unknown) => Zod>, fields: Record<string, Field>) {
  const make = (kind: string, of?: unknown) => (schema[kind] as (of?: unknown) => Zod)(of);
  const texts = () => make('array', make('string')).optional();
  const typeOf = ({ type, enum: values }: Field): Zod => {
    if (values !== undefined) return make('enum', values);
    if (type === 'integer') return make('number').int();
    // The only object is the access that a model asks for.
    return type === 'object'
      ? make('object', { write: texts(), network: texts(), reason: make('string') })
      : make(type);
  };
  const optional = (field: Field) =>
    typeOf(field)
      .optional()
      .describe(field.description ?? '');
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, optional(field)]));
}

/** The functions of `tool.schema` that are called. */
export const OF_SCHEMA = ['string', 'number', 'boolean', 'enum', 'array', 'object'].map((kind) => `schema.${kind}`);
