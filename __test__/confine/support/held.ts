import { test } from 'vitest';
import { skippedWithout } from '../../support/index.ts';

/** Whether this process does without namespaces: a listener holds all parts then. */
export const withoutNamespaces = process.env.AGENT_BASH_NAMESPACES === 'off';

/** A test of what only namespaces do, in the files that run in either way. */
export const namespacesTest = withoutNamespaces ? skippedWithout('namespaces, which this file does without') : test;

/** A test of what only a listener does, in the files that run in either way. */
export const listenerTest = withoutNamespaces ? test : skippedWithout('the listener, which this file does without');
