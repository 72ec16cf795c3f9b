import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { useUploadsMutation } from '../__generated__/useUploadsMutation.graphql.ts';
import { useMutation } from '../relay/use-mutation.ts';
import { useToasts } from '../ui/toasts.tsx';
import { sendFile, UploadError } from './send-file.ts';
import { sizeOf } from './size-of.ts';

/** A file that is to go along with what one writes. */
export interface Upload {
  readonly key: number;
  readonly file: File;
  /** `refused`: it cannot be sent as it is; what has failed may be tried again. */
  readonly state: 'waiting' | 'sending' | 'sent' | 'failed' | 'refused';
  readonly sentBytes: number;
  /** Why it failed, or was refused. */
  readonly problem: string | null;
  /** Once it is sent. */
  readonly attachmentId: string | null;
}

/** The files of one message. */
export interface Uploads {
  readonly all: readonly Upload[];
  /** Whether each of them has been sent: nothing goes without what was meant to go along. */
  readonly areSent: boolean;
  readonly attachmentIds: readonly string[];
  add(files: readonly File[]): void;
  /** Takes one back, also while it is being sent. */
  remove(key: number): void;
  retry(key: number): void;
  /** Tries all again that have failed. */
  retryAll(): void;
  clear(): void;
}

/** As many are sent at once. */
const atOnce = 3;
/** The service takes no more with one message. */
const maxUploads = 100;

/** See {@link Uploads}: sent as they are added, to the organization, and dropped when their place is left. */
export function useUploads(organizationId: string): Uploads {
  const [all, setAll] = useState<readonly Upload[]>([]);
  const count = useRef(0);
  const running = useRef(new Map<number, AbortController>());
  const toasts = useToasts();
  /** Known once the service was first asked. */
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
        if (!upload) throw new UploadError(errors?.map(({ message }) => message).join(' ') ?? 'Nothing was done.');
        setMaxBytes(upload.maxBytes);
        const refusal = refusalOf(file, upload.maxBytes);
        if (refusal !== null) return change(key, { state: 'refused', problem: refusal });
        if (signal.aborted) return;
        const onProgress = (sentBytes: number) => change(key, { sentBytes });
        const attachmentId = await sendFile(upload.url, file, { signal, onProgress });
        change(key, { state: 'sent', sentBytes: file.size, attachmentId });
      } catch (error) {
        const problem = error instanceof UploadError ? error.message : 'It could not be sent.';
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
            left.length > 3 ? `${left.slice(0, 3).join(', ')} and ${left.length - 3} more` : left.join(', ');
          toasts.fail(`At most ${maxUploads} files go along at once. Left out: ${named}.`);
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

// Before a byte of it is sent. `maxBytes` null: not known yet.
function refusalOf({ name, size }: File, maxBytes: number | null): string | null {
  if (size === 0) return `${name} is empty: a file must have at least one byte.`;
  if (maxBytes === null || size <= maxBytes) return null;
  return `${name} has ${sizeOf(size)}: a file may have at most ${sizeOf(maxBytes)}.`;
}

function startOf(running: Map<number, AbortController>, key: number): AbortController {
  const controller = new AbortController();
  running.set(key, controller);
  return controller;
}

function stopAll(running: Map<number, AbortController>): void {
  for (const each of running.values()) each.abort();
}
