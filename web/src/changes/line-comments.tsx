import { type ReactNode, type RefObject, useMemo, useState } from 'react';
import { type ChangeData, type GutterOptions, getChangeKey } from 'react-diff-view';
import { flushSync } from 'react-dom';
import { CommentCard } from '../comments/comment-card.tsx';
import { CommentForm } from '../comments/comment-form.tsx';
import type { LineComment } from '../comments/line-comment.ts';
import { lineComments as texts } from '../texts/comments.ts';
import { type FileLine, linesIn, rangeBetween } from './comment-lines.ts';
import { useFileComments } from './use-file-comments.ts';
import { type ChosenLines, lineButton, useLineKeys } from './use-line-keys.ts';

/** Renders the number of a line as the button that comments it: in the old version if only that has the line. */
export function renderLineButton({ change, side, renderDefault }: GutterOptions): ReactNode {
  const number = renderDefault();
  if ((change.type === 'delete') !== (side === 'old')) return number;
  return (
    <button
      type="button"
      className="line-button"
      data-line={getChangeKey(change)}
      tabIndex={-1}
      aria-label={labelOf(change)}
    >
      {number}
    </button>
  );
}

function labelOf(change: ChangeData): string {
  if (change.type === 'normal')
    return texts.commentOnLine({ line: String(change.newLineNumber), version: texts.newVersion });
  const version = change.type === 'delete' ? texts.oldVersion : texts.newVersion;
  return texts.commentOnLine({ line: String(change.lineNumber), version });
}

/** The comments on a file: below their lines, and those whose lines are gone. */
export function useLineComments(path: string, lines: readonly FileLine[], box: RefObject<HTMLElement | null>) {
  const { comments, open, draft, comparison } = useFileComments(path, lines);
  const [chosen, setChosen] = useState<ChosenLines | null>(null);
  const comment = (next: ChosenLines) => {
    setChosen(null);
    const range = rangeBetween(lines, next.from, next.to) ?? rangeBetween(lines, next.from, next.from);
    if (range) draft?.begin({ ...comparison, path, ...range });
  };
  const extend = (to: string) => {
    if (!draft || !open?.isNew) return false;
    const [first] = linesIn(lines, open);
    const range = first ? rangeBetween(lines, first.key, to) : null;
    if (range) draft.move({ ...comparison, path, ...range });
    return range !== null;
  };
  const handlers = useLineKeys(box, { chosen, onChoose: setChosen, onComment: comment, onExtend: extend });
  const selected = useMemo(() => {
    const range = chosen ? rangeBetween(lines, chosen.from, chosen.to) : open;
    return range && !(open && range === open && open.isOutdated) ? linesIn(lines, range).map(({ key }) => key) : [];
  }, [lines, chosen, open]);
  const { widgets, outdated } = useMemo(() => {
    const groups = new Map<string, ReactNode[]>();
    const gone: ReactNode[] = [];
    const add = (about: LineComment, node: (key: string | undefined) => ReactNode) => {
      const key = about.isOutdated ? undefined : linesIn(lines, about).at(-1)?.key;
      if (key === undefined) gone.push(node(key));
      else groups.set(key, [...(groups.get(key) ?? []), node(key)]);
    };
    const focusLine = (key: string | undefined) => {
      if (key !== undefined) lineButton(box.current, key)?.focus();
    };
    for (const each of draft ? comments : []) {
      if (open?.id === each.id) continue;
      const remove = (key: string | undefined) => {
        flushSync(() => draft?.remove([each.id]));
        focusLine(key);
      };
      add(each, (key) => (
        <CommentCard
          comment={each}
          isBelowLines={key !== undefined}
          onEdit={() => draft?.edit(each.id, 'diff')}
          onRemove={() => remove(key)}
          key={each.id}
        />
      ));
    }
    if (draft && open) {
      const closed = (key: string | undefined) => {
        const edit = box.current?.querySelector<HTMLElement>(`[data-comment="${open.id}"] button`);
        if (open.isNew || !edit) focusLine(key);
        else edit.focus();
      };
      add(open, (key) => <CommentForm draft={draft} open={open} onClosed={() => closed(key)} key={open.id} />);
    }
    const rows = [...groups].map(([key, nodes]): [string, ReactNode] => [
      key,
      <div className="line-comments" key={key}>
        {nodes}
      </div>,
    ]);
    return { widgets: Object.fromEntries(rows), outdated: gone };
  }, [draft, comments, open, lines, box]);
  return { isEnabled: draft !== null, widgets, outdated, selected, handlers };
}

/** The comments on a file whose lines its newest diff does not have. */
export function OutdatedComments({ children }: { readonly children: readonly ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <section className="line-comments outdated" aria-label={texts.outdatedComments}>
      {children}
    </section>
  );
}
