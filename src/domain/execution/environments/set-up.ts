import { posix } from 'node:path';
import {
  extended,
  isLong,
  lastCharacters,
  maxRetainedCharacters,
  type ToolOutput,
  toLongOutput,
} from '../../../agents/acp/tool-output.ts';
import type { AgentProfile } from '../../../agents/agent.ts';
import type { Sandbox } from '../../../agents/sandbox/driver.ts';
import { storable } from '../../../common/plain-text.ts';
import type { Context } from '../../context.ts';
import { newId } from '../../ids.ts';
import type { NewEntry } from '../../sessions/log.ts';
import type { CheckpointRecorder } from '../checkpoints/checkpoint-recorder.ts';
import type { DraftSender } from '../drafts/draft-sender.ts';
import { createSessionDirectory } from '../prompts/session-files.ts';
import { appendRepositoryEntry } from '../repositories/repository-log.ts';
import type { ClaimedRun } from '../runs/claims.ts';
import type { Mask } from '../runs/masking.ts';
import type { Recorder } from '../runs/recorder.ts';
import type { BuildLog } from './build-log.ts';
import { doneNotice, failedNotice, failureReason, problemsNotice, warningNotice } from './environment-log.ts';
import type { RecordedEnvironment } from './environment-record.ts';
import { writeEnvironmentRecord } from './environment-record.ts';
import { commandVariables, type SetUpSecrets } from './environment-variables.ts';
import type { BegunBuild } from './requested-builds.ts';
import { runCommand } from './run-command.ts';
import type { RepositoryEnvironment, RunEnvironment } from './run-environment.ts';
import { readLogEnd, type StartedCommand, startCommand } from './start-commands.ts';
import { type SetUpResult, storeResult } from './store-result.ts';

