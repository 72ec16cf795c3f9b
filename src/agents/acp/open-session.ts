import type { AgentProfile } from '../agent.ts';
import { AgentRefusal, AgentTimeout, methodNotFound, type Requests } from './requests.ts';

/** How a session was come by. */
export type ResumeMethod = AgentProfile['resumeOrder'][number];

/** What an agent says of itself in `initialize`, as far as it is used. */
export interface AgentSelf {
  readonly protocolVersion: number;
  readonly agentInfo?: { readonly name?: string; readonly version?: string } | null;
  readonly agentCapabilities?: {
    readonly loadSession?: boolean;
    readonly sessionCapabilities?: { readonly resume?: unknown; readonly close?: unknown } | null;
  };
}

/**
 * Which rungs an agent advertises and does not have, or does not answer: for each of its versions that is found out once by
 * this worker. An error of one session (it is not known any more) is none of that.
 */
export type FailedMethods = Set<string>;

/** What {@link openSession} needs. */
export interface Opening {
  readonly requests: Requests;
  readonly profile: AgentProfile;
  readonly self: AgentSelf;
  readonly failedMethods: FailedMethods;
  readonly timeoutMs: number;
  /** The parameters that all rungs share. */
  readonly params: { readonly cwd: string; readonly mcpServers: readonly object[] };
  /** What is to be done with the session; when it fails, so does the rung. */
  opened(sessionId: string, how: ResumeMethod): Promise<void>;
  /** Asked after a rung that failed: whether the agent is gone, so that no other is worth a try. */
  isGone(): Promise<boolean>;
}

/**
 * The resume ladder: the earlier session by the profile's rungs that the agent says it has, else a new one. Any error on
 * one rung leads to the next; only the last one's counts. Rejects with AgentCrash.
 */
export async function openSession(
  opening: Opening,
  previousSessionId: string | null,
): Promise<{ agentSessionId: string; how: ResumeMethod }> {
  const { requests, params, timeoutMs } = opening;
  if (previousSessionId !== null) {
    for (const how of usableMethods(opening)) {
      try {
        await requests.send(`session/${how}`, { ...params, sessionId: previousSessionId }, timeoutMs);
        await opening.opened(previousSessionId, how);
        return { agentSessionId: previousSessionId, how };
      } catch (error) {
        if (await opening.isGone()) throw error;
        if (isForGood(error)) opening.failedMethods.add(keyOf(opening, how));
      }
    }
  }
  const { sessionId } = await requests.send<{ sessionId: string }>('session/new', params, timeoutMs);
  await opening.opened(sessionId, 'new');
  return { agentSessionId: sessionId, how: 'new' };
}

function usableMethods(opening: Opening): ResumeMethod[] {
  const { resumeOrder } = opening.profile;
  const { loadSession, sessionCapabilities } = opening.self.agentCapabilities ?? {};
  const can = { resume: sessionCapabilities?.resume != null, load: loadSession === true, new: false };
  const last = resumeOrder.indexOf('new');
  return resumeOrder
    .slice(0, last < 0 ? undefined : last)
    .filter((method) => can[method] && !opening.failedMethods.has(keyOf(opening, method)));
}

// Qwen Code advertises `session/resume` without having it (docs/agents.md#how-they-differ-in-acp), and a timeout costs a
// minute: neither is tried again.
function isForGood(error: unknown): boolean {
  return error instanceof AgentTimeout || (error instanceof AgentRefusal && error.code === methodNotFound);
}

function keyOf({ profile, self }: Opening, method: ResumeMethod): string {
  return JSON.stringify([profile.id, profile.command, self.agentInfo?.name, self.agentInfo?.version, method]);
}
