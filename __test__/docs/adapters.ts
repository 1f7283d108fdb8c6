/** The names of the frameworks, by the adapters for them. */
export const FRAMEWORKS: Record<string, string> = {
  acp: 'Agent Client Protocol',
  'claude-agent-sdk': 'Claude Agent SDK',
  harness: 'harness of ai 7',
  langchain: 'LangChain and deepagents',
  mastra: 'Mastra',
  'openai-agents': 'OpenAI Agents',
  opencode: 'OpenCode',
  pi: 'pi',
};
