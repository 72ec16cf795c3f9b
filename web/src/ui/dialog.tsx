import { type FocusEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import { common } from '../texts/common.ts';
import { dialog as texts } from '../texts/ui.ts';
import { Button } from './button.tsx';
import { focusFirst, focusHeading, isLost } from './focus.ts';
import { pushModal } from './modal-stack.ts';
import { visible } from './visible.ts';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Its buttons, the primary one last. */
  readonly actions?: ReactNode;
  readonly size?: 'small' | 'large';
  /** True for content that is shown once: only its own buttons close it. */
  readonly isDeliberate?: boolean;
  /** True if it holds unsaved content besides its fields. */
  readonly isDirty?: boolean;
}

type Field = HTMLInputElement | HTMLTextAreaElement;

const isWritten = (target: EventTarget): target is Field =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && !/^(?:checkbox|radio|file)$/.test(target.type) && target.role !== 'combobox');

/**
 * A modal dialog, open while it is rendered. Its first field gets the focus. Escape and a click outside close it, after
 * a confirmation if it has unsaved input.
 */
export function Dialog(props: DialogProps) {
  const { title, onClose, children, actions, size = 'small', isDeliberate = false, isDirty = false } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const isGone = useRef(false);
  // The initial values of fields, recorded when they get the focus.
  const before = useRef(new Map<Field, string>());
  const [isAsking, setAsking] = useState(false);
  const titleId = useId();
  // Closed while it is still in the document: only then does the browser return the focus.
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
  // Input is not stored, since it may be secret; the browser also asks before the page is left.
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
        // A cancelled file picker inside the dialog fires the same event.
        if (event.target !== ref.current) return;
        event.preventDefault();
        leave();
      }}
      onClose={(event) => {
        // Browsers let a page prevent this only once: a second Escape closes it in any case.
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
          {!isDeliberate && <Button tone="quiet" size="small" icon="close" aria-label={common.close} onClick={leave} />}
        </header>
        <div className="dialog-body">{children}</div>
        {actions && <footer>{actions}</footer>}
      </div>
      {isAsking && (
        <Confirm
          title={texts.discardYourChanges}
          text={texts.discardText}
          cancelLabel={texts.keepEditing}
          confirmLabel={texts.discard}
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
  /** The label of the confirm button: the action, never "OK". */
  readonly confirmLabel: string;
  /** The label of the cancel button. */
  readonly cancelLabel?: string;
  readonly tone?: 'primary' | 'danger';
  readonly isBusy?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something irreversible. */
export function Confirm(props: ConfirmProps) {
  const {
    title,
    text,
    confirmLabel,
    cancelLabel = common.cancel,
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
