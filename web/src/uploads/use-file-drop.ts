import { type ClipboardEvent, useEffect, useRef, useState } from 'react';
import { fileDrop as texts } from '../texts/uploads.ts';
import { useToasts } from '../ui/toasts.tsx';

type Take = (files: readonly File[]) => void;
type Brought = (data: DataTransfer) => void;

// The active drop targets. The last one is in front, like a dialog, and gets the files.
const takers: { readonly take: Brought; readonly show: (isOver: boolean) => void }[] = [];

/**
 * Accepts files dropped anywhere on the page; true while files are dragged over it. A dropped file never replaces the
 * page. Folders are refused with a message.
 */
export function useFileDrop(onFiles: Take): boolean {
  const [isOver, setOver] = useState(false);
  const toasts = useToasts();
  const brought: Brought = (data) => {
    const { files, folders } = sort(data);
    if (folders.length > 0) toasts.fail(refusalOf(folders));
    if (files.length > 0) onFiles(files);
  };
  const latest = useRef(brought);
  useEffect(() => {
    latest.current = brought;
  });
  useEffect(() => {
    const taker = { take: (data: DataTransfer) => latest.current(data), show: setOver };
    if (takers.push(taker) === 1) listen();
    return () => {
      takers.splice(takers.indexOf(taker), 1);
      if (takers.length === 0) deafen();
    };
  }, []);
  return isOver;
}

function listen(): void {
  window.addEventListener('dragover', over);
  window.addEventListener('dragleave', leave);
  window.addEventListener('drop', drop);
}

function deafen(): void {
  window.removeEventListener('dragover', over);
  window.removeEventListener('dragleave', leave);
  window.removeEventListener('drop', drop);
}

function over(event: DragEvent): void {
  if (!event.dataTransfer?.types.includes('Files')) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = 'copy';
  takers.at(-1)?.show(true);
}

function leave(event: DragEvent): void {
  // The pointer left the window, not just one of its elements.
  if (event.relatedTarget === null) takers.at(-1)?.show(false);
}

function drop(event: DragEvent): void {
  if (!event.dataTransfer?.types.includes('Files')) return;
  event.preventDefault();
  const taker = takers.at(-1);
  taker?.show(false);
  taker?.take(event.dataTransfer);
}

// A folder looks like an unreadable file; only its entry tells the difference.
function sort(data: DataTransfer): { readonly files: readonly File[]; readonly folders: readonly string[] } {
  const files: File[] = [];
  const folders: string[] = [];
  for (const item of data.items) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry();
    const file = item.getAsFile();
    if (entry?.isDirectory) folders.push(entry.name);
    else if (file) files.push(file);
  }
  return { files, folders };
}

function refusalOf(folders: readonly string[]): string {
  return texts.folders({ count: folders.length, names: folders.join(', ') });
}

/** Accepts files pasted into a field. If there is text too, as from spreadsheets, the text counts. */
export function takePasted(onFiles: Take): (event: ClipboardEvent) => void {
  return (event) => {
    const { files, types } = event.clipboardData;
    if (files.length === 0 || types.includes('text/plain')) return;
    event.preventDefault();
    onFiles([...files]);
  };
}
