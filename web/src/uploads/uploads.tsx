import './uploads.css';
import { useRef } from 'react';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import type { Upload, Uploads } from './use-uploads.ts';

/** Opens the browser's own choice of files. */
export function PickFiles({ uploads, children }: { readonly uploads: Uploads; readonly children?: string }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button icon="attach" aria-label="Attach files" onClick={() => input.current?.click()}>
        {children}
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          uploads.add([...(event.target.files ?? [])]);
          // The same file may be chosen again after it was removed.
          event.target.value = '';
        }}
      />
    </>
  );
}

/** The files with how far they are, each to be taken back or tried again. */
export function UploadList({ uploads }: { readonly uploads: Uploads }) {
  const { all } = uploads;
  const sent = all.filter(({ state }) => state === 'sent').length;
  return (
    <>
      <p className="for-readers" role="status">
        {all.length > 0 && `${sent} of ${all.length} files uploaded`}
      </p>
      {all.length > 0 && (
        <ul className="uploads" aria-label="Files that go along">
          {all.map((upload) => (
            <Row upload={upload} uploads={uploads} key={upload.key} />
          ))}
        </ul>
      )}
    </>
  );
}

function Row({ upload, uploads }: { readonly upload: Upload; readonly uploads: Uploads }) {
  const { key, file, state, sentBytes, problem } = upload;
  return (
    <li className={state}>
      <Icon name={state === 'failed' ? 'warning' : state === 'sent' ? 'check' : 'file'} />
      <span className="name" title={file.name}>
        {file.name}
      </span>
      {(state === 'waiting' || state === 'sending') && (
        <progress aria-label={`Upload of ${file.name}`} max={Math.max(1, file.size)} value={sentBytes} />
      )}
      {state === 'sent' && <span className="size">{sizeOf(file.size)}</span>}
      {state === 'failed' && (
        <span className="problem" role="alert">
          {problem}
        </span>
      )}
      {state === 'failed' && (
        <Button size="small" aria-label={`Try again to upload ${file.name}`} onClick={() => uploads.retry(key)}>
          Try again
        </Button>
      )}
      <Button
        tone="quiet"
        size="small"
        icon="close"
        aria-label={state === 'sending' ? `Cancel the upload of ${file.name}` : `Remove ${file.name}`}
        onClick={() => uploads.remove(key)}
      />
    </li>
  );
}

function sizeOf(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${Math.round(bytes / 1_024)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
