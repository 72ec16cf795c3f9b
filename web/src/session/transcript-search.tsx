import './transcript-search.css';
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { Excerpt } from '../search/excerpt.tsx';
import { common } from '../texts/common.ts';
import { transcriptSearch as texts } from '../texts/session.ts';
import { Button } from '../ui/button.tsx';
import { searchFieldId } from './use-search-bar.ts';
import { type TranscriptMatches, useTranscriptSearch } from './use-transcript-search.ts';

interface TranscriptSearchProps {
  readonly sessionId: string;
  /** The query of the page's address. */
  readonly initial: string;
  /** The cursor of the match in the page's address, where the search begins; null: at the newest match. */
  readonly initialCursor: string | null;
  /** Called with the parts of texts to mark. */
  readonly onFound: (parts: readonly string[]) => void;
  /** Shows the entry with this cursor. */
  readonly onGo: (cursor: string) => void;
  readonly onClose: () => void;
}

/** A bar that searches all of the transcript on the server, and goes from match to match: first the newest one. */
export function TranscriptSearch({ sessionId, initial, initialCursor, onFound, onGo, onClose }: TranscriptSearchProps) {
  const [text, setText] = useState(initial);
  const query = text.trim();
  const found = useTranscriptSearch(sessionId, query);
  const { matches, state, loadMore } = found;
  const [at, setAt] = useState(0);
  const latest = useRef({ onFound, onGo });
  latest.current = { onFound, onGo };
  const isFirst = useRef(true);
  // A new query begins at its newest match; the one of the address at its entry, which the page already shows.
  const shownQuery = useRef<string | null>(null);
  useEffect(() => {
    if (state !== 'loaded' || shownQuery.current === query) return;
    shownQuery.current = query;
    const index = isFirst.current ? matches.findIndex(({ cursor }) => cursor === initialCursor) : -1;
    isFirst.current = false;
    setAt(Math.max(0, index));
    const [first] = matches;
    if (index < 0 && first) latest.current.onGo(first.cursor);
  }, [state, query, matches, initialCursor]);
  const { parts } = found;
  useEffect(() => latest.current.onFound(parts), [parts]);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (initial === '') field.current?.focus();
  }, [initial]);
  const current = matches[at];
  const go = async (index: number) => {
    const match = matches[index] ?? (index === matches.length ? await loadMore() : null);
    if (!match) return;
    setAt(index);
    onGo(match.cursor);
  };
  const goOlder = () => void go(at + 1);
  const goNewer = () => void go(at - 1);
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'ArrowUp') goOlder();
    else if (event.key === 'ArrowDown') goNewer();
    else return;
    event.preventDefault();
  };
  return (
    <search className="transcript-search">
      <form
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          goOlder();
        }}
      >
        <input
          id={searchFieldId}
          ref={field}
          type="search"
          aria-label={texts.label}
          placeholder={texts.label}
          autoComplete="off"
          spellCheck={false}
          maxLength={300}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={press}
        />
        <span role="status">{stateText(found, at)}</span>
        <Button size="small" tone="quiet" icon="arrowUp" aria-label={texts.older} onClick={goOlder} />
        <Button size="small" tone="quiet" icon="arrowDown" aria-label={texts.newer} onClick={goNewer} />
        <Button size="small" tone="quiet" icon="close" aria-label={texts.close} onClick={onClose} />
      </form>
      {state === 'failed' && <p className="problem">{found.problem}</p>}
      {current && (
        <p className="excerpt">
          <Excerpt excerpt={current.excerpt} />
        </p>
      )}
    </search>
  );
}

function stateText({ state, total, isTotalExact, matches }: TranscriptMatches, at: number): string {
  if (state === 'loading') return texts.searching;
  if (state !== 'loaded') return '';
  if (matches.length === 0) return common.noMatches;
  return isTotalExact ? texts.position({ at: at + 1, total }) : texts.positionOfMany({ at: at + 1, total });
}
