import { type ReactNode, useState } from 'react';
import { Confirm } from './dialog.tsx';
import { useToasts } from './toasts.tsx';

interface ConfirmActionProps {
  readonly title: string;
  readonly text: ReactNode;
  /** The label of the confirm button. */
  readonly confirmLabel: string;
  /** The message after success. */
  readonly successMessage: string;
  /** Runs the action. It shows its own errors. */
  readonly run: () => Promise<{ readonly errors: unknown }>;
  readonly onClose: () => void;
  readonly onDone?: () => void;
}

/** Asks before an irreversible action, runs it, shows a message and closes. */
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
