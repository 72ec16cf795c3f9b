import { useState } from 'react';
import { downloadButton as texts } from '../texts/files.ts';
import { Button } from '../ui/button.tsx';
import { downloadFile } from '../ui/download.ts';
import { safeAddress } from '../ui/safe-address.ts';
import { useToasts } from '../ui/toasts.tsx';
import { nameOf } from './file-path.ts';
import { type FileSource, useFileLink } from './use-file.ts';

interface DownloadButtonProps {
  readonly source: FileSource;
  readonly label: string;
}

/** Downloads a file, or a directory as a tar archive. A URL is valid for ten minutes, so each click requests one. */
export function DownloadButton({ source, label }: DownloadButtonProps) {
  const link = useFileLink();
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  const download = async () => {
    setBusy(true);
    try {
      const address = safeAddress((await link(source)) ?? '');
      if (address === undefined) toasts.fail(texts.gone);
      else downloadFile(address, nameOf(source.path));
    } catch (error) {
      toasts.fail((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <Button size="small" icon="arrowDown" isBusy={isBusy} onClick={() => void download()}>
      {label}
    </Button>
  );
}
