import type { Context } from '../../context.ts';

/** Maximum number of notes in one prompt. */
const maxNotes = 10;

const notes = `
  select e.data->>'agentNote' as note from log_entry e
   where e.session_id = $1 and e.kind = 'NOTICE' and e.data ? 'agentNote'
     and e.seq > coalesce((select max(t.seq) from log_entry t
       where t.session_id = $1 and t.kind = 'TURN' and t.data->>'phase' = 'started'), 0)
   order by e.seq desc limit $2`;

/** Reads what an agent must learn about its workspace in its next prompt: the notes in the log since its last turn began. */
export async function readAgentNotes(context: Context, sessionId: string): Promise<string[]> {
  const rows = await context.store.query<{ note: string }>(notes, [sessionId, maxNotes]);
  return rows.map(({ note }) => note).reverse();
}
