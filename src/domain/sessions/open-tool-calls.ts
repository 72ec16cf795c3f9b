import type { Transaction } from '../../store/store.ts';
import type { NewEntry } from './log.ts';

/**
 * Returns the entries that close the open tool calls of a session's last turn as failed. The code that ends or
 * interrupts a turn writes them, because the agent no longer reports on its tools. `isCancelled`: the turn was cancelled.
 */
export async function openToolCalls(
  tx: Transaction,
  sessionId: string,
  { isCancelled = false }: { readonly isCancelled?: boolean } = {},
): Promise<NewEntry[]> {
  const rows = await tx.query<{ data: Record<string, unknown> }>(
    `select data from (
       select distinct on (data->>'toolCallId') data from log_entry
        where session_id = $1 and kind = 'TOOL_CALL' and seq > coalesce((select max(seq) from log_entry
          where session_id = $1 and kind = 'TURN' and data->>'phase' = 'started'), 0)
        order by data->>'toolCallId', seq desc) last
      where data->>'status' in ('pending', 'in_progress')`,
    [sessionId],
  );
  return rows.map(({ data }) => ({
    kind: 'TOOL_CALL',
    data: { ...data, status: 'failed', output: closed(data.output), ...(isCancelled && { isCancelled: true }) },
  }));
}

// Keeps the output that the call had produced until then.
function closed(output: unknown): string {
  return typeof output === 'string' && output !== '' ? `${output.replace(/\n$/, '')}\nInterrupted.` : 'Interrupted.';
}
