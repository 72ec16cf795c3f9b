import { posix } from 'node:path';
import { z } from 'zod';
import type { ToolAnswer } from '../../../agents/reporting/serve-tools.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { refuse } from '../../../common/errors.ts';
import { nestsDeeper } from '../../../common/json-depth.ts';
import type { Context } from '../../context.ts';
import { parseInput, text } from '../../input.ts';
import { readSecrets } from '../../library/secrets/secrets.ts';
import { totpCode } from '../../library/secrets/totp-code.ts';
import { attachmentPath } from '../../sessions/attachments/links.ts';
import { storeAgentFile } from '../../sessions/attachments/store-agent-file.ts';
import { appendEntries } from '../../sessions/log.ts';
import { sessionUrl } from '../../sessions/session.ts';
import { startChild } from '../../sessions/start-child.ts';
import { findSessionNote } from '../prompts/knowledge.ts';
import { readSessionFacts } from '../prompts/session-facts.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { LaunchPlan } from '../runs/launch.ts';
import type { Mask } from '../runs/masking.ts';
import { checkOutput } from '../structured-output/check-output.ts';
import { askUser } from './ask-user.ts';
import { openTool, readTool, replyTool, reviewTool, updateTool } from './pull-request-tools.ts';
import { cleanPullRequestUrl, recordPullRequest } from './pull-requests.ts';
import { briefProblems, type OutputState } from './settle-output.ts';
import { storeOutput } from './store-output.ts';
import type { ToolName } from './tool-list.ts';

/** The state that the tools of one run work on. */
export interface ToolContext {
  readonly context: Context;
  readonly run: ClaimedRun;
  readonly plan: Pick<LaunchPlan, 'organizationId' | 'totpKeys'> & { readonly sandbox: Sandbox };
  readonly mask: Mask;
  readonly output: OutputState;
  /** The end of the turn, as far as the agent has reported it. */
  readonly turn: { isWaiting: boolean; questionId: string | null; isFinished: boolean };
  /** The number of child sessions started in this turn, by their input. */
  readonly started: Map<string, number>;
}

type Call = (toolContext: ToolContext, args: Readonly<Record<string, unknown>>) => Promise<string | ToolAnswer>;

const longText = (name: string) => text(name, { min: 1, max: 100_000 });
const question = z.object({
  question: longText('question'),
  options: z
    .array(text('options', { min: 1, max: 1_000 }))
    .max(20, '"options" must have at most 20 items.')
    .nullish(),
});
const summary = z.object({ summary: text('summary', { max: 100_000 }).nullish() });
const note = z.object({ id: text('id', { min: 1, max: 1_000 }) });
const file = z.object({
  path: text('path', { min: 1, max: 4_096 }),
  name: text('name', { min: 1, max: 1_000 }).nullish(),
});
const pullRequest = z.object({
  url: text('url', { min: 1, max: 2_000 }),
  state: z.enum(['open', 'closed', 'merged'], '"state" must be "open", "closed" or "merged".').nullish(),
});
const seed = z.object({ name: text('name', { min: 1, max: 1_000 }) });
const child = z.object({
  prompt: z.string({ error: '"prompt" must be a string.' }),
  title: z.string().nullish(),
  'playbook_id': z.string().nullish(),
  agent: z.string().nullish(),
  'max_acu_limit': z.int({ error: '"max_acu_limit" must be an integer.' }).nullish(),
  repositories: z.array(z.string(), { error: '"repositories" must be a list of texts.' }).nullish(),
});

/**
 * The implementation of each tool. They throw DomainError with a message for the agent; FencedError if the run is lost.
 */
