import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { graphql } from 'react-relay';
import type { useUploadsMutation } from '../__generated__/useUploadsMutation.graphql.ts';
import { useAct } from '../relay/use-act.ts';
import { sendFile, UploadError } from './send-file.ts';

/** A file that is to go along with what one writes. */
export interface Upload {
  readonly key: number;
  readonly file: File;
  readonly state: 'waiting' | 'sending' | 'sent' | 'failed';
  readonly sentBytes: number;
  /** Why it failed. */
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
  clear(): void;
}

/** As many are sent at once. */
const atOnce = 3;
/** The service takes no more with one message. */
const most = 100;

/** See {@link Uploads}: sent as they are added, to the organization, and dropped when their place is left. */
export function useUploads(organizationId: string): Uploads {
  const [all, setAll] = useState<readonly Upload[]>([]);
  const count = useRef(0);
  const running = useRef(new Map<number, AbortController>());
  const [ask] = useAct<useUploadsMutation>(
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
        const { payload, errors } = await ask({ input: { organizationId } });
        const upload = payload?.attachmentUpload;
        if (!upload) throw new UploadError(errors?.map(({ message }) => message).join(' ') ?? 'Nothing was done.');
        if (file.size > upload.maxBytes) {
          throw new UploadError(`It is larger than the ${upload.maxBytes / 1_048_576} MiB that a file may have.`);
        }
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
    [ask, change, organizationId],
  );
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
        const added = files.map((file) => toUpload(++count.current, file));
        setAll((before) => [...before, ...added].slice(0, most));
      },
      remove: (key) => {
        running.current.get(key)?.abort();
        setAll((before) => before.filter((each) => each.key !== key));
      },
      retry: (key) => change(key, { state: 'waiting', problem: null }),
      clear: () => {
        stopAll(running.current);
        setAll([]);
      },
    }),
    [all, change],
  );
}

function toUpload(key: number, file: File): Upload {
  return { key, file, state: 'waiting', sentBytes: 0, problem: null, attachmentId: null };
}

function startOf(running: Map<number, AbortController>, key: number): AbortController {
  const controller = new AbortController();
  running.set(key, controller);
  return controller;
}

function stopAll(running: Map<number, AbortController>): void {
  for (const each of running.values()) each.abort();
}
