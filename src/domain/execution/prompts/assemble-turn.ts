import { posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { PromptBlock } from '../../../agents/agent.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import type { Context } from '../../context.ts';
import { expandMacros } from '../../library/expand-macros.ts';
import { readReview } from '../../session-reviews/reviews.ts';
import type { LaunchPlan } from '../runs/launch.ts';
import type { InboxMessage } from '../runs/turns.ts';
import { attachmentsOfTurn } from './attachments.ts';
import { listSessionNotes } from './knowledge.ts';
import { knowledgeText } from './knowledge-text.ts';
import { preambleOf } from './preamble.ts';
import { repositoryInstructions } from './repository-instructions.ts';
import { reviewText } from './review-text.ts';
import { readSessionFacts, type SessionFacts } from './session-facts.ts';
import {
  createSessionDirectory,
  type FilePaths,
  writeAttachments,
  writeNotes,
  writeSecretFiles,
} from './session-files.ts';

/** The input of a turn. */
export interface TurnInput {
  readonly sessionId: string;
  readonly plan: LaunchPlan;
  /** The user's messages, in order; at least one. */
  readonly messages: readonly Pick<InboxMessage, 'body'>[];
  /** True if the agent's own session is new: then the prompt contains all instructions. */
  readonly isFirst: boolean;
  /** The agent runs in it. */
  readonly sandbox: Sandbox;
  /** The names of the agent's reporting tools; empty: none. */
  readonly tools: readonly string[];
}

/**
 * Writes the files of a turn into the workspace and assembles its prompt (docs/agents.md#what-an-agent-receives): a preface
 * of everything that is not the user's own, then the user's text unchanged.
 */
export async function assembleTurn(context: Context, input: TurnInput): Promise<PromptBlock[]> {
  const facts = await readSessionFacts(context, input.sessionId);
  await createSessionDirectory(input.sandbox.files);
  // Written in every turn: an agent that resumes its session finds none, because they are deleted when its process
  // ends.
  const secretFiles = await writeSecretFiles(input.sandbox.files, input.plan.secretFiles);
  const texts = input.messages.map(({ body }) => body);
  const macros = await expandMacros(context, facts, texts);
  const called = macros.map(
    ({ macro, kind, title, body }) => `The user's ${macro} is the ${kind} "${title}":\n\n${body}`,
  );
  const [preamble, instructions, review, playbook, ...rest] = input.isFirst
    ? await introduction(context, input, facts, secretFiles)
    : [];
  return [
    ...[preamble, instructions, review, playbook, ...called, ...rest].filter((text) => text != null).map(preface),
    ...(await attachmentBlocks(context, input)),
    ...texts.map((text): PromptBlock => ({ type: 'text', text })),
  ];
}

function preface(text: string): PromptBlock {
  return { type: 'text', text, isPreface: true };
}

async function introduction(
  context: Context,
  input: TurnInput,
  facts: SessionFacts,
  secretFiles: FilePaths,
): Promise<(string | null)[]> {
  const { plan, sandbox, tools, messages } = input;
  const notes = await listSessionNotes(context, facts);
  const files = await writeNotes(context, sandbox.files, facts, notes);
  const userText = messages.map(({ body }) => body).join('\n');
  const review = await readReview(context.store, input.sessionId);
  const { playbook, structuredOutputSchema } = facts;
  return [
    preambleOf({ workspace: sandbox.paths.workspace, tools, plan, secretFiles }),
    review ? null : await repositoryInstructions({ profile: plan.profile, plan, files: sandbox.files }),
    review && reviewText(review, tools.includes('submit_review')),
    playbook && `# Playbook: ${playbook.title}\n\nWork by this playbook.\n\n${playbook.body}`,
    await knowledgeText(context, { facts, notes, files, userText, hasTool: tools.includes('read_knowledge') }),
    structuredOutputSchema && schemaText(structuredOutputSchema, tools.includes('set_structured_output')),
  ];
}

function schemaText(schema: object, hasTool: boolean): string {
  const how = hasTool
    ? 'Give it by calling `set_structured_output`, again whenever it has changed, and at the latest before your turn ends.'
    : 'End your last message with it, as one JSON object in a ```json block.';
  return `# Structured output\n\nBeside what you say, the user wants a JSON object that is valid by this JSON Schema (Draft 7). ${how}\n\n\`\`\`json\n${JSON.stringify(schema)}\n\`\`\``;
}

// Files that the agent may open, and links to them for agents that read links themselves.
async function attachmentBlocks(context: Context, { sessionId, sandbox, messages }: TurnInput): Promise<PromptBlock[]> {
  const attachments = await attachmentsOfTurn(context, sessionId, messages);
  const filePaths = await writeAttachments(context, sandbox.files, attachments);
  const files = attachments.flatMap((attachment) => {
    const path = filePaths.get(attachment.id);
    return path === undefined ? [] : [{ ...attachment, path }];
  });
  if (files.length === 0) return [];
  const lines = files.map(({ path, contentType, sizeBytes }) => `- \`${path}\` (${contentType}, ${sizeBytes} bytes)`);
  return [
    preface(`The user attached these files, which are in your workspace:\n\n${lines.join('\n')}`),
    ...files.map(
      ({ path, name, contentType }): PromptBlock => ({
        type: 'link',
        uri: pathToFileURL(posix.join(sandbox.paths.workspace, path)).href,
        name,
        mimeType: contentType,
      }),
    ),
  ];
}
