import type { SessionUpdate } from '@agentclientprotocol/sdk';

/** For so long after its last sign an agent whose question is open counts as working, by the monotonic clock. */
export const sideWorkMs = 30_000;

/** What an agent does beside a question of its that is open: whether it waits, or goes on with something else. */
export interface SideWork {
  /** A question comes, about a tool call where that was said. `isFirst`: no other is open. */
  recordQuestion(toolCallId: string | null, isFirst: boolean): void;
  /** The agent said or did something. */
  recordUpdate(update: SessionUpdate): void;
  /** Whether a tool call is in progress that cannot be what the question is about. */
  isToolRunning(): boolean;
  /** Whether nothing shows that the agent works. To be asked only while a question is open. */
  isQuiet(): boolean;
  /** A turn begins. */
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
 * A call that was begun before the last question may be waiting for its answer, as one that runs another agent does: it counts
 * as work only when it tells something. One that was begun after it, and that no question is about, counts until it ends.
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
