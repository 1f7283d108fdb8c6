import { type BashToolOptions, createBashTool } from 'agent-bash/ai';

type JsonSchema = Record<string, unknown>;

/**
 * Returns an input schema for either SDK. The second major reads a Standard Schema with its JSON Schema; the first one
 * reads a zod 4 schema, through the interface that zod provides for libraries. Any input passes, because our own check
 * names the fault better, in an answer with a code.
 */
export function toolSchema(json: JsonSchema): object {
  // A new object each time, because consumers change it.
  const convert = () => structuredClone(json);
  return {
    '~standard': {
      version: 1,
      vendor: 'agent-bash',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: convert, output: convert },
    },
    _zod: {
      def: { type: 'object', shape: {} },
      run: <T>(payload: T) => payload,
      toJSONSchema: convert,
    },
  };
}

/**
 * Returns the input schema of the bash tool. Fields may be left out: only the strict modes of model providers require
 * all of them.
 */
export function bashSchema(options: BashToolOptions): JsonSchema {
  const { onAccess, undo, session, reduce, outputs, draft, commit } = options;
  const { inputSchema } = createBashTool({ onAccess, undo, session, reduce, outputs, draft, commit });
  const { required, additionalProperties, ...json } = inputSchema['~standard'].jsonSchema.input({ target: 'draft-07' });
  return json;
}
