import { type FormEvent, type KeyboardEvent, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { AgentSteer } from '../__generated__/sessionPageQuery.graphql.ts';
import { useComments } from '../comments/comment-draft.ts';
import { CommentList } from '../comments/comment-list.tsx';
import { writeMessage } from '../comments/comment-message.ts';
import { commentList as commentTexts } from '../texts/comments.ts';
import { common } from '../texts/common.ts';
import { composer as texts } from '../texts/session.ts';
import { Button } from '../ui/button.tsx';
import { findDraft, saveDraft } from '../ui/drafts.ts';
import { RichText } from '../ui/rich-text.tsx';
import { PickFiles, UploadList } from '../uploads/uploads.tsx';
import { takePasted, useFileDrop } from '../uploads/use-file-drop.ts';
import { type Uploads, useUploads } from '../uploads/use-uploads.ts';
import { useCompletion } from './use-completion.tsx';
import { type MessageMode, useSend } from './use-send.ts';
import { useStop } from './use-stop.ts';

interface ComposerProps {
  readonly sessionId: string;
  /** The session's organization, to which files are uploaded. */
  readonly organizationId: string;
  readonly placeholder: string;
  /** The question that the text answers; null: the text is a message. */
  readonly questionId: string | null;
  /** True while the agent waits for a permission: the text is then a reply in words. */
  readonly isPermission: boolean;
  /** The effect of a message during a turn that chooses none; null: unknown. */
  readonly steer: AgentSteer | null;
  /** True if the session has work that can be stopped. */
  readonly isWorking: boolean;
  /** True in a turn that does not wait for an answer or a limit: a message may wait for its end, or stop it. */
  readonly isInTurn: boolean;
  /** Called when the user types. */
  readonly onType: () => void;
}

interface Refusable {
  /** The reason why the session takes no messages; null if it does. */
  readonly refusal: string | null;
}

/** The field for messages to the agent, or the reason why there is none. */
export function Composer({ refusal, ...open }: ComposerProps & Refusable) {
  return refusal === null ? <Open {...open} /> : <p className="composer closed">{refusal}</p>;
}

const modeLabels: Readonly<Record<MessageMode, string>> = {
  QUEUE: texts.afterThisTurn,
  INTERRUPT: texts.stopAndSendNow,
};

/** The mode of a message that does not choose one; null: unknown. */
function defaultMode(steer: AgentSteer | null): MessageMode | null {
  if (steer === 'WAIT') return 'QUEUE';
  return steer === 'CANCEL' ? 'INTERRUPT' : null;
}

function defaultLabel(steer: AgentSteer | null): string {
  const mode = defaultMode(steer);
  return mode === null ? texts.asConfigured : common.defaultName({ name: modeLabels[mode] });
}

/** Returns what Enter does, for the hint below the field. */
function enterDoes(props: ComposerProps, chosen: MessageMode | ''): keyof typeof texts.enter {
  const { isWorking, isInTurn, questionId, isPermission, steer } = props;
  if (isPermission) return 'replies';
  const mode = chosen === '' ? defaultMode(steer) : chosen;
  if (isInTurn && mode !== null) return mode === 'QUEUE' ? 'queues' : 'interrupts';
  return isWorking && !isInTurn && questionId !== null ? 'answers' : 'sends';
}

/**
 * Enter sends, Ctrl-Enter stops the turn and sends, Shift-Enter inserts a line; files may be dropped, pasted or chosen. Unsent text is stored for the
 * session, files are not.
 */
function Open(props: ComposerProps) {
  const { sessionId, organizationId, placeholder, questionId, isWorking, isInTurn, steer, onType } = props;
  const { stop, isStopping } = useStop(sessionId, isWorking);
  const [chosen, setMode] = useState<MessageMode | ''>('');
  const mode = isInTurn ? chosen : '';
  const [text, setText] = useState(() => findDraft<string>(sessionId) ?? '');
  const { send, isBusy, lost } = useSend(sessionId, `${sessionId}:sending`);
  const uploads = useUploads(organizationId);
  const isOver = useFileDrop(uploads.add);
  const noteId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as high as what is written.
  useLayoutEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${Math.min(area.scrollHeight + 2, 240)}px`;
  }, [text]);
  const change = (next: string) => {
    setText(next);
    saveDraft(sessionId, next === '' ? null : next);
  };
  const completion = useCompletion({ organizationId, sessionId, field, change });
  const { comments, draft } = useComments();
  const message = useMemo(() => writeMessage(text.trim(), comments), [text, comments]);
  // A message that was being sent when the page was left is sent again unchanged, with its files and key, so it is not
  // delivered twice.
  const isAgain = uploads.all.length === 0 && lost?.message === message;
  const files = isAgain ? lost.attachmentIds : uploads.attachmentIds;
  const submit = async (chosenMode: MessageMode | '') => {
    if (message === '' || isBusy || !uploads.areSent) return;
    const sentMode = isWorking && chosenMode !== '' ? chosenMode : null;
    if (await send(message, files, files.length === 0 && sentMode === null ? questionId : null, sentMode)) {
      change('');
      draft?.remove(comments.map(({ id }) => id));
      uploads.clear();
    }
    field.current?.focus();
  };
  const isUnconfirmed = lost !== null && lost.message === message && !isBusy;
  const unconfirmed = files.length > 0 ? texts.unconfirmedFiles : texts.unconfirmed;
  const note = missingOf(message, uploads) ?? (isUnconfirmed ? unconfirmed : null);
  const press = (event: KeyboardEvent) => {
    if (completion.press(event)) return;
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit(event.ctrlKey || event.metaKey ? 'INTERRUPT' : mode);
  };
  const submitForm = (event: FormEvent) => {
    event.preventDefault();
    void submit(mode);
  };
  return (
    <form className="composer" onSubmit={submitForm}>
      {isOver && <p className="drop-here">{texts.dropFiles}</p>}
      <CommentList note={commentsNote(props)} onEmpty={() => field.current?.focus()} />
      <UploadList uploads={uploads} />
      <p className="uploads-note" id={noteId} role="status" hidden={note === null}>
        {note}
      </p>
      <PickFiles uploads={uploads} />
      <textarea
        ref={field}
        rows={1}
        aria-label={texts.label}
        aria-describedby={note === null ? undefined : noteId}
        placeholder={placeholder}
        value={text}
        onChange={(event) => {
          change(event.target.value);
          onType();
        }}
        {...completion.attributes}
        onKeyDown={press}
        onPaste={takePasted(uploads.add)}
      />
      {completion.list}
      {stop !== null && (
        <Button
          tone="danger"
          icon="stop"
          aria-label={isStopping ? texts.stopping : texts.stopEsc}
          aria-keyshortcuts="Escape"
          isBusy={isStopping}
          onClick={(event) => {
            stop();
            // Pressed by a key: the button, which has the focus, disappears.
            if (event.detail === 0) field.current?.focus();
          }}
        />
      )}
      <Button
        type="submit"
        tone="primary"
        icon="send"
        aria-label={comments.length === 0 ? texts.send : undefined}
        isBusy={isBusy}
        disabled={message === '' || !uploads.areSent}
      >
        {comments.length === 0 ? undefined : commentTexts.sendWith({ count: comments.length })}
      </Button>
      <p className="when">
        {isInTurn && (
          <select
            aria-label={texts.whenToSend}
            value={mode}
            onChange={(event) => setMode(event.target.value as MessageMode | '')}
          >
            <option value="">{defaultLabel(steer)}</option>
            {Object.entries(modeLabels)
              .filter(([value]) => value !== defaultMode(steer))
              .map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
          </select>
        )}
        <span>
          <span>
            <RichText text={texts.enter[enterDoes(props, mode)]} slots={{ key: <kbd>Enter</kbd> }} />
          </span>
          {isWorking && mode !== 'INTERRUPT' && (
            <>
              {' '}
              <span>
                <RichText text={texts.stopsAgentSends} slots={{ ctrlEnter: <kbd>Ctrl+Enter</kbd> }} />
              </span>
            </>
          )}{' '}
          <span>
            {isWorking ? (
              <RichText text={texts.stops} slots={{ esc: <kbd>Esc</kbd> }} />
            ) : (
              <RichText text={texts.startsALine} slots={{ shiftEnter: <kbd>Shift+Enter</kbd> }} />
            )}
          </span>
        </span>
      </p>
    </form>
  );
}

/** Says what comments do to the open question; null: nothing. */
function commentsNote({ isPermission, questionId }: ComposerProps): string | null {
  if (isPermission) return commentTexts.isReply;
  return questionId === null ? null : commentTexts.isAnswer;
}

// The reason why a message with files cannot be sent yet. Without files, the empty field says enough.
function missingOf(message: string, { all }: Uploads): string | null {
  if (all.length === 0) return null;
  if (all.some(({ state }) => state === 'refused')) return texts.removeRefused;
  if (all.some(({ state }) => state === 'failed')) return texts.retryFailed;
  if (message === '') return texts.writeMessage;
  return null;
}
