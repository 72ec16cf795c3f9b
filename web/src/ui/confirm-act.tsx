import { type ReactNode, useState } from 'react';
import { Confirm } from './dialog.tsx';
import { useToasts } from './toasts.tsx';

interface ConfirmActProps {
  readonly title: string;
  readonly text: ReactNode;
  /** What the button that does it says. */
  readonly act: string;
  /** What is said when it is done. */
  readonly said: string;
  /** Does it. What was refused is shown by who does it. */
  readonly run: () => Promise<{ readonly errors: unknown }>;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Asks before an act that cannot be taken back, does it, says so and closes. */
export function ConfirmAct({ title, text, act, said, run, onClose, onDone }: ConfirmActProps) {
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    const { errors } = await run();
    onClose();
    if (errors !== null) return;
    toasts.say(said);
    onDone?.();
  };
  return <Confirm {...{ title, text, act, isBusy, onClose }} onConfirm={() => void confirm()} />;
}
