import type { ConfineOptions } from 'agent-bash';

/** Whether this process does without namespaces: a listener holds the files then. */
export const withoutNamespaces = process.env.AGENT_BASH_NAMESPACES === 'off';

/** The parts that have to hold: all, or those that a listener holds. */
export const required: ConfineOptions = withoutNamespaces ? { require: ['files', 'processes', 'syscalls'] } : {};
