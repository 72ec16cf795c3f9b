import { useEffect, useState } from 'react';
import { checkpointNote as texts } from '../texts/files.ts';
import { dateFormat } from '../ui/date.ts';
import { Icon } from '../ui/icons.tsx';
import { RichText } from '../ui/rich-text.tsx';
import { writeSize } from '../ui/size.ts';
import { ago } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import type { MissingPart } from './use-directory.ts';

const clock = dateFormat({ timeStyle: 'medium' });
const date = dateFormat({ dateStyle: 'medium' });
const full = dateFormat({ dateStyle: 'full', timeStyle: 'medium' });

/** The time of a checkpoint, and how long ago that is. */
export function CheckpointTime({ at }: { readonly at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const saved = new Date(at);
  const seconds = Math.max(0, Math.floor((now - saved.getTime()) / 1_000));
  const isToday = saved.toDateString() === new Date(now).toDateString();
  return (
    <span className="files-time">
      <RichText
        text={texts.savedAt}
        slots={{
          time: (
            <time dateTime={at} title={full.format(saved)}>
              {isToday ? '' : `${date.format(saved)}, `}
              {clock.format(saved)}
            </time>
          ),
          ago: seconds < 60 ? texts.secondsAgo({ seconds }) : ago(at),
        }}
      />
    </span>
  );
}

const reasons: Readonly<Record<string, string>> = texts.reasons;

/** Names the parts of the workspace that the checkpoint lacks. */
export function MissingParts({ parts }: { readonly parts: readonly MissingPart[] }) {
  if (parts.length === 0) return null;
  return (
    <details className="files-missing">
      <summary>
        <Icon name="warning" size={14} />
        {texts.partsMissing({ count: parts.length })}
      </summary>
      <ul>
        {parts.map((part) => (
          <li key={`${part.path} ${part.reason}`}>
            <code>
              <bdi>{visible(part.path)}</bdi>
            </code>
            : {textOf(part)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function textOf({ reason, sizeBytes, fileCount }: MissingPart): string {
  const files = fileCount > 1 ? texts.fileCount({ count: fileCount }) : null;
  const size = sizeBytes == null ? null : writeSize(sizeBytes);
  const figures = [files, size].filter((each) => each !== null).join(', ');
  return `${reasons[reason] ?? texts.unknownReason}${figures === '' ? '' : ` (${figures})`}`;
}
