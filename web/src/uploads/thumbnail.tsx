import { useEffect, useRef } from 'react';

/** The width and height of a thumbnail in pixels of its canvas: twice those on the page. */
const side = 80;
/** Larger files are not decoded, in bytes. */
const maxBytes = 20_000_000;

/** Tells if a file is an image that can be shown. SVG is a document: it may load others. */
export const hasThumbnail = ({ type, size }: File): boolean =>
  /^image\/(?:png|jpeg|gif|webp|avif)$/.test(type) && size <= maxBytes;

/** A small image of a file, on a canvas because the policy of the page forbids images of other addresses. Empty until it is decoded. */
export function Thumbnail({ file }: { readonly file: File }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isCurrent = true;
    createImageBitmap(file).then(
      (image) => {
        if (isCurrent) draw(canvas.current, image);
        image.close();
      },
      // No image: the row has its name.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [file]);
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas takes no focus.
    <canvas className="thumbnail" ref={canvas} width={side} height={side} aria-hidden="true" />
  );
}

// As large as its place, with the rest cut off.
function draw(canvas: HTMLCanvasElement | null, image: ImageBitmap): void {
  const scale = Math.max(side / image.width, side / image.height);
  const [width, height] = [image.width * scale, image.height * scale];
  canvas?.getContext('2d')?.drawImage(image, (side - width) / 2, (side - height) / 2, width, height);
  canvas?.setAttribute('data-drawn', '');
}
