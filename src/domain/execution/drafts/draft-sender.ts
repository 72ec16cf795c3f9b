import type { DraftGrowth } from '../../../agents/agent.ts';
import { createTimeBudget } from '../../../common/time-budget.ts';
import type { Broadcaster } from '../../../realtime/broadcaster.ts';
import { maxToolCallIdLength, splitForMessages, writeDraftMessage } from '../../sessions/live/draft-message.ts';
import { renewMs } from '../../sessions/live/watch-message.ts';
import type { Mask } from '../runs/masking.ts';
import { OpenDraft, type Part } from './open-draft.ts';
import type { StreamMask } from './stream-mask.ts';
import type { WatchedSessions } from './watched-sessions.ts';

/** Minimum time in ms between two parts of a session's drafts. */
const minGapMs = 50;
/** The share of the time that masking the drafts of one session may take, and the time in ms that it may take at once. */
const share = 0.1;
const burstMs = 500;
/** Maximum number of characters that are sent at once. */
const maxCharactersAtOnce = 16_384;
/** Maximum number of open drafts. A block that has ended is open until its entry is written; an agent may run many tools. */
const maxOpen = 48;
/** Longer output of a tool is not followed to its end: agents repeat all of it with each new line. */
const maxOutputCharacters = 2_000_000;
/** Maximum number of characters of the open outputs together: an agent may run many tools at once. Others are not followed. */
const maxOpenOutputCharacters = 4_000_000;

/** Sends the drafts of one run to those who watch its session. */
export interface DraftSender {
  /** Takes the text of an open block or tool call so far. */
  grow(growth: DraftGrowth): void;
  /** A prompt begins. `isHidden`: the agent's messages are thoughts in the log. */
  begin(isHidden: boolean): void;
  /**
   * Sends the rest of a block before its entry is written. `text`: the masked whole. Returns the text for the entry, and whether it
   * was a draft.
   */
  completeBlock(draftId: string, raw: string, text: string): { readonly text: string; readonly wasSent: boolean };
  /** Sends the rest of a tool's output if its call has ended. Returns whether it was a draft. */
  completeOutput(draftId: string, hasEnded: boolean): boolean;
  /** Number of characters of a block that were sent. Its entry must not end before. */
  sentLength(draftId: string): number;
  /** Ends all drafts: the run is over. */
  close(): void;
}

/** The services and the session of a sender. */
export interface DraftSenderOptions {
  readonly broadcaster: Broadcaster;
  readonly watched: WatchedSessions;
  /** Unprefixed. */
  readonly sessionId: string;
  readonly generation: number;
  readonly mask: Mask;
  readonly createStream: () => StreamMask;
}

