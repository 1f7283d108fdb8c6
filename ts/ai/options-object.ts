import { BashError } from 'agent-bash';

/** Throws `ERR_BASH_INVALID_ARG` for options that are no object: a path or a list of rules in their place would count for nothing. */
export function checkIsObject(options: unknown): void {
  if (typeof options === 'object' && options !== null && !Array.isArray(options)) return;
  const given = Array.isArray(options)
    ? 'an array'
    : typeof options === 'string'
      ? JSON.stringify(options)
      : String(options);
  throw new BashError('ERR_BASH_INVALID_ARG', `options: ${given} is not an object`);
}
