import type { Choice } from '../ui/use-choices.ts';

/** The properties of the dialogs for a checkpoint of a session. */
export interface PointDialogProps {
  readonly sessionId: string;
  /** A checkpoint, by its id, name and time. */
  readonly point: Choice;
  readonly onClose: () => void;
}

/** The name and the time of a checkpoint. */
export function Point({ point: { label, under } }: Pick<PointDialogProps, 'point'>) {
  return (
    <p>
      <b>{label}</b> <span className="soft">{under}</span>
    </p>
  );
}
