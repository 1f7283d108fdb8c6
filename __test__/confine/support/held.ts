/** Whether this process does without namespaces: a listener holds all parts then. */
export const withoutNamespaces = process.env.AGENT_BASH_NAMESPACES === 'off';
