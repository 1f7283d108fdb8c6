/** The same where a listener holds all parts of a confinement. The variable is read at the first command. */
process.env.AGENT_BASH_NAMESPACES = 'off';
await import('../../../evidence/ways.test.ts');

export {};
