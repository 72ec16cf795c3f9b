import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { Button } from './button.tsx';

interface Toast {
  readonly id: number;
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

/** Short messages that come up and go. */
export interface Toasts {
  say(text: string): void;
  /** Stays until it is closed, so that it can be read. */
  fail(text: string): void;
}

const ToastContext = createContext<Toasts | null>(null);
const shownMs = 4_000;
const most = 4;

/** See {@link Toasts}. */
export function useToasts(): Toasts {
  const toasts = useContext(ToastContext);
  if (!toasts) throw new Error('useToasts is for components inside of ToastProvider.');
  return toasts;
}

/** Where toasts are shown. */
export function ToastProvider({ children }: { readonly children: ReactNode }) {
  const [shown, setShown] = useState<readonly Toast[]>([]);
  const count = useRef(0);
  const close = useCallback((id: number) => setShown((before) => before.filter((toast) => toast.id !== id)), []);
  const toasts = useMemo<Toasts>(() => {
    const add = (tone: Toast['tone'], text: string) => {
      const id = ++count.current;
      setShown((before) => [...before.slice(1 - most), { id, tone, text }]);
      return id;
    };
    return {
      say: (text) => {
        const id = add('good', text);
        window.setTimeout(close, shownMs, id);
      },
      fail: (text) => void add('bad', text),
    };
  }, [close]);
  return (
    <ToastContext value={toasts}>
      {children}
      <section className="toasts" aria-live="polite" aria-label="Messages">
        {shown.map(({ id, tone, text }) => (
          <div className={`toast ${tone}`} key={id}>
            <p>{text}</p>
            <Button tone="quiet" size="small" icon="close" aria-label="Close" onClick={() => close(id)} />
          </div>
        ))}
      </section>
    </ToastContext>
  );
}
