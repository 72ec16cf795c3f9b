import type { AgentProfile } from '../agent.ts';
import { AgentRefusal, AgentTimeout, methodNotFound, type Requests } from './requests.ts';

/** The method by which a session was resumed or created. */
export type ResumeMethod = AgentProfile['resumeOrder'][number];

/** The parts of an agent's `initialize` response that are used. */
export interface AgentSelf {
  readonly protocolVersion: number;
  readonly agentInfo?: { readonly name?: string; readonly version?: string } | null;
  readonly agentCapabilities?: {
    readonly loadSession?: boolean;
    readonly sessionCapabilities?: { readonly resume?: unknown; readonly close?: unknown } | null;
  };
}

/**
 * Resume methods that an agent advertises but does not support or answer. A worker finds this out once for each version
 * of an agent. An error of one session, such as an unknown session id, does not count.
 */
export type FailedMethods = Set<string>;

/** The limits of each step between `initialize` and the first turn (docs/agents.md#timeouts). */
export interface StartTimeouts {
  readonly authenticateMs: number;
  /** For new, load and resume: agents replay histories and start their own servers. */
  readonly openMs: number;
  /** For an option of the user. */
  readonly optionMs: number;
}

/** Options of {@link openSession}. */
export interface Opening {
  readonly requests: Requests;
  readonly profile: AgentProfile;
  readonly self: AgentSelf;
  readonly failedMethods: FailedMethods;
  readonly timeoutMs: number;
  /** The parameters that all resume methods share. */
  readonly params: { readonly cwd: string; readonly mcpServers: readonly object[] };
  /** Handles the open session; if it fails, the resume method has failed. */
  opened(sessionId: string, how: ResumeMethod, response: unknown): Promise<void>;
  /** Called after a failed method: true if the agent has ended, so that no other method is worth trying. */
  isGone(): Promise<boolean>;
}

/**
 * Resumes the earlier session by the first method of the profile that the agent advertises and that works; otherwise
 * opens a new one. An error of one method leads to the next; only the last error counts. Rejects with AgentCrash.
 */
export async function openSession(
  opening: Opening,
  previousSessionId: string | null,
): Promise<{ agentSessionId: string; how: ResumeMethod }> {
  const { requests, params, timeoutMs } = opening;
  if (previousSessionId !== null) {
    for (const how of usableMethods(opening)) {
      try {
        const sessionParams = { ...params, sessionId: previousSessionId };
        const response = await requests.send<unknown>(`session/${how}`, sessionParams, timeoutMs);
        await opening.opened(previousSessionId, how, response);
        return { agentSessionId: previousSessionId, how };
      } catch (error) {
        if (await opening.isGone()) throw error;
        if (isForGood(error)) opening.failedMethods.add(keyOf(opening, how));
      }
    }
  }
  const response = await requests.send<{ sessionId: string }>('session/new', params, timeoutMs);
  const { sessionId } = response;
  await opening.opened(sessionId, 'new', response);
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

// Qwen Code advertises `session/resume` without having it (docs/agents.md#differences-in-acp), and a timeout costs a
// minute: neither is tried again.
function isForGood(error: unknown): boolean {
  return error instanceof AgentTimeout || (error instanceof AgentRefusal && error.code === methodNotFound);
}

function keyOf({ profile, self }: Opening, method: ResumeMethod): string {
  return JSON.stringify([profile.id, profile.command, self.agentInfo?.name, self.agentInfo?.version, method]);
}
