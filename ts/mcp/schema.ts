import { createBashTool } from 'agent-bash/ai';

type JsonSchema = Record<string, unknown>;

/**
 * An input schema that either SDK takes: the second major reads a Standard Schema with its JSON Schema, the first one a schema
 * of zod 4, through what zod keeps for makers of libraries. Any input passes: our own check names what is wrong better, in an
 * answer that has a code.
 */
export function toolSchema(json: JsonSchema): object {
  // A new one each time, since consumers change it.
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

/** The input of the bash tool. Its fields may be left out here: only the strict modes of model providers want them all. */
export function bashSchema(): JsonSchema {
  const { required, additionalProperties, ...json } = createBashTool().inputSchema['~standard'].jsonSchema.input({
    target: 'draft-07',
  });
  return json;
}
