import type { BashTool, BashToolInput } from '../../tool/types.ts';

/** The schema of one field of an input. */
export interface Field {
  type: string;
  enum?: unknown[];
  description?: string;
}

/** An input of the tool with the limit as a framework has it. */
export type WithTimeout = BashToolInput & { timeout?: number | null | undefined };

/**
 * Returns the description of the tool and the fields of its input for frameworks that leave fields out instead of
 * sending `null`, and have the limit as `timeout`, in this unit, and the directory in a way of their own. `own` are
 * further fields.
 */
export function inFramework(
  { tool, schema }: { tool: BashTool; schema: Record<string, unknown> },
  unit: string,
  own: Record<string, Field> = {},
): { description: string; fields: Record<string, Field> } {
  const all = Object.entries(schema.properties as Record<string, Record<string, unknown>>);
  const { command, timeout_ms, cwd, ...others } = Object.fromEntries(all.map(([name, of]) => [name, optional(of)]));
  const timeout = { type: 'number', description: `Time limit in ${unit}.` };
  return {
    description: tool.description.replaceAll('timeout_ms', 'timeout'),
    fields: { command: command as Field, timeout, ...own, ...others },
  };
}

/** Returns the input of our tool. A limit in its own unit takes precedence over one in units of `unitMs`. */
export function inOurWords({ timeout, ...input }: WithTimeout, unitMs: number): BashToolInput {
  return timeout == null || input.timeout_ms != null ? input : { ...input, timeout_ms: timeout * unitMs };
}

function optional({ type, enum: values, ...rest }: Record<string, unknown>): Field {
  const without = (list: unknown) => (list as unknown[]).filter((one) => one !== 'null' && one !== null);
  return { ...rest, type: without(type)[0] as string, ...(values !== undefined && { enum: without(values) }) };
}