/** The parts of a run that its environments use. */
export interface SetUpParts {
  readonly organizationId: string;
  readonly profile: AgentProfile;
  readonly sandbox: Sandbox;
  readonly mask: Mask;
  readonly recorder: Recorder;
  readonly drafts: DraftSender;
  readonly checkpoints: CheckpointRecorder;
  readonly environment: RunEnvironment;
  readonly secrets: SetUpSecrets;
  /** Variables for the git of a process with these variables. */
  gitVariables(base: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
  /** Aborts when the run ends. */
  readonly signal: AbortSignal;
  /** The build for which the session exists; missing: it has an agent. */
  readonly begun?: BegunBuild & Pick<BuildLog, 'show'>;
}

/**
 * Runs the set-ups that the workspace lacks, stores the result for later sessions, and then runs the start commands. Their output is in the
 * log, as that of tools. A failure is a notice for the user and the agent, and no error. A build runs no start commands. Returns the start commands that run, which the
 * caller stops. Throws FencedError, and rejects when the run ends.
 */
export async function prepareEnvironment(
  context: Context,
  run: ClaimedRun,
  parts: SetUpParts,
): Promise<readonly StartedCommand[]> {
  const { environment, secrets } = parts;
  const append = (entry: NewEntry) => appendRepositoryEntry(context, run, masked(entry, parts.mask));
  for (const { row, problems } of environment.problems) await append(problemsNotice(row, problems));
  if (environment.environments.some(({ outcome }) => outcome === null))
    for (const warning of secrets.warnings) await append(warningNotice(warning));
  const clones: Record<string, RecordedEnvironment> = { ...environment.recorded };
  for (const each of environment.environments) {
    const { row, definition, hash, isStored } = each;
    const setUp = async () => {
      const result = await runSetUp(run, parts, each, append);
      clones[row.directory] = { hash, outcome: result.outcome, definition, isStored };
      await storeResult(context, run, parts, {
        each,
        result,
        clones,
        isOnly: environment.environments.length === 1,
        append,
      });
      return result.outcome;
    };
    const outcome = each.outcome ?? (await setUp());
    clones[row.directory] = { hash, outcome, definition, isStored };
    if (outcome === 'DONE' && (each.outcome === null || each.isReused))
      await append(doneNotice(row, definition.setup, each.isReused));
    await writeEnvironmentRecord(parts.sandbox.files, { clones });
  }
  return parts.begun === undefined ? startAll(run, parts, append) : [];
}

type Append = (entry: NewEntry) => Promise<void>;

async function runSetUp(
  run: ClaimedRun,
  parts: SetUpParts,
  each: RepositoryEnvironment,
  append: Append,
): Promise<SetUpResult> {
  const { sandbox, profile, mask, secrets, gitVariables, drafts, recorder, signal, begun } = parts;
  const { row, definition } = each;
  const base = { ...commandVariables(each, profile), ...secrets.env.get(row.position) };
  const env = { ...base, ...gitVariables(base) };
  const endsAt = performance.now() + definition.timeoutMinutes * 60_000;
  const directory = posix.join(sandbox.paths.workspace, row.directory);
  let log = '';
  for (const [index, command] of definition.setup.entries()) {
    const call = callOf('Set-up', `setup-${run.generation}-${row.position}-${index + 1}`, command);
    const draftId = newId();
    await recorder.record({ ...call, status: 'in_progress', output: null, draftId });
    const grow = (output: ToolOutput) => {
      const { start, characters } = output;
      if (start.length === characters)
        drafts.grow({ draftId, kind: 'tool_output', toolCallId: call.toolCallId, text: start });
      begun?.show(log, command, output);
    };
    const timeoutMs = Math.max(1, endsAt - performance.now());
    const end = await runCommand(sandbox, { command, directory, env, timeoutMs, signal, onOutput: grow });
    const reason = failureReason(end, definition.timeoutMinutes);
    const output =
      reason === null ? end.output : extended(end.output, reasonAfter(end.output, reason), maxRetainedCharacters);
    await recorder.record({
      ...call,
      status: reason === null ? 'completed' : 'failed',
      output: lastCharacters(output),
      ...(isLong(output) && { long: toLongOutput(output, true) }),
      draftId,
    });
    signal.throwIfAborted();
    log += `$ ${mask(command)}\n${mask(lastCharacters(output), true)}\n`;
    if (reason === null) continue;
    await append(
      failedNotice(row, { command, isStart: false }, { reason, output: mask(lastCharacters(end.output), true) }),
    );
    return { outcome: 'FAILED', log };
  }
  return { outcome: 'DONE', log };
}

/** Maximum number of characters of the title of a command in the log. */
const maxTitle = 300;

function callOf(what: string, toolCallId: string, command: string) {
  const [line = ''] = command.trim().split('\n', 1);
  const title = `${what}: ${storable(line).slice(0, maxTitle)}`;
  return { type: 'toolCall', toolCallId, title, toolKind: 'execute', locations: [], diffs: [] } as const;
}

function reasonAfter(output: ToolOutput, reason: string): string {
  return `${lastCharacters(output).endsWith('\n') || output.characters === 0 ? '' : '\n'}The command ${reason}.`;
}

function withReason(output: string, reason: string | null): string {
  if (reason === null) return output;
  return `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}The command ${reason}.`;
}

async function startAll(run: ClaimedRun, parts: SetUpParts, append: Append): Promise<StartedCommand[]> {
  const { sandbox, profile, environment, mask, recorder, gitVariables, signal } = parts;
  const started: StartedCommand[] = [];
  try {
    for (const each of environment.environments) {
      const { row, definition } = each;
      if (definition.start.length > 0) await createSessionDirectory(sandbox.files);
      const base = commandVariables(each, profile);
      const env = { ...base, ...gitVariables(base) };
      const directory = posix.join(sandbox.paths.workspace, row.directory);
      for (const [index, command] of definition.start.entries()) {
        const name = `${row.position + 1}-${index + 1}`;
        const call = callOf('Start', `start-${run.generation}-${name}`, command);
        await recorder.record({ ...call, status: 'in_progress', output: null });
        const running = await startCommand(sandbox, { command, directory, env, name });
        started.push(running);
        signal.throwIfAborted();
        const { code, logPath } = running;
        const output = storable(await readLogEnd(sandbox, logPath, lastBytes));
        const reason = code === null || code === 0 ? null : `ended with the exit code ${code}`;
        const shown =
          code === null ? `${output}\nThe command continues in the background. Its output is in ${logPath}.` : output;
        await recorder.record({
          ...call,
          status: reason === null ? 'completed' : 'failed',
          output: withReason(shown, reason),
        });
        if (reason !== null)
          await append(failedNotice(row, { command, isStart: true }, { reason, output: mask(output, true) }));
      }
    }
    return started;
  } catch (error) {
    for (const { stop } of started) await stop();
    throw error;
  }
}

/** The most of the output of a start command that the log has, in bytes. */
const lastBytes = 12_000;

function masked(entry: NewEntry, mask: Mask): NewEntry {
  const { body, data } = entry;
  const agentNote = data?.agentNote;
  return {
    ...entry,
    ...(body !== undefined && { body: mask(body) }),
    ...(typeof agentNote === 'string' && { data: { ...data, agentNote: mask(agentNote, true) } }),
  };
}
