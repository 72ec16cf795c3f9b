import { type ReactNode, useState } from 'react';
import { Confirm } from './dialog.tsx';
import { useToasts } from './toasts.tsx';

interface ConfirmActionProps {
  readonly title: string;
  readonly text: ReactNode;
  /** What the button that does it says. */
  readonly confirmLabel: string;
  /** What is said when it is done. */
  readonly successMessage: string;
  /** Does it. What was refused is shown by who does it. */
  readonly run: () => Promise<{ readonly errors: unknown }>;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Asks before an act that cannot be taken back, does it, says so and closes. */
export function ConfirmAction({ title, text, confirmLabel, successMessage, run, onClose, onDone }: ConfirmActionProps) {
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    const { errors } = await run();
    onClose();
    if (errors !== null) return;
    toasts.say(successMessage);
    onDone?.();
  };
  return <Confirm {...{ title, text, confirmLabel, isBusy, onClose }} onConfirm={() => void confirm()} />;
}
