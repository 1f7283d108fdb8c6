/** Options with others laid over them; what is no plain object stays, for the real one to refuse. */
export function laidOver(options, others) {
  if (options === undefined) return others;
  return typeof options === 'object' && options !== null && !Array.isArray(options)
    ? { ...options, ...others }
    : options;
}
