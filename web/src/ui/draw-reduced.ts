/** A width and a height in pixels. */
interface Size {
  readonly width: number;
  readonly height: number;
}

/** Draws an image on a canvas of its size, or of a smaller one of the same shape that does not exceed `max`. */
export function drawReduced(canvas: HTMLCanvasElement, image: ImageBitmap, max: Size): void {
  const scale = Math.min(1, max.width / image.width, max.height / image.height);
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
}
