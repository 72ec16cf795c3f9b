import { common } from '../texts/common.ts';
import { uploads as texts } from '../texts/uploads.ts';
import './uploads.css';
import { useRef } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { writeSize } from '../ui/size.ts';
import { visible } from '../ui/visible.ts';
import { hasThumbnail, Thumbnail } from './thumbnail.tsx';
import type { Upload, Uploads } from './use-uploads.ts';

/** A button that opens the browser's file picker. */
export function PickFiles({ uploads, children }: { readonly uploads: Uploads; readonly children?: string }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon="attach" aria-label={texts.attachFiles} onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          uploads.add([...(event.target.files ?? [])]);
          // Lets the user choose the same file again after removing it.
          event.target.value = '';
        }}
      />
    </>
  );
}

/** The files with their progress, each with buttons to remove or retry it. */
export function UploadList({ uploads }: { readonly uploads: Uploads }) {
  const { all } = uploads;
  const sent = all.filter(({ state }) => state === 'sent').length;
  return (
    <>
      <p className="for-readers" role="status">
        {all.length > 0 && texts.progress({ sent, count: all.length })}
      </p>
      {all.length > few && <UploadSummary uploads={uploads} sent={sent} />}
      {all.length > 0 && (
        <ul className="uploads" aria-label={texts.attachedFiles}>
          {all.map((upload) => (
            <Row upload={upload} uploads={uploads} key={upload.key} />
          ))}
        </ul>
      )}
    </>
  );
}

/** Above this number, a summary is shown too. */
const few = 4;

/** The total progress, with actions for all files. */
function UploadSummary({ uploads, sent }: { readonly uploads: Uploads; readonly sent: number }) {
  const { all } = uploads;
  const failed = all.filter(({ state }) => state === 'failed').length;
  const refused = all.filter(({ state }) => state === 'refused').length;
  const bytes = all.reduce((sum, { file, state }) => sum + (state === 'refused' ? 0 : file.size), 0);
  const sentBytes = all.reduce((sum, upload) => sum + upload.sentBytes, 0);
  return (
    <div className="uploads-whole">
      <progress aria-label={texts.allFiles} max={Math.max(1, bytes)} value={sentBytes} />
      <span>
        {[
          texts.progressShort({ sent, count: all.length }),
          failed > 0 && texts.failed({ count: failed }),
          refused > 0 && texts.refused({ count: refused }),
        ]
          .filter(Boolean)
          .join(', ')}
      </span>
      {failed > 1 && (
        <Button size="small" onClick={uploads.retryAll}>
          {texts.retryAll}
        </Button>
      )}
      <Button size="small" onClick={uploads.clear}>
        {uploads.areSent ? texts.removeAll : texts.cancelAll}
      </Button>
    </div>
  );
}

function Row({ upload, uploads }: { readonly upload: Upload; readonly uploads: Uploads }) {
  const { key, file, state, sentBytes, problem } = upload;
  const name = visible(file.name);
  const isWrong = state === 'failed' || state === 'refused';
  return (
    <li className={state}>
      {hasThumbnail(file) && <Thumbnail file={file} />}
      <Icon name={isWrong ? 'warning' : state === 'sent' ? 'check' : 'file'} />
      <span className="name" title={name}>
        {name}
      </span>
      {(state === 'waiting' || state === 'sending') && (
        <progress aria-label={texts.uploadOf({ name })} max={Math.max(1, file.size)} value={sentBytes} />
      )}
      {state === 'sent' && <span className="size">{writeSize(file.size)}</span>}
      {isWrong && (
        <span className="problem" role="alert">
          {problem && visible(problem)}
        </span>
      )}
      {state === 'failed' && (
        <Button size="small" aria-label={texts.retry({ name })} onClick={() => uploads.retry(key)}>
          {common.retry}
        </Button>
      )}
      <Button
        tone="quiet"
        size="small"
        icon="close"
        aria-label={state === 'sending' || state === 'waiting' ? texts.cancel({ name }) : common.removeName({ name })}
        onClick={() => uploads.remove(key)}
      />
    </li>
  );
}
