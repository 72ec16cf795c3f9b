import { useState } from 'react';
import { useCheckpointChoices } from '../pickers/use-checkpoint-choices.ts';
import { checkpoints as texts } from '../texts/session-details.ts';
import { Button } from '../ui/button.tsx';
import { Picker } from '../ui/picker.tsx';
import type { Choice } from '../ui/use-choices.ts';
import { ForkDialog } from './fork-dialog.tsx';
import { RewindDialog } from './rewind-dialog.tsx';
import { SnapshotDialog } from './snapshot-dialog.tsx';

interface CheckpointsProps {
  readonly sessionId: string;
  /** False if the session accepts no messages. */
  readonly mayRewind: boolean;
  readonly mayFork: boolean;
}

/** A part of the details that returns a session to a checkpoint, forks it from there, or gives the checkpoint a name. */
export function Checkpoints({ sessionId, mayRewind, mayFork }: CheckpointsProps) {
  const source = useCheckpointChoices(sessionId);
  const [chosen, setChosen] = useState<Choice | null>(null);
  const [act, setAct] = useState<'rewind' | 'fork' | 'snapshot' | null>(null);
  const dialog = chosen && { sessionId, point: chosen, onClose: () => setAct(null) };
  return (
    <section>
      <h2>{texts.title}</h2>
      <Picker
        label={texts.checkpoint}
        isLabelHidden
        source={source}
        value={chosen?.value ?? ''}
        placeholder={texts.placeholder}
        emptyText={texts.none}
        hint={chosen === null ? texts.hint : chosen.under}
        onChange={(_value, choice) => setChosen(choice)}
      />
      {dialog && (
        <div className="checkpoint-acts">
          {mayRewind && (
            <Button size="small" icon="back" onClick={() => setAct('rewind')}>
              {texts.rewindToHere}
            </Button>
          )}
          {mayFork && (
            <Button size="small" icon="pull" onClick={() => setAct('fork')}>
              {texts.forkFromHere}
            </Button>
          )}
          <Button size="small" icon="tag" onClick={() => setAct('snapshot')}>
            {texts.saveAsSnapshot}
          </Button>
        </div>
      )}
      {dialog && act === 'rewind' && <RewindDialog {...dialog} />}
      {dialog && act === 'fork' && <ForkDialog {...dialog} />}
      {dialog && act === 'snapshot' && <SnapshotDialog {...dialog} />}
    </section>
  );
}
