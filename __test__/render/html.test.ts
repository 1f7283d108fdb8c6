import { bash } from 'agent-bash';
import { type RenderInput, type RenderOptions, renderHtml, renderText } from 'agent-bash/render';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ended } from './support.ts';

interface Element {
  name: string;
  classes: string[];
  children: (Element | string)[];
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
const TOKEN = /<(pre|span) class="([a-z\d -]+)">|<\/(pre|span)>|[^<>&"']+|&(?:amp|lt|gt|quot|#39);/y;

/** Reads HTML that has nothing but our two elements with classes, and the five entities; anything else is an error. */
function parsed(html: string): Element {
  const top: Element = { name: '', classes: [], children: [] };
  const open = [top];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < html.length; ) {
    const at = TOKEN.lastIndex;
    const token = TOKEN.exec(html);
    if (!token) throw new Error(`no markup of ours at ${at}: ${JSON.stringify(html.slice(at, at + 40))}`);
    const [text, name, classes = '', closed] = token;
    const inner = open.at(-1) as Element;
    if (name) {
      const element: Element = { name, classes: classes.split(' '), children: [] };
      inner.children.push(element);
      open.push(element);
    } else if (closed) {
      expect(inner.name).toBe(closed);
      open.pop();
    } else inner.children.push(ENTITIES[text] ?? text);
  }
  expect(open).toHaveLength(1);
  expect(top.children).toHaveLength(1);
  return top.children[0] as Element;
}

function content(element: Element): string {
  return element.children.map((child) => (typeof child === 'string' ? child : content(child))).join('');
}

const plain = (run: RenderInput, options: RenderOptions = {}) =>
  renderText(run, { ...options, colour: false, columns: Number.POSITIVE_INFINITY });

test('only our own elements, with the text of the plain form', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '<script>alert(1)</script>',
      '" onclick="x',
      "' style='x",
      '&lt;',
      '\u001b[31m',
      '\u001b[38;5;',
      '0m',
    ),
    fc.constantFrom('\n', '\r', '\t', '\b', '<!--', ']]>', '</pre>', '\u0000', '\ud800', 'javascript:x', 'http://x.y/'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const text = fc.array(piece, { maxLength: 30 }).map((all) => all.join(''));
  fc.assert(
    fc.property(text, text, text, fc.boolean(), (command, stdout, stderr, expanded) => {
      const run = { command, cwd: stderr, result: ended({ stdout, stderr, notes: [command] }) };
      const tree = parsed(renderHtml(run, { expanded }));
      expect(content(tree)).toBe(plain(run, { expanded }));
      for (const line of tree.children) {
        if (typeof line === 'string') expect(line).toBe('\n');
      }
    }),
    { numRuns: 1_000 },
  );
});

test('classes say what each line is, and how the run stands', async () => {
  const command = 'seq 30; echo no >&2; exit 2';
  const result = await bash(command);
  const tree = parsed(renderHtml({ command, cwd: '/', result }));
  expect(tree.classes).toEqual(['agent-bash', 'agent-bash-exited', 'agent-bash-bad', 'agent-bash-collapsed']);
  const lines = tree.children.filter((child): child is Element => typeof child !== 'string');
  expect(lines.map(({ classes }) => classes.join(' ').replace('agent-bash-', ''))).toEqual([
    'command',
    'cwd',
    'more',
    ...Array(19).fill('stdout'),
    'label',
    'stderr',
    'status',
  ]);
});

test.each([
  ['running open', { command: 'x', result: null }],
  ['not-run bad', { command: 'x', result: null, error: { message: 'm' } }],
  ['exited good', { command: 'x', result: ended() }],
  ['signaled bad', { command: 'x', result: ended({ status: 'signaled', signal: 'SIGKILL', exitCode: 137 }) }],
  ['timed-out bad', { command: 'x', result: ended({ status: 'timed-out', exitCode: 124 }) }],
  ['aborted bad', { command: 'x', result: ended({ status: 'aborted', exitCode: 130 }) }],
  ['backgrounded open', { command: 'x', result: ended({ status: 'backgrounded', exitCode: null }) }],
] as const)('%s', (names, run) => {
  const { classes } = parsed(renderHtml(run, { expanded: true }));
  expect(classes.slice(1, 3).map((name) => name.replace('agent-bash-', ''))).toEqual(names.split(' '));
  expect(classes[3]).toBe('agent-bash-expanded');
});

test('no link is made, and no attribute but class', () => {
  const stdout = 'see http://example.com/?a=1&b="2" <a href=x>';
  expect(renderHtml({ command: 'x', result: ended({ stdout }) })).toContain(
    '<span class="agent-bash-stdout">see http://example.com/?a=1&amp;b=&quot;2&quot; &lt;a href=x&gt;</span>',
  );
});
