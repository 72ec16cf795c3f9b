import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { useUploadsMutation } from '../__generated__/useUploadsMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { uploads as texts } from '../texts/uploads.ts';
import { writeSize } from '../ui/size.ts';
import { useToasts } from '../ui/toasts.tsx';
import { sendFile, UploadError } from './send-file.ts';

/** A file to attach to a message. */
export interface Upload {
  readonly key: number;
  readonly file: File;
  /** `refused`: it cannot be sent at all; a failed upload may be retried. */
  readonly state: 'waiting' | 'sending' | 'sent' | 'failed' | 'refused';
  readonly sentBytes: number;
  /** The reason why it failed or was refused. */
  readonly problem: string | null;
  /** Set once it has been sent. */
  readonly attachmentId: string | null;
}

/** The files of one message. */
export interface Uploads {
  readonly all: readonly Upload[];
  /** True if all have been sent: a message is not sent without its files. */
  readonly areSent: boolean;
  readonly attachmentIds: readonly string[];
  add(files: readonly File[]): void;
  /** Removes one, also while it is being sent. */
  remove(key: number): void;
  retry(key: number): void;
  /** Retries all failed uploads. */
  retryAll(): void;
  clear(): void;
}

/** The number of concurrent uploads. */
const atOnce = 3;
/** The service's maximum number of files per message. */
const maxUploads = 100;

/**
 * The {@link Uploads} of a message: sent to the organization as they are added, and dropped when the component
 * unmounts.
 */
export function useUploads(organizationId: string): Uploads {
  const [all, setAll] = useState<readonly Upload[]>([]);
  const count = useRef(0);
  const running = useRef(new Map<number, AbortController>());
  const toasts = useToasts();
  /** Known after the first request. */
  const [maxBytes, setMaxBytes] = useState<number | null>(null);
  const [createUpload] = useMutation<useUploadsMutation>(
    graphql`
      mutation useUploadsMutation($input: CreateAttachmentUploadInput!) {
        createAttachmentUpload(input: $input) {
          attachmentUpload {
            url
            maxBytes
          }
          userErrors {
            message
            path
          }
        }
      }
    `,
    { isQuiet: true },
  );
  const change = useCallback(
    (key: number, to: Partial<Upload>) =>
      setAll((before) => before.map((each) => (each.key === key ? { ...each, ...to } : each))),
    [],
  );
  const send = useCallback(
    async ({ key, file }: Upload) => {
      const { signal } = startOf(running.current, key);
      change(key, { state: 'sending' });
      try {
        const { payload, errors } = await createUpload({ input: { organizationId } });
        const upload = payload?.attachmentUpload;
        if (!upload) throw new UploadError(errors?.map(({ message }) => message).join(' ') ?? texts.theUploadFailed);
        setMaxBytes(upload.maxBytes);
        const refusal = refusalOf(file, upload.maxBytes);
        if (refusal !== null) return change(key, { state: 'refused', problem: refusal });
        if (signal.aborted) return;
        const onProgress = (sentBytes: number) => change(key, { sentBytes });
        const attachmentId = await sendFile(upload.url, file, { signal, onProgress });
        change(key, { state: 'sent', sentBytes: file.size, attachmentId });
      } catch (error) {
        const problem = error instanceof UploadError ? error.message : texts.theUploadFailed;
        change(key, { state: 'failed', sentBytes: 0, problem });
      } finally {
        running.current.delete(key);
      }
    },
    [createUpload, change, organizationId],
  );
  useEffect(() => {
    const isTooLarge = ({ state, file }: Upload) => state === 'waiting' && refusalOf(file, maxBytes) !== null;
    if (!all.some(isTooLarge)) return;
    setAll((before) =>
      before.map((each) =>
        isTooLarge(each) ? { ...each, state: 'refused', problem: refusalOf(each.file, maxBytes) } : each,
      ),
    );
  }, [all, maxBytes]);
  useEffect(() => {
    const free = atOnce - running.current.size;
    const next = all.filter(({ key, state }) => state === 'waiting' && !running.current.has(key));
    for (const each of next.slice(0, Math.max(0, free))) void send(each);
  }, [all, send]);
  useEffect(() => {
    const { current } = running;
    return () => stopAll(current);
  }, []);
  return useMemo(
    () => ({
      all,
      areSent: all.every(({ state }) => state === 'sent'),
      attachmentIds: all.flatMap(({ attachmentId }) => attachmentId ?? []),
      add: (files) => {
        const room = Math.max(0, maxUploads - all.length);
        const added = files.slice(0, room).map((file) => toUpload(++count.current, file));
        setAll((before) => [...before, ...added]);
        const left = files.slice(room).map(({ name }) => name);
        if (left.length > 0) {
          const named =
            left.length > 3
              ? texts.andMore({ names: left.slice(0, 3).join(', '), count: left.length - 3 })
              : left.join(', ');
          toasts.fail(texts.tooMany({ maxUploads, named }));
        }
      },
      remove: (key) => {
        running.current.get(key)?.abort();
        setAll((before) => before.filter((each) => each.key !== key));
      },
      retry: (key) => change(key, { state: 'waiting', problem: null }),
      retryAll: () =>
        setAll((before) =>
          before.map((each) => (each.state === 'failed' ? { ...each, state: 'waiting', problem: null } : each)),
        ),
      clear: () => {
        stopAll(running.current);
        setAll([]);
      },
    }),
    [all, change, toasts],
  );
}

function toUpload(key: number, file: File): Upload {
  const problem = refusalOf(file, null);
  const state = problem === null ? 'waiting' : 'refused';
  return { key, file, state, sentBytes: 0, problem, attachmentId: null };
}

// Checked before sending. `maxBytes` null: not known yet.
function refusalOf({ name, size }: File, maxBytes: number | null): string | null {
  if (size === 0) return texts.empty({ name });
  if (maxBytes === null || size <= maxBytes) return null;
  return texts.tooLarge({ name, size: writeSize(size), maxBytes: writeSize(maxBytes) });
}

function startOf(running: Map<number, AbortController>, key: number): AbortController {
  const controller = new AbortController();
  running.set(key, controller);
  return controller;
}

function stopAll(running: Map<number, AbortController>): void {
  for (const each of running.values()) each.abort();
}
