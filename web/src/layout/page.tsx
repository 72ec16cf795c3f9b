import { type ReactNode, useEffect } from 'react';
import { visible } from '../ui/visible.ts';
import { setTitle } from '../ui/window-title.ts';

interface PageProps {
  readonly title: string;
  /** Actions for the whole page. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** True for a page that fills the window and scrolls inside. */
  readonly isFull?: boolean;
}

/** A page with its heading, which is also the window's title. */
export function Page({ title, actions, children, isFull = false }: PageProps) {
  useTitle(title);
  return (
    <div className={isFull ? 'page full' : 'page'}>
      <header className="page-head">
        <h1>{visible(title)}</h1>
        {actions && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Sets the window's title. */
export function useTitle(title: string): void {
  useEffect(() => {
    setTitle(title);
  }, [title]);
}
