#!/usr/bin/env node
// A host that draws the commands of its agent. See docs/terminals.md. `node examples/terminal/main.mjs top`
import { createBashTool } from 'agent-bash/ai';
import { Panel } from './panel.mjs';

const command = process.argv.slice(2).join(' ') || 'top';
const panel = new Panel(process.stdin, process.stdout);

// An agent would have this tool in its `tools`, and a model would choose the command.
const tool = createBashTool({
  mode: 'slow',
  terminal: { ...panel.size, onStart: (pty, input) => panel.show(pty, input.command) },
});

panel.open();
/** @type {import('agent-bash/ai').BashToolOutput | undefined} */
let output;
try {
  for await (output of tool.execute({ command }, { toolCallId: 'example' }));
} finally {
  panel.close();
}
if (output) console.log(tool.toModelOutput({ output }).value);
