import { restored as texts } from '../../texts/manage-kit.ts';
import { Button } from '../../ui/button.tsx';
import { RichText } from '../../ui/rich-text.tsx';

/** The message after a draft was discarded. */
export const discardedText = texts.discarded;

/** Shown above a form that starts with an unsaved draft. */
export function Restored({ onDiscard }: { readonly onDiscard: () => void }) {
  return (
    <p className="banner" role="status">
      <RichText
        text={texts.restored}
        slots={{
          button: (text) => (
            <Button size="small" onClick={onDiscard}>
              {text}
            </Button>
          ),
        }}
      />
    </p>
  );
}
