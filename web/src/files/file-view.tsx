import { useState } from 'react';
import { common } from '../texts/common.ts';
import { fileView as texts } from '../texts/files.ts';
import { Button } from '../ui/button.tsx';
import { useCopy } from '../ui/copy.ts';
import { RichText } from '../ui/rich-text.tsx';
import { writeSize } from '../ui/size.ts';
import { Time } from '../ui/time.tsx';
import { visible } from '../ui/visible.ts';
import { DownloadButton } from './download-button.tsx';
import { nameOf } from './file-path.ts';
import { ImageView, isImageName, maxImageBytes } from './image-view.tsx';
import { TextView } from './text-view.tsx';
import type { FileSource, ShownFile } from './use-file.ts';

interface FileViewProps {
  readonly source: FileSource;
  readonly file: ShownFile;
}

/** A file: its text or its image, or the reason why neither is shown. A link is shown as what it is, and not followed. */
export function FileView({ source, file }: FileViewProps) {
  const { path, type, sizeBytes, mode, modifiedAt, text } = file;
  const copy = useCopy();
  return (
    <section className="file-card file-view" aria-label={visible(path)}>
      <header>
        <span className="file-path">
          <bdi>{visible(nameOf(path))}</bdi>
        </span>
        <small>
          {sizeBytes != null && <span>{writeSize(sizeBytes)}</span>}
          <code>{mode}</code>
          <Time at={modifiedAt} />
        </small>
        <Button
          tone="quiet"
          size="small"
          icon="copy"
          aria-label={texts.copyPath({ path })}
          onClick={() => void copy(path)}
        />
        {text != null && text !== '' && (
          <Button size="small" icon="copy" onClick={() => void copy(text)}>
            {texts.copyText}
          </Button>
        )}
        {type === 'FILE' && <DownloadButton source={source} label={common.download} />}
      </header>
      <Body source={source} file={file} />
    </section>
  );
}

function Body({ source, file }: FileViewProps) {
  const { path, type, sizeBytes, text, target } = file;
  const [isNoImage, setNoImage] = useState(false);
  if (type === 'LINK') {
    return (
      <p className="file-note">
        <RichText
          text={texts.linkTo}
          slots={{ target: <bdi>{visible(target ?? '')}</bdi>, code: (text) => <code>{text}</code> }}
        />
      </p>
    );
  }
  if (sizeBytes === 0) return <p className="file-note">{texts.thisFileIsEmpty}</p>;
  if (text != null) return <TextView path={path} text={text} />;
  const size = sizeBytes ?? 0;
  if (isImageName(path) && size <= maxImageBytes && !isNoImage) {
    return <ImageView source={source} label={visible(nameOf(path))} onFail={() => setNoImage(true)} />;
  }
  if (isNoImage) return <p className="file-note">{texts.badImage}</p>;
  return <p className="file-note">{size > 1_048_576 ? texts.tooLarge : texts.binary}</p>;
}
