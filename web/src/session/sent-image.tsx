import { type ReactNode, useEffect, useRef, useState } from 'react';
import { isImageName, maxImageBytes } from '../files/image-view.tsx';
import { drawReduced } from '../ui/draw-reduced.ts';
import { visible } from '../ui/visible.ts';
import type { AttachedFile } from './attachments.tsx';

/** The maximum width and height in pixels of the canvas: twice those on the page. */
const maxSides = { width: 480, height: 320 } as const;

/** Tells if a file has a thumbnail. SVG has none: it is a document, which may load others. */
export const isSentImage = ({ name, sizeBytes }: AttachedFile): boolean =>
  isImageName(name) && sizeBytes <= maxImageBytes;

/**
 * A small image of a sent file, which opens it. It is downloaded once it is near the visible part of the page, and drawn on a canvas: the
 * policy of the page forbids images of other addresses, and a canvas shows pixels only. `children` are shown instead until it is drawn, and
 * if the file is no image.
 */
export function SentImage({ file, children }: { readonly file: AttachedFile; readonly children: ReactNode }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [isDrawn, setDrawn] = useState(false);
  const { url, name } = file;
  useEffect(() => {
    const ended = new AbortController();
    const show = async () => {
      // Its own origin, even if the service names itself differently.
      const { pathname, search } = new URL(url, location.href);
      const response = await fetch(`${pathname}${search}`, { signal: ended.signal });
      if (!response.ok) return;
      const image = await createImageBitmap(await response.blob());
      if (!ended.signal.aborted && canvas.current) {
        drawReduced(canvas.current, image, maxSides);
        setDrawn(true);
      }
      image.close();
    };
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      observer.disconnect();
      // Without an image, the row has its name.
      show().catch(() => undefined);
    });
    const parent = canvas.current?.parentElement;
    if (parent) observer.observe(parent);
    return () => {
      observer.disconnect();
      ended.abort();
    };
  }, [url]);
  return (
    <>
      <canvas ref={canvas} role="img" aria-label={visible(name)} className="sent-image" hidden={!isDrawn} />
      {!isDrawn && children}
    </>
  );
}