/** Creates the {@link DraftSender} of a run. Text is masked only while the session is watched. */
export function createDraftSender(options: DraftSenderOptions): DraftSender {
  const { broadcaster, watched, sessionId, generation, mask, createStream } = options;
  const open = new Map<string, OpenDraft>();
  let isWatched = watched.whereWatched(sessionId) !== 'nowhere';
  let mustResend = false;
  let isHidden = false;
  let nextAt = 0;
  const budget = createTimeBudget(share, burstMs);
  let timer: NodeJS.Timeout | null = null;
  let renewal: NodeJS.Timeout | null = null;

  const publish = ({ id, kind, toolCallId }: OpenDraft, part: Part, isDone: boolean) => {
    const isLocal = watched.whereWatched(sessionId) === 'local';
    const texts = part.text === '' ? [''] : [...splitForMessages(part.text, broadcaster.maxBytes)];
    let { offset } = part;
    for (const [n, text] of texts.entries()) {
      const isLast = n === texts.length - 1;
      const flags = { isDone: isDone && isLast, isTruncated: part.isTruncated && n === 0 };
      const message = { generation, draftId: id, kind, toolCallId, version: part.version, offset, text, ...flags };
      broadcaster.publish('draft', sessionId, writeDraftMessage(message), isLocal);
      offset += text.length;
    }
  };
  const sendParts = (draft: OpenDraft, maxCharacters: number): number => {
    let left = maxCharacters;
    for (let part = draft.takePart(left); part !== null && left > 0; part = draft.takePart(left)) {
      left -= Math.max(1, part.text.length);
      publish(draft, part, false);
    }
    return left;
  };
  const tick = () => {
    timer = null;
    if (!isWatched) return;
    const startedAt = performance.now();
    if (mustResend) {
      mustResend = false;
      for (const draft of open.values()) {
        const sent = draft.sentPart();
        if (sent !== null) publish(draft, sent, false);
      }
    }
    let left = maxCharactersAtOnce;
    for (const draft of open.values()) {
      draft.produce(createStream);
      if (left > 0) left = sendParts(draft, left);
    }
    nextAt = Math.max(startedAt + minGapMs, performance.now() + budget.spend(performance.now() - startedAt));
    if ([...open.values()].some((draft) => draft.hasMore())) schedule();
  };
  const schedule = () => {
    if (!isWatched) return;
    timer ??= setTimeout(tick, Math.max(0, nextAt - performance.now())).unref();
  };
  const renew = () => {
    for (const draft of open.values()) if (draft.wasSent) publish(draft, draft.endPart(), false);
  };
  const unfollow = watched.follow(sessionId, (isNew) => {
    isWatched = watched.whereWatched(sessionId) !== 'nowhere';
    if (!isWatched) {
      for (const draft of open.values()) draft.forget();
      if (renewal) clearInterval(renewal);
      renewal = null;
      return;
    }
    mustResend ||= isNew;
    renewal ??= setInterval(renew, renewMs).unref();
    if (mustResend) nextAt = 0;
    if (timer) clearTimeout(timer);
    timer = null;
    schedule();
  });
  if (isWatched) renewal = setInterval(renew, renewMs).unref();

  const draftOf = ({ draftId, kind, toolCallId }: DraftGrowth): OpenDraft | null => {
    // The text of a block is referred to also while nobody watches, so that a later watcher gets all of it.
    if (kind === 'tool_output' && !isWatched) return null;
    const known = open.get(draftId);
    if (known) return known;
    if (!hasRoom()) return null;
    const masked = toolCallId === null ? null : mask(toolCallId);
    if (masked !== null && masked.length > maxToolCallIdLength) return null;
    const draft = new OpenDraft(draftId, isHidden && kind === 'message' ? 'thought' : kind, masked);
    open.set(draftId, draft);
    return draft;
  };
  // A block of white space has no entry, and so no end.
  const hasRoom = () => {
    if (open.size < maxOpen) return true;
    const unsent = [...open.values()].find((draft) => !draft.wasSent && draft.kind !== 'tool_output');
    return unsent !== undefined && open.delete(unsent.id);
  };
  const roomFor = (output: OpenDraft) => {
    let room = maxOpenOutputCharacters;
    for (const each of open.values()) if (each.kind === 'tool_output' && each !== output) room -= each.raw.length;
    return room;
  };
  const discardAll = () => {
    for (const draft of open.values()) if (draft.wasSent && isWatched) publish(draft, draft.discardPart(), true);
    open.clear();
  };
  const finish = (draft: OpenDraft) => {
    open.delete(draft.id);
    if (!draft.wasSent || !isWatched) return;
    sendParts(draft, Number.POSITIVE_INFINITY);
    publish(draft, draft.endPart(), true);
  };

  return {
    grow(growth) {
      const draft = draftOf(growth);
      if (draft === null || growth.text.length > maxOutputCharacters) return;
      if (draft.kind === 'tool_output' && growth.text.length > roomFor(draft)) return;
      draft.raw = growth.text;
      schedule();
    },
    begin(hidden) {
      isHidden = hidden;
      // The entries of the previous prompt have been written.
      discardAll();
    },
    completeBlock(draftId, raw, text) {
      const draft = open.get(draftId);
      if (draft === undefined) return { text, wasSent: false };
      const entryText = draft.wasSent ? draft.complete(raw, text) : text;
      finish(draft);
      return { text: entryText === '' ? text : entryText, wasSent: draft.wasSent };
    },
    completeOutput(draftId, hasEnded) {
      const draft = open.get(draftId);
      if (draft === undefined) return false;
      if (!hasEnded) return draft.wasSent;
      if (draft.wasSent && isWatched) {
        draft.produce(createStream);
        draft.complete(draft.raw, null);
      }
      finish(draft);
      return draft.wasSent;
    },
    sentLength: (draftId) => open.get(draftId)?.cut ?? 0,
    close() {
      unfollow();
      if (timer) clearTimeout(timer);
      if (renewal) clearInterval(renewal);
      discardAll();
    },
  };
}
