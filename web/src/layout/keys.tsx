import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { isInDialog, isTyping } from '../ui/focus.ts';

/** The path of the dialog for a new session. */
export const newSessionAddress = '/sessions?new=yes';

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** The modifier key of shortcuts. */
export const commandKey = isApple ? '⌘' : 'Ctrl';

const keys = [
  ['?', 'Show keyboard shortcuts'],
  [`${commandKey} K`, 'Find an action, a session or a page'],
  ['/', 'Search'],
  ['n', 'New session'],
  ['j', 'Next item in a list'],
  ['k', 'Previous item in a list'],
  ['x', 'Select the item'],
  ['Shift + click', 'Select a range of items'],
  ['Home', 'Start of the transcript'],
  ['End', 'End of the transcript'],
  ['m', 'Next message of mine'],
  ['p', 'Previous message of mine'],
  ['e', 'Next error'],
  ['r', 'Write a message'],
  ['1 – 9', 'Choose an option of the question (while you write: with Alt)'],
  ['Enter', 'Send a message (with Shift: new line)'],
  ['Esc', 'Stop the agent, or return to the sessions'],
] as const;

/** Shortcuts on every page: `?`, `/` and `n`. */
export function Keys({ onSearch }: { readonly onSearch: () => void }) {
  const [, go] = useLocation();
  const { may, organization } = useSigned();
  const [isShown, setShown] = useState(false);
  const mayStart = may('USE_SESSIONS') && organization !== null;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, metaKey, ctrlKey, altKey } = event;
      if (metaKey || ctrlKey || altKey || isTyping(event.target) || isInDialog()) return;
      if (key === '?') setShown(true);
      else if (key === 'n' && mayStart) go(newSessionAddress);
      else if (key === '/') {
        const field = document.querySelector<HTMLElement>('#main search input[type="search"]');
        if (field) field.focus();
        else onSearch();
      } else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [go, mayStart, onSearch]);
  if (!isShown) return null;
  const close = () => setShown(false);
  return (
    <Dialog title="Keyboard shortcuts" onClose={close} actions={<Button onClick={close}>Close</Button>}>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
