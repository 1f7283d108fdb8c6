/** The schema of one field of an input. */
export interface Field {
  type: string;
  enum?: unknown[];
  description?: string;
}

/**
 * Returns the fields of the tool's input for frameworks that leave fields out instead of sending `null`, without those
 * that the framework has under a name of its own. `schema` is the JSON Schema of the tool.
 */
export function fieldsOf({ properties }: Record<string, unknown>, without: readonly string[]): Record<string, Field> {
  const fields = Object.entries(properties as Record<string, Record<string, unknown>>);
  return Object.fromEntries(
    fields.filter(([name]) => !without.includes(name)).map(([name, of]) => [name, optional(of)]),
  );
}

function optional({ type, enum: values, ...rest }: Record<string, unknown>): Field {
  const without = (list: unknown) => (list as unknown[]).filter((one) => one !== 'null' && one !== null);
  return { ...rest, type: without(type)[0] as string, ...(values !== undefined && { enum: without(values) }) };
}
