/** Terminals, permission requests and a command runner of the Agent Client Protocol. Its SDK is not imported. */

export type { CommandFinished, CommandRunner, RunParams } from '../../sandbox/types.ts';
export type { Answer, Approval, OnAsk, Question, Run } from '../shared/types.ts';
export { experimental_acpAgentTerminals } from './agent-terminals.ts';
export type { AcpAgentSession, AcpAgentTerminals } from './agent-types.ts';
export { type AcpAnswer, acpAsk } from './ask.ts';
export { type AcpRunnerOptions, acpRunner } from './runner.ts';
export { type AcpTerminals, acpTerminals } from './terminals.ts';
