import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useSigned } from '../app/gate.tsx';
import { common } from '../texts/common.ts';
import { keys as texts } from '../texts/layout.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { isInDialog, isTyping } from '../ui/focus.ts';

/** The path of the dialog for a new session. */
export const newSessionAddress = '/sessions?new=yes';

const isApple = /Mac|iPhone|iPad/.test(navigator.platform);

/** The modifier key of shortcuts. */
export const commandKey = isApple ? '⌘' : texts.ctrl;

const keyGroups = [
  {
    title: texts.everywhere,
    keys: [
      ['?', texts.showShortcuts],
      [`${commandKey} K`, texts.find],
      ['/', texts.search],
      ['n', common.newSession],
    ],
  },
  {
    title: texts.inLists,
    keys: [
      ['j', texts.nextItem],
      ['k', texts.previousItem],
      ['x', texts.selectItem],
      [texts.shiftClick, texts.selectRange],
    ],
  },
  {
    title: texts.inInbox,
    keys: [
      ['u', texts.nextUnread],
      ['s', texts.pin],
      ['a', texts.archive],
    ],
  },
  {
    title: texts.inSession,
    keys: [
      ['r', texts.writeMessage],
      ['Enter', texts.sendMessage],
      ['1 – 9', texts.chooseOption],
      [texts.esc, texts.stop],
      ['Home', texts.transcriptStart],
      ['End', texts.transcriptEnd],
      ['m', texts.nextOwn],
      ['p', texts.previousOwn],
      ['e', texts.nextError],
      [`${commandKey} F`, texts.searchTranscript],
    ],
  },
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
        const opener = document.querySelector<HTMLElement>('#main [data-opens-search]');
        if (field) field.focus();
        else if (opener) opener.click();
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
    <Dialog title={texts.title} onClose={close} actions={<Button onClick={close}>{common.close}</Button>}>
      {keyGroups.map(({ title, keys }) => (
        <section className="keys" key={title}>
          <h3>{title}</h3>
          <dl>
            {keys.map(([key, effect]) => (
              <div key={effect}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{effect}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