export const toolCalls = {
  'set_structured_output': async ({ context, run, output, mask }, args) => {
    const newOutput = parseOutput(args);
    const validation = await checkOutput(output.schema, newOutput);
    const problems = briefProblems(validation.problems, mask);
    output.isSchemaInvalid ||= validation.isSchemaInvalid;
    if (problems.length > 0) {
      output.lastProblems = problems;
      return { text: `The output does not fit: ${problems.join('; ')}. Nothing was set.`, isError: true };
    }
    await storeOutput(context, run, newOutput, mask);
    output.isThere = true;
    output.isFromTool = true;
    return 'The structured output is set.';
  },
  'ask_user': async ({ context, run, turn, mask }, args) => {
    const questionInput = parseInput(question, args);
    turn.questionId = await askUser(context, run, {
      question: mask(questionInput.question),
      options: (questionInput.options ?? []).map((each) => mask(each)),
    });
    turn.isWaiting = true;
    turn.isFinished = false;
    return 'The question is with the user. End your turn now; the answer is the next message that you get.';
  },
  'finish_session': async ({ context, run, turn, mask }, args) => {
    const { summary: summaryText } = parseInput(summary, args);
    if (summaryText) {
      const entry = { kind: 'MESSAGE', messageType: 'agent_message', body: mask(summaryText) } as const;
      await appendEntries(context.store, run.sessionId, run.generation, [entry], context.now());
      context.notifier.notify(`session:${run.sessionId}`);
    }
    turn.isFinished = true;
    turn.isWaiting = false;
    return 'Noted. End your turn now.';
  },
  'read_knowledge': async ({ context, run }, args) => {
    const { id } = parseInput(note, args);
    const found = await findSessionNote(context, await readSessionFacts(context, run.sessionId), id);
    if (!found) throw refuse(['id'], `"id" must be the id or the name of a note, but there is none of ${quoted(id)}.`);
    return `# ${found.name}\n\n${found.body}`;
  },
  'upload_attachment': async ({ context, run, plan, mask }, args) => {
    const { path, name } = parseInput(file, args);
    const { organizationId, sandbox } = plan;
    const relative = posix.isAbsolute(path) ? posix.relative(sandbox.paths.workspace, path) : path;
    const attachmentName = mask(name ?? posix.basename(path));
    const attachment = await storeAgentFile(context, run, {
      organizationId,
      workspace: sandbox.files,
      path: relative,
      name: attachmentName,
    });
    return `The user has it as ${quoted(attachment.name)}: ${context.baseUrl}${attachmentPath(attachment)}`;
  },
  'report_pull_request': async ({ context, run, mask }, args) => {
    const { url, state } = parseInput(pullRequest, args);
    const clean = cleanPullRequestUrl(url);
    if (clean === null) {
      throw refuse(['url'], `"url" must be the address of a pull request, but was ${quoted(url)}.`);
    }
    const isNew = await recordPullRequest(context, run, { url: mask(clean), state: state ?? 'open' });
    return isNew ? `${clean} is noted as ${state ?? 'open'}.` : 'That was known already.';
  },
  'open_pull_request': openTool,
  'update_pull_request': updateTool,
  'read_pull_request': readTool,
  'reply_to_comment': replyTool,
  'submit_review': reviewTool,
  'totp_code': async ({ context, run, plan }, args) => {
    const { name } = parseInput(seed, args);
    const [found] = plan.totpKeys.includes(name) ? await seedsOf(context, run, plan.organizationId, name) : [];
    if (!found) throw refuse(['name'], `"name" must be one of ${plan.totpKeys.join(', ')}, but was ${quoted(name)}.`);
    const { code, secondsLeft } = totpCode(found.value, context.now());
    return `${code} (good for ${secondsLeft} more seconds)`;
  },
  'start_session': async ({ context, run, mask, started }, args) => {
    const input = parseInput(child, args);
    const childInput = {
      prompt: mask(input.prompt),
      title: input.title == null ? undefined : mask(input.title),
      playbookId: input.playbook_id ?? undefined,
      agent: input.agent ?? undefined,
      maxAcuLimit: input.max_acu_limit ?? undefined,
      repositories: input.repositories?.map((repository) => ({ repository })),
    };
    const same = JSON.stringify(childInput);
    const earlier = started.get(same) ?? 0;
    const session = await startChild(context, run, childInput, earlier);
    started.set(same, earlier + 1);
    return `The session ${session.id} has started: ${sessionUrl(context, session.id)}`;
  },
} as const satisfies Record<ToolName, Call>;

const quoted = (value: string) => JSON.stringify(value.slice(0, 200));

// Models write the object as text, or pass its fields as the call's own arguments: both are accepted.
function parseOutput(args: Readonly<Record<string, unknown>>): unknown {
  if (!Object.hasOwn(args, 'output')) return Object.keys(args).length > 0 ? args : undefined;
  const { output } = args;
  if (typeof output !== 'string' || nestsDeeper(output)) return output;
  try {
    return JSON.parse(output);
  } catch {
    return output;
  }
}

async function seedsOf(context: Context, run: ClaimedRun, organizationId: string, name: string) {
  const [row] = await context.store.query<{ secretIds: string[] | null }>(
    'select s.secret_ids as "secretIds" from session s where s.id = $1',
    [run.sessionId],
  );
  const secrets = await readSecrets(context, organizationId, row?.secretIds ?? null);
  return secrets.filter(({ key, type }) => type === 'totp' && key === name);
}
