import { useEffect, useState } from 'react';
import { dateFormat } from '../ui/date.ts';
import { Icon } from '../ui/icons.tsx';
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
      as of{' '}
      <time dateTime={at} title={full.format(saved)}>
        {isToday ? '' : `${date.format(saved)}, `}
        {clock.format(saved)}
      </time>
      , {seconds < 60 ? `${seconds} s ago` : ago(at)}
    </span>
  );
}

const reasons: Readonly<Record<string, string>> = {
  UNREADABLE: 'the service may not read it',
  CHANGING: 'it changed while it was read',
  TOO_LARGE: 'it exceeds a limit',
  SPECIAL: 'it is a pipe, a socket or a device',
};

/** Names the parts of the workspace that the checkpoint lacks. */
export function MissingParts({ parts }: { readonly parts: readonly MissingPart[] }) {
  if (parts.length === 0) return null;
  return (
    <details className="files-missing">
      <summary>
        <Icon name="warning" size={14} />
        {parts.length === 1
          ? 'One part of the workspace is'
          : `${parts.length.toLocaleString('en')} parts of the workspace are`}{' '}
        not saved
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
  const files = fileCount > 1 ? `${fileCount.toLocaleString('en')} files` : null;
  const size = sizeBytes == null ? null : writeSize(sizeBytes);
  const figures = [files, size].filter((each) => each !== null).join(', ');
  return `${reasons[reason] ?? 'unknown reason'}${figures === '' ? '' : ` (${figures})`}`;
}
