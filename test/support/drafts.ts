import { type DraftMessage, writeDraftMessage } from '../../src/domain/sessions/live/draft-message.ts';
import type { NewEntry } from '../../src/domain/sessions/log.ts';
import type { TestApp } from './app.ts';
import { appendToLog } from './sessions.ts';

/** Writes the drafts of a session, and their entries, as its worker would. */
export interface DraftWriter {
  /** Sends the next part of a draft. */
  write(draftId: string, text: string, more?: Partial<DraftMessage>): void;
  /** Sends the last part of a draft, and appends the entry that replaces it: a message, unless `entry` says otherwise. */
  complete(draftId: string, entry?: Partial<NewEntry>): Promise<void>;
}

/** Returns a writer for a session without a worker. The id of a draft has 32 hexadecimal digits. */
export function draftWriter(test: TestApp, sessionId: string): DraftWriter {
  const sent = new Map<string, { text: string; kind: DraftMessage['kind']; toolCallId: string | null }>();
  const write = (draftId: string, text: string, more: Partial<DraftMessage> = {}) => {
    const { text: before, ...known } = sent.get(draftId) ?? { text: '', kind: 'message', toolCallId: null };
    const common = { generation: 1, draftId, version: 0, offset: before.length, isDone: false, isTruncated: false };
    const part: DraftMessage = { ...common, ...known, ...more, text };
    sent.set(draftId, { text: before + text, kind: part.kind, toolCallId: part.toolCallId });
    test.app.services.broadcaster.publish('draft', sessionId, writeDraftMessage(part));
  };
  return {
    write,
    async complete(draftId, { data, ...entry } = {}) {
      write(draftId, '', { isDone: true });
      const body = sent.get(draftId)?.text ?? '';
      const message = { kind: 'MESSAGE', messageType: 'agent_message', body } as const;
      await appendToLog(test, sessionId, { ...message, ...entry, data: { ...data, draftId } });
    },
  };
}
