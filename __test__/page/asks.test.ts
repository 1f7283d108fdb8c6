import { expect, test } from 'vitest';
import { until } from '../support/index.ts';
import { opened } from './support.ts';

test('a page that is open answers what a host asks as soon as it has started', async () => {
  const { pages, tab, events } = await opened();
  const host = pages.host(`
    import { createBashTool, createToolApproval } from 'agent-bash/ai';
    const approval = createToolApproval({ tool: createBashTool({ actor: { agent: 'scout' } }), page: true });
    const status = await approval({ command: 'git clean -fd' }, { toolCallId: 'call-1' });
    console.log('STATUS ' + JSON.stringify(status));
    setInterval(() => {}, 1_000);`);
  const [ask] = await until(() => events.view.asks.size > 0 && [...events.view.asks.values()], 'a question');
  await tab.post('/api/answer', { ask: ask.id, approved: false, reason: 'Keep it.' });
  await host.says(/STATUS \{"type":"denied","reason":"Keep it\."/);
});
