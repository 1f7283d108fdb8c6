import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { analyze, type SafetyRule, safetyRules } from 'agent-bash';
import { describe, expect, test } from 'vitest';
import { page, source, spans, table, wrapped } from './examples.ts';

const NAME = 'safety-rules.md';
const place = /(<!-- rules: [^\n]* -->\n\n)(.*?)(\n*<!-- end -->)/s;
const rules = safetyRules();

/** A command as a code span, with any content. */
function code(command: string): string {
  const fence = command.includes('`') ? '``' : '`';
  const room = /^`|`$/.test(command) ? ' ' : '';
  return `${fence}${room}${command}${room}${fence}`;
}

/** The first commands that are short. */
function short(commands: readonly string[], count: number): string {
  const fitting = commands.filter((command) => command.length <= 40 && !command.includes('\n'));
  return (fitting.length > 0 ? fitting : commands).slice(0, count).map(code).join(', ');
}

function item({ id, doc, matches, passes }: SafetyRule): string {
  return wrapped(`- **\`${id}\`**: ${doc} (${short(matches, 2)}, not ${short(passes, 1)})`, '  ');
}

const levels = [...new Set(rules.map(({ level }) => level))];
const expected = levels
  .flatMap((level) => {
    const items = rules.filter((rule) => rule.level === level).map(item);
    return [`## Rules that ${level}`, items.join('\n')];
  })
  .join('\n\n');

// After a change of the rules: UPDATE_DOCS=1 npm test -- docs/safety
if (process.env.UPDATE_DOCS === '1') {
  const text = (await page(NAME)).replace(place, (_, start) => `${start}${expected}\n\n<!-- end -->`);
  await writeFile(join(import.meta.dirname, '../../docs', NAME), text);
}

test('the page has every rule as its file has it', async () => {
  expect(rules.length).toBeGreaterThan(20);
  expect(place.exec(await page(NAME))?.[2]).toBe(expected);
});

describe.each(rules)('$id', ({ id, matches, passes }) => {
  // As the page says; HOME is the only variable that the examples may use.
  const found = (command: string) =>
    analyze(command, { cwd: '/home/dev/project', home: '/home/dev', env: { HOME: '/home/dev' } }).findings.some(
      ({ ruleId }) => ruleId === id,
    );

  test('is found where the page says so, and only there', () => {
    expect(matches.filter((command) => !found(command))).toEqual([]);
    expect(passes.filter(found)).toEqual([]);
  });
});

test('the tables have every field and every option', async () => {
  const text = await page('safety.md');
  const analysis = analyze("bash -c 'git clean -f'");
  const rows = table(text, '`analyze`');
  expect(rows.flatMap(([cell = '']) => spans(cell))).toEqual(Object.keys(analysis));
  const named = (field: string) => spans(rows.find(([cell]) => cell === `\`${field}\``)?.[1] ?? '');
  expect(named('findings').sort()).toEqual(Object.keys(analysis.findings[0] ?? {}).sort());
  expect(named('commands').sort()).toEqual(Object.keys(analysis.commands[0] ?? {}).sort());
  const declared = async (name: string, file: string) => {
    const block = new RegExp(`export interface ${name} .*?\\{\n(.*?)^\\}`, 'ms').exec(await source(file))?.[1] ?? '';
    return [...block.matchAll(/^ {2}(\w+)\?:/gm)].map(([, field]) => field);
  };
  const safety = table(text, 'Options').flatMap(([cell = '']) => spans(cell));
  expect(safety).toEqual(await declared('SafetyOptions', 'ts/safety/types.ts'));
  const approval = table(text, 'Approval').flatMap(([cell = '']) => spans(cell));
  const own = (await declared('ApprovalOptions', 'ts/ai/types.ts')).filter((name) => name !== 'onAsk');
  expect(approval.sort()).toEqual(
    [...own, ...(await declared('AnalyzeOptions', 'ts/safety/types.ts')), 'rules', 'wrappers'].sort(),
  );
});
