import type { MouseEvent } from 'react';
import { downloads as texts } from '../texts/changes.ts';
import { common } from '../texts/common.ts';
import { Button } from '../ui/button.tsx';
import { useCopy } from '../ui/copy.ts';
import { downloadFile } from '../ui/download.ts';
import { safeAddress } from '../ui/safe-address.ts';
import { visible } from '../ui/visible.ts';
import type { Changes, RepositoryChanges } from './use-changes.ts';

interface DownloadsProps {
  readonly changes: RepositoryChanges;
  readonly read: () => Promise<Changes | null>;
}

/** The downloads of a repository's changes, and the commands that apply them to another clone. */
export function Downloads({ changes, read }: DownloadsProps) {
  const { patchUrl, bundleUrl, repository } = changes;
  const patch = nameOf(patchUrl);
  const bundle = nameOf(bundleUrl);
  if (patch === null && bundle === null) return null;
  const isCommitted = changes.head !== changes.base;
  const branch = quoted(repository.branch);
  // Signed URLs expire after an hour, so a click downloads from a new one.
  const download = async (event: MouseEvent, of: 'patchUrl' | 'bundleUrl') => {
    event.preventDefault();
    const fresh = (await read())?.repositories.find(
      ({ repository: { directory } }) => directory === repository.directory,
    );
    const address = safeAddress(fresh?.[of] ?? changes[of] ?? '');
    if (address !== undefined) downloadFile(address, nameOf(address) ?? '');
  };
  return (
    <details className="downloads">
      <summary>{common.download}</summary>
      <div className="downloads-body">
        {patch !== null && (
          <Way
            label={texts.patch}
            text={texts.patchText}
            command={`git apply ${quoted(patch)}`}
            address={patchUrl}
            name={patch}
            onDownload={(event) => void download(event, 'patchUrl')}
          />
        )}
        {bundle === null && !isCommitted && <p>{texts.noBundle}</p>}
        {bundle !== null && (
          <Way
            label={texts.bundle}
            text={texts.bundleText}
            command={`git fetch ${quoted(bundle)} ${branch}:${branch}`}
            address={bundleUrl}
            name={bundle}
            onDownload={(event) => void download(event, 'bundleUrl')}
          />
        )}
      </div>
    </details>
  );
}

interface WayProps {
  readonly label: string;
  readonly text: string;
  readonly command: string;
  readonly address: string | null | undefined;
  readonly name: string;
  readonly onDownload: (event: MouseEvent) => void;
}

function Way({ label, text, command, address, name, onDownload }: WayProps) {
  const copy = useCopy();
  return (
    <div className="download">
      <p>
        <b>{label}</b>:{' '}
        <a href={safeAddress(address ?? '')} download="" onClick={onDownload}>
          {visible(name)}
        </a>
        . {text}
      </p>
      <div className="command">
        <code>{visible(command)}</code>
        <Button
          tone="quiet"
          size="small"
          icon="copy"
          aria-label={texts.copyCommand({ label: label.toLowerCase() })}
          onClick={() => void copy(command)}
        />
      </div>
    </div>
  );
}

/** The name of the file at a signed URL; null without a URL. */
function nameOf(url: string | null | undefined): string | null {
  if (url == null || !URL.canParse(url, location.href)) return null;
  const last = new URL(url, location.href).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** A word of a command for a POSIX shell. */
const quoted = (word: string): string =>
  /^[\w./+@-]+$/.test(word) && !word.startsWith('-') ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
