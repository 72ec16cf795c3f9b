import { type FocusEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { focusFirst, focusHeading, isLost } from './focus.ts';
import { pushModal } from './modal-stack.ts';
import { visible } from './visible.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Its buttons, the one that does it last. */
  readonly actions?: ReactNode;
  readonly size?: 'small' | 'large';
  /** What it shows is shown once: only one of its own buttons closes it. */
  readonly isDeliberate?: boolean;
  /** Something is in it, beside what is written in its fields, that would be lost. */
  readonly isDirty?: boolean;
}

type Field = HTMLInputElement | HTMLTextAreaElement;

const isWritten = (target: EventTarget): target is Field =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && !/^(?:checkbox|radio|file)$/.test(target.type) && target.role !== 'combobox');

/**
 * A dialog over the page, open as long as it is rendered. Its first field has the focus; Escape and a press beside it close
 * it, after a question where something has been written.
 */
export function Dialog(props: DialogProps) {
  const { title, onClose, children, actions, size = 'small', isDeliberate = false, isDirty = false } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  // What stood in the fields when one first came to them.
  const before = useRef(new Map<Field, string>());
  const [isAsking, setAsking] = useState(false);
  const titleId = useId();
  // Closed while it is still in the page: only then the browser gives the focus back to where it was.
  useLayoutEffect(() => {
    const dialog = ref.current;
    isGone.current = false;
    dialog?.showModal();
    const popModal = dialog ? pushModal(dialog) : null;
    focusFirst(dialog);
    return () => {
      isGone.current = true;
      popModal?.();
      dialog?.close();
      setTimeout(() => {
        if (isLost()) focusHeading();
      });
    };
  }, []);
  const isChanged = () =>
    isDirty || [...before.current].some(([field, was]) => field.isConnected && field.value.trim() !== was.trim());
  // Kept nowhere, since it may be secret: the browser asks too before it leaves the page.
  const mayLose = useRef(isChanged);
  mayLose.current = isChanged;
  useEffect(() => {
    const warnBeforeUnload = (event: BeforeUnloadEvent) => {
      if (mayLose.current()) event.preventDefault();
    };
    addEventListener('beforeunload', warnBeforeUnload);
    return () => removeEventListener('beforeunload', warnBeforeUnload);
  }, []);
  const leave = () => {
    if (isDeliberate) return ref.current?.querySelector<HTMLElement>('footer .primary')?.focus();
    if (isChanged()) setAsking(true);
    else onClose();
  };
  const come = ({ target }: FocusEvent) => {
    if (isWritten(target) && !before.current.has(target)) before.current.set(target, target.value);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, by the browser.
    <dialog
      ref={ref}
      className={`dialog ${size}`}
      aria-labelledby={titleId}
      tabIndex={-1}
      onCancel={(event) => {
        // A choice of files inside of it that is given up says the same word.
        if (event.target !== ref.current) return;
        event.preventDefault();
        leave();
      }}
      onClose={(event) => {
        // Browsers ask once only: a second Escape closes it whatever is said.
        if (event.target !== ref.current || isGone.current) return;
        ref.current.showModal();
        leave();
      }}
      onClick={(event) => {
        if (event.target === ref.current) leave();
      }}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only hears which fields one comes to. */}
      <div className="dialog-box" onFocus={come}>
        <header>
          <h2 id={titleId}>{visible(title)}</h2>
          {!isDeliberate && <Button tone="quiet" size="small" icon="close" aria-label="Close" onClick={leave} />}
        </header>
        <div className="dialog-body">{children}</div>
        {actions && <footer>{actions}</footer>}
      </div>
      {isAsking && (
        <Confirm
          title="Throw away what you wrote?"
          text="It is not kept anywhere."
          cancelLabel="Keep writing"
          confirmLabel="Throw away"
          onClose={() => setAsking(false)}
          onConfirm={onClose}
        />
      )}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly text: ReactNode;
  /** What the button that does it says: the act, never "OK". */
  readonly confirmLabel: string;
  /** What the button says that does nothing. */
  readonly cancelLabel?: string;
  readonly tone?: 'primary' | 'danger';
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something that cannot be taken back. */
export function Confirm(props: ConfirmProps) {
  const {
    title,
    text,
    confirmLabel,
    cancelLabel = 'Cancel',
    tone = 'danger',
    isBusy = false,
    onConfirm,
    onClose,
  } = props;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{cancelLabel}</Button>
          <Button tone={tone} isBusy={isBusy} onClick={onConfirm}>
            {confirmLabel}
          </Button>
        </>
      }
    >
      <p>{typeof text === 'string' ? visible(text) : text}</p>
    </Dialog>
  );
}
