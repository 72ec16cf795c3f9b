import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Its buttons, the one that does it last. */
  readonly actions?: ReactNode;
  readonly size?: 'small' | 'large';
}

/** A dialog over the page, open as long as it is rendered. Escape and a press beside it close it. */
export function Dialog({ title, onClose, children, actions, size = 'small' }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    dialog?.showModal();
    return () => dialog?.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, by the browser.
    <dialog
      ref={ref}
      className={`dialog ${size}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        // A choice of files inside of it that is given up says the same word.
        if (event.target !== ref.current) return;
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === ref.current) onClose();
      }}
    >
      <div className="dialog-box">
        <header>
          <h2 id={titleId}>{title}</h2>
          <Button tone="quiet" size="small" icon="close" aria-label="Close" onClick={onClose} />
        </header>
        <div className="dialog-body">{children}</div>
        {actions && <footer>{actions}</footer>}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: ReactNode;
  /** What the button that does it says: the act, never "OK". */
  readonly act: string;
  readonly tone?: 'primary' | 'danger';
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm({ title, text, act, tone = 'danger', isBusy = false, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button tone={tone} isBusy={isBusy} onClick={onConfirm}>
            {act}
          </Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
}
