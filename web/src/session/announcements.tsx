import { useEffect, useRef, useState } from 'react';
import { announcements as texts } from '../texts/session-transcript.ts';
import { splitFiles } from './attachments.tsx';
import type { Entry } from './entry.ts';
import { plainText } from './plain-title.ts';
import { repeatsQuestion } from './question-text.ts';
import { repeatsCause } from './transcript-rows.ts';
import type { Transcript } from './use-transcript.ts';

/** The number of characters of a message that are announced. */
const maxLength = 300;
/** Of many entries that arrive at once, after a break of the connection, the last ones are announced. */
const maxAnnounced = 3;
/** Time in ms after which an announcement is removed, so that readers who move through the page do not find it. */
const keptMs = 10_000;

/**
 * Announces the agent's messages, questions and errors to screen readers when they are complete. The transcript itself is not
 * announced: its text grows in small parts, and its rows come and go while the user scrolls.
 */
export function Announcements({ entries, isLoaded }: Pick<Transcript, 'entries' | 'isLoaded'>) {
  const seen = useRef<number | null>(null);
  const [announced, setAnnounced] = useState<readonly { readonly seq: number; readonly text: string }[]>([]);
  useEffect(() => {
    if (!isLoaded) return;
    const last = seen.current;
    // An earlier part of the log has no news.
    seen.current = Math.max(last ?? 0, entries.at(-1)?.seq ?? 0);
    if (last === null || seen.current === last) return;
    const news = entries.slice(entries.findLastIndex(({ seq }) => seq <= last) + 1);
    const added = news.flatMap((entry, n) => {
      const text = announcementOf(entry, news[n - 1]);
      return text === null ? [] : [{ seq: entry.seq, text }];
    });
    if (added.length > 0) setAnnounced((before) => [...before, ...added].slice(-maxAnnounced));
  }, [entries, isLoaded]);
  useEffect(() => {
    if (announced.length === 0) return;
    const timer = window.setTimeout(() => setAnnounced([]), keptMs);
    return () => clearTimeout(timer);
  }, [announced]);
  return (
    <div className="for-readers" aria-live="polite">
      {announced.map(({ seq, text }) => (
        <p key={seq}>{text}</p>
      ))}
    </div>
  );
}

function announcementOf(entry: Entry, before: Entry | undefined): string | null {
  if (entry.__typename === 'QuestionEvent') return texts.question({ body: shortened(entry.body) });
  if (entry.__typename === 'ErrorEvent') return texts.error({ body: shortened(entry.body) });
  if (entry.__typename !== 'SessionMessage' || entry.type !== 'AGENT_MESSAGE') return null;
  if (before?.__typename === 'QuestionEvent' && repeatsQuestion(before, entry.body)) return null;
  if (before?.__typename === 'ErrorEvent' && repeatsCause(entry.body, before.body)) return null;
  return texts.agent({ body: shortened(entry.body) });
}

function shortened(body: string): string {
  const text = plainText(splitFiles(body).text.slice(0, 4 * maxLength)).replace(/\s+/g, ' ');
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).replace(/\S*$/, '')}…`;
}
