import { inboxRow as texts } from '../texts/inbox.ts';
import { type Shown, showStatus } from '../ui/status.ts';

interface Reasoned {
  readonly group: string;
  readonly status: string;
  readonly statusDetail: string | null | undefined;
  readonly endReason: string | null | undefined;
  readonly pendingQuestion: { readonly reason: string } | null | undefined;
}

/** Returns the reason why a session needs a person; null: it needs nobody, or its pull requests say the reason. */
export function reasonOf({ group, pendingQuestion, ...session }: Reasoned): Pick<Shown, 'label' | 'tone'> | null {
  if (group !== 'NEEDS_YOU') return null;
  if (pendingQuestion) {
    return { label: pendingQuestion.reason === 'PERMISSION' ? texts.permission : texts.question, tone: 'warn' };
  }
  if (session.statusDetail === 'WAITING_FOR_USER') return { label: texts.reply, tone: 'warn' };
  const { label, tone } = showStatus(session);
  return tone === 'bad' || tone === 'warn' ? { label, tone } : null;
}
