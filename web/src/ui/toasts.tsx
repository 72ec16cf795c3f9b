import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import { Button } from './button.tsx';
import { useTopModal } from './modal-stack.ts';
import { visible } from './visible.ts';

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
  readonly undo: (() => void) | null;
}

/** Short messages that come up and go. */
export interface Toasts {
  /** What was done, where that is not plain to see; `undo` takes it back, and is offered for longer. */
  say(text: string, undo?: () => void): void;
  /** Stays until it is closed, so that it can be read; or until it is true no more. */
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

/** Where toasts are shown. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const topModal = useTopModal();
  const [shown, setShown] = useState<readonly Toast[]>([]);
  const count = useRef(0);
  const close = useCallback((id: number) => setShown((before) => before.filter((toast) => toast.id !== id)), []);
  const toasts = useMemo<Toasts>(() => {
    const add = (tone: Toast['tone'], text: string, undo: Toast['undo']) => {
      const id = ++count.current;
      setShown((before) => [...before.slice(1 - maxToasts), { id, tone, text, undo }]);
      return id;
    };
    return {
      say: (text, undo) => void add('good', text, undo ?? null),
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
        <section className="toasts" aria-live="polite" aria-label="Messages">
          {shown.map((toast) => (
            <Shown toast={toast} onClose={close} key={toast.id} />
          ))}
        </section>,
        // In a dialog where there is one: behind it nobody would see them.
        topModal ?? document.body,
      )}
    </ToastContext>
  );
}

interface ShownProps {
  readonly toast: Toast;
  readonly onClose: (id: number) => void;
}

function Shown({ toast: { id, tone, text, undo }, onClose }: ShownProps) {
  // Nothing goes away under the pointer, or from under the keys.
  const [isPaused, setPaused] = useState(false);
  useEffect(() => {
    if (tone === 'bad' || isPaused) return;
    const timer = window.setTimeout(onClose, undo === null ? shownMs : undoMs, id);
    return () => clearTimeout(timer);
  }, [id, tone, undo, isPaused, onClose]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only stays for as long as one is at it.
    <div
      className={`toast ${tone}`}
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
    >
      <p>{visible(text)}</p>
      {undo && (
        <Button
          size="small"
          onClick={() => {
            onClose(id);
            undo();
          }}
        >
          Undo
        </Button>
      )}
      <Button tone="quiet" size="small" icon="close" aria-label="Close" onClick={() => onClose(id)} />
    </div>
  );
}
