import type { Read } from './read.ts';

/** Returns the Standard Schema of the inputs that `read` accepts. `json` makes a new JSON Schema each time. */
export function standardSchema<T>(read: (value: unknown) => Read<T>, json: () => Record<string, unknown>) {
  const convert = ({ target }: { readonly target: string }) => {
    // Nullable types are type lists, which OpenAPI 3.0 lacks.
    if (!target.startsWith('draft-')) throw new Error(`agent-bash gives JSON Schema drafts, not ${target}`);
    return json();
  };
  return {
    '~standard': {
      version: 1,
      vendor: 'agent-bash',
      validate: read,
      jsonSchema: { input: convert, output: convert },
    },
  } as const;
}
