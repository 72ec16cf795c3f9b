import { useMemo, useState } from 'react';
import { fetchQuery, graphql, useRelayEnvironment } from 'react-relay';
import type { useCommandsQuery } from '../__generated__/useCommandsQuery.graphql.ts';
import { readTranscriptPage, type TranscriptPage } from './transcript-page.ts';
import { type Row, transcriptRows, withDrafts } from './transcript-rows.ts';
import { type Transcript, useDrafts } from './use-transcript.ts';

const query = graphql`
  query useCommandsQuery($id: ID!, $before: String) {
    session(id: $id) {
      events(kinds: [TOOL_CALL], last: 100, before: $before) {
        ...transcriptPage_events
      }
    }
  }
`;

/** A tool call that runs a command. */
export type Command = Extract<Row, { type: 'tool' }>;

/** Tool calls before the loaded part of the transcript. */
interface Earlier extends Pick<TranscriptPage, 'entries' | 'startCursor'> {
  readonly hasEarlier: boolean;
  /** The number of the entry that they lead up to. */
  readonly before: number;
}

interface Commands {
  /** In the order of the log. */
  readonly commands: readonly Command[];
  readonly hasEarlier: boolean;
  readonly isLoading: boolean;
  readonly loadEarlier: () => Promise<void>;
}

/** The commands in the loaded part of a transcript, with the output of those that run, and earlier ones on request. */
export function useCommands(id: string, transcript: Transcript): Commands {
  const environment = useRelayEnvironment();
  const [loaded, setLoaded] = useState<Earlier | null>(null);
  const [isLoading, setLoading] = useState(false);
  const drafts = useDrafts(transcript);
  const { entries, hasLater } = transcript;
  const first = entries[0]?.seq ?? 0;
  // After a jump in the transcript, entries are missing between both.
  const earlier = loaded !== null && first <= loaded.before ? loaded : null;
  const rows = useMemo(() => {
    const before = earlier?.entries.filter(({ seq }) => seq < first) ?? [];
    return transcriptRows([...before, ...entries]);
  }, [earlier, entries, first]);
  const commands = useMemo(() => {
    const all = hasLater ? rows : withDrafts(rows, drafts);
    return all.filter((row): row is Command => row.type === 'tool' && row.entry.toolKind === 'EXECUTE');
  }, [rows, drafts, hasLater]);
  const loadEarlier = async () => {
    const before = earlier?.startCursor ?? transcript.cursorAt(first);
    if (isLoading || before === null) return;
    setLoading(true);
    const found = await fetchQuery<useCommandsQuery>(environment, query, { id, before })
      .toPromise()
      .catch(() => undefined);
    setLoading(false);
    const connection = found?.session?.events;
    if (!connection) return;
    const page = readTranscriptPage(connection);
    setLoaded({
      entries: [...page.entries, ...(earlier?.entries ?? [])],
      startCursor: page.startCursor,
      hasEarlier: page.hasEarlier,
      before: earlier?.before ?? first,
    });
  };
  return { commands, hasEarlier: earlier?.hasEarlier ?? transcript.hasEarlier, isLoading, loadEarlier };
}
