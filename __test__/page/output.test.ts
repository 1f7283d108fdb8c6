import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folder, until } from '../support/index.ts';
import { named, opened } from './support.ts';

/** Output that may attack its reader. */
const HOSTILE: [name: string, bytes: Buffer | string, shown: RegExp][] = [
  ['escape sequences', '\u001b[2J\u001b[1;1H\u001b]0;title\u0007\u001b[31mred\u001b[0m\u001b[?1049h\u001bc', /red/],
  ['a link of a terminal', '\u001b]8;;javascript:alert(1)\u0007click\u001b]8;;\u0007', /click/],
  ['a write to the clipboard', '\u001b]52;c;ZXZpbA==\u0007after', /after/],
  ['HTML', '<img src=x onerror=alert(1)><script>alert(1)</script></pre><style>*{display:none}</style>', /<script>/],
  ['the end of a script and of a comment', '</script><!-- --> ]]> &lt;', /<\/script>/],
  ['an event of a stream', '\n\nevent: welcome\ndata: {"control":true}\n\nid: 1\n\n', /event: welcome/],
  ['other ends of lines', 'one\r\n\rtwo\u2028three\u2029four\u0085five', /three/],
  ['overrides of direction', 'txt.\u202egpj.exe\u202c \u2066x\u2069 \u200f', /gpj/],
  ['zero-width and combining characters', `a\u200b\u200d\ufeff${'\u0301'.repeat(1_000)}b`, /b/],
  ['NUL and other controls', 'a\0b\u0001c\u0008\u007f\u0085\u009f', /c/],
  ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf0, 0x9f, 0x62]), /a.*b/],
  ['prototype names', '{"__proto__":{"control":true},"constructor":1}', /__proto__/],
];

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const STYLES = /\u001b\[[\d;]*m/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be left
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u0080-\u009f]/;

describe.concurrent('hostile output', () => {
  test('arrives as text in JSON', async () => {
    const files = folder();
    for (const [at, [, bytes]] of HOSTILE.entries()) {
      writeFileSync(join(files, `hostile-${at}.`), Buffer.concat([Buffer.from(bytes), Buffer.from('\nthe end\n')]));
    }
    const { pages, tab, events } = await opened(false);
    pages.host(`
      for (let at = 0; at < ${HOSTILE.length}; at++) {
        bash('cat ${files}/hostile-' + at + '.; sleep 1000').catch(() => {});
      }`);
    for (const [at, [name, , shown]] of HOSTILE.entries()) {
      const run = await events.run(named(`hostile-${at}.`));
      await tab.follow(events, run.id);
      await until(() => events.text(run.id).endsWith('the end\n'), `all of it: ${name}`);
      const text = events.text(run.id);
      expect(text, name).toMatch(shown);
      // Of escape sequences, only those of styles are left.
      expect(text.replace(STYLES, ''), name).not.toMatch(CONTROLS);
    }
    // The stream has no other events, and no other fields, than those of the page.
    expect(new Set(events.all.map(({ name }) => name))).toEqual(new Set(['welcome', 'state', 'change', 'output']));
    expect(events.named('welcome')).toHaveLength(1);
    expect(events.all.map(({ id }) => id)).toEqual(
      events.all.map((_event, at) => `${events.welcome.stream}.${at + 1}`),
    );
  });

  test('a line of 1 MB arrives or is reported as a gap', async () => {
    const { pages, tab, events } = await opened(false);
    pages.host(
      `bash('head -c 1000000 /dev/zero | tr "\\\\0" x; echo; echo the end; sleep 1000', { spill: false }).catch(() => {});`,
    );
    const run = await events.run(named('zero'));
    await tab.follow(events, run.id);
    await until(() => events.text(run.id).endsWith('the end\n'), 'all of it');
    expect(events.text(run.id).length + events.gap(run.id)).toBe(1_000_009);
  });

  test('in a command and its actor is text', async () => {
    const words = HOSTILE.filter(([name]) => !name.startsWith('NUL') && !name.startsWith('invalid'));
    const { pages, tab, events } = await opened(false);
    pages.host(`
      for (const [at, word] of ${JSON.stringify(words.map(([, word]) => `${word}`))}.entries()) {
        const actor = { agent: word, session: word, user: word, toolCallId: word };
        bash(': marked-' + at + ". '" + word + "'" + '\\nsleep 1000', { actor, ledger: true }).catch(() => {});
      }`);
    for (const [at, [name]] of words.entries()) {
      const run = await events.run(named(`marked-${at}.`));
      expect(run.actor.agent, name).toEqual(expect.any(String));
      expect(run.tokens, name).toEqual(expect.any(Array));
    }
    const { json, headers, status } = await tab.get('/api/history');
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(json.entries).toHaveLength(words.length);
    expect(json.agents).toHaveLength(words.length);
    expect(new Set(events.all.map(({ name }) => name))).toEqual(new Set(['welcome', 'state', 'change']));
  });
});
