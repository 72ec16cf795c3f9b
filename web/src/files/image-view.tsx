import { useEffect, useRef, useState } from 'react';
import { imageView as texts } from '../texts/files.ts';
import { drawReduced } from '../ui/draw-reduced.ts';
import { writeNumber } from '../ui/number.ts';
import { type FileSource, useFileLink } from './use-file.ts';

/** Larger images are not shown, in bytes. */
export const maxImageBytes = 10_000_000;
/** Larger images are reduced to this width or height, in pixels. */
const maxPixels = 2_000;

const imageNames = /\.(?:png|jpe?g|gif|webp|avif)$/i;

/** Tells if the name of a file is that of an image which can be shown. SVG is text: it may contain scripts. */
export const isImageName = (path: string): boolean => imageNames.test(path);

interface ImageViewProps {
  readonly source: FileSource;
  readonly label: string;
  /** Called if the file is no image that the browser can decode. */
  readonly onFail: () => void;
}

/**
 * An image of a workspace. It is downloaded and drawn on a canvas: the policy of the page forbids images of other addresses, and a
 * canvas shows pixels only.
 */
export function ImageView({ source, label, onFail }: ImageViewProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const link = useFileLink();
  const [size, setSize] = useState<{ readonly width: number; readonly height: number } | null>(null);
  const { id, path, checkpointId } = source;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the functions are others at each rendering.
  useEffect(() => {
    const ended = new AbortController();
    let isCurrent = true;
    const show = async () => {
      const address = await link({ id, path, checkpointId });
      if (address === null) throw new Error('There is no such file.');
      // Its own origin, even if the service names itself differently.
      const { pathname, search } = new URL(address, location.href);
      const response = await fetch(`${pathname}${search}`, { signal: ended.signal });
      if (!response.ok) throw new Error(`The service answered with ${response.status}.`);
      const image = await createImageBitmap(await response.blob());
      if (isCurrent && canvas.current) drawReduced(canvas.current, image, { width: maxPixels, height: maxPixels });
      if (isCurrent) setSize({ width: image.width, height: image.height });
      image.close();
    };
    show().catch(() => {
      if (isCurrent) onFail();
    });
    return () => {
      isCurrent = false;
      ended.abort();
    };
  }, [id, path, checkpointId]);
  return (
    <figure className="image-view" aria-busy={size === null}>
      <canvas ref={canvas} role="img" aria-label={label} width={1} height={1} />
      {size && (
        <figcaption>
          {texts.dimensions({ width: writeNumber(size.width), height: writeNumber(size.height) })}
        </figcaption>
      )}
    </figure>
  );
}
