/** The contract where a listener holds all parts. The variable is read at the first command. */
process.env.AGENT_BASH_NAMESPACES = 'off';
await import('./files.test.ts');
await import('./protection.test.ts');
await import('./git.test.ts');
await import('./places.test.ts');
await import('./tasks.test.ts');
await import('./processes.test.ts');
await import('./network.test.ts');
await import('./ports.test.ts');

export {};
