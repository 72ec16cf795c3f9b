import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { McpServer, PromptBlock } from '../agent.ts';

/** A block in ACP's form. Its annotation marks text from the service, not from the user. */
export function toContent(block: PromptBlock): object {
  if (block.type === 'link') {
    const { uri, name, mimeType } = block;
    return { type: 'resource_link', uri, name, ...(mimeType === null ? {} : { mimeType }) };
  }
  const { type, text, isPreface } = block;
  return isPreface === true ? { type, text, annotations: { audience: ['assistant'] } } : { type, text };
}

/** A server in ACP's form. */
export function toServer({ name, command, args, env }: McpServer): object {
  return { name, command, args: [...args], env: Object.entries(env).map(([key, value]) => ({ name: key, value })) };
}

/** Returns true for an update that carries text of a message or a thought. */
export function isTextChunk({ sessionUpdate }: SessionUpdate): boolean {
  return sessionUpdate === 'agent_message_chunk' || sessionUpdate === 'agent_thought_chunk';
}
