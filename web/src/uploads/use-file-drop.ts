import { type ClipboardEvent, useEffect, useRef, useState } from 'react';

type Take = (files: readonly File[]) => void;

// Who was shown last is in front, as a dialog is: what is dropped on the page goes there.
const takers: { readonly take: (files: readonly File[]) => void; readonly show: (isOver: boolean) => void }[] = [];

/** Takes files that are dropped anywhere on the page; true while some are held over it. A file never replaces the page. */
export function useFileDrop(onFiles: Take): boolean {
  const [isOver, setOver] = useState(false);
  const latest = useRef(onFiles);
  useEffect(() => {
    latest.current = onFiles;
  });
  useEffect(() => {
    const taker = { take: (files: readonly File[]) => latest.current(files), show: setOver };
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
  // Out of the window, not from one of its parts to another.
  if (event.relatedTarget === null) takers.at(-1)?.show(false);
}

function drop(event: DragEvent): void {
  if (!event.dataTransfer?.types.includes('Files')) return;
  event.preventDefault();
  const taker = takers.at(-1);
  taker?.show(false);
  const files = [...event.dataTransfer.files];
  if (files.length > 0) taker?.take(files);
}

/** Takes files that are pasted into a field. Where there is text too, as from spreadsheets, the text is what is meant. */
export function takePasted(onFiles: Take): (event: ClipboardEvent) => void {
  return (event) => {
    const { files, types } = event.clipboardData;
    if (files.length === 0 || types.includes('text/plain')) return;
    event.preventDefault();
    onFiles([...files]);
  };
}
