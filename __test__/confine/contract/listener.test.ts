/** The contract of files and processes, where a listener holds them. The variable is read at the first command. */
process.env.AGENT_BASH_NAMESPACES = 'off';
await import('./files.test.ts');
await import('./protection.test.ts');
await import('./git.test.ts');
await import('./places.test.ts');
await import('./tasks.test.ts');
await import('./processes.test.ts');

export {};
