import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { Link } from 'wouter';
import { common } from '../texts/common.ts';
import { toasts as texts } from '../texts/ui.ts';
import { Button } from './button.tsx';
import { focusHeading } from './focus.ts';
import { useTopModal } from './modal-stack.ts';
import { visible } from './visible.ts';

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
  readonly undo: (() => void) | null;
  readonly link: ToastLink | null;
}

/** A link to what the message is about. */
interface ToastLink {
  readonly label: string;
  readonly href: string;
}

/** Short temporary messages. */
export interface Toasts {
  /** A message about a completed action; with `undo`, it stays longer and offers to undo it. */
  say(text: string, undo?: () => void): void;
  /** A message about something that a link leads to; it stays longer. */
  sayOf(text: string, link: ToastLink): void;
  /** An error message that stays until it is closed, or until `until` resolves. */
  fail(text: string, until?: Promise<void>): void;
}

const ToastContext = createContext<Toasts | null>(null);
const shownMs = 4_000;
const undoMs = 12_000;
const maxToasts = 4;

/** See {@link Toasts}. */
export function useToasts(): Toasts {
  const toasts = useContext(ToastContext);
  if (!toasts) throw new Error('useToasts is for components inside of ToastProvider.');
  return toasts;
}

/** Renders the toasts. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const topModal = useTopModal();
  const [shown, setShown] = useState<readonly Toast[]>([]);
  const count = useRef(0);
  const close = useCallback((id: number) => setShown((before) => before.filter((toast) => toast.id !== id)), []);
  const toasts = useMemo<Toasts>(() => {
    const add = (tone: Toast['tone'], text: string, undo: Toast['undo'], link: Toast['link'] = null) => {
      const id = ++count.current;
      // A repeated error replaces the one that is shown.
      const isSame = (toast: Toast) => tone === 'bad' && toast.tone === tone && toast.text === text;
      setShown((before) => [
        ...before.filter((toast) => !isSame(toast)).slice(1 - maxToasts),
        { id, tone, text, undo, link },
      ]);
      return id;
    };
    return {
      say: (text, undo) => void add('good', text, undo ?? null),
      sayOf: (text, link) => void add('good', text, null, link),
      fail: (text, until) => {
        const id = add('bad', text, null);
        void until?.then(() => close(id));
      },
    };
  }, [close]);
  return (
    <ToastContext value={toasts}>
      {children}
      {createPortal(
        <section className="toasts" aria-live="polite" aria-label={texts.notifications}>
          {shown.map((toast) => (
            <Shown toast={toast} onClose={close} key={toast.id} />
          ))}
        </section>,
        // Inside the topmost dialog, if there is one: behind it they would be invisible.
        topModal ?? document.body,
      )}
    </ToastContext>
  );
}

interface ShownProps {
  readonly toast: Toast;
  readonly onClose: (id: number) => void;
}

function Shown({ toast: { id, tone, text, undo, link }, onClose }: ShownProps) {
  // A toast does not disappear while it is hovered or focused.
  const [isPaused, setPaused] = useState(false);
  /** The element that had the focus before the toast. */
  const before = useRef<Element | null>(null);
  const leave = () => {
    onClose(id);
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
    else focusHeading();
  };
  useEffect(() => {
    if (tone === 'bad' || isPaused) return;
    const timer = window.setTimeout(onClose, undo === null && link === null ? shownMs : undoMs, id);
    return () => clearTimeout(timer);
  }, [id, tone, undo, link, isPaused, onClose]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only stays for as long as one is at it.
    <div
      className={`toast ${tone}`}
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocus={({ currentTarget, relatedTarget }) => {
        setPaused(true);
        if (!currentTarget.contains(relatedTarget)) before.current = relatedTarget;
      }}
      onBlur={() => setPaused(false)}
    >
      <p>{visible(text)}</p>
      {link && (
        <Link href={link.href} onClick={() => onClose(id)}>
          {link.label}
        </Link>
      )}
      {undo && (
        <Button
          size="small"
          onClick={() => {
            leave();
            undo();
          }}
        >
          {common.undo}
        </Button>
      )}
      <Button tone="quiet" size="small" icon="close" aria-label={common.close} onClick={leave} />
    </div>
  );
}
