// Two long sessions of the coding agent pi, fixtures of its own tests.

export const repository = 'badlogic/pi-mono';
export const licence = 'MIT';
export const what = 'two sessions of the agent pi';

const END = /\n*Command exited with code (\d+)\s*$/;

export function* records({ files, read }) {
  for (const path of files(/^packages\/coding-agent\/test\/fixtures\/[^/]*\.jsonl$/)) {
    const commands = new Map();
    for (const line of read(path).split('\n')) {
      const { message } = line === '' ? {} : JSON.parse(line);
      if (!Array.isArray(message?.content)) continue;
      for (const part of message.content) {
        if (part.type === 'toolCall' && part.name === 'bash') commands.set(part.id, part.arguments.command);
      }
      if (message.role !== 'toolResult' || !commands.has(message.toolCallId)) continue;
      const text = message.content.map((part) => part.text ?? '').join('');
      const exitCode = Number(END.exec(text)?.[1] ?? (message.isError ? 1 : 0));
      const output = text.replace(END, '');
      if (output === '' || output === '(no output)') continue;
      yield { session: path, command: commands.get(message.toolCallId), exitCode, output };
    }
  }
}
