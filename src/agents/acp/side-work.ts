import type { SessionUpdate } from '@agentclientprotocol/sdk';

/** An agent with an open question counts as working for this time after its last sign, by the monotonic clock. */
export const sideWorkMs = 30_000;

/** Tracks the agent's activity during an open question: it either waits or does other work. */
export interface SideWork {
  /** Records a question, with its tool call if known. `isFirst`: no other question is open. */
  recordQuestion(toolCallId: string | null, isFirst: boolean): void;
  /** Records an update of the agent. */
  recordUpdate(update: SessionUpdate): void;
  /** Returns true if a tool call is in progress that cannot be the subject of the question. */
  isToolRunning(): boolean;
  /** Returns true if nothing shows that the agent works. Call it only while a question is open. */
  isQuiet(): boolean;
  /** Resets at the start of a turn. */
  reset(): void;
}

const signs: ReadonlySet<string> = new Set<SessionUpdate['sessionUpdate']>([
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
]);

/**
 * A call that started before the last question may wait for its answer, for example one that runs another agent; it
 * counts as work only when it reports progress. A call that started after the question, and that no question is about,
 * counts until it ends.
 */
export function createSideWork(now: () => number = () => performance.now()): SideWork {
  const begun = new Set<string>();
  const earlier = new Set<string>();
  const questionedCalls = new Set<string>();
  const running = new Set<string>();
  let lastSignAt = Number.NEGATIVE_INFINITY;

  const tool = ({ toolCallId: id, status }: { toolCallId: string; status?: string | null }) => {
    begun.add(id);
    if (status === 'in_progress' && !earlier.has(id) && !questionedCalls.has(id)) running.add(id);
    if (status === 'completed' || status === 'failed') running.delete(id);
  };

  return {
    recordQuestion(toolCallId, isFirst) {
      if (isFirst) lastSignAt = Number.NEGATIVE_INFINITY;
      if (toolCallId !== null) questionedCalls.add(toolCallId);
      for (const id of begun) earlier.add(id);
      running.clear();
    },
    recordUpdate(update) {
      if (!signs.has(update.sessionUpdate)) return;
      if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
        tool(update);
        if (questionedCalls.has(update.toolCallId)) return;
      }
      lastSignAt = now();
    },
    isToolRunning: () => running.size > 0,
    isQuiet: () => running.size === 0 && now() - lastSignAt > sideWorkMs,
    reset() {
      for (const each of [begun, earlier, questionedCalls, running]) each.clear();
      lastSignAt = Number.NEGATIVE_INFINITY;
    },
  };
}
