import { createContext, useContext } from 'react';
import { attachments as texts } from '../texts/session-details.ts';
import { Icon } from '../ui/icons.tsx';
import { visible } from '../ui/visible.ts';
import { isSentImage, SentImage } from './sent-image.tsx';

/** A file of the session, with a signed URL that opens it. */
export interface AttachedFile {
  readonly attachmentId: string;
  readonly name: string;
  readonly sizeBytes: number;
  readonly url: string;
}

/** The files of the transcript's session. */
export const FilesContext = createContext<readonly AttachedFile[]>([]);

const line = /^[ \t]*ATTACHMENT:"([^"\r\n]+)"[ \t]*\r?(?:\n|$)/gm;

/** Splits a message into its text and the URLs of its files, each of which is on a separate line. */
export function splitFiles(body: string): { readonly text: string; readonly files: readonly string[] } {
  if (!body.includes('ATTACHMENT:"')) return { text: body, files: [] };
  const files = [...body.matchAll(line)].map(([, url]) => url ?? '');
  return { text: body.replace(line, '').trimEnd(), files };
}

/** Finds the session's file of a URL: by its id or, if the session has it under an id of its own, by its name. */
export function findFile(files: readonly AttachedFile[], address: string): AttachedFile | null {
  const byId = files.find(({ attachmentId }) =>
    address.includes(`/attachments/${attachmentId.replace(/^[a-z]+-/, '')}/`),
  );
  return byId ?? files.find(({ name }) => name === nameOf(address)) ?? null;
}

/** The files of a message, linked by the session's signed URLs, which need no key. */
export function Files({ addresses }: { readonly addresses: readonly string[] }) {
  const sessionFiles = useContext(FilesContext);
  if (addresses.length === 0) return null;
  return (
    <ul className="attached" aria-label={texts.files}>
      {addresses.map((address) => {
        const file = findFile(sessionFiles, address);
        const name = visible(file?.name ?? nameOf(address));
        const named = (
          <>
            <Icon name="file" size={14} />
            <span>{name}</span>
          </>
        );
        return (
          <li key={address}>
            {file ? (
              <a href={file.url} target="_blank" rel="noopener noreferrer">
                {isSentImage(file) ? <SentImage file={file}>{named}</SentImage> : named}
              </a>
            ) : (
              named
            )}
          </li>
        );
      })}
    </ul>
  );
}

function nameOf(address: string): string {
  const last = address.split(/[?#]/)[0]?.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last) || address;
  } catch {
    return last;
  }
}
