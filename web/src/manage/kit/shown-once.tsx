import { common } from '../../texts/common.ts';
import { shownOnce as texts } from '../../texts/manage-kit.ts';
import { Button } from '../../ui/button.tsx';
import { copyText, useCopy } from '../../ui/copy.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useToasts } from '../../ui/toasts.tsx';

interface ShownOnceProps {
  readonly title: string;
  /** The advice before the values; omitted: to save them. */
  readonly text?: string;
  /** The values with their labels. */
  readonly values: readonly { readonly label: string; readonly value: string }[];
  /** An example command for a shell. */
  readonly curl?: string;
  readonly onClose: () => void;
}

/** Shows a secret that the service returns once and stores only as a hash. It is lost when this is closed. */
export function ShownOnce({ title, text = texts.saveNow, values, curl, onClose }: ShownOnceProps) {
  const copy = useCopy();
  return (
    <Dialog
      title={title}
      isDeliberate
      onClose={onClose}
      actions={
        <Button tone="primary" onClick={onClose}>
          {texts.saved}
        </Button>
      }
    >
      <div className="form">
        <p>{text}</p>
        {values.map(({ label, value }) => (
          <CopyLine key={label} label={label} value={value} />
        ))}
        {curl !== undefined && (
          <div className="actions">
            <Button size="small" icon="copy" onClick={() => void copy(curl)}>
              {texts.copyAsCurl}
            </Button>
          </div>
        )}
      </div>
    </Dialog>
  );
}

/** A text with a button that copies it. */
export function CopyLine({ label, value }: { readonly label: string; readonly value: string }) {
  const toasts = useToasts();
  const copy = async () => {
    if (await copyText(value)) toasts.say(texts.copied({ label }));
    else toasts.fail(texts.copyRefused);
  };
  return (
    <div className="copy-line">
      <span className="name">{label}</span>
      <div>
        <code>{value}</code>
        <Button size="small" icon="copy" aria-label={common.copyName({ name: label })} onClick={() => void copy()} />
      </div>
    </div>
  );
}
