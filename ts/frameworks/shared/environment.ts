type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Returns what variables of a framework change, if most of them are those of the host: they are a copy of
 * `process.env`, though perhaps with less. Others are laid over as they are, so a secret that is named arrives.
 */
export function overHost(env: Variables): Record<string, string | null> {
  const entries = Object.entries(env);
  const changed = entries.filter(([name, value]) => value !== process.env[name]);
  const isCopy = entries.length - changed.length > Object.keys(process.env).length / 2;
  return Object.fromEntries((isCopy ? changed : entries).map(([name, value]) => [name, value ?? null]));
}

/**
 * Returns what a copy of `process.env` changes. Frameworks pass whole copies, and laying one over the inherited
 * variables would bring back the secrets that are withheld.
 */
export function changedEnvironment(env: Variables | undefined): Record<string, string | null> {
  if (env === undefined) return {};
  const names = new Set([...Object.keys(env), ...Object.keys(process.env)]);
  const changed = [...names].filter((name) => env[name] !== process.env[name]);
  return Object.fromEntries(changed.map((name) => [name, env[name] ?? null]));
}
